//! Dense numbers issued by this process: a ledger that knows of fewer went back, whatever marks show.
//!
//! A write's mark may be on a store that is unreachable when the ledger is judged, and a row set back by hand does not change
//! the version. So the process remembers what it gave. Each request demands a counter at or above that, in the statement that
//! counts: a counter below gives nothing, and uses up no number.

use std::{
    collections::BTreeMap,
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
};

use sequent_core::{
    ErrorKind, InstanceId, Key, SourceError,
    ledger::{DenseAsk, DenseTaken},
};

/// The most keys in each of two generations. If the young one is full, the old one is forgotten. Marks, and callers with
/// `above`, still protect forgotten keys.
const KEYS_MAX: usize = 32_768;

/// Highest numbers given, by key.
#[derive(Default)]
pub(crate) struct DenseIssued(Mutex<Generations>);

#[derive(Default)]
struct Generations {
    young: BTreeMap<Key, Highest>,
    old: BTreeMap<Key, Highest>,
}

/// The highest number of a key, and the ledger's instance that gave it.
#[derive(Debug, Clone)]
struct Highest {
    last: u64,
    under: InstanceId,
    /// The ledger's value when it was behind, and whether only the row was set back; `None` while it is not behind.
    found: Option<(u64, bool)>,
}

/// A counter that is below what this process has given of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Back {
    pub(crate) key: Key,
    pub(crate) given: u64,
    pub(crate) found: u64,
    /// Whether the ledger's instance that counted last answered. Then only its row was set back, by hand: any loss of the
    /// ledger would also lose this server's nonce, which is written with each count, and so change the instance.
    pub(crate) is_row: bool,
    /// Whether it was not reported before.
    pub(crate) is_new: bool,
}

impl DenseIssued {
    /// The request, which a counter below the numbers given here answers with [`DenseTaken::Behind`].
    pub(crate) fn demanded(&self, mut ask: DenseAsk) -> DenseAsk {
        ask.above = ask.above.max(self.generations().of(&ask.key).map_or(0, |highest| highest.last));
        ask
    }

    /// Notes the ledger's answer under the instance `under`, or returns that the counter is behind.
    pub(crate) fn judge(&self, ask: &DenseAsk, taken: DenseTaken, under: &InstanceId) -> Result<(), Back> {
        let mut generations = self.generations();
        let highest = generations.of(&ask.key);
        let given = highest.map_or(0, |highest| highest.last);
        if taken == DenseTaken::Locked {
            return Ok(());
        }
        if taken == DenseTaken::Over {
            // Its row was deleted with its period, and none of its numbers is given again. The highest is remembered, in case
            // the ledger is restored from before that.
            if let Some(highest) = highest.filter(|highest| highest.found.is_some()).cloned() {
                generations.note(&ask.key, Highest { found: None, ..highest });
            }
            return Ok(());
        }
        // An answer that is not above everything given is treated like one that says so.
        let (found, last) = match taken {
            DenseTaken::Last(last) => (last.saturating_sub(ask.count), last),
            DenseTaken::Spent { at } | DenseTaken::Behind { at } => (at, at),
            DenseTaken::Over | DenseTaken::Locked => (given, 0),
        };
        let Some(highest) = highest.filter(|_| found < given).cloned() else {
            if last > 0 {
                generations.note(&ask.key, Highest { last, under: under.clone(), found: None });
            }
            return Ok(());
        };
        let was_row = highest.found.is_some_and(|(_, is_row)| is_row);
        let (key, is_new, is_row) =
            (ask.key.clone(), highest.found.is_none(), was_row || highest.under == *under);
        // The instance is kept: if another one answered, repeating the request must not make it the known one.
        generations.note(&key, Highest { found: Some((found, is_row)), ..highest });
        Err(Back { key, given, found, is_row, is_new })
    }

    /// The counters found behind that have not given since: the key, what was given, what was found.
    pub(crate) fn behind(&self) -> Vec<(Key, u64, u64)> {
        let generations = self.generations();
        let all = generations.young.iter().chain(&generations.old);
        all.filter_map(|(key, highest)| Some((key.clone(), highest.last, highest.found?.0))).collect()
    }

    fn generations(&self) -> MutexGuard<'_, Generations> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Generations {
    fn of(&self, key: &Key) -> Option<&Highest> {
        self.young.get(key).or_else(|| self.old.get(key))
    }

    fn note(&mut self, key: &Key, highest: Highest) {
        if !self.young.contains_key(key) {
            if self.young.len() >= KEYS_MAX {
                self.old = mem::take(&mut self.young);
            }
            self.old.remove(key);
        }
        self.young.insert(key.clone(), highest);
    }
}

