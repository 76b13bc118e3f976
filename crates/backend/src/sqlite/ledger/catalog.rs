//! Definitions: the highest version of each counts, and every version is kept.

use std::cmp::Ordering;

use sequent_core::{
    BoxFuture, ErrorKind, Key, SourceError,
    ledger::{Advanced, Catalog, Defined, Definition},
};
use sqlx::{query, query_as};

use super::{SqliteLedger, capped, kept};
use crate::sqlite::{
    fault::Fault,
    link::Link,
    work::{Frame, Work},
};

impl Catalog for SqliteLedger {
    fn definitions(&self) -> BoxFuture<'_, Result<(u64, Vec<Definition>), SourceError>> {
        Box::pin(self.database.perform(Read))
    }

    fn define<'a>(
        &'a self,
        definition: &'a Definition,
        judged: Option<u32>,
    ) -> BoxFuture<'a, Result<Defined, SourceError>> {
        Box::pin(self.database.perform(Define { definition, judged }))
    }

    fn advanced(&self) -> BoxFuture<'_, Result<Vec<Advanced>, SourceError>> {
        Box::pin(self.database.perform(ReadAdvanced))
    }

    fn advance<'a>(&'a self, advanced: &'a Advanced) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(self.database.perform(Advance { advanced }))
    }
}

struct Read;

impl Work for Read {
    type Out = (u64, Vec<Definition>);
    const VERB: &'static str = "read definitions from";
    const FRAME: Frame = Frame::Read;

    async fn run(&self, link: &mut Link) -> Result<(u64, Vec<Definition>), Fault> {
        let catalog = version(link).await?;
        let sql = "SELECT name, max(version), body FROM definitions GROUP BY name ORDER BY name";
        let rows: Vec<(String, u32, String)> = link.rows(query_as(sql)).await?;
        let definitions = rows.into_iter().map(definition).collect::<Result<_, _>>()?;
        Ok((catalog, definitions))
    }
}

struct Define<'a> {
    definition: &'a Definition,
    judged: Option<u32>,
}

impl Work for Define<'_> {
    type Out = Defined;
    const VERB: &'static str = "define in";
    const FRAME: Frame = Frame::Write;

    async fn run(&self, link: &mut Link) -> Result<Defined, Fault> {
        let Definition { name, version, body } = self.definition;
        let sql = "SELECT name, version, body FROM definitions WHERE name = ?1 ORDER BY version DESC LIMIT 1";
        let held: Option<(String, u32, String)> = link.row(query_as(sql).bind(name.as_str())).await?;
        let held = held.map(definition).transpose()?;
        if let Some(held) = &held {
            match version.cmp(&held.version) {
                Ordering::Less => return Ok(Defined::Older { held: held.clone() }),
                Ordering::Equal if *body == held.body => return Ok(Defined::Same),
                Ordering::Equal => return Ok(Defined::Conflict { held: held.clone() }),
                Ordering::Greater => {}
            }
        }
        if held.as_ref().map(|held| held.version) != self.judged {
            return Ok(Defined::Moved { held });
        }
        let sql = "INSERT INTO definitions (name, version, body) VALUES (?1, ?2, ?3)";
        link.run(query(sql).bind(name.as_str()).bind(*version).bind(body.as_str())).await?;
        link.run(query("UPDATE meta SET catalog = catalog + 1")).await?;
        Ok(Defined::Created)
    }
}

/// How far keys were advanced.
struct ReadAdvanced;

impl Work for ReadAdvanced {
    type Out = Vec<Advanced>;
    const VERB: &'static str = "read how far keys were advanced from";
    const FRAME: Frame = Frame::Bare;

    async fn run(&self, link: &mut Link) -> Result<Vec<Advanced>, Fault> {
        let rows: Vec<(String, i64)> =
            link.rows(query_as("SELECT k, number FROM advances ORDER BY k")).await?;
        let note = |(key, to): (String, i64)| Advanced { key: Key::from_stored(&key), to: kept(to) };
        Ok(rows.into_iter().map(note).collect())
    }
}

struct Advance<'a> {
    advanced: &'a Advanced,
}

impl Work for Advance<'_> {
    type Out = u64;
    const VERB: &'static str = "note how far a key is advanced in";
    const FRAME: Frame = Frame::Write;

    async fn run(&self, link: &mut Link) -> Result<u64, Fault> {
        note(link, self.advanced).await
    }
}

/// Notes it, greatest-of; returns what is held.
pub(super) async fn note(link: &mut Link, Advanced { key, to }: &Advanced) -> Result<u64, Fault> {
    let sql = "INSERT INTO advances (k, number) VALUES (?1, ?2) \
        ON CONFLICT (k) DO UPDATE SET number = excluded.number WHERE number < excluded.number";
    if link.run(query(sql).bind(key.as_str()).bind(capped(*to))).await? > 0 {
        link.run(query("UPDATE meta SET catalog = catalog + 1")).await?;
    }
    let sql = "SELECT number FROM advances WHERE k = ?1";
    let (held,): (i64,) = link.only(query_as(sql).bind(key.as_str())).await?;
    Ok(kept(held))
}

/// One more with each change of a definition, and of how far a key is advanced.
pub(super) async fn version(link: &mut Link) -> Result<u64, Fault> {
    let (catalog,): (i64,) = link.only(query_as("SELECT catalog FROM meta")).await?;
    Ok(kept(catalog))
}

fn definition((name, version, body): (String, u32, String)) -> Result<Definition, SourceError> {
    let unreadable = |error| SourceError::new(ErrorKind::Refused, "definition in the ledger").because(error);
    let name = name.parse().map_err(|error: sequent_core::NameError| unreadable(error))?;
    Ok(Definition { name, version, body })
}
