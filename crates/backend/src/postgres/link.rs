//! One connection to one set of tables, and what was learned when it was opened: who speaks there.

use sequent_core::{Durability, DurabilityClass, ErrorKind, Fact, FactClass, Incarnation, SourceError};
use sqlx::{postgres::types::Oid, query, query_as};

use super::{fault::Fault, options::token, schema, target::Target};

pub(super) use super::connect::Session;

/// What a schema is for, and how it is known.
#[derive(Debug)]
pub(super) struct Kind {
    /// For people, and for the schema's own page: `store` or `ledger`.
    pub(super) word: &'static str,
    /// The version of the tables.
    pub(super) schema_version: i32,
    /// The statements that make them.
    pub(super) schema: &'static [&'static str],
    /// Writes the first row, with the token `$1`.
    pub(super) beget: &'static str,
    /// The table whose file stands for all: it is another one after a restore from a dump, or a TRUNCATE.
    pub(super) anchor: &'static str,
}

/// An open connection, and what was learned when it was opened.
#[derive(Debug)]
pub(crate) struct Link {
    session: Session,
    speaks: String,
    file: Oid,
    incarnation: Incarnation,
}

impl Link {
    /// Connects, makes the tables if they are missing and may be made, and learns who speaks.
    pub(super) async fn open(target: &Target, kind: &Kind, used: bool) -> Result<Self, Fault> {
        let mut session = Session::open(target).await?;
        if !schema::exists(&mut session, &target.schema).await? {
            if used || !target.options.create {
                return Err(missing(used));
            }
            let token = token(&*target.options.entropy);
            schema::create(&mut session, kind, &target.schema, &token).await?;
        }
        schema::recognise(&mut session, kind).await?;
        enliven(&mut session, target).await?;
        let (speaks, file) = learn(&mut session, kind, None).await?;
        let incarnation = Incarnation::new(speaks.as_str());
        Ok(Self { session, speaks, file, incarnation })
    }

    /// Connects to look: the server itself sees to it that nothing is changed. Who speaks is known to others only where
    /// one of them has connected since the server's last recovery.
    pub(super) async fn look(target: &Target, kind: &Kind) -> Result<Self, Fault> {
        let mut session = Session::open(target).await?;
        session.run(query("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")).await?;
        if !schema::exists(&mut session, &target.schema).await? {
            return Err(missing(false));
        }
        schema::recognise(&mut session, kind).await?;
        let (speaks, file) = learn(&mut session, kind, Some(NOBODY)).await?;
        let incarnation = Incarnation::new(speaks.as_str());
        Ok(Self { session, speaks, file, incarnation })
    }

    /// What statements run on.
    pub(super) fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    /// Which run of which data speaks here, whatever token a ledger's tables hold besides.
    pub(super) fn speaks(&self) -> &str {
        &self.speaks
    }

    /// Who speaks here.
    pub(super) fn incarnation(&self) -> &Incarnation {
        &self.incarnation
    }

    /// Who speaks here if the ledger's token is `token`.
    pub(super) fn as_token(&self, token: &str) -> Incarnation {
        Incarnation::new(format!("{} {token}", self.speaks))
    }

    /// The file of the anchor, which each statement that counts compares.
    pub(super) fn file(&self) -> Oid {
        self.file
    }

    /// `Stale` if the anchor has another file now.
    pub(super) fn anchored(&self, file: Option<Oid>) -> Result<(), Fault> {
        if file == Some(self.file) {
            return Ok(());
        }
        let now = file.map_or("none".to_owned(), |file| file.0.to_string());
        Err(Fault::stale(format!("the tables' file was {}, and is now {now}", self.file.0)))
    }

    /// The settings that decide what a commit is worth, as they are now.
    pub(super) async fn attest(&mut self, kind: &Kind) -> Result<Durability, Fault> {
        let mut settings =
            self.session.settings(&["fsync", "synchronous_commit", "full_page_writes"]).await?;
        let sql = "SELECT CASE relpersistence WHEN 'p' THEN 'permanent' ELSE 'unlogged' END \
            FROM pg_class WHERE oid = $1::text::regclass";
        let (tables,): (String,) = self.session.only(query_as(sql).bind(kind.anchor)).await?;
        settings.push((kind.anchor.to_owned(), tables));
        Ok(Durability { class: classed(&settings), settings })
    }
}

/// What a server with these settings may lose of what it acknowledged.
fn classed(settings: &[(String, String)]) -> DurabilityClass {
    let worst = settings.iter().filter_map(|(name, value)| Some(loss(name, value)?.0)).max();
    worst.unwrap_or(if settings.is_empty() { DurabilityClass::Volatile } else { DurabilityClass::Durable })
}

