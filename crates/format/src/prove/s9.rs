//! S9: two templates in one namespace never render alike: a walk through both at once that finds a text of both, if there is one.

use std::collections::VecDeque;

use crate::{Fault, Format, Rule, letters::Letters};

/// One place of a text: what can stand there, and whether it may be missing.
struct Place {
    letters: Letters,
    optional: bool,
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

fn places(format: &Format) -> Vec<Place> {
    let parts = format.template().parts.iter().zip(format.shapes());
    parts
        .flat_map(|(part, shape)| {
            if shape.varies() {
                let place = |at: usize| Place { letters: shape.letters.clone(), optional: at >= shape.min };
                (0..shape.max).map(place).collect::<Vec<_>>()
            } else {
                let fixed = shape.places(part).into_iter();
                fixed.map(|letters| Place { letters, optional: false }).collect()
            }
        })
        .collect()
}

/// A shortest text of both, by a breadth-first walk: at most (256 + 1)^2 places, since no text is longer than 256.
fn common(one: &[Place], two: &[Place]) -> Option<String> {
    let width = two.len() + 1;
    let mut seen = vec![false; (one.len() + 1) * width];
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
        let shared = both.and_then(|(a, b)| a.letters.shared(&b.letters).example());
        let next = [
            shared.map(|c| ((i + 1, j + 1), Some(c))),
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
