//! What operators said: the latest word about a slot counts, while it lasts.

use sequent_core::{
    BoxFuture, ErrorKind, SlotIndex, SourceError,
    ledger::{Word, WordVerb, Words},
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

impl Words for MysqlLedger {
    fn words(&self) -> BoxFuture<'_, Result<Vec<Word>, SourceError>> {
        Box::pin(self.pool.perform(Read))
    }

    fn say<'a>(&'a self, word: &'a Word) -> BoxFuture<'a, Result<Word, SourceError>> {
        Box::pin(self.pool.perform(Say { word }))
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
    const FRAME: Frame = Frame::Write;

    async fn run(&self, link: &mut Link) -> Result<Word, Fault> {
        let said = Word { at_ms: hold(link, Hold::Write).await?.clock_ms, ..self.word.clone() };
        let sql =
            "REPLACE INTO sequent_words (slot, verb, who, why, at_ms, until_ms) VALUES (?, ?, ?, ?, ?, ?)";
        let (who, why, until) = (said.who.as_str(), said.why.as_str(), said.until_ms.map(capped));
        link.exec(sql, (said.slot, said.verb.as_str(), who, why, capped(said.at_ms), until)).await?;
        Ok(said)
    }
}

/// The latest word about each slot, expired ones left out.
pub(super) async fn in_force(link: &mut Link) -> Result<Vec<Word>, Fault> {
    type Kept = (SlotIndex, String, String, String, i64, Option<i64>);
    let sql = "SELECT slot, verb, who, why, at_ms, until_ms FROM sequent_words \
        WHERE until_ms IS NULL OR until_ms > CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS UNSIGNED) ORDER BY slot";
    let rows: Vec<Kept> = link.rows(sql, ()).await?;
    let word = |(slot, verb, who, why, at_ms, until_ms): Kept| {
        let verb = WordVerb::from_word(&verb).ok_or_else(|| {
            SourceError::new(ErrorKind::Refused, format!("word about slot {slot}: found verb {verb:?}"))
        })?;
        Ok(Word { slot, verb, who, why, at_ms: kept(at_ms), until_ms: until_ms.map(kept) })
    };
    rows.into_iter().map(word).collect()
}
