//! Searches two different (number, period, partition) with the same text under an accepted template, and a text that does not
//! decode. `SEQUENT_TEMPLATES` is the number of templates and values to try (20,000 by default; 10^6 for a release).
//! `SEQUENT_FIRST_SEED` replays a seed.

use std::collections::{HashMap, HashSet};

use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use sequent_format::{
    CounterSpec, Format, ObfuscationKey, Settings, Template, Timestamp, Unique, Values, Wrap,
};

/// The default number of cases.
const CASES: u64 = 20_000;

/// Requests per template, each with some numbers. They are close together, where collisions are likely.
const REQUESTS: usize = 6;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// The text of one part. `{i}` becomes its index, so that names differ.
fn part() -> impl Strategy<Value = String> {
    let fixed = [
        "-",
        "/",
        "A",
        "0",
        "1",
        "INV",
        "@{key,1}",
        "@{ctx,c{i},len=1}",
        "@{ctx,c{i},len=2,re=[01]+}",
        "@{ctx,c{i}}",
        "@{ctx,c{i},re=[01]+}",
        "@{ctx,c{i},re=[A1]+,max=3}",
        "@{ctx,c{i},re=[01-]*}",
        "@{ctx,c{i},by=no,re=[01]+}",
        "@{ctx,c{i},show=no}",
        "@{ctx,c{i},case=upper,len=1}",
        "@{ctx,c{i},case=lower,re=[a-zé京]+}",
        "é",
        "@{ctx,c{i},map=0:A;1:B;01:C}",
        "@{ctx,c{i},map=0:1;1:11;01:0}",
        "@{ctx,c{i},map=0:1;1:1;01:0,by=no}",
        "@{ctx,c{i},map=0:1;1:1;01:0}",
        "@{check,damm}",
        "@{check,luhn}",
        "@{check,mod37-36}",
        "@{check,mod97-10,over=n}",
        "@{check,damm,over=n}",
        "@{fn,last,n=2,over=n}",
        "@{fn,mod,by=7}",
        "@{date,yyyyMMdd,at=c{i}d}",
        "@{date,yyMM,at=c{i}d}",
    ];
    let dates = [
        "yyyy", "yy", "MM", "dd", "DDD", "HH", "Q", "GGGG", "WW", "FS", "FE", "FFFF", "yyyyMMdd", "GGGGWW",
        "yyyyQ", "FS-FE",
    ];
    prop_oneof![
        3 => prop::sample::select(fixed.to_vec()).prop_map(str::to_owned),
        1 => prop::sample::select(dates.to_vec()).prop_map(|date| format!("@{{date,{date}}}")),
    ]
}

/// The `seq` part.
fn seq() -> impl Strategy<Value = String> {
    let width = 1..4_usize;
    let radix = prop::sample::select(vec![
        "",
        ",radix=36",
        ",radix=01",
        ",radix=32c",
        ",radix=32c,pad=x",
        ",radix=32c,pad=u",
        ",radix=32c,pad=*",
        ",radix=16,case=lower",
        ",radix=62",
        ",pad=*",
        ",pad=A",
        ",pad=1",
    ]);
    let over = prop::sample::select(vec![
        "",
        ",over=error",
        ",over=wrap",
        ",over=wrap,reuse_after=1d",
        ",wmax=4",
        ",end=40",
        ",obf=ff1:k,w=6",
    ]);
    let reset = prop::sample::select(vec![
        "",
        "",
        "",
        ",reset=never",
        ",reset=year",
        ",reset=fy",
        ",reset=quarter",
        ",reset=month",
        ",reset=isoweek",
        ",reset=day",
        ",reset=hour",
    ]);
    let fiscal = prop::sample::select(vec!["", ",fy=04-01", ",fy=04-06", ",fy=11-15"]);
    let counted = prop::sample::select(vec!["", "", "", ",start=7", ",step=3", ",start=10,step=5"]);
    (width, radix, over, reset, fiscal, counted).prop_map(|(width, radix, over, reset, fiscal, counted)| {
        let width = if over.contains("w=6") { String::new() } else { format!(",w={width}") };
        format!("@{{seq,id=n{width}{radix}{over}{reset}{fiscal}{counted}}}")
    })
}

fn template() -> impl Strategy<Value = String> {
    (prop::collection::vec(part(), 0..5), seq(), any::<prop::sample::Index>())
        .prop_map(|(parts, seq, place)| written(parts, seq, place))
}

fn written(mut parts: Vec<String>, seq: String, place: prop::sample::Index) -> String {
    parts.insert(place.index(parts.len() + 1), seq);
    parts.iter().enumerate().map(|(at, part)| part.replace("{i}", &at.to_string())).collect()
}

