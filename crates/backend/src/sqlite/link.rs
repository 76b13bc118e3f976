//! One connection to one file: opened, checked to be ours, and known by its incarnation.

use std::{path::Path, sync::Arc, time::Duration};

use sequent_core::{Clock, Durability, DurabilityClass, ErrorKind, Incarnation, SourceError};
use sqlx::{
    ConnectOptions, Sqlite,
    query::{Query, QueryAs},
    sqlite::{SqliteArguments, SqliteConnectOptions, SqliteRow, SqliteSynchronous},
};

use super::{
    fault::Fault,
    place::{FileId, Found, Place},
    tether::Tether,
};

/// What a file is for, and how it is known.
#[derive(Debug)]
pub(super) struct Kind {
    /// For people: `store` or `ledger`.
    pub(super) word: &'static str,
    /// In the file's header.
    pub(super) application_id: i64,
    /// The schema's version, in the file's header.
    pub(super) schema_version: i64,
    /// The statements that make the schema, headers included.
    pub(super) schema: &'static [&'static str],
    /// Writes the identity `?1` of a new file.
    pub(super) beget: &'static str,
    /// Reads the token that names this history of this file.
    pub(super) token: &'static str,
}

/// The options that every connection has.
pub(super) fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .synchronous(SqliteSynchronous::Full)
        // SQLite's own waiting starves (of 16 processes one made 13,000 takes, another 1): see `patience`.
        .busy_timeout(Duration::ZERO)
        .disable_statement_logging()
}

/// An open connection, and what was learned when it was opened.
#[derive(Debug)]
pub(crate) struct Link {
    tether: Tether,
    incarnation: Incarnation,
    durability: Durability,
    clock: Arc<dyn Clock>,
    /// Whether it is there to look, and changes nothing.
    looks: bool,
}

impl Link {
    /// Connects to a file that is there. A file that is not ours is left untouched.
    pub(super) async fn open(
        place: &Place,
        file: FileId,
        kind: &Kind,
        clock: Arc<dyn Clock>,
        looks: bool,
    ) -> Result<Self, Fault> {
        let tether = Tether::open(place, file).await?;
        let durability = Durability { class: DurabilityClass::Lossy, settings: Vec::new() };
        let incarnation = Incarnation::new("");
        let mut link = Self { tether, incarnation, durability, clock, looks };
        if looks {
            link.run(sqlx::query("PRAGMA query_only = ON")).await?;
        }
        link.recognise(kind).await?;
        link.attest().await?;
        let (token,): (String,) = link.only(sqlx::query_as(kind.token)).await?;
        link.incarnation = link.as_token(&token);
        Ok(link)
    }

    /// Whether it is there to look: SQLite itself sees to it that nothing is changed.
    pub(super) fn looks(&self) -> bool {
        self.looks
    }

    /// Where the file is.
    pub(super) fn place(&self) -> &Place {
        self.tether.place()
    }

    async fn recognise(&mut self, kind: &Kind) -> Result<(), Fault> {
        let sql =
            "SELECT a.application_id, v.user_version FROM pragma_application_id a, pragma_user_version v";
        let (application, version): (i64, i64) = self.only(sqlx::query_as(sql)).await?;
        if application != kind.application_id {
            let expected = format!("application_id {:#x} of a {}", kind.application_id, kind.word);
            let found = match application {
                super::store::APPLICATION_ID => "a shard's file",
                super::ledger::APPLICATION_ID => "a ledger's file",
                _ => "not a file of ours",
            };
            let cause = format!(
                "{found}: found application_id {application:#x}, expected {expected}; were files exchanged? put each \
                 into its own place"
            );
            return Err(Fault::broken(ErrorKind::Refused, cause));
        }
        if version != kind.schema_version {
            let expected = kind.schema_version;
            let cause = format!("schema version: found {version}, expected {expected}");
            return Err(Fault::broken(ErrorKind::Refused, cause));
        }
        Ok(())
    }

    /// Sees to the settings that make a commit durable, and notes what they really are.
    async fn attest(&mut self) -> Result<(), Fault> {
        let (mut journal,): (String,) = self.only(sqlx::query_as("PRAGMA journal_mode")).await?;
        if journal != "wal" && !self.looks {
            (journal,) = self.only(sqlx::query_as("PRAGMA journal_mode = WAL")).await?;
        }
        let (synchronous,): (i64,) = self.only(sqlx::query_as("PRAGMA synchronous")).await?;
        let class = durability(&journal, synchronous);
        let synchronous = match synchronous {
            0 => "off",
            1 => "normal",
            2 => "full",
            _ => "extra",
        };
        let settings =
            vec![("journal_mode".to_owned(), journal), ("synchronous".to_owned(), synchronous.to_owned())];
        self.durability = Durability { class, settings };
        Ok(())
    }

