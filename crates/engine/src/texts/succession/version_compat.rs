//! A search over chains of versions for a text of two numbers, or a text that is not parsed back. Each version follows
//! the one before by the rules, at once or from an instant on. `SEQUENT_CHAINS` sets how many chains (300; a release
//! tries 10^5), `SEQUENT_FIRST_SEED` replays a seed.

use std::collections::HashMap;

use sequent_core::Entropy;
use sequent_format::{Timestamp, Values};
use sequent_testkit::SeededEntropy;

use crate::{definition::Body, texts::Texts};

/// The default number of chains.
const CHAINS: u64 = 300;

/// Upper limit of the versions of a chain.
const VERSIONS: usize = 5;

/// How many next versions are tried before a chain ends: most are refused.
const TRIES: usize = 30;

/// Templates that are easily confused.
const TEMPLATES: [&str; 20] = [
    "@{seq,w=3}",
    "@{seq,w=6}",
    "@{seq,w=3,over=error}",
    "A@{seq,w=3}",
    "A@{seq,w=4,over=error}",
    "A1@{seq,w=3,over=error}",
    "AA@{seq,w=2}",
    "A@{ctx,c,len=1}@{seq,w=3}",
    "A@{ctx,c,len=1}-@{seq,w=3,over=error}",
    "@{ctx,c,len=1}-@{seq,w=3}",
    "@{ctx,c,re=[0-9A]+}-@{seq,w=2}",
    "@{ctx,c,len=2}@{seq,w=2,over=error}",
    "@{date,yyyy}-@{seq,w=3}",
    "@{date,yyyyMMdd}-@{seq,w=3}",
    "@{date,yyyyMMdd}@{seq,w=3,over=error}",
    "@{date,yyyyMMddHH}@{seq,w=3,over=error}",
    "@{date,yyyyMMddHH}-@{seq,w=3,reset=hour}",
    "C@{seq,w=2,radix=32c,over=error}",
    "C@{seq,w=2,radix=36,over=error}",
    "C@{seq,id=n,w=2,over=error}@{check,damm,over=n}",
];

const ZONES: [&str; 3] = ["UTC", "Asia/Shanghai", "America/New_York"];

const CHARSETS: [Option<&str>; 4] = [None, None, Some("0-9A-Z-"), Some("0-9-")];

const INSTANTS: [&str; 6] = [
    "2026-03-08T06:30:00Z",
    "2026-11-01T05:30:00Z",
    "2026-11-01T06:30:00Z",
    "2026-12-31T15:59:59Z",
    "2026-12-31T16:00:00Z",
    "2027-06-01T12:00:00Z",
];

const VALUES: [&str; 5] = ["0", "1", "A", "01", "A1"];

const NUMBERS: [u64; 9] = [1, 2, 10, 11, 99, 100, 999, 1000, 10_000];

/// The properties that two equal texts must share: number, period, and the values of the key.
type Identity = (u64, String, Vec<String>);

struct Chance(SeededEntropy);

impl Chance {
    fn of<T: Copy>(&self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn below(&self, count: usize) -> usize {
        usize::try_from(self.0.bits() % u64::try_from(count).unwrap()).unwrap()
    }
}

fn body(chance: &Chance) -> Option<Body> {
    // Some chains begin with plain numbers.
    let texts = if chance.below(12) == 0 {
        None
    } else {
        let texts = Texts::new(chance.of(&TEMPLATES)).zone(chance.of(&ZONES));
        Some(texts.charset(chance.of(&CHARSETS).map(str::to_owned)))
    };
    Body::check(Some("spread"), 1, 1, None, None, texts).ok()
}

/// All texts that a version renders at some instants while it is in effect.
fn given(body: &Body) -> Vec<(String, Identity)> {
    let mut all = Vec::new();
    let numbers = || NUMBERS.into_iter().filter(|number| *number <= body.span().limit());
    let Some(format) = body.format() else {
        all.extend(numbers().map(|number| (number.to_string(), (number, String::new(), Vec::new()))));
        return all;
    };
    let names = format.template().values();
    let instants = INSTANTS.into_iter().map(|text| text.parse::<Timestamp>().unwrap());
    for at in instants.filter(|at| body.begins().is_none_or(|begins| begins <= *at)) {
        for value in VALUES.into_iter().take(if names.is_empty() { 1 } else { VALUES.len() }) {
            let with: Values = names.iter().map(|name| (*name, value)).collect();
            let Ok(issue) = format.context(at, &with) else { continue };
            let key: Vec<String> = issue.partition().map(|(_, value)| value.to_owned()).collect();
            let text =
                |number| Some((issue.text(number).ok()?, (number, issue.period().to_owned(), key.clone())));
            all.extend(numbers().filter_map(text));
        }
    }
    all
}

/// The next version, by the rules: at once, or from an instant on.
fn next(chance: &Chance, version: u32, held: &Body) -> Option<Body> {
    for _ in 0..TRIES {
        let Some(next) = body(chance).filter(|next| next.follows(held).is_ok()) else { continue };
        let after = next.after(version, held);
        if chance.below(2) == 0 {
            return Some(after);
        }
        let from: Timestamp = chance.of(&INSTANTS).parse().unwrap();
        let stages: Vec<(u32, &Body)> = held.earlier().chain([(version, held)]).collect();
        let later = after.beginning_at(from, &stages);
        if later.check_counters().is_ok() {
            return Some(later);
        }
    }
    None
}

#[test]
fn no_text_of_a_chain_of_versions_is_of_two_numbers_and_each_is_read_back() {
    let setting = |name: &str, default| {
        std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok()).unwrap_or(default)
    };
    let (chains, seed) = (setting("SEQUENT_CHAINS", CHAINS), setting("SEQUENT_FIRST_SEED", 20_260_401));
    println!("seed {seed} (SEQUENT_FIRST_SEED), {chains} chains (SEQUENT_CHAINS)");
    let chance = Chance(SeededEntropy::new(seed));
    let (mut long, mut compared) = (0_u64, 0_usize);
    for chain in 0..chains {
        let Some(mut top) = body(&chance) else { continue };
        let mut written = Vec::new();
        let mut given_before: HashMap<String, (Identity, u32)> = HashMap::new();
        for version in (1..).take(VERSIONS) {
            written.push(top.to_text());
            for (text, identity) in given(&top) {
                compared += 1;
                let (first, by) =
                    given_before.entry(text.clone()).or_insert_with(|| (identity.clone(), version));
                let whose = format!("chain {chain} of seed {seed}: {text:?} by versions {by} and {version}");
                assert_eq!(*first, identity, "{whose}: {written:#?}");
            }
            // The definition as the ledger returns it.
            top = Body::from_text(&top.to_text()).unwrap();
            for (text, ((number, ..), by)) in given_before.iter().filter(|_| top.texts().is_some()) {
                let read = top.read(text).map(|read| read.number);
                let whose = format!("chain {chain} of seed {seed}: {text:?} of version {by}, by {version}");
                assert_eq!(read, Ok(*number), "{whose}: {written:#?}");
            }
            let Some(next) = next(&chance, version, &top) else { break };
            top = next;
            long += u64::from(version > 1);
        }
    }
    println!("{compared} texts; a third version or a later one {long} times");
    assert!(long > chains / 4, "the search would be empty: {long}");
}
