//! What a store says of itself, its stamp and its mark.

use sequent_core::{ErrorKind, Incarnation, Inspection, SourceError, Stamp};
use sqlx::{query, query_as};

use super::check;
use crate::sql::{TxMode, Work};
use crate::sqlite::{fault::Fault, link::Link, room};

pub(super) struct Inspect;

impl Work<Link> for Inspect {
    type Out = Inspection;
    const VERB: &'static str = "inspect";
    // The lock of a writer, so that a file which is locked or read-only shows itself. Nothing is written: the store
    // may be another cluster's.
    const MODE: TxMode = TxMode::Write;

    async fn run(&self, link: &mut Link) -> Result<Inspection, Fault> {
        let sql = "SELECT stamp, EXISTS (SELECT 1 FROM cells), sqlite_version() FROM identity";
        let (stamp, has_cells, version): (Option<String>, bool, String) = link.only(query_as(sql)).await?;
        let unreadable = |error| SourceError::new(ErrorKind::Refused, "stamp").because(error);
        Ok(Inspection {
            incarnation: link.incarnation().clone(),
            stamp: stamp.map(|text| text.parse::<Stamp>()).transpose().map_err(unreadable)?,
            has_cells,
            durability: link.durability().clone(),
            clock_ms: link.wall_ms(),
            version: format!("SQLite {version}"),
        })
    }
}

pub(super) struct Restamp<'a> {
    pub(super) under: &'a Incarnation,
    pub(super) expected: Option<&'a Stamp>,
    pub(super) new: &'a Stamp,
}

impl Work<Link> for Restamp<'_> {
    type Out = ();
    const VERB: &'static str = "stamp";
    const MODE: TxMode = TxMode::Write;

    async fn run(&self, link: &mut Link) -> Result<(), Fault> {
        check(link, self.under)?;
        let expected = self.expected.map(ToString::to_string);
        let sql = "UPDATE identity SET stamp = ?1 WHERE stamp IS ?2";
        let touched = link.run(query(sql).bind(self.new.to_string()).bind(expected.clone())).await?;
        if touched == 1 {
            // Whoever stamps, or looks whether it could be stamped, wants to know whether more will follow.
            link.place().on_thread(room::check).await?;
            return Ok(());
        }
        let (found,): (Option<String>,) = link.only(query_as("SELECT stamp FROM identity")).await?;
        let [found, expected] = [found, expected].map(|stamp| stamp.unwrap_or_else(|| "none".to_owned()));
        let context = format!("stamp: found {found}, expected {expected}");
        Err(SourceError::new(ErrorKind::Refused, context).into())
    }
}

pub(super) struct Mark<'a> {
    pub(super) under: &'a Incarnation,
    pub(super) version: u64,
}

impl Work<Link> for Mark<'_> {
    type Out = u64;
    const VERB: &'static str = "mark";
    const MODE: TxMode = TxMode::Single;

    async fn run(&self, link: &mut Link) -> Result<u64, Fault> {
        check(link, self.under)?;
        let version = i64::try_from(self.version).map_err(|_| {
            let context = format!("mark is {}: at most {} is allowed", self.version, i64::MAX);
            SourceError::new(ErrorKind::Exhausted, context)
        })?;
        let sql = "UPDATE identity SET mark = ?1 WHERE mark < ?1 RETURNING mark";
        if let Some((held,)) = link.row::<(i64,)>(query_as(sql).bind(version)).await? {
            return Ok(held.unsigned_abs());
        }
        // Marks only grow, so a later look may only find a higher one.
        let (held,): (i64,) = link.only(query_as("SELECT mark FROM identity")).await?;
        Ok(held.unsigned_abs())
    }
}
