//! `[ledger]`: where the durable book of record is.

use super::{
    Place, Section,
    shard::{Word, word_known},
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
}

const BUILT_IN: [&str; 2] = ["sqlite", "memory"];
const TO_COME: [&str; 3] = ["mysql", "postgres", "etcd"];

impl LedgerPart {
    pub(super) fn read(mut section: Section<'_, '_>) -> Self {
        let word = section.text("store").unwrap_or_else(|| {
            section.default_shown("store", "\"sqlite\"".to_owned());
            "sqlite".to_owned()
        });
        let known = word_known(&mut section, &word, &BUILT_IN, &TO_COME);
        let place = if word == "memory" {
            Place::Memory
        } else if known == Word::BuiltIn {
            let path = section.text("path").unwrap_or_else(|| {
                section.default_shown("path", "\"ledger.db\"".to_owned());
                "ledger.db".to_owned()
            });
            Place::Sqlite(path.into())
        } else {
            for key in ["path", "url", "password_file"] {
                section.text(key);
            }
            Place::Sqlite("ledger.db".into())
        };
        let loss = [("continue", LossWord::Continue), ("stop", LossWord::Stop)];
        let loss = section.choice("loss", &loss, 0);
        let single_server = section.switch("single_server", false);
        section.finish();
        Self { place, loss, single_server }
    }
}
