//! What a store says of itself, its stamp and its mark.

use sequent_core::{ErrorKind, Incarnation, Inspection, SourceError, Stamp};
use sqlx::{postgres::types::Oid, query_as};

use super::{KIND, check};
use crate::postgres::{fault::Fault, link::Link};
use crate::sql::{TxMode, Work};

pub(super) struct Inspect;

impl Work<Link> for Inspect {
    type Out = Inspection;
    const VERB: &'static str = "inspect";
    const MODE: TxMode = TxMode::Single;

    async fn run(&self, link: &mut Link) -> Result<Inspection, Fault> {
        type Found = (Option<String>, bool, Option<Oid>, i64, String, i32);
        let sql = "SELECT stamp, EXISTS (SELECT 1 FROM cells), pg_relation_filenode('cells'::regclass), \
            (extract(epoch FROM clock_timestamp()) * 1000)::bigint, current_setting('server_version'), \
            pg_backend_pid() FROM shard";
        let (stamp, has_cells, file, clock, version, pid): Found = link.session().only(query_as(sql)).await?;
        link.session().same(pid)?;
        link.anchored(file)?;
        let durability = link.attest(&KIND).await?;
        let unreadable = |error| SourceError::new(ErrorKind::Refused, "stamp").because(error);
        Ok(Inspection {
            incarnation: link.incarnation().clone(),
            stamp: stamp.map(|text| text.parse::<Stamp>()).transpose().map_err(unreadable)?,
            has_cells,
            durability,
            clock_ms: u64::try_from(clock).unwrap_or(0),
            version: format!("PostgreSQL {version}"),
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
    const MODE: TxMode = TxMode::Single;

    async fn run(&self, link: &mut Link) -> Result<(), Fault> {
        check(link, self.under)?;
        let (expected, file) = (self.expected.map(ToString::to_string), link.file());
        let sql = "UPDATE shard SET stamp = $1 WHERE stamp IS NOT DISTINCT FROM $2 \
            AND pg_relation_filenode('cells'::regclass) = $3 RETURNING pg_backend_pid()";
        let query = query_as(sql).bind(self.new.to_string()).bind(expected.clone()).bind(file);
        if let Some((pid,)) = link.session().row::<(i32,)>(query).await? {
            return link.session().same(pid);
        }
        let sql = "SELECT stamp, pg_relation_filenode('cells'::regclass) FROM shard";
        let (found, file): (Option<String>, Option<Oid>) = link.session().only(query_as(sql)).await?;
        link.anchored(file)?;
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
        let file = link.file();
        let sql = "UPDATE shard SET mark = $1 WHERE mark < $1 \
            AND pg_relation_filenode('cells'::regclass) = $2 RETURNING mark, pg_backend_pid()";
        let query = query_as(sql).bind(version).bind(file);
        if version > 0
            && let Some((held, pid)) = link.session().row::<(i64, i32)>(query).await?
        {
            link.session().same(pid)?;
            return Ok(held.unsigned_abs());
        }
        // Marks only grow, so a later look may only find a higher one.
        let sql = "SELECT mark, pg_relation_filenode('cells'::regclass), pg_backend_pid() FROM shard";
        let (held, file, pid): (i64, Option<Oid>, i32) = link.session().only(query_as(sql)).await?;
        link.session().same(pid)?;
        link.anchored(file)?;
        Ok(held.unsigned_abs())
    }
}
