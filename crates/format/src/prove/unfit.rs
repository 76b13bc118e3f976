//! What renders no number twice, and is hardly meant: a value that nothing fits, a blank that nobody sees, an end that no text
//! reaches. Told, and not refused: a
//! definition that is in use must not be lost by it.

use crate::{
    Fault,
    letters::Letters,
    prove::{Claim, claim::missing},
    shape::Shape,
    template::{Ctx, Kind, Part},
};

pub(super) fn warnings(claim: &Claim) -> Vec<Fault> {
    let shaped = || claim.template.parts.iter().zip(&claim.shapes);
    let values = shaped().filter_map(|(part, shape)| match &part.kind {
        Kind::Ctx(ctx) => without_value(part, ctx, shape),
        _ => None,
    });
    let (first, last) = (blank(shaped(), End::First), blank(shaped().rev(), End::Last));
    values.chain(first).chain(last).chain(unreached(claim)).collect()
}

/// An end beyond the last number that has a text.
fn unreached(claim: &Claim) -> Option<Fault> {
    let ((part, seq), top) = (claim.seq(), claim.numbering.top);
    let end = seq.end.filter(|end| *end > top)?;
    let what = format!("end is {end}, and {top} is the last number that has a text");
    Some(missing(part.column, what, "widen w, say over=widen, or leave end out"))
}

/// A value that re lets through as a whole must have its length, its case, and letters of the charset, and no blank at an end.
fn without_value(part: &Part, ctx: &Ctx, shape: &Shape) -> Option<Fault> {
    let re = ctx.re.as_ref().filter(|_| ctx.map.is_none())?;
    let letters = if ctx.show { &shape.letters } else { &ctx.letters };
    if re.has_value(letters, ctx.chars_min, ctx.chars_max) {
        return None;
    }
    let what = format!(
        "ctx {} can have no value: nothing that re matches as a whole, without a blank first or last, keeps to len, max, case \
         and charset",
        ctx.name
    );
    Some(missing(part.column, what, "widen one of them"))
}

#[derive(Clone, Copy)]
enum End {
    First,
    Last,
}

/// A blank at an end of some text: whoever reads it does not see it, and what carries it may drop it.
fn blank<'a>(parts: impl Iterator<Item = (&'a Part, &'a Shape)>, end: End) -> Option<Fault> {
    for (part, shape) in parts {
        let is_blank = match (&part.kind, end) {
            (Kind::Seq(seq), End::First) => seq.pad == b' ' && seq.width > 1,
            (Kind::Text(_) | Kind::Date(_), _) => {
                let places = shape.places(part);
                let place = if let End::First = end { places.first() } else { places.last() };
                place.is_some_and(|letters| !letters.shared(&Letters::of(" ")).is_empty())
            }
            _ => false,
        };
        if is_blank {
            let (word, mend) = match end {
                End::First => ("begin", "put other text first"),
                End::Last => ("end", "put other text last"),
            };
            let what =
                format!("texts may {word} with a blank, which nobody sees, and what carries them may drop");
            return Some(missing(part.column, what, mend));
        }
        if shape.min > 0 || part.inputs().is_some() {
            return None;
        }
    }
    None
}
