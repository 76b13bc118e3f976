//! `[ledger]`: where the durable book of record is.

use std::time::Duration;

use super::{
    Place, Section, ServerPlace,
    kind::{Kind, LEDGERS},
};

/// What a server does while the ledger is away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossWord {
    /// Goes on with durable shards, within its ceilings on volatile ones.
    Continue,
    /// Gives nothing above a witnessed ceiling.
    Stop,
}

/// `[ledger]`.
#[derive(Debug, Clone)]
pub struct LedgerPart {
    /// Where it is.
    pub place: Place,
    /// What a server does while it is away.
    pub loss: LossWord,
    /// A person's word that one server alone uses this cluster, so that a ledger in its data directory will do.
    pub single_server: bool,
    /// A person's word that a ledger which may lose what it acknowledged counts dense numbers all the same.
    pub allow_lossy: bool,
}

/// The file's name where nobody says.
const FILE: &str = "ledger.db";

impl LedgerPart {
    pub(super) fn read(mut section: Section<'_, '_>, attempt: Duration) -> Self {
        let word = section.text("store").unwrap_or_else(|| {
            section.default_shown("store", "\"sqlite\"".to_owned());
            "sqlite".to_owned()
        });
        let kind = Kind::known(&mut section, &word, LEDGERS);
        let place = match kind.and_then(Kind::if_built_in) {
            Some(Kind::Memory) => Some(Place::Memory),
            Some(Kind::Sqlite) => {
                let path = section.text("path").unwrap_or_else(|| {
                    section.default_shown("path", format!("{FILE:?}"));
                    FILE.to_owned()
                });
                Some(Place::Sqlite(path.into()))
            }
            Some(Kind::Server(kind)) => {
                ServerPlace::read(&mut section, kind, attempt).map(|server| Place::Server(Box::new(server)))
            }
            None => {
                section.pass_over();
                None
            }
        };
        let loss = [("continue", LossWord::Continue), ("stop", LossWord::Stop)];
        let loss = section.choice("loss", &loss, 0);
        let single_server = section.switch("single_server", false);
        let allow_lossy = section.switch("allow_lossy", false);
        section.finish();
        // A place that has a fault is never used; the checks to come meet none of theirs in this one.
        let in_fault = kind.is_none_or(Kind::is_networked) && place.is_none();
        let single_server = single_server || in_fault;
        let place = place.unwrap_or_else(|| Place::Sqlite(FILE.into()));
        // Of one that is lost with its process another word has been demanded.
        let allow_lossy = allow_lossy || place == Place::Memory;
        Self { place, loss, single_server, allow_lossy }
    }
}