impl Back {
    /// The error for callers.
    pub(crate) fn error(&self) -> SourceError {
        let Self { key, given, found, .. } = self;
        let context = format!(
            "the ledger says that {found} numbers of the dense counter {key} were given, but this server knows of {given}: the \
             counter was set back, or the ledger lost acknowledged writes; say how much was lost: `sequent recover --bump N`; \
             this server alone knows of {} more, others may know of more",
            given.saturating_sub(*found)
        );
        SourceError::new(ErrorKind::LedgerBehind, context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(key: &str, count: u64) -> DenseAsk {
        DenseAsk { key: Key::from_stored(key), count, limit: 1 << 40, above: 0 }
    }

    fn run(name: &str) -> InstanceId {
        InstanceId::new(name.to_owned())
    }

    #[test]
    fn what_is_not_above_all_that_was_given_is_refused_and_told_once() {
        let (given, invoice) = (DenseIssued::default(), ask("invoice", 5));
        assert_eq!(given.demanded(invoice.clone()).above, 0);
        given.judge(&invoice, DenseTaken::Last(5), &run("a")).unwrap();
        given.judge(&invoice, DenseTaken::Last(17), &run("a")).unwrap();
        assert_eq!(given.demanded(invoice.clone()).above, 17);
        let asked = DenseAsk { above: 20, ..invoice.clone() };
        assert_eq!(given.demanded(asked).above, 20, "a caller may know of more");
        given.judge(&invoice, DenseTaken::Behind { at: 17 }, &run("a")).unwrap();
        for (taken, found) in [
            (DenseTaken::Behind { at: 16 }, 16),
            (DenseTaken::Spent { at: 3 }, 3),
            (DenseTaken::Last(17), 12),
            (DenseTaken::Last(20), 15),
        ] {
            let back = given.judge(&invoice, taken, &run("a")).unwrap_err();
            assert_eq!((back.given, back.found, back.is_row, back.is_new), (17, found, true, found == 16));
            assert_eq!(given.behind(), [(invoice.key.clone(), 17, found)]);
        }
        given.judge(&ask("other", 1), DenseTaken::Last(1), &run("a")).unwrap();
        given.judge(&invoice, DenseTaken::Last(22), &run("a")).unwrap();
        assert_eq!((given.behind(), given.demanded(invoice).above), (vec![], 22));
    }

    #[test]
    fn a_counter_that_is_over_accuses_nobody_and_is_remembered() {
        let (given, invoice) = (DenseIssued::default(), ask("invoice", 1));
        given.judge(&invoice, DenseTaken::Over, &run("a")).unwrap();
        given.judge(&invoice, DenseTaken::Last(9), &run("a")).unwrap();
        given.judge(&invoice, DenseTaken::Behind { at: 4 }, &run("a")).unwrap_err();
        for name in ["a", "b"] {
            given.judge(&invoice, DenseTaken::Over, &run(name)).unwrap();
        }
        assert_eq!((given.behind(), given.demanded(invoice.clone()).above), (vec![], 9));
        let back = given.judge(&invoice, DenseTaken::Behind { at: 4 }, &run("c")).unwrap_err();
        assert_eq!((back.given, back.is_new), (9, true), "a ledger that was put back to before it");
    }

    #[test]
    fn another_run_of_the_ledger_is_another_one_however_often_it_is_asked() {
        let (given, invoice, order) = (DenseIssued::default(), ask("invoice", 1), ask("order", 1));
        given.judge(&invoice, DenseTaken::Last(9), &run("a")).unwrap();
        given.judge(&order, DenseTaken::Last(9), &run("a")).unwrap();
        for name in ["a", "b"] {
            let back = given.judge(&order, DenseTaken::Behind { at: 4 }, &run(name)).unwrap_err();
            assert!(back.is_row, "its row was set back, and the ledger restarted after");
        }
        for is_new in [true, false] {
            let back = given.judge(&invoice, DenseTaken::Behind { at: 4 }, &run("b")).unwrap_err();
            assert_eq!((back.is_row, back.is_new), (false, is_new));
        }
    }

    #[test]
    fn what_was_given_last_is_remembered_and_no_more_keys_than_two_generations() {
        let given = DenseIssued::default();
        for at in 0..=KEYS_MAX * 2 {
            given.judge(&ask(&format!("k{at}"), 1), DenseTaken::Last(7), &run("a")).unwrap();
            given.judge(&ask("used", 1), DenseTaken::Last(7 + at as u64), &run("a")).unwrap();
        }
        assert_eq!(given.demanded(ask("used", 1)).above, 7 + 2 * KEYS_MAX as u64);
        assert_eq!((given.demanded(ask("k0", 1)).above, given.demanded(ask("k65536", 1)).above), (0, 7));
        let held = given.generations();
        assert!(held.young.len() + held.old.len() <= 2 * KEYS_MAX);
    }
}
