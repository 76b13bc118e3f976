//! Dense sequences: one counter in the ledger, without ring and reservoir. Requests of all callers in this process are
//! merged into one call.

mod keys;
mod known;

use std::{
    sync::{Arc, atomic::Ordering},
    time::Instant,
};

use sequent_buffer::TakeError;
use sequent_core::{
    Block, Blocks, ErrorKind, Key, SequenceName, SourceError, Span,
    ledger::{DenseAsk, DenseTaken},
};

use crate::{
    catalog::Entry,
    definition::Placement,
    engine::Engine,
    error::{End, EngineError, reason::Reason},
    issue::{
        request::ResolvedRequest,
        request_types::{Issued, NextRequest, Way},
        retention::for_good,
    },
    ledger_timeout::not_found,
};

pub(crate) use keys::DenseKeys;
use known::Answer;
pub(crate) use known::Known;

/// The error text for a lease of a dense sequence.
const NO_LEASE: &str =
    "a dense sequence has no leases, since it has no gaps: ask for its numbers one call each";

impl Engine {
    /// The response to a request of a dense sequence; `None` if the sequence is not dense, or not known yet.
    pub(crate) async fn given_dense(
        &self,
        request: &NextRequest,
        is_lease: bool,
        deadline: Instant,
    ) -> Result<Option<Issued>, EngineError> {
        if request.is_plain() && self.0.keys.get(request.name.as_str()).is_some() {
            return Ok(None);
        }
        let Some(entry) = self.dense_entry(&request.name) else { return Ok(None) };
        if is_lease {
            return Err(not_leased());
        }
        let resolved = self.0.resolve(entry, request)?;
        let numbers = self.count(&resolved, request, deadline).await?;
        // Numbers are issued in order: only the request that passes the threshold gives the warning.
        self.warn(&resolved, &numbers, true);
        resolved.issued(request, (numbers, Way::Dense), true).await.map(Some)
    }

    /// The definition of a sequence, if it is known to be dense.
    pub(crate) fn dense_entry(&self, name: &SequenceName) -> Option<Arc<Entry>> {
        let entry = self.0.catalog.find(name)?;
        entry.known().is_ok_and(|body| body.placement() == Placement::Dense).then_some(entry)
    }

    /// How many numbers a dense counter of at most `capacity` has issued. A call with count 0 reads it, however many
    /// keys the sequence has.
    pub async fn dense_at(&self, name: &SequenceName, key: &Key, capacity: u64) -> Result<u64, EngineError> {
        let ask = DenseAsk { key: key.clone(), count: 0, limit: capacity, above: 0 };
        let told = self.0.guard.count(ask).await;
        match told.map_err(|error| EngineError::of_source(name, error))? {
            DenseTaken::Last(at) | DenseTaken::Spent { at } | DenseTaken::Behind { at } => Ok(at),
            DenseTaken::Over => Err(EngineError::of_source(name, over(key))),
            DenseTaken::Locked => Err(held(name)),
        }
    }

    async fn count(
        &self,
        resolved: &ResolvedRequest,
        request: &NextRequest,
        deadline: Instant,
    ) -> Result<Blocks, EngineError> {
        if self.0.stopping.load(Ordering::Acquire) {
            return Err(Self::draining());
        }
        let (name, key, count) = (&request.name, &resolved.key, request.count);
        let span = self.counted_span(resolved)?;
        let above = dense_ordinal(span, request.above);
        let keys_max = self.0.limits.load().keys_per_sequence_max;
        self.0.dense_keys.claim(key, keys_max, self.0.env.clock.now())?;
        self.0.dense_burn.admit(&self.0.env, key, (count, span.capacity()))?;
        let ask = DenseAsk { key: key.clone(), count, limit: span.capacity(), above };
        let asked = async {
            match self.0.guard.count(ask.clone()).await {
                Ok(DenseTaken::Behind { at }) => match self.0.of_all_keys(key, span).await {
                    Some(permitted) if permitted < request.above => Ok(DenseTaken::Behind { at }),
                    // Another key of the sequence issued it, or this can't be determined.
                    _ => self.0.guard.count(DenseAsk { above: 0, ..ask }).await,
                },
                taken => taken,
            }
        };
        let taken = tokio::time::timeout_at(deadline.into(), asked).await;
        let taken = taken.map_err(|_| self.failed(name, TakeError::Deadline))?;
        let (given, at) = match taken {
            Ok(DenseTaken::Last(last)) => (count, last),
            Ok(DenseTaken::Spent { at }) => (0, at),
            _ => (0, 0),
        };
        let left = (at > 0).then(|| span.capacity().saturating_sub(at));
        self.0.dense_burn.note(key, (count, given), left);
        if at > 0 {
            let answer = Answer { given, at, capacity: span.capacity(), until: resolved.period_end() };
            self.0.dense.note(resolved.counter().unwrap_or(name), key, answer, self.0.env.clock.now());
        }
        match taken {
            Ok(DenseTaken::Last(last)) => {
                numbers(span, last, count).ok_or_else(|| at_its_end(name, (span, last), count))
            }
            Ok(DenseTaken::Spent { at }) => Err(at_its_end(name, (span, at), count)),
            Ok(DenseTaken::Over) => Err(EngineError::of_source(name, over(key))),
            Ok(DenseTaken::Locked) => Err(held(name)),
            Ok(DenseTaken::Behind { at }) => Err(self.accuse(key, request.above, dense_number(span, at))),
            Err(error) => Err(self.source_failed(name, error)),
        }
    }

