//! `[ledger]`: where the durable book of record is.

use std::time::Duration;

use sequent_backend::kinds::{Kind, Role};

use super::kind;
use crate::config::{Place, TableReader};

/// `[ledger]`.
#[derive(Debug, Clone)]
pub struct LedgerPart {
    /// Where it is.
    pub place: Place,
    /// For how long numbers of `spread` sequences go on while it is away, at the rate of the last two minutes. Ceilings are up to twice as
    /// far ahead, since the rate may double; so many numbers are skipped at most when a store or the ledger fails over.
    pub outage: Duration,
    /// A person's word that one server alone uses this cluster, so that a ledger in its data directory will do.
    pub single_server: bool,
    /// A person's word that a ledger which may lose what it acknowledged counts dense numbers all the same.
    pub allow_lossy: bool,
}

/// The file's name where nobody says.
const FILE: &str = "ledger.db";

impl LedgerPart {
    pub(crate) fn read(mut section: TableReader<'_, '_>, attempt: Duration) -> Self {
        let word = section.text("store").unwrap_or_else(|| {
            section.default_shown("store", "\"sqlite\"".to_owned());
            "sqlite".to_owned()
        });
        let kind = kind::known(&mut section, &word, Role::Ledger);
        let place = kind::place(&mut section, kind, attempt, |section| {
            Some(section.text("path").unwrap_or_else(|| {
                section.default_shown("path", format!("{FILE:?}"));
                FILE.to_owned()
            }))
        });
        let outage = section.duration("outage_s", 1..=86_400, 600);
        let single_server = section.switch("single_server", false);
        let allow_lossy = section.switch("allow_lossy", false);
        section.finish();
        // A place that has a fault is never used; the checks to come meet none of theirs in this one.
        let in_fault = kind.is_none_or(Kind::is_networked) && place.is_none();
        let single_server = single_server || in_fault;
        let place = place.unwrap_or_else(|| Place::Sqlite(FILE.into()));
        // Of one that is lost with its process another word has been demanded.
        let allow_lossy = allow_lossy || place == Place::Memory;
        Self { place, outage, single_server, allow_lossy }
    }
}