    /// Every row of a statement that has run to its end, whatever its columns hold.
    pub(super) async fn all(
        &mut self,
        query: Query<'_, Sqlite, SqliteArguments>,
    ) -> Result<Vec<SqliteRow>, Fault> {
        Ok(query.fetch_all(self.tether.connection()?).await?)
    }

    /// Every row of a statement that has run to its end.
    pub(super) async fn rows<O>(
        &mut self,
        query: QueryAs<'_, Sqlite, O, SqliteArguments>,
    ) -> Result<Vec<O>, Fault>
    where
        O: Send + Unpin + for<'r> sqlx::FromRow<'r, SqliteRow>,
    {
        Ok(query.fetch_all(self.tether.connection()?).await?)
    }

    /// The row of a statement that has run to its end, if there was one.
    pub(super) async fn row<O>(
        &mut self,
        query: QueryAs<'_, Sqlite, O, SqliteArguments>,
    ) -> Result<Option<O>, Fault>
    where
        O: Send + Unpin + for<'r> sqlx::FromRow<'r, SqliteRow>,
    {
        Ok(self.rows(query).await?.into_iter().next())
    }

    /// The row of a statement that always has one.
    pub(super) async fn only<O>(&mut self, query: QueryAs<'_, Sqlite, O, SqliteArguments>) -> Result<O, Fault>
    where
        O: Send + Unpin + for<'r> sqlx::FromRow<'r, SqliteRow>,
    {
        self.row(query)
            .await?
            .ok_or_else(|| Fault::broken(ErrorKind::Refused, "a row that every file of ours has is gone"))
    }

    /// Runs a statement to its end; returns how many rows it touched.
    pub(super) async fn run(&mut self, query: Query<'_, Sqlite, SqliteArguments>) -> Result<u64, Fault> {
        Ok(query.execute(self.tether.connection()?).await?.rows_affected())
    }

    /// Which file this is a connection to.
    pub(super) fn file(&self) -> FileId {
        self.tether.file()
    }

    /// Notes which `-wal` and `-shm` are the connection's own, seen right after the opening.
    pub(super) fn settle_on(&mut self, found: &Found) {
        self.tether.settle_on(found);
    }

    /// Whether `-wal` or `-shm` was taken away or replaced: SQLite does neither while a connection is open.
    pub(super) fn is_severed(&self, found: &Found) -> bool {
        self.tether.is_severed(found)
    }

    /// Who speaks here, as learned at the opening.
    pub(super) fn incarnation(&self) -> &Incarnation {
        &self.incarnation
    }

    /// Who speaks here if the file's token is `token`.
    pub(super) fn as_token(&self, token: &str) -> Incarnation {
        Incarnation::new(format!("sqlite {token} {}", self.file()))
    }

    /// How much outlives a crash.
    pub(super) fn durability(&self) -> &Durability {
        &self.durability
    }

    /// Wall time, in milliseconds since 1970.
    pub(super) fn wall_ms(&self) -> u64 {
        self.clock.wall_ms()
    }

    /// Closes the connection, once whatever runs on it has ended, unless it must be left alone. `Some`: its files may
    /// not be written now, and it is still open.
    pub(super) async fn close(mut self) -> Option<Self> {
        if self.tether.part().await { None } else { Some(self) }
    }
}

/// Measured with simulated power cuts: WAL with NORMAL lost commits, WAL or a rollback journal with FULL never did.
fn durability(journal: &str, synchronous: i64) -> DurabilityClass {
    let journal_outlives = matches!(journal, "wal" | "delete" | "truncate" | "persist");
    if journal_outlives && synchronous >= 2 { DurabilityClass::Durable } else { DurabilityClass::Lossy }
}

/// `under` names another incarnation than the one that speaks; nothing was touched.
pub(super) fn reborn(under: &Incarnation, now: &Incarnation) -> SourceError {
    SourceError::new(ErrorKind::Reborn, format!("expected {under}, found {now}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_lose_commits_is_lossy() {
        let expected = [
            ("wal", 2, DurabilityClass::Durable),
            ("wal", 3, DurabilityClass::Durable),
            ("delete", 2, DurabilityClass::Durable),
            ("wal", 1, DurabilityClass::Lossy),
            ("wal", 0, DurabilityClass::Lossy),
            ("memory", 2, DurabilityClass::Lossy),
            ("off", 2, DurabilityClass::Lossy),
        ];
        for (journal, synchronous, class) in expected {
            assert_eq!(durability(journal, synchronous), class, "{journal} {synchronous}");
        }
    }
}
