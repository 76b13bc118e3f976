//! Rule S1: a text can be split into its parts in one way only.
//!
//! Parts of one length are split off by counting. Between two parts of variable length a boundary must exist:
//!
//! - a separator, which is a position whose characters neither part can contain, or
//! - the border itself, if the two parts have no common character and the one beyond the border is never empty.
//!
//! If nothing between the left part and the separator can contain the separator's characters, the boundary is found from the left.
//! If nothing between the separator and the right part can, it is found from the right. So a text is split from the left as far as
//! possible, then from the right, and one part may remain in the middle.

mod finite;
mod many_parts;
mod two_parts;

use crate::{
    analyze::{analysis::Analysis, part_shape::PartShape},
    charset::Charset,
    error::{Fault, Rule},
    template::Part,
};

use many_parts::ManyReadings;
use two_parts::{Neighbours, TwoReadings, charsets_between};

/// How to find the boundaries of the parts of variable length.
#[derive(Debug, Clone, Default)]
pub(crate) struct SplitPlan {
    /// The boundaries found from the left, for the first parts of variable length.
    pub(crate) forward: Vec<Boundary>,
    /// The boundaries found from the right, for the last parts of variable length.
    pub(crate) backward: Vec<Boundary>,
}

/// A boundary of a part whose other end is known: the nearest character of `charset` is `distance` characters beyond it.
#[derive(Debug, Clone)]
pub(crate) struct Boundary {
    pub(crate) charset: Charset,
    pub(crate) distance: usize,
}

pub(in crate::analyze) fn check(analysis: &Analysis, faults: &mut Vec<Fault>) -> Option<SplitPlan> {
    padding(analysis, faults);
    let varying: Vec<usize> = (0..analysis.shapes.len()).filter(|at| analysis.shapes[*at].varies()).collect();
    let mut split_plan = SplitPlan::default();
    for pair in varying.windows(2) {
        let (left, right) = (pair[0], pair[1]);
        let between = charsets_between(analysis, left, right);
        let (one, two) = (&analysis.shapes[left], &analysis.shapes[right]);
        let forward = boundary(one, two, between.iter());
        let backward = boundary(two, one, between.iter().rev());
        match (forward, backward) {
            (Some(found), _) if split_plan.backward.is_empty() => split_plan.forward.push(found),
            (_, Some(found)) => split_plan.backward.push(found),
            _ => {
                let whole = (varying[0], varying[varying.len() - 1]);
                faults.push(ambiguous(analysis, (left, right), &between, whole));
                return None;
            }
        }
    }
    split_plan.backward.reverse();
    Some(split_plan)
}

/// The first position beyond a part whose characters are neither in what is before it nor in the part beyond.
fn boundary<'a>(
    part: &PartShape,
    beyond: &PartShape,
    positions: impl Iterator<Item = &'a Charset>,
) -> Option<Boundary> {
    let mut seen = part.charset.clone();
    let mut distance = 0;
    for charset in positions {
        if seen.shared(charset).is_empty() && beyond.charset.shared(charset).is_empty() {
            return Some(Boundary { charset: charset.clone(), distance });
        }
        seen.add(charset);
        distance += 1;
    }
    // The part beyond is the boundary itself if it is never empty and shares no character with what is before it.
    let is_boundary = beyond.min > 0 && seen.shared(&beyond.charset).is_empty();
    is_boundary.then(|| Boundary { charset: beyond.charset.clone(), distance })
}

/// The fault of two neighbours, with an example. If the two alone have a boundary, the example needs all parts of variable length:
/// those from `whole.0` to `whole.1`.
fn ambiguous(
    analysis: &Analysis,
    (left, right): (usize, usize),
    between: &[Charset],
    whole: (usize, usize),
) -> Fault {
    let parts = &analysis.template.parts;
    let (a, b) = (parts[left].label(), parts[right].label());
    let neighbours = Neighbours::new(analysis, left, right, between);
    let reading = |(left, right): &(String, String)| format!("{a} = {left:?} with {b} = {right:?}");
    let example = if let Some(TwoReadings { one, other, text }) =
        neighbours.finite_example().or_else(|| neighbours.example())
    {
        format!(
            "the end of the first is ambiguous: {} and {} both give {text:?}",
            reading(&one),
            reading(&other)
        )
    } else if let Some((both, text)) = neighbours.repeated_separator() {
        let shared = "the text between them may also be part of one of them";
        format!("{shared}: {} give {text:?}, which contains it twice", reading(&both))
    } else if let Some(ManyReadings { one, other, text }) =
        Neighbours::new(analysis, whole.0, whole.1, &[]).many_parts_example()
    {
        let reading = |texts: &[(usize, String)]| {
            let texts = texts.iter().map(|(at, piece)| format!("{} = {piece:?}", parts[*at].label()));
            texts.collect::<Vec<_>>().join(" with ")
        };
        let (one, other) = (reading(&one), reading(&other));
        format!(
            "together with the other parts that vary, the ends are ambiguous: {one} and {other} both give {text:?}"
        )
    } else if between.is_empty() {
        "there is nothing between them".to_owned()
    } else {
        let text: String = between.iter().filter_map(Charset::example).collect();
        format!("the text between them, such as {text:?}, may also be part of one of them")
    };
    let what = format!("{a} and {b} both vary in length, and {example}");
    Fault::new(Rule::S1, parts[left].column, what, fix(&parts[left], &parts[right]))
}

fn fix(left: &Part, right: &Part) -> String {
    let fixed = |part: &Part| match part.label().split_once(' ') {
        Some(("ctx", name)) => format!("give {name} a len="),
        Some(("seq", _)) | None => "give seq over=error".to_owned(),
        _ => format!("give {} one length", part.label()),
    };
    let (left, right) = (fixed(left), fixed(right));
    let either = if left == right { left } else { format!("{left}, or {right}") };
    format!("{either}, or put a separator between them that re= excludes from both")
}

/// Checks the padding character. If it is a digit, or is decoded as one, a padded number would be decoded as another one. If it is
/// decoded as some other character, no padded number could be decoded.
fn padding(analysis: &Analysis, faults: &mut Vec<Fault>) {
    let (part, seq) = analysis.seq();
    let (digits, pad, read) = (&seq.alphabet, char::from(seq.pad), seq.alphabet.read_as(seq.pad));
    let what = match (digits.value(read), read == seq.pad) {
        _ if seq.pad == digits.zero() => return,
        (None, true) => return,
        (Some(_), true) => {
            format!("pad {pad:?} is also a digit: {pad}1 could be 1, padded, or a number of its own")
        }
        (Some(_), false) => format!(
            "pad {pad:?} is decoded as the digit {:?}: a padded number would be decoded as another one",
            char::from(read)
        ),
        (None, false) => {
            format!("pad {pad:?} is decoded as {:?}: no padded number could be decoded", char::from(read))
        }
    };
    let fix = format!("leave pad out, which pads with {:?}", char::from(digits.zero()));
    faults.push(Fault::new(Rule::S1, part.column, what, fix));
}
