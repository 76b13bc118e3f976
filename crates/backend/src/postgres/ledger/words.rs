//! What operators said: the latest word about a slot counts, while it lasts.

use sequent_core::{
    BoxFuture, ErrorKind, SourceError,
    ledger::{Word, WordVerb, Words},
};
use sqlx::query_as;

use super::{PostgresLedger, capped, kept, small, text};
use crate::postgres::{
    fault::Fault,
    link::Link,
    work::{Frame, Work},
};

impl Words for PostgresLedger {
    fn words(&self) -> BoxFuture<'_, Result<Vec<Word>, SourceError>> {
        Box::pin(self.database.perform(Read))
    }

    fn say<'a>(&'a self, word: &'a Word) -> BoxFuture<'a, Result<Word, SourceError>> {
        Box::pin(self.database.perform(Say { word }))
    }
}

struct Read;

impl Work for Read {
    type Out = Vec<Word>;
    const VERB: &'static str = "read words from";
    const FRAME: Frame = Frame::Bare;

    async fn run(&self, link: &mut Link) -> Result<Vec<Word>, Fault> {
        in_force(link).await
    }
}

struct Say<'a> {
    word: &'a Word,
}

impl Work for Say<'_> {
    type Out = Word;
    const VERB: &'static str = "say to";
    const FRAME: Frame = Frame::Bare;

    async fn run(&self, link: &mut Link) -> Result<Word, Fault> {
        let Word { slot, verb, who, why, until_ms, .. } = self.word;
        let sql = "INSERT INTO words (slot, verb, who, why, at_ms, until_ms) \
            VALUES ($1, $2, $3, $4, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, $5) \
            ON CONFLICT (slot) DO UPDATE SET verb = excluded.verb, who = excluded.who, why = excluded.why, \
                at_ms = excluded.at_ms, until_ms = excluded.until_ms RETURNING at_ms";
        let query = query_as(sql).bind(i32::from(*slot)).bind(verb.as_str());
        let query = query.bind(who.as_bytes()).bind(why.as_bytes()).bind(until_ms.map(capped));
        let (at_ms,): (i64,) = link.session().only(query).await?;
        Ok(Word { at_ms: kept(at_ms), ..self.word.clone() })
    }
}

type Kept = (i32, String, Vec<u8>, Vec<u8>, i64, Option<i64>);

/// The latest word about each slot, expired ones left out.
pub(super) async fn in_force(link: &mut Link) -> Result<Vec<Word>, Fault> {
    let sql = "SELECT slot, verb, who, why, at_ms, until_ms FROM words \
        WHERE until_ms IS NULL OR until_ms > (extract(epoch FROM clock_timestamp()) * 1000)::bigint ORDER BY slot";
    let rows: Vec<Kept> = link.session().rows(query_as(sql)).await?;
    Ok(rows.into_iter().map(word).collect::<Result<_, _>>()?)
}

fn word((slot, verb, who, why, at_ms, until_ms): Kept) -> Result<Word, SourceError> {
    let verb = WordVerb::from_word(&verb).ok_or_else(|| {
        SourceError::new(ErrorKind::Refused, format!("word about slot {slot}: found verb {verb:?}"))
    })?;
    let (who, why) = (text("word", who)?, text("word", why)?);
    Ok(Word { slot: small("slot", slot)?, verb, who, why, at_ms: kept(at_ms), until_ms: until_ms.map(kept) })
}