/// What the value of a setting may lose, what it should be, and how; `None` where it loses nothing.
///
/// Without fsync a power loss may leave nothing that makes sense, and a crash empties an unlogged table; without full
/// page writes a page may be torn, and a commit that was not waited for may be lost.
fn loss(name: &str, value: &str) -> Option<(DurabilityClass, &'static str, &'static str)> {
    match (name, value) {
        ("fsync" | "full_page_writes", "on")
        | ("synchronous_commit", "on" | "remote_apply")
        | (_, "permanent") => None,
        ("fsync", _) => Some((
            DurabilityClass::Volatile,
            "on",
            "a crash of its machine may leave nothing that makes sense",
        )),
        ("synchronous_commit", _) => {
            Some((DurabilityClass::Lossy, "on", "a crash takes back commits that nobody waited for"))
        }
        ("full_page_writes", _) => Some((
            DurabilityClass::Lossy,
            "on",
            "a page that a crash of its machine tore can't be mended, and takes commits with it",
        )),
        _ => Some((DurabilityClass::Volatile, "permanent", "a crash empties the table")),
    }
}

/// Each of these settings by which a crash takes back what was acknowledged.
pub(super) fn losses(settings: &[(String, String)]) -> Vec<Fact> {
    let fact = |(name, value): &(String, String)| {
        let (_, expected, causes) = loss(name, value)?;
        let mend = match expected {
            "permanent" => format!("ALTER TABLE {name} SET LOGGED"),
            _ => format!("{name} = {expected} in postgresql.conf, and SELECT pg_reload_conf()"),
        };
        Some(Fact::new(FactClass::Loses, name, value).expected(expected).causes(causes).mend(mend))
    };
    settings.iter().filter_map(fact).collect()
}

/// What whoever looks calls a run of the server that has no name.
const NOBODY: &str = "nobody";

/// Gives a run of the server its name, if it has none.
async fn enliven(session: &mut Session, target: &Target) -> Result<(), Fault> {
    let named: Option<(i32,)> = session.row(query_as("SELECT one FROM run")).await?;
    if named.is_none() {
        let sql = "INSERT INTO run (one, uuid) VALUES (1, $1) ON CONFLICT (one) DO NOTHING";
        session.run(query(sql).bind(token(&*target.options.entropy))).await?;
    }
    Ok(())
}

type Learned = (i64, String, i64, String, Option<Oid>, i32);

/// Which run of which data speaks: the cluster and its timeline, the start of the server, the recovery since that
/// (`run`), and the tables (the anchor's file). None of it needs a privilege. A run without a name is none that anybody
/// speaks with: only whoever looks calls it `unnamed`.
async fn learn(
    session: &mut Session,
    kind: &Kind,
    unnamed: Option<&'static str>,
) -> Result<(String, Oid), Fault> {
    let sql = "SELECT s.system_identifier, substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8), \
        (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint, coalesce(r.uuid, $2), \
        pg_relation_filenode($1::text::regclass), pg_backend_pid() \
        FROM pg_control_system() s LEFT JOIN run r ON true WHERE coalesce(r.uuid, $2) IS NOT NULL";
    let (system, timeline, start, run, file, pid): Learned =
        session.only(query_as(sql).bind(kind.anchor).bind(unnamed)).await?;
    session.same(pid)?;
    let Some(file) = file else {
        return Err(Fault::broken(ErrorKind::Refused, format!("{} is not a table", kind.anchor)));
    };
    Ok((format!("postgres {system:x} {timeline} {start} {run} {}", file.0), file))
}

/// What is said where no tables are, and none are made.
fn missing(used: bool) -> Fault {
    let cause = if used {
        "the tables were dropped while this process used them, and no new ones are made in their place: restore them; \
         if they are a shard's and lost for good, a `sequent serve` that is started anew makes them, and `sequent rescue \
         SLOT --why TEXT` brings the slot back for those that run"
    } else {
        "no tables are there, and none may be made here: restore them; where there is nothing to restore, a `sequent \
         serve` that is started anew makes them"
    };
    Fault::broken(ErrorKind::Refused, cause)
}

/// `under` names another incarnation than the one that speaks; nothing was touched.
pub(super) fn reborn(under: &Incarnation, now: &Incarnation) -> SourceError {
    SourceError::new(ErrorKind::Reborn, format!("expected {under}, found {now}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_lose_commits_is_not_durable() {
        let expected = [
            (["on", "on", "on", "permanent"], DurabilityClass::Durable),
            (["on", "remote_apply", "on", "permanent"], DurabilityClass::Durable),
            (["on", "off", "on", "permanent"], DurabilityClass::Lossy),
            (["on", "local", "on", "permanent"], DurabilityClass::Lossy),
            (["on", "on", "off", "permanent"], DurabilityClass::Lossy),
            (["off", "on", "on", "permanent"], DurabilityClass::Volatile),
            (["on", "on", "on", "unlogged"], DurabilityClass::Volatile),
        ];
        for (values, class) in expected {
            let names = ["fsync", "synchronous_commit", "full_page_writes", "cells"];
            let settings: Vec<_> = names.into_iter().zip(values).map(|(a, b)| (a.into(), b.into())).collect();
            assert_eq!(classed(&settings), class, "{values:?}");
        }
    }
}