/// Two similar versions, since dissimilar ones seldom have a common text.
fn versions() -> impl Strategy<Value = (String, String)> {
    let parts = (prop::collection::vec(part(), 0..3), prop::option::of(part()));
    (parts, (seq(), seq()), any::<(prop::sample::Index, prop::sample::Index)>()).prop_map(
        |((parts, more), (one, two), places)| {
            let next = parts.iter().cloned().chain(more).collect();
            (written(parts, one, places.0), written(next, two, places.1))
        },
    )
}

fn settings() -> impl Strategy<Value = Settings> {
    let unique =
        prop::sample::select(vec![Unique::Global, Unique::Global, Unique::Period, Unique::Partition]);
    let zone = prop::sample::select(vec!["UTC", "America/New_York", "Australia/Lord_Howe"]);
    (unique, zone).prop_map(|(unique, zone)| Settings {
        unique,
        zone: zone.into(),
        maxlen: 256,
        keys: [("k".to_owned(), ObfuscationKey::new(&[9; 16]).unwrap())].into(),
        ..Settings::default()
    })
}

/// Similar values, instants at ends of periods, numbers at ends of widths.
type Draw = (Vec<usize>, usize, usize);

fn draws() -> impl Strategy<Value = Vec<Draw>> {
    let bits = prop::collection::vec(0..TEXTS.len(), 8);
    prop::collection::vec((bits, 0..INSTANTS.len(), 0..NUMBERS.len()), REQUESTS)
}

const INSTANTS: [&str; 12] = [
    "2024-01-01T12:00:00Z",
    "2024-12-30T12:00:00Z",
    "2025-01-01T00:30:00Z",
    "2025-03-31T23:59:59Z",
    "2025-04-01T12:00:00Z",
    "2025-04-05T12:00:00Z",
    "2025-04-06T12:00:00Z",
    "2025-11-15T12:00:00Z",
    "2026-11-01T05:30:00Z",
    "2026-11-01T06:30:00Z",
    "2026-12-31T12:00:00Z",
    "2027-01-01T12:00:00Z",
];

/// Which numbers of a counter, from 1.
const NUMBERS: [u64; 20] = [
    1,
    2,
    7,
    9,
    10,
    11,
    35,
    36,
    99,
    100,
    101,
    999,
    1000,
    1001,
    10_000,
    1_048_576,
    99_999_999,
    1 << 53,
    i64::MAX as u64 - 1,
    i64::MAX as u64,
];

const TEXTS: [&str; 10] = ["0", "1", "01", "10", "11", "1-", "A1", "a", "é", "京é"];

const DATES: [&str; 8] = [
    "1999-01-01",
    "2024-02-29",
    "2024-03-01",
    "2026-01-11",
    "2026-11-01",
    "2026-11-11",
    "2025-12-31",
    "2026-01-01",
];

fn values(names: &[&str], bits: &[usize]) -> Values {
    let value = |at: usize, name: &str| {
        let bit = bits[at % bits.len()];
        if name.ends_with('d') { DATES[bit % DATES.len()] } else { TEXTS[bit] }
    };
    names.iter().enumerate().map(|(at, name)| (*name, value(at, name))).collect()
}

/// What equal texts must have in common.
type Identity = (u64, String, Vec<(String, String)>);

#[derive(Default)]
struct Tally {
    accepted: u64,
    texts: u64,
}

/// The nth number of a counter, from 1.
fn number_of(counter: &CounterSpec, nth: u64) -> Option<u64> {
    counter.start.checked_add((nth - 1).checked_mul(counter.step)?)
}

/// Renders all numbers of some requests under one template. No two texts are equal, and each decodes.
fn search(format: &Format, draws: &[Draw], tally: &mut Tally) -> Result<(), String> {
    let mut seen: HashMap<(String, String), (Identity, String)> = HashMap::new();
    let names = format.template().values();
    for (bits, instant, first) in draws {
        let instant: Timestamp = INSTANTS[*instant].parse().map_err(|_| "instant")?;
        let given = values(&names, bits);
        let Ok(context) = format.context(instant, &given) else { continue };
        let partition: Vec<(String, String)> =
            context.partition().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let counter = format.counter_spec();
        for nth in NUMBERS[*first..].iter().chain(&NUMBERS[..2]) {
            let Some(number) = number_of(&counter, *nth) else { continue };
            let Ok(text) = context.text(number) else { continue };
            tally.texts += 1;
            // Rounds of a wrapped counter share their texts after `reuse_after`.
            let round = |wrap: Wrap| counter.start + (number - counter.start) % wrap.cycle;
            let number = counter.wrap.map_or(number, round);
            let identity = (number, context.period().to_owned(), partition.clone());
            let within = match format.settings().unique {
                Unique::Global => String::new(),
                Unique::Period => identity.1.clone(),
                Unique::Partition => format!("{partition:?}"),
            };
            let shown = format!("{identity:?} with {given:?}");
            if text.chars().count() > format.max_len() || text.chars().count() < format.min_len() {
                return Err(format!("{text:?} is longer or shorter than promised"));
            }
            reads_back(format, &text, &identity)?;
            let first =
                seen.entry((within, text.clone())).or_insert_with(|| (identity.clone(), shown.clone()));
            if first.0 != identity {
                return Err(format!("{} and {shown} both render {text:?}", first.1));
            }
        }
    }
    Ok(())
}

