//! `[ledger]`: the location of the ledger, and its limits.

use std::time::Duration;

use sequent_backend::kinds::{Kind, Role};

use super::place::{LEDGER_FILE, PlaceSection};
use crate::config::{
    Place,
    reading::{
        Reader, section,
        setting::{seconds, switch},
    },
};

section! {
    /// The location of [the ledger](../operating/ledger.md), and its limits. On a server it has
    /// [the keys of a server](#servers) too.
    pub struct LedgerSection(section, place: Place) {
        /// The location of the ledger.
        place: Place => place,

        /// [How long numbers continue without the ledger](../operating/ledger.md#an-outage-of-the-ledger), at the rate
        /// of the last two minutes. A failover skips up to twice as many numbers.
        outage: Duration = seconds("outage_s", 600, 1..=86_400),

        /// Servers of one machine alone use the cluster, so a ledger in a file will do.
        single_server: bool = switch("single_server"),

        /// Dense numbers are allowed though the ledger may lose commits.
        allow_lossy: bool = switch("allow_lossy"),
    }
}

impl LedgerSection {
    pub(crate) fn checked(reader: &mut Reader<'_>, attempt_timeout: Duration) -> Self {
        let mut section = reader.section("ledger");
        let (store, place) = PlaceSection::place(&mut section, Role::Ledger, attempt_timeout);
        // A location with a fault is never used. The checks that follow must report no further fault of it.
        let is_unknown = place.is_none() && store.is_none_or(Kind::is_networked);
        let mut ledger = Self::read(&mut section, place.unwrap_or_else(|| Place::Sqlite(LEDGER_FILE.into())));
        section.finish();
        ledger.single_server |= is_unknown;
        // A ledger in memory needs another confirmation already.
        ledger.allow_lossy |= ledger.place == Place::Memory;
        ledger
    }
}
