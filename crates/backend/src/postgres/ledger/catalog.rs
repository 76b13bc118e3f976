//! Definitions: the highest version of each counts, and every version is kept.

use std::cmp::Ordering;

use sequent_core::{
    BoxFuture, ErrorKind, Key, SourceError,
    ledger::{Advanced, Catalog, Defined, Definition},
};
use sqlx::{query, query_as};

use super::{
    PostgresLedger, capped, kept,
    pass::{lock, look},
    text,
};
use crate::postgres::{
    fault::Fault,
    link::Link,
    work::{Frame, Work},
};

impl Catalog for PostgresLedger {
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

type Kept = (String, i64, Vec<u8>);

struct Read;

impl Work for Read {
    type Out = (u64, Vec<Definition>);
    const VERB: &'static str = "read definitions from";
    const FRAME: Frame = Frame::Read;

    async fn run(&self, link: &mut Link) -> Result<(u64, Vec<Definition>), Fault> {
        look(link).await?;
        let catalog = version(link).await?;
        let sql =
            "SELECT DISTINCT ON (name) name, version, body FROM definitions ORDER BY name, version DESC";
        let rows: Vec<Kept> = link.session().rows(query_as(sql)).await?;
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
        lock(link).await?;
        let Definition { name, version, body } = self.definition;
        let sql = "SELECT name, version, body FROM definitions WHERE name = $1 ORDER BY version DESC LIMIT 1";
        let held: Option<Kept> = link.session().row(query_as(sql).bind(name.as_str())).await?;
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
        let sql = "INSERT INTO definitions (name, version, body) VALUES ($1, $2, $3)";
        let added = query(sql).bind(name.as_str()).bind(i64::from(*version)).bind(body.as_bytes());
        link.session().run(added).await?;
        link.session().run(query("UPDATE meta SET catalog = catalog + 1")).await?;
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
        let sql = "SELECT k, number FROM advances ORDER BY k";
        let rows: Vec<(Vec<u8>, i64)> = link.session().rows(query_as(sql)).await?;
        let note = |(key, to)| Ok(Advanced { key: Key::from_stored(&text("key", key)?), to: kept(to) });
        Ok(rows.into_iter().map(note).collect::<Result<_, SourceError>>()?)
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
        lock(link).await?;
        note(link, self.advanced).await
    }
}

/// Notes it, greatest-of, where the ledger is locked; returns what is held afterwards.
pub(super) async fn note(link: &mut Link, Advanced { key, to }: &Advanced) -> Result<u64, Fault> {
    let sql = "INSERT INTO advances (k, number) VALUES ($1, $2) \
        ON CONFLICT (k) DO UPDATE SET number = excluded.number WHERE advances.number < excluded.number";
    let noted = query(sql).bind(key.as_str().as_bytes()).bind(capped(*to));
    if link.session().run(noted).await? > 0 {
        link.session().run(query("UPDATE meta SET catalog = catalog + 1")).await?;
    }
    let held = query_as("SELECT number FROM advances WHERE k = $1").bind(key.as_str().as_bytes());
    let (held,): (i64,) = link.session().only(held).await?;
    Ok(kept(held))
}

/// One more with each change of a definition, and of how far a key is advanced.
pub(super) async fn version(link: &mut Link) -> Result<u64, Fault> {
    let (catalog,): (i64,) = link.session().only(query_as("SELECT catalog FROM meta")).await?;
    Ok(kept(catalog))
}

fn definition((name, version, body): Kept) -> Result<Definition, SourceError> {
    let unreadable = || SourceError::new(ErrorKind::Refused, "definition in the ledger");
    let name = name.parse().map_err(|error: sequent_core::NameError| unreadable().because(error))?;
    let version = u32::try_from(version).map_err(|error| unreadable().because(error))?;
    Ok(Definition { name, version, body: text("definition", body)? })
}
