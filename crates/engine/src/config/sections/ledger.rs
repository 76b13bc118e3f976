//! `[ledger]`: the location of the ledger, and its limits.

use std::time::Duration;

use sequent_backend::kinds::{Kind, Role};

use super::kind;
use crate::config::{Place, TableReader};

/// `[ledger]`.
#[derive(Debug, Clone)]
pub struct LedgerPart {
    /// The location of the ledger.
    pub place: Place,
    /// How long numbers of `spread` sequences last while the ledger is unavailable, at the rate of the last two
    /// minutes. Ceilings are up to twice as far ahead, since the rate may double. So many numbers are skipped at most
    /// when a store or the ledger fails over.
    pub outage: Duration,
    /// Confirmation that only one server uses this cluster, so that a ledger in its data directory is allowed.
    pub single_server: bool,
    /// Confirmation that dense numbers are allowed with a ledger that may lose acknowledged writes.
    pub allow_lossy: bool,
}

/// The default file name.
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
        // A location with a fault is never used. The checks that follow must report no further fault of it.
        let in_fault = kind.is_none_or(Kind::is_networked) && place.is_none();
        let single_server = single_server || in_fault;
        let place = place.unwrap_or_else(|| Place::Sqlite(FILE.into()));
        // A ledger in memory needs another confirmation already.
        let allow_lossy = allow_lossy || place == Place::Memory;
        Self { place, outage, single_server, allow_lossy }
    }
}
