//! What operators said: the latest word about a slot counts, while it lasts.

use sequent_core::{
    BoxFuture, ErrorKind, SourceError,
    ledger::{Word, WordVerb, Words},
};
use serde::{Deserialize, Serialize};

use super::{
    EtcdLedger,
    transact::{Change, Step, look, transact},
};
use crate::{
    etcd::{
        gateway::{Kv, Op, Span},
        link::Link,
        names::slot_of,
        value::{self, Answers, unreadable},
    },
    wire::{Fault, Work},
};

impl Words for EtcdLedger {
    fn words(&self) -> BoxFuture<'_, Result<Vec<Word>, SourceError>> {
        Box::pin(self.pool.perform(Read))
    }

    fn say<'a>(&'a self, word: &'a Word) -> BoxFuture<'a, Result<Word, SourceError>> {
        Box::pin(self.pool.perform(Say { word }))
    }
}

#[derive(Serialize, Deserialize)]
struct Kept {
    verb: String,
    who: String,
    why: String,
    at_ms: u64,
    until_ms: Option<u64>,
}

struct Read;

impl Work<Link> for Read {
    type Out = Vec<Word>;
    const VERB: &'static str = "read words from";

    async fn run(&self, link: &mut Link) -> Result<Vec<Word>, Fault> {
        let reads = vec![Op::Read(Span::under(link.names().words()))];
        Ok(in_force(&mut look(link, reads).await?)?)
    }
}

struct Say<'a> {
    word: &'a Word,
}

impl Work<Link> for Say<'_> {
    type Out = Word;
    const VERB: &'static str = "say to";

    async fn run(&self, link: &mut Link) -> Result<Word, Fault> {
        let name = link.names().word(self.word.slot);
        // Read for the clock alone: whatever was said before, this is later.
        let reads = [Op::Read(Span::one(name.clone()))];
        let (said, _) = transact(link, &reads, |answers| {
            let said = Word { at_ms: answers.clock_ms, ..self.word.clone() };
            let Word { verb, who, why, at_ms, until_ms, .. } = said.clone();
            let kept = Kept { verb: verb.as_str().to_owned(), who, why, at_ms, until_ms };
            let ops = vec![Op::Put(name.clone(), value::text(&kept))];
            Ok(Step::Write(Change { ops, ..Change::default() }, said))
        })
        .await?;
        Ok(said)
    }
}

/// The latest word about each slot, expired ones left out.
pub(super) fn in_force(answers: &mut Answers) -> Result<Vec<Word>, SourceError> {
    let words = answers.all().kvs.iter().map(word).collect::<Result<Vec<_>, _>>()?;
    let lasts = |word: &Word| word.until_ms.is_none_or(|until_ms| answers.clock_ms < until_ms);
    Ok(words.into_iter().filter(lasts).collect())
}

fn word(kv: &Kv) -> Result<Word, SourceError> {
    let slot = slot_of(kv.name()?).ok_or_else(|| unreadable("slot of a word"))?;
    let Kept { verb, who, why, at_ms, until_ms } = value::of("word", kv)?;
    let verb = WordVerb::from_word(&verb).ok_or_else(|| {
        SourceError::new(ErrorKind::Refused, format!("word about slot {slot}: found verb {verb:?}"))
    })?;
    Ok(Word { slot, verb, who, why, at_ms, until_ms })
}