    /// The numbers of a request's counter. A counter that several sequences share ends where its own sequence does.
    fn counted_span(&self, resolved: &ResolvedRequest) -> Result<Span, EngineError> {
        let Some(counter) = resolved.counter() else { return Ok(resolved.entry.body()?.span()) };
        let entry = self.0.catalog.find(counter).ok_or_else(|| not_found(counter))?;
        Ok(entry.body()?.span())
    }
}

/// The refusal of a lease, or of a reservoir. Its field shows the caller that the placement is the reason.
pub(crate) fn not_leased() -> EngineError {
    EngineError::invalid("placement", Placement::Dense.as_str(), NO_LEASE)
}

/// The error for a key whose period is over; normally the guard reports it first.
fn over(key: &Key) -> SourceError {
    SourceError::new(ErrorKind::Exhausted, for_good(key))
}

/// The error for a counter whose row is locked by another client of the ledger's database.
fn held(name: &SequenceName) -> EngineError {
    let text =
        format!("another client of the ledger's database holds the row of {name}: it must commit first");
    EngineError::new(Reason::LedgerUnavailable, text)
}

fn at_its_end(name: &SequenceName, (span, at): (Span, u64), count: u64) -> EngineError {
    let context = format!("the dense counter has given {at}");
    let end =
        End { limit: span.limit(), given: dense_number(span, at), left: span.capacity().saturating_sub(at) };
    EngineError::of_source(name, SourceError::new(ErrorKind::Exhausted, context)).with_end(end, count)
}

/// The last `count` of the first `last` numbers of a span.
fn numbers(span: Span, last: u64, count: u64) -> Option<Blocks> {
    let before = last.checked_sub(count)?;
    let first = span.start().checked_add(span.step().checked_mul(before)?)?;
    let step = if count == 1 { 1 } else { span.step() };
    Some(Blocks::from(Block::new(first, step, count).ok()?))
}

/// The last of the first `ordinal` numbers of a span, 0 for none.
pub fn dense_number(span: Span, ordinal: u64) -> u64 {
    numbers(span, ordinal, 1).and_then(|blocks| blocks.highest()).unwrap_or(0)
}

/// How many numbers a counter must have issued at least if `number` is among them; 0 for none.
pub fn dense_ordinal(span: Span, number: u64) -> u64 {
    match number.checked_sub(span.start()) {
        None => 0,
        Some(offset) => offset.div_ceil(span.step()).saturating_add(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_core::Fits;

    #[test]
    fn an_ordinal_is_the_number_of_numbers_up_to_it() {
        let span = Span::new(100, 10, Some(200), Fits::Js).unwrap();
        for (number, ordinal) in
            [(0, 0), (1, 0), (99, 0), (100, 1), (101, 2), (110, 2), (200, 11), (u64::MAX, 1 << 60)]
        {
            let found = dense_ordinal(span, number);
            assert!(found == ordinal || number == u64::MAX && found > ordinal, "{number}: {found}");
        }
        for (last, count, expected) in
            [(1, 1, vec![100]), (3, 2, vec![110, 120]), (11, 3, vec![180, 190, 200])]
        {
            let given = numbers(span, last, count).unwrap();
            assert_eq!(given.numbers().collect::<Vec<_>>(), expected);
            assert_eq!(dense_ordinal(span, given.highest().unwrap()), last);
        }
        assert_eq!(numbers(span, 1, 2), None);
    }
}
