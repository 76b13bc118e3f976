//! What was given, judged: no text twice, no number twice, and each in a period that its asker's clock showed.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, PoisonError},
};

use sequent_engine::{Issued, Timestamp};
use sequent_format::{Format, Values};

/// How far apart the counters of two periods are, further than all servers come: a number tells which of them gave it,
/// and that its counter began anew.
const APART: u64 = 1_000_000_000;

/// What was given by all servers.
pub(super) struct Given {
    format: Format,
    periods: &'static [&'static str],
    all: Mutex<All>,
}

#[derive(Default)]
struct All {
    numbers: BTreeMap<(String, &'static str), BTreeSet<u64>>,
    texts: BTreeSet<String>,
    /// How many calls began in one period and were answered in another, by the caller's clock.
    over: usize,
    calls: usize,
}

impl Given {
    /// Of these periods, the first one first.
    pub(super) fn new(format: Format, periods: &'static [&'static str]) -> Self {
        Self { format, periods, all: Mutex::default() }
    }

    /// The number that a period's counter is beyond: a later period's are lower.
    pub(super) fn base(&self, period: &str) -> u64 {
        let place = self.periods.iter().position(|known| *known == period).expect("one of the periods");
        (self.periods.len() - 1 - place) as u64 * APART
    }

    /// The period that a clock shows.
    pub(super) fn period(&self, ms: u64, desk: &str) -> String {
        let at = Timestamp::from_millisecond(ms.try_into().unwrap()).unwrap();
        let values = Values::new().with("desk", desk);
        self.format.context(at, &values).unwrap().period().to_owned()
    }

    /// Takes in a batch whose caller's clock allows what lies between two instants; returns its period.
    pub(super) fn take(&self, desk: &'static str, issued: Issued, (from, to): (u64, u64)) -> String {
        let dated = issued.dated.unwrap();
        let (earliest, latest) = (self.period(from, desk), self.period(to, desk));
        // Periods of one kind: their order is that of their texts.
        let is_allowed = earliest <= dated.period && dated.period <= latest;
        assert!(is_allowed, "{} is out of {earliest} to {latest}: {:?}", dated.period, dated.texts);
        let at: Timestamp = dated.at.parse().unwrap();
        let at_ms = u64::try_from(at.as_millisecond()).unwrap();
        assert!((from..=to).contains(&at_ms), "{} is no instant of {from} to {to}", dated.at);
        assert_eq!(self.period(at_ms, desk), dated.period, "instant and period are one: {}", dated.at);
        let numbers: Vec<u64> = issued.numbers.numbers().collect();
        assert_eq!(numbers.len(), dated.texts.len());
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.calls += 1;
        all.over += usize::from(earliest != latest);
        for (number, text) in numbers.into_iter().zip(dated.texts) {
            let read = self.format.decode(&text).unwrap();
            let told = (read.number, read.period.as_deref());
            assert_eq!(told, (number, Some(&*dated.period)), "a batch is of one period: {text}");
            let base = self.base(&dated.period);
            assert!((base + 1..=base + APART).contains(&number), "{text}: {number} is another period's");
            let key = (dated.period.clone(), desk);
            assert!(all.numbers.entry(key).or_default().insert(number), "{text}: number twice");
            assert!(all.texts.insert(text.clone()), "{text} twice");
        }
        dated.period
    }

    /// What there must be at the end.
    pub(super) fn check(&self) {
        let all = self.all.lock().unwrap();
        println!("{} texts of {} calls, {} of them over an end", all.texts.len(), all.calls, all.over);
        assert!(all.over > 0, "no call was in flight over an end");
        let seen: BTreeSet<&str> = all.numbers.keys().map(|(period, _)| period.as_str()).collect();
        assert_eq!(seen, self.periods.iter().copied().collect());
    }
}
