//! Definitions: the highest version of each counts, and every version is kept.

use std::cmp::Ordering;

use sequent_core::{
    BoxFuture, ErrorKind, Key, SourceError,
    ledger::{Advanced, Catalog, Defined, Definition},
};

use super::{
    MysqlLedger, capped, kept,
    pass::{Hold, hold},
};
use crate::mysql::{
    fault::Fault,
    link::Link,
    work::{Frame, Work},
};

impl Catalog for MysqlLedger {
    fn definitions(&self) -> BoxFuture<'_, Result<(u64, Vec<Definition>), SourceError>> {
        Box::pin(self.pool.perform(Read))
    }

    fn define<'a>(
        &'a self,
        definition: &'a Definition,
        judged: Option<u32>,
    ) -> BoxFuture<'a, Result<Defined, SourceError>> {
        Box::pin(self.pool.perform(Define { definition, judged }))
    }

    fn advanced(&self) -> BoxFuture<'_, Result<Vec<Advanced>, SourceError>> {
        Box::pin(self.pool.perform(ReadAdvanced))
    }

    fn advance<'a>(&'a self, advanced: &'a Advanced) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(self.pool.perform(Advance { advanced }))
    }
}

struct Read;

impl Work for Read {
    type Out = (u64, Vec<Definition>);
    const VERB: &'static str = "read definitions from";
    const FRAME: Frame = Frame::Write;

    async fn run(&self, link: &mut Link) -> Result<(u64, Vec<Definition>), Fault> {
        let meta = hold(link, Hold::Read).await?;
        let sql = "SELECT d.name, d.version, d.body FROM sequent_definitions d \
            JOIN (SELECT name, MAX(version) AS version FROM sequent_definitions GROUP BY name) newest \
            ON d.name = newest.name AND d.version = newest.version ORDER BY d.name";
        let rows: Vec<(String, u32, String)> = link.rows(sql, ()).await?;
        let definitions = rows.into_iter().map(definition).collect::<Result<_, _>>()?;
        Ok((meta.catalog, definitions))
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
        hold(link, Hold::Write).await?;
        let sql = "SELECT name, version, body FROM sequent_definitions WHERE name = ? ORDER BY version DESC LIMIT 1";
        let held: Option<(String, u32, String)> = link.row(sql, (name.as_str(),)).await?;
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
        let sql = "INSERT INTO sequent_definitions (name, version, body) VALUES (?, ?, ?)";
        link.exec(sql, (name.as_str(), *version, body.as_str())).await?;
        link.exec("UPDATE sequent_meta SET catalog = catalog + 1 WHERE one = 1", ()).await?;
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
        let sql = "SELECT k, number FROM sequent_advances ORDER BY k";
        let rows: Vec<(Vec<u8>, i64)> = link.rows(sql, ()).await?;
        let note = |(key, to): (Vec<u8>, i64)| Advanced {
            key: Key::from_stored(&String::from_utf8_lossy(&key)),
            to: kept(to),
        };
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
        hold(link, Hold::Write).await?;
        note(link, self.advanced).await
    }
}

/// Notes it, greatest-of, where the ledger is held; returns what is held afterwards.
pub(super) async fn note(link: &mut Link, Advanced { key, to }: &Advanced) -> Result<u64, Fault> {
    let sql = "SELECT number FROM sequent_advances WHERE k = ?";
    let held: Option<(i64,)> = link.row(sql, (key.as_str(),)).await?;
    if let Some((held,)) = held.filter(|(held,)| kept(*held) >= *to) {
        return Ok(kept(held));
    }
    let sql = "REPLACE INTO sequent_advances (k, number) VALUES (?, ?)";
    link.exec(sql, (key.as_str(), capped(*to))).await?;
    link.exec("UPDATE sequent_meta SET catalog = catalog + 1 WHERE one = 1", ()).await?;
    Ok(*to)
}

fn definition((name, version, body): (String, u32, String)) -> Result<Definition, SourceError> {
    let unreadable = |error| SourceError::new(ErrorKind::Refused, "definition in the ledger").because(error);
    let name = name.parse().map_err(|error: sequent_core::NameError| unreadable(error))?;
    Ok(Definition { name, version, body })
}
