//! Warnings about templates that are probably not meant: a value that nothing fits, an invisible blank at an end, an `end` that no
//! text reaches. Texts are unique all the same, so such a template is not refused: a definition in use must stay valid.

use crate::{
    charset::Charset,
    error::Fault,
    template::{Ctx, Kind, Part},
};

use super::{analysis::Analysis, part_shape::PartShape};

pub(super) fn warnings(analysis: &Analysis) -> Vec<Fault> {
    let shaped = || analysis.template.parts.iter().zip(&analysis.shapes);
    let values = shaped().filter_map(|(part, shape)| match &part.kind {
        Kind::Ctx(ctx) => without_value(part, ctx, shape),
        _ => None,
    });
    let (first, last) = (blank(shaped(), End::First), blank(shaped().rev(), End::Last));
    values.chain(first).chain(last).chain(unreached(analysis)).collect()
}

/// An `end` above the last number that has a text.
fn unreached(analysis: &Analysis) -> Option<Fault> {
    let ((part, seq), last) = (analysis.seq(), analysis.codec.last);
    let end = seq.end.filter(|end| *end > last)?;
    let what = format!("end is {end}, and {last} is the last number that has a text");
    Some(Fault::definition(part.column, what, "widen w, say over=widen, or leave end out"))
}

/// A `ctx` that no value fits: length, case and charset exclude everything that `re` matches.
fn without_value(part: &Part, ctx: &Ctx, shape: &PartShape) -> Option<Fault> {
    let re = ctx.re.as_ref().filter(|_| ctx.map.is_none())?;
    let charset = if ctx.show { &shape.charset } else { &ctx.charset };
    if re.has_value(charset, ctx.chars_min, ctx.chars_max) {
        return None;
    }
    let what = format!(
        "ctx {} can have no value: nothing that re matches as a whole, without a blank first or last, satisfies len, max, \
         case and charset",
        ctx.name
    );
    Some(Fault::definition(part.column, what, "widen one of them"))
}

#[derive(Clone, Copy)]
enum End {
    First,
    Last,
}

/// A blank at an end of some text. Readers do not see it, and programs may trim it.
fn blank<'a>(parts: impl Iterator<Item = (&'a Part, &'a PartShape)>, end: End) -> Option<Fault> {
    for (part, shape) in parts {
        let is_blank = match (&part.kind, end) {
            (Kind::Seq(seq), End::First) => seq.pad == b' ' && seq.width > 1,
            (Kind::Text(_) | Kind::Date(_), _) => {
                let positions = shape.positions(part);
                let position = if let End::First = end { positions.first() } else { positions.last() };
                position.is_some_and(|charset| !charset.shared(&Charset::of(" ")).is_empty())
            }
            _ => false,
        };
        if is_blank {
            let (word, fix) = match end {
                End::First => ("begin", "put other text first"),
                End::Last => ("end", "put other text last"),
            };
            let what = format!("texts may {word} with a blank, which nobody sees and programs may trim");
            return Some(Fault::definition(part.column, what, fix));
        }
        if shape.min > 0 || part.inputs().is_some() {
            return None;
        }
    }
    None
}
