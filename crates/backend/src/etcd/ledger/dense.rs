//! Dense counters: a row each. What a call counts rests on these rows, and on the version, which is one more where it gives.

use std::collections::{BTreeMap, BTreeSet};

use sequent_core::{
    BoxFuture, Key, SourceError,
    ledger::{Advanced, Answer, Dense, DenseAsk, DenseRow, DenseTaken, Pass},
};
use serde::{Deserialize, Serialize};

use super::{
    EtcdLedger,
    admit::{Head, Shown},
    kept::{Losses, widened},
    page::RAISED_MAX,
    rows::scan,
    transact::{Change, Step, look, transact},
};
use crate::{
    etcd::{
        gateway::{Kv, Op, Span},
        link::Link,
        names::Names,
        value::{self, Answers, or_default, unreadable},
    },
    wire::{Fault, Work},
};

/// Counters of one page of a list.
const PAGE: usize = 1000;

impl Dense for EtcdLedger {
    fn count<'a>(
        &'a self,
        pass: Pass<'a>,
        asks: &'a [DenseAsk],
    ) -> BoxFuture<'a, Result<Answer<Vec<DenseTaken>>, SourceError>> {
        Box::pin(self.pool.perform(Count { pass, asks }))
    }

    fn dense<'a>(
        &'a self,
        under: Option<&'a str>,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<DenseRow>, SourceError>> {
        Box::pin(self.pool.perform(List { under, most }))
    }
}

/// A dense counter. `lost`: the sum of the losses that it was written under.
#[derive(Serialize, Deserialize)]
struct Kept {
    value: u64,
    begun_at_ms: u64,
    lost: u64,
}

impl Kept {
    /// What it has given, with what was lost since it was written.
    fn given(&self, losses: Losses) -> u64 {
        widened(self.value, losses.lost.saturating_sub(self.lost))
    }
}

struct Count<'a> {
    pass: Pass<'a>,
    asks: &'a [DenseAsk],
}

impl Work<Link> for Count<'_> {
    type Out = Answer<Vec<DenseTaken>>;
    const VERB: &'static str = "count in";

    async fn run(&self, link: &mut Link) -> Result<Answer<Vec<DenseTaken>>, Fault> {
        let (mut all, mut shown) = (Vec::with_capacity(self.asks.len()), Shown::Nonces(self.pass.nonces));
        let mut rest = self.asks;
        loop {
            let (now, after) = rest.split_at(fitting(rest));
            let ((value, version), revision) = count(link, &self.pass, shown, now).await?;
            all.extend(value);
            if after.is_empty() {
                return Ok(Answer { value: all, version });
            }
            (rest, shown) = (after, Shown::Revision(revision));
        }
    }
}

/// How many asks fit one transaction: it holds their counters and fences, however often each is asked.
fn fitting(asks: &[DenseAsk]) -> usize {
    let (mut keys, mut fences) = (BTreeSet::new(), BTreeSet::new());
    for (at, ask) in asks.iter().enumerate() {
        if keys.insert(&ask.key) {
            fences.extend(Advanced::fence(&ask.key).map(|fence| fence.key));
        }
        if keys.len() + fences.len() > RAISED_MAX {
            return at;
        }
    }
    asks.len()
}

/// Asks that fit one transaction: what became of them, the version, and the revision.
async fn count(
    link: &mut Link,
    pass: &Pass<'_>,
    shown: Shown<'_>,
    asks: &[DenseAsk],
) -> Result<((Vec<DenseTaken>, u64), u64), Fault> {
    let (voice, names) = (link.voice(), link.names());
    let keys: BTreeSet<&Key> = asks.iter().map(|ask| &ask.key).collect();
    let fences: BTreeSet<Key> =
        keys.iter().filter_map(|key| Advanced::fence(key)).map(|fence| fence.key).collect();
    let rows = keys.iter().map(|key| names.dense(key)).chain(fences.iter().map(|key| names.advance(key)));
    let rows = rows.map(|name| Op::Read(Span::one(name)));
    let reads: Vec<Op> = Head::reads(&names, pass.server).into_iter().chain(rows).collect();
    transact(link, &reads, |mut answers| {
        let mut head = Head::of(voice, &names, pass.server, &mut answers)?;
        head.admit(pass, shown)?;
        let mut ops = vec![head.sign(&names, pass)];
        let mut counted = Held::read(&names, (&keys, &fences), &head, &mut answers)?;
        let value = asks.iter().map(|ask| counted.count(ask)).collect();
        let gave = !counted.counted.is_empty();
        let version = head.version.saturating_add(u64::from(gave));
        if gave {
            ops.push(Op::Put(names.only("version"), version.to_string()));
        }
        counted.write(&names, &head, &mut ops);
        head.unchanged.append(&mut counted.unchanged);
        Ok(Step::Write(Change { unchanged: head.unchanged, ops }, (value, version)))
    })
    .await
}

