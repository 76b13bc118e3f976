//! S1: a text can be taken apart in one way only.
//!
//! Parts of one length are cut off by counting. Where two parts vary in length, a separator must stand between them: a place
//! that can only hold what neither of them can. (Two neighbours without a character in common part themselves.) Where all
//! that stands before the separator cannot look like it either, it ends the part before it, reading from the left; otherwise
//! it begins the part after it, reading from the right. So a text is decoded from the left as far as that reaches, then
//! from the right, and one part may be left in the middle.

mod closed;
mod pair;
mod several;

use crate::{Fault, Rule, letters::Letters, prove::Claim, shape::Shape, template::Part};

use pair::{Neighbours, Pair};
use several::Several;

/// How to find the ends of the parts that vary.
#[derive(Debug, Clone, Default)]
pub(crate) struct Decoding {
    /// For the first varying parts, from the left.
    pub(crate) forward: Vec<Cut>,
    /// For the last varying parts, from the right.
    pub(crate) backward: Vec<Cut>,
}

/// The nearest character of `at`, read away from the known end of a part, stands `distance` characters beyond its other end.
#[derive(Debug, Clone)]
pub(crate) struct Cut {
    pub(crate) at: Letters,
    pub(crate) distance: usize,
}

pub(super) fn check(claim: &Claim, faults: &mut Vec<Fault>) -> Option<Decoding> {
    padding(claim, faults);
    let varying: Vec<usize> = (0..claim.shapes.len()).filter(|at| claim.shapes[*at].varies()).collect();
    let mut decoding = Decoding::default();
    for pair in varying.windows(2) {
        let (left, right) = (pair[0], pair[1]);
        let between = between(claim, left, right);
        let (one, two) = (&claim.shapes[left], &claim.shapes[right]);
        let forward = cut(one, two, between.iter());
        let backward = cut(two, one, between.iter().rev());
        match (forward, backward) {
            (Some(cut), _) if decoding.backward.is_empty() => decoding.forward.push(cut),
            (_, Some(cut)) => decoding.backward.push(cut),
            _ => {
                let whole = (varying[0], varying[varying.len() - 1]);
                faults.push(ambiguous(claim, (left, right), &between, whole));
                return None;
            }
        }
    }
    decoding.backward.reverse();
    Some(decoding)
}

/// What can stand at each place between two parts.
fn between(claim: &Claim, left: usize, right: usize) -> Vec<Letters> {
    let places = (left + 1..right).flat_map(|at| claim.shapes[at].places(&claim.template.parts[at]));
    places.collect()
}

/// The first place beyond a part that can look like nothing before it, nor like the part beyond.
fn cut<'a>(part: &Shape, beyond: &Shape, places: impl Iterator<Item = &'a Letters>) -> Option<Cut> {
    let mut seen = part.letters.clone();
    let mut distance = 0;
    for place in places {
        if seen.shared(place).is_empty() && beyond.letters.shared(place).is_empty() {
            return Some(Cut { at: place.clone(), distance });
        }
        seen.add(place);
        distance += 1;
    }
    // The part beyond, if there always is some of it, may itself look like nothing before it.
    let parted = beyond.min > 0 && seen.shared(&beyond.letters).is_empty();
    parted.then(|| Cut { at: beyond.letters.clone(), distance })
}

/// The fault of two neighbours; where by themselves they are parted, an example is one of all parts that vary, `whole`.
fn ambiguous(
    claim: &Claim,
    (left, right): (usize, usize),
    between: &[Letters],
    whole: (usize, usize),
) -> Fault {
    let parts = &claim.template.parts;
    let (a, b) = (parts[left].label(), parts[right].label());
    let neighbours = Neighbours::new(claim, left, right, between);
    let said = |(left, right): &(String, String)| format!("{a} = {left:?} with {b} = {right:?}");
    let example = if let Some(Pair { one, other, text }) = neighbours.closed().or_else(|| neighbours.pair()) {
        format!("nothing tells where the first ends: {} and {} both give {text:?}", said(&one), said(&other))
    } else if let Some((both, text)) = neighbours.twice() {
        let shared = "what stands between them may also be part of one of them";
        format!("{shared}: {} give {text:?}, which has it twice", said(&both))
    } else if let Some(Several { one, other, text }) = Neighbours::new(claim, whole.0, whole.1, &[]).several()
    {
        let said = |said: &[(usize, String)]| {
            let said = said.iter().map(|(at, piece)| format!("{} = {piece:?}", parts[*at].label()));
            said.collect::<Vec<_>>().join(" with ")
        };
        let (one, other) = (said(&one), said(&other));
        format!("with what else varies nothing tells where each ends: {one} and {other} both give {text:?}")
    } else if between.is_empty() {
        "nothing stands between them".to_owned()
    } else {
        let text: String = between.iter().filter_map(Letters::example).collect();
        format!("what stands between them, such as {text:?}, may also be part of one of them")
    };
    let what = format!("{a} and {b} both vary in length, and {example}");
    Fault::new(Rule::S1, parts[left].column, what, mend(&parts[left], &parts[right]))
}

fn mend(left: &Part, right: &Part) -> String {
    let fixed = |part: &Part| match part.label().split_once(' ') {
        Some(("ctx", name)) => format!("give {name} a len="),
        Some(("seq", _)) | None => "give seq over=error".to_owned(),
        _ => format!("give {} one length", part.label()),
    };
    let (left, right) = (fixed(left), fixed(right));
    let either = if left == right { left } else { format!("{left}, or {right}") };
    format!("{either}, or put a separator between that re= keeps out of both")
}

/// A padding character that is also a digit, or is read as one, could be either; one that is read as another is not read.
fn padding(claim: &Claim, faults: &mut Vec<Fault>) {
    let (part, seq) = claim.seq();
    let (digits, pad, read) = (&seq.digits, char::from(seq.pad), seq.digits.taken_for(seq.pad));
    let what = match (digits.value(read), read == seq.pad) {
        _ if seq.pad == digits.zero() => return,
        (None, true) => return,
        (Some(_), true) => {
            format!("pad {pad:?} is also a digit: {pad}1 could be 1, padded, or a number of its own")
        }
        (Some(_), false) => format!(
            "pad {pad:?} is read as the digit {:?}: a padded number would be read as another one",
            char::from(read)
        ),
        (None, false) => {
            format!("pad {pad:?} is read as {:?}: no padded number could be read back", char::from(read))
        }
    };
    let mend = format!("leave pad out, which pads with {:?}", char::from(digits.zero()));
    faults.push(Fault::new(Rule::S1, part.column, what, mend));
}
