//! Rule S9: two templates of one namespace never render the same text.
//!
//! A search walks through both templates at once, by the charsets and lengths of their parts. It ignores what checks, dates and
//! expressions forbid beyond that: such templates are taken to overlap. The message says that both render a text only if both
//! decode it.

use std::{
    collections::{BTreeMap, VecDeque, btree_map::Entry},
    hash::{DefaultHasher, Hash, Hasher},
};

use crate::{
    charset::Charset,
    error::{Fault, Rule},
    format::Format,
};

/// One position of a text: the index of its charset in [`Positions::sets`], and whether it may be missing.
struct Position {
    set: usize,
    optional: bool,
}

/// The positions of a template's longest text. All positions of a part of variable length share one charset.
#[derive(Default)]
struct Positions {
    sets: Vec<Charset>,
    all: Vec<Position>,
}

impl Positions {
    fn add(&mut self, charset: Charset, optional: impl Iterator<Item = bool>) {
        let set = self.sets.len();
        self.sets.push(charset);
        self.all.extend(optional.map(|optional| Position { set, optional }));
    }
}

/// How many texts are tried for one that both templates decode: enough for two check digits.
const TRIES_MAX: u64 = 1024;

/// The intersections of charsets, computed once per pair: charsets are large, and positions are many.
#[derive(Default)]
struct Shared(BTreeMap<(usize, usize), Charset>);

impl Shared {
    fn of(
        &mut self,
        (one, a): (&Positions, &Position),
        (two, b): (&Positions, &Position),
    ) -> Option<(usize, usize)> {
        let sets = (a.set, b.set);
        let intersection = match self.0.entry(sets) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(entry) => entry.insert(one.sets.get(a.set)?.shared(two.sets.get(b.set)?)),
        };
        (!intersection.is_empty()).then_some(sets)
    }
}

/// A step of the search: the positions reached in both templates, the step before, and the charsets passed.
struct Step {
    at: (usize, usize),
    from: usize,
    by: Option<(usize, usize)>,
}

impl Format {
    /// Rule S9 for two definitions of one namespace. The fault shows a text that both can render, or could render as far as is
    /// known.
    pub fn distinct_from(&self, other: &Self) -> Result<(), Fault> {
        check(self, other)
    }
}

/// A fault with a text of both templates, or with one that both could render by characters and lengths.
fn check(one: &Format, two: &Format) -> Result<(), Fault> {
    let Some(shape) = common(&positions(one), &positions(two)) else { return Ok(()) };
    let both_decode = |text: &String| {
        [one, two].iter().all(|format| format.decode(text).is_ok_and(|read| read.text == *text))
    };
    let (first, second) = (one.template(), two.template());
    let what = match (0..TRIES_MAX).map(|at| text(&shape, at)).find(both_decode) {
        Some(text) => format!("{first} and {second} can both render {text:?}"),
        None => format!(
            "{first} and {second} are taken to overlap: by characters and lengths alone, whatever checks, dates and re forbid, both \
             could render {:?}",
            text(&shape, 0)
        ),
    };
    let fix = "give one of them a prefix of its own, or another fixed length";
    Err(Fault::new(Rule::S9, 1, what, fix))
}

fn positions(format: &Format) -> Positions {
    let mut positions = Positions::default();
    for (part, shape) in format.template().parts.iter().zip(format.shapes()) {
        if shape.varies() {
            positions.add(shape.charset.clone(), (0..shape.max).map(|at| at >= shape.min));
        } else {
            shape.positions(part).into_iter().for_each(|charset| positions.add(charset, [false].into_iter()));
        }
    }
    positions
}

/// The charsets of a shortest common text, by a breadth-first search over at most (256 + 1)^2 pairs of positions, since no text is
/// longer than 256 characters.
fn common(first: &Positions, second: &Positions) -> Option<Vec<Charset>> {
    let (one, two) = (&first.all, &second.all);
    let width = two.len() + 1;
    let (mut seen, mut shared) = (vec![false; (one.len() + 1) * width], Shared::default());
    let mut steps = vec![Step { at: (0, 0), from: 0, by: None }];
    let mut queue = VecDeque::from([0]);
    while let Some(step) = queue.pop_front() {
        let (i, j) = steps[step].at;
        if std::mem::replace(&mut seen[i * width + j], true) {
            continue;
        }
        if (i, j) == (one.len(), two.len()) {
            return Some(charsets_of(&steps, step, &shared));
        }
        let both = one.get(i).zip(two.get(j));
        let by = both.and_then(|(a, b)| shared.of((first, a), (second, b)));
        let next = [
            by.map(|sets| ((i + 1, j + 1), Some(sets))),
            one.get(i).filter(|position| position.optional).map(|_| ((i + 1, j), None)),
            two.get(j).filter(|position| position.optional).map(|_| ((i, j + 1), None)),
        ];
        for (at, by) in next.into_iter().flatten().filter(|(at, _)| !seen[at.0 * width + at.1]) {
            // Skipping an optional position costs no character, so the text found is a shortest one.
            if by.is_some() {
                queue.push_back(steps.len());
            } else {
                queue.push_front(steps.len());
            }
            steps.push(Step { at, from: step, by });
        }
    }
    None
}

/// The charsets on the way to a step.
fn charsets_of(steps: &[Step], mut last: usize, shared: &Shared) -> Vec<Charset> {
    let mut charsets = Vec::new();
    while last != 0 {
        charsets.extend(steps[last].by.and_then(|sets| shared.0.get(&sets)).cloned());
        last = steps[last].from;
    }
    charsets.reverse();
    charsets
}

/// A text of these charsets. Text 0 is a readable example; the others are pseudo-random, the same each time.
fn text(shape: &[Charset], at: u64) -> String {
    let pick = |(position, charset): (usize, &Charset)| {
        let mut hasher = DefaultHasher::new();
        (at, position).hash(&mut hasher);
        if at == 0 { charset.example() } else { charset.pick(hasher.finish()) }
    };
    shape.iter().enumerate().filter_map(pick).collect()
}
