//! S9: two templates in one namespace never render alike: a walk through both at once, by the letters and lengths of their parts.
//! What checks, dates and expressions forbid beyond that is not walked: such templates are taken to meet, and only a text that both
//! read is called one of both.

use std::{
    collections::{BTreeMap, VecDeque, btree_map::Entry},
    hash::{DefaultHasher, Hash, Hasher},
};

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

/// How many texts of the shape that was found are tried, for one that both templates read: enough for two check digits.
const TRIED_MAX: u64 = 1024;

/// What two sets share, each two looked at once: sets of letters are long, and places many.
#[derive(Default)]
struct Shared(BTreeMap<(usize, usize), Letters>);

impl Shared {
    fn of(&mut self, (one, a): (&Places, &Place), (two, b): (&Places, &Place)) -> Option<(usize, usize)> {
        let sets = (a.set, b.set);
        let looked = match self.0.entry(sets) {
            Entry::Occupied(held) => held.into_mut(),
            Entry::Vacant(place) => place.insert(one.sets.get(a.set)?.shared(two.sets.get(b.set)?)),
        };
        (!looked.is_empty()).then_some(sets)
    }
}

/// Both walks so far: the places reached, and from where by one of which letters.
struct Step {
    at: (usize, usize),
    from: usize,
    by: Option<(usize, usize)>,
}

/// A fault with a text that both can render, if there is one, or that could be of both as far as is known.
pub(crate) fn distinct(one: &Format, two: &Format) -> Result<(), Fault> {
    let Some(shape) = common(&places(one), &places(two)) else { return Ok(()) };
    let is_of_both = |text: &String| {
        [one, two].iter().all(|format| format.invert(text).is_ok_and(|read| read.text == *text))
    };
    let (first, second) = (one.template(), two.template());
    let what = match (0..TRIED_MAX).map(|at| text(&shape, at)).find(is_of_both) {
        Some(text) => format!("{first} and {second} can both render {text:?}"),
        None => format!(
            "{first} and {second} are taken to meet: by letters and lengths alone, whatever checks, dates and re forbid, both \
             could render {:?}",
            text(&shape, 0)
        ),
    };
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

/// The letters of a shortest text of both, by a breadth-first walk: at most (256 + 1)^2 places, since no text is longer than 256.
fn common(first: &Places, second: &Places) -> Option<Vec<Letters>> {
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
            return Some(walked(&steps, step, &shared));
        }
        let both = one.get(i).zip(two.get(j));
        let by = both.and_then(|(a, b)| shared.of((first, a), (second, b)));
        let next = [
            by.map(|sets| ((i + 1, j + 1), Some(sets))),
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

fn walked(steps: &[Step], mut last: usize, shared: &Shared) -> Vec<Letters> {
    let mut letters = Vec::new();
    while last != 0 {
        letters.extend(steps[last].by.and_then(|sets| shared.0.get(&sets)).cloned());
        last = steps[last].from;
    }
    letters.reverse();
    letters
}

/// One of the texts of these letters: the first of all reads well, the others are picked by chance, the same each time.
fn text(shape: &[Letters], at: u64) -> String {
    let pick = |(place, letters): (usize, &Letters)| {
        let mut hasher = DefaultHasher::new();
        (at, place).hash(&mut hasher);
        if at == 0 { letters.example() } else { letters.plain(hasher.finish()) }
    };
    shape.iter().enumerate().filter_map(pick).collect()
}