fn reads_back(format: &Format, text: &str, (number, period, partition): &Identity) -> Result<(), String> {
    let parsed = format.decode(text).map_err(|error| format!("{text:?}: {error}"))?;
    let hidden = format.settings().unique == Unique::Partition;
    let same_partition = if hidden {
        parsed.partition.iter().all(|pair| partition.contains(pair))
    } else {
        parsed.partition == *partition
    };
    let same_period = match &parsed.period {
        Some(found) => found == period,
        None => format.settings().unique == Unique::Period,
    };
    if parsed.number == *number && same_period && same_partition && parsed.text == text {
        return Ok(());
    }
    Err(format!("{text:?} reads back as {parsed:?}, not as {number}, {period:?}, {partition:?}"))
}

/// The texts of some requests.
fn texts(format: &Format, draws: &[Draw]) -> HashSet<String> {
    let names = format.template().values();
    let counter = format.counter_spec();
    let mut texts = HashSet::new();
    for (bits, instant, _) in draws {
        let Ok(context) = format.context(INSTANTS[*instant].parse().unwrap(), &values(&names, bits)) else {
            continue;
        };
        let numbers = NUMBERS.iter().filter_map(|nth| number_of(&counter, *nth));
        texts.extend(numbers.filter_map(|number| context.text(number).ok()));
    }
    texts
}

fn seeded() -> (u64, u64, TestRunner) {
    let cases = number("SEQUENT_TEMPLATES").unwrap_or(CASES);
    let seed = number("SEQUENT_FIRST_SEED").unwrap_or(20_260_401);
    println!("seed {seed} (SEQUENT_FIRST_SEED), {cases} templates (SEQUENT_TEMPLATES)");
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let config = Config { failure_persistence: None, ..Config::default() };
    (cases, seed, TestRunner::new_with_rng(config, rng))
}

/// Rule S9: if it accepts two versions, neither decodes a text of the other.
#[test]
fn accepted_versions_have_no_common_text() {
    let (cases, seed, mut runner) = seeded();
    let strategy = (versions(), settings(), draws());
    let (mut apart, mut alike, mut compared) = (0_u64, 0_u64, 0_usize);
    for case in 0..cases / 2 {
        let ((one, two), settings, draws) = strategy.new_tree(&mut runner).unwrap().current();
        let proven = |text: &str| Template::parse(text).ok()?.analyze(&settings).ok();
        let (Some(before), Some(after)) = (proven(&one), proven(&two)) else { continue };
        let (old, new) = (texts(&before, &draws), texts(&after, &draws));
        if before.distinct_from(&after).is_err() {
            alike += u64::from(!old.is_disjoint(&new));
            continue;
        }
        apart += 1;
        compared += old.len() + new.len();
        let both = old.intersection(&new).next();
        assert!(both.is_none(), "case {case} of seed {seed}: {one} and {two} both render {both:?}");
        for (text, other) in
            new.iter().map(|text| (text, &before)).chain(old.iter().map(|text| (text, &after)))
        {
            let read = other.decode(text).ok().filter(|read| read.text == *text);
            assert!(read.is_none(), "case {case} of seed {seed}: {one} and {two}: {text:?} is {read:?}");
        }
    }
    println!("{apart} pairs accepted, {compared} texts; {alike} refused pairs have a common text");
    assert!(apart > cases / 200 && alike > cases / 1000, "the search would be empty: {apart}, {alike}");
}

#[test]
fn no_two_numbers_have_one_text_and_all_texts_decode() {
    let (cases, seed, mut runner) = seeded();
    let strategy = (template(), settings(), draws());
    let mut tally = Tally::default();
    for case in 0..cases {
        let (text, settings, draws) = strategy.new_tree(&mut runner).unwrap().current();
        let Ok(template) = Template::parse(&text) else { continue };
        let Ok(format) = template.analyze(&settings) else { continue };
        tally.accepted += 1;
        if let Err(found) = search(&format, &draws, &mut tally) {
            panic!("case {case} of seed {seed}: {text} in {}, {:?}: {found}", settings.zone, settings.unique);
        }
    }
    println!("{} templates accepted, {} texts", tally.accepted, tally.texts);
    assert!(
        tally.accepted > cases / 10 && tally.texts > cases,
        "the search would be empty: {} of {cases}",
        tally.accepted
    );
}
