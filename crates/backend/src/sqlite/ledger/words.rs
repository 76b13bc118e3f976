//! What operators said: the latest word about a slot counts, while it lasts.

use sequent_core::{
    BoxFuture, ErrorKind, SlotIndex, SourceError,
    ledger::{Word, WordVerb, Words},
};
use sqlx::{query, query_as};

use super::{SqliteLedger, capped, kept};
use crate::sqlite::{
    fault::Fault,
    link::Link,
    work::{Frame, Work},
};

impl Words for SqliteLedger {
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
        let said = Word { at_ms: link.wall_ms(), ..self.word.clone() };
        let sql = "INSERT OR REPLACE INTO words (slot, verb, who, why, at_ms, until_ms) \
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let query = query(sql).bind(said.slot).bind(said.verb.as_str());
        let query = query.bind(said.who.as_str()).bind(said.why.as_str());
        link.run(query.bind(capped(said.at_ms)).bind(said.until_ms.map(capped))).await?;
        Ok(said)
    }
}

/// The latest word about each slot, expired ones left out.
pub(super) async fn in_force(link: &mut Link) -> Result<Vec<Word>, Fault> {
    type Kept = (SlotIndex, String, String, String, i64, Option<i64>);
    let sql = "SELECT slot, verb, who, why, at_ms, until_ms FROM words \
        WHERE until_ms IS NULL OR until_ms > ?1 ORDER BY slot";
    let now_ms = capped(link.wall_ms());
    let rows: Vec<Kept> = link.rows(query_as(sql).bind(now_ms)).await?;
    let word = |(slot, verb, who, why, at_ms, until_ms): Kept| {
        let verb = WordVerb::from_word(&verb).ok_or_else(|| {
            SourceError::new(ErrorKind::Refused, format!("word about slot {slot}: found verb {verb:?}"))
        })?;
        Ok(Word { slot, verb, who, why, at_ms: kept(at_ms), until_ms: until_ms.map(kept) })
    };
    rows.into_iter().map(word).collect()
}
