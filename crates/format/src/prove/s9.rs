//! S9: two templates in one namespace never render alike: a walk through both at once that finds a text of both, if there is one.

use std::collections::{BTreeMap, VecDeque};

use crate::{Fault, Format, Rule, letters::Letters};

/// One place of a text: which of its [`Places::sets`] can stand there, and whether it may be missing.
struct Place {
    set: usize,
    optional: bool,
}

/// The places of a template's longest text. Those of a part that varies have one set of letters between them.
#[derive(Default)]
struct Places {
    sets: Vec<Letters>,
    all: Vec<Place>,
}

impl Places {
    fn add(&mut self, letters: Letters, optional: impl Iterator<Item = bool>) {
        let set = self.sets.len();
        self.sets.push(letters);
        self.all.extend(optional.map(|optional| Place { set, optional }));
    }
}

/// A character of both for two sets, each two looked at once: sets of letters are long, and places many.
#[derive(Default)]
struct Shared(BTreeMap<(usize, usize), Option<char>>);

impl Shared {
    fn of(&mut self, (one, a): (&Places, &Place), (two, b): (&Places, &Place)) -> Option<char> {
        let looked = || one.sets.get(a.set)?.shared(two.sets.get(b.set)?).example();
        *self.0.entry((a.set, b.set)).or_insert_with(looked)
    }
}

/// Both walks so far: the places reached, and from where by which character.
struct Step {
    at: (usize, usize),
    from: usize,
    by: Option<char>,
}

/// A fault with a text that both can render, if there is one.
pub(crate) fn distinct(one: &Format, two: &Format) -> Result<(), Fault> {
    let Some(text) = common(&places(one), &places(two)) else { return Ok(()) };
    let what = format!("{} and {} can both render {text:?}", one.template(), two.template());
    let mend = "give one of them a prefix of its own, or another fixed length";
    Err(Fault::new(Rule::S9, 1, what, mend))
}

fn places(format: &Format) -> Places {
    let mut places = Places::default();
    for (part, shape) in format.template().parts.iter().zip(format.shapes()) {
        if shape.varies() {
            places.add(shape.letters.clone(), (0..shape.max).map(|at| at >= shape.min));
        } else {
            shape.places(part).into_iter().for_each(|letters| places.add(letters, [false].into_iter()));
        }
    }
    places
}

/// A shortest text of both, by a breadth-first walk: at most (256 + 1)^2 places, since no text is longer than 256.
fn common(first: &Places, second: &Places) -> Option<String> {
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
            return Some(text(&steps, step));
        }
        let both = one.get(i).zip(two.get(j));
        let by = both.and_then(|(a, b)| shared.of((first, a), (second, b)));
        let next = [
            by.map(|c| ((i + 1, j + 1), Some(c))),
            one.get(i).filter(|place| place.optional).map(|_| ((i + 1, j), None)),
            two.get(j).filter(|place| place.optional).map(|_| ((i, j + 1), None)),
        ];
        for (at, by) in next.into_iter().flatten().filter(|(at, _)| !seen[at.0 * width + at.1]) {
            // Leaving out costs no character: the text that is found is a shortest one.
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

fn text(steps: &[Step], mut last: usize) -> String {
    let mut chars = Vec::new();
    while last != 0 {
        chars.extend(steps[last].by);
        last = steps[last].from;
    }
    chars.iter().rev().collect()
}