/// What counters have given, and when they began; before and after. Those that are over are left out.
struct Held<'a> {
    counters: BTreeMap<&'a Key, (u64, u64)>,
    counted: BTreeSet<&'a Key>,
    unchanged: Vec<(String, u64)>,
}

impl<'a> Held<'a> {
    fn read(
        names: &Names,
        (keys, fences): (&BTreeSet<&'a Key>, &BTreeSet<Key>),
        head: &Head,
        answers: &mut Answers,
    ) -> Result<Self, SourceError> {
        let (mut counters, mut unchanged, mut begins) = (BTreeMap::new(), Vec::new(), Vec::new());
        for key in keys {
            let kv = answers.one();
            unchanged.push((names.dense(key), kv.as_ref().map_or(0, |kv| kv.mod_revision)));
            let kept = kv.map(|kv| value::of::<Kept>("dense counter", &kv)).transpose()?;
            let given = kept.map(|kept| (kept.given(head.losses), kept.begun_at_ms));
            match given {
                Some(given) => drop(counters.insert(*key, given)),
                None => begins.push(*key),
            }
        }
        let mut notes = BTreeMap::new();
        for key in fences {
            notes.insert(key, or_default("advance", answers.one().as_ref())?);
        }
        for key in begins {
            let own = Advanced::fence(key);
            let upto: Option<&(u64, u64)> = own.as_ref().and_then(|own| notes.get(&own.key));
            if let (Some(own), Some((upto, revision))) = (&own, upto) {
                if *upto >= own.to {
                    continue;
                }
                // What begins rests on its fence as it was read.
                unchanged.push((names.advance(&own.key), *revision));
            }
            counters.insert(key, (head.losses.floor, head.clock_ms));
        }
        unchanged.sort();
        unchanged.dedup();
        Ok(Self { counters, counted: BTreeSet::new(), unchanged })
    }

    fn count(&mut self, ask: &'a DenseAsk) -> DenseTaken {
        let Some((given, _)) = self.counters.get_mut(&ask.key) else { return DenseTaken::Over };
        let taken = ask.of(*given);
        if let DenseTaken::Last(last) = taken {
            *given = last;
            self.counted.insert(&ask.key);
        }
        taken
    }

    fn write(&self, names: &Names, head: &Head, ops: &mut Vec<Op>) {
        for (key, (given, begun_at_ms)) in &self.counters {
            if self.counted.contains(key) {
                let kept = Kept { value: *given, begun_at_ms: *begun_at_ms, lost: head.losses.lost };
                ops.push(Op::Put(names.dense(key), value::text(&kept)));
            }
        }
    }
}

struct List<'a> {
    under: Option<&'a str>,
    most: usize,
}

impl Work<Link> for List<'_> {
    type Out = Vec<DenseRow>;
    const VERB: &'static str = "list dense counters of";

    async fn run(&self, link: &mut Link) -> Result<Vec<DenseRow>, Fault> {
        let names = link.names();
        let mut answers = look(link, vec![Op::Read(Span::one(names.only("losses")))]).await?;
        let (losses, _) = or_default("losses", answers.one().as_ref())?;
        let all = names.all_dense();
        let spans = match self.under {
            None => vec![Span::under(all.clone())],
            Some(name) => vec![Span::one(format!("{all}{name}")), Span::under(format!("{all}{name}|"))],
        };
        let mut listed = Vec::new();
        for span in spans {
            let most = self.most.saturating_sub(listed.len());
            for kv in scan(link, span, most, PAGE).await? {
                listed.push(row(&all, &kv, losses)?);
            }
        }
        Ok(listed)
    }
}

fn row(all: &str, kv: &Kv, losses: Losses) -> Result<DenseRow, SourceError> {
    let key = kv.name()?.strip_prefix(all).ok_or_else(|| unreadable("name of a dense counter"))?;
    let kept: Kept = value::of("dense counter", kv)?;
    Ok(DenseRow { key: Key::from_stored(key), value: kept.given(losses), begun_at_ms: kept.begun_at_ms })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asks_of_one_counter_are_one_transaction_and_too_many_counters_are_several() {
        let ask = |at: usize| DenseAsk {
            key: Key::from_stored(&format!("k{at}")),
            count: 1,
            limit: u64::MAX,
            above: 0,
        };
        let one: Vec<DenseAsk> = (0..4096).map(|_| ask(0)).collect();
        assert_eq!(fitting(&one), 4096);
        let each_twice: Vec<DenseAsk> = (0..1000).map(|at| ask(at / 2)).collect();
        assert_eq!(fitting(&each_twice), 2 * RAISED_MAX);
        assert_eq!(fitting(&[]), 0);
    }
}
