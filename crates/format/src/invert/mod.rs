//! From a text back to number, period and partition: cut, read, render again, compare.

mod cut;

use std::collections::BTreeMap;

use crate::{
    Format, InvertError, InvertErrorKind, Issue,
    date::Shown,
    issue::{Known, shown_value},
    template::{Kind, Part},
};

/// What a text says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// The number; where numbers wrap, the one of the first round.
    pub number: u64,
    /// The key of the period (empty where there is but one); `None` where the text does not tell it, as `unique=period` allows.
    pub period: Option<String>,
    /// The names and values that partition the counter; those that the text does not tell, hidden or of a `map` with
    /// two values for one text, which `unique=partition` allows, are missing.
    pub partition: Vec<(String, String)>,
    /// All values that the text tells, as a caller would give them; a date as the text has it.
    pub values: Vec<(String, String)>,
    /// The text as the template renders it: in its own spelling, where readers may write O for 0.
    pub text: String,
}

/// Takes a text apart, and verifies it.
pub(crate) fn text(format: &Format, given: &str) -> Result<Parsed, InvertError> {
    let pieces = cut::pieces(format, given)?;
    let mut known = Known::default();
    let mut values = Vec::new();
    let mut shown: BTreeMap<Option<&str>, Shown> = BTreeMap::new();
    for (at, part) in format.template().parts.iter().enumerate() {
        let piece = &pieces[at];
        let fault = |kind, what: String| InvertError::new(piece.column, kind, what);
        match &part.kind {
            Kind::Ctx(ctx) if ctx.show => {
                let text = piece.text.as_str();
                let value = match &ctx.map {
                    Some(map) => {
                        map.value(text).map(|_| map.only_value(text)).ok_or("no value is shown so".to_owned())
                    }
                    None => shown_value(format, at, ctx, text).map(|()| Some(text)),
                };
                let value = value.map_err(|bound| {
                    fault(InvertErrorKind::Value, format!("{} is {:?}: {bound}", ctx.name, piece.text))
                })?;
                // Which of two values with one text it was, the text does not tell: as if it were hidden.
                let Some(value) = value.map(str::to_owned) else {
                    known.texts.push(piece.text.clone());
                    continue;
                };
                if ctx.by {
                    known.partition.push((ctx.name.clone(), value.clone()));
                }
                values.push((ctx.name.clone(), value));
            }
            Kind::Date(date) => {
                // All that shows one date is held against each other.
                let place = shown.entry(date.at.as_deref()).or_default();
                let read = date.pattern.read(&piece.text, place);
                read.and_then(|()| place.closed(date.pattern.fiscal).map(drop))
                    .map_err(|what| fault(InvertErrorKind::Date, what))?;
                if let Some(name) = &date.at {
                    known.partition.push((name.clone(), piece.text.clone()));
                    values.push((name.clone(), piece.text.clone()));
                }
            }
            _ => {}
        }
        known.texts.push(if known_before_number(part) { piece.text.clone() } else { String::new() });
    }
    let issued = shown.remove(&None).unwrap_or_default();
    let all =
        issued.closed(format.fiscal()).map_err(|what| InvertError::new(1, InvertErrorKind::Date, what))?;
    if let Some((from, to)) = all.span().filter(|(from, to)| !format.zone().shows(*from, *to)) {
        let what = format!("clocks of {} never showed {from} to {to}", format.zone_name());
        return Err(InvertError::new(1, InvertErrorKind::Date, what));
    }
    let period = all.period(format.reset(), format.fiscal());
    known.period = period.clone().unwrap_or_default();
    let partition = known.partition.clone();
    let issue = Issue::known(format, known);
    let (number, text) = number(format, &issue, &pieces)?;
    Ok(Parsed { number, period, partition, values, text })
}

fn known_before_number(part: &Part) -> bool {
    part.inputs().is_none() && !matches!(part.kind, Kind::Seq(_))
}

/// The number, and the text that it renders to, which must be the one given.
fn number(format: &Format, issue: &Issue, pieces: &[cut::Piece]) -> Result<(u64, String), InvertError> {
    let seq = &pieces[format.template().seq];
    let wrong = |what: String| InvertError::new(seq.column, InvertErrorKind::Number, what);
    let number = format.numbering().read(seq.text.as_bytes(), issue.tweak());
    let number = number.ok_or_else(|| wrong(format!("{:?} is no number of this template", seq.text)))?;
    let text = issue.text(number).map_err(|error| wrong(error.to_string()))?;
    let given: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
    if text == given {
        let given = format.numbering().check(number);
        return given
            .map(|()| (number, text))
            .map_err(|bound| wrong(format!("{:?} is {number}: {bound}", seq.text)));
    }
    let shapes = format.shapes();
    let mut rest: &str = &text;
    for (at, piece) in pieces.iter().enumerate() {
        // Lengths agree up to the first difference: a number's may only differ where its text does.
        let end = rest.char_indices().nth(piece.chars).map_or(rest.len(), |(at, _)| at);
        let (ours, after) = rest.split_at(end);
        rest = after;
        if ours == piece.text {
            continue;
        }
        let part = &format.template().parts[at];
        if !matches!(part.kind, Kind::Check(_)) || shapes[at].max != piece.chars {
            return Err(InvertError::new(
                piece.column,
                InvertErrorKind::Number,
                format!("{:?} stands where {ours:?} belongs", piece.text),
            ));
        }
        let what = format!(
            "{} is {} where {} belongs: a slip of the pen, or another number",
            part.label(),
            quoted(&piece.text),
            quoted(ours)
        );
        return Err(InvertError::new(piece.column, InvertErrorKind::CheckDigit, what));
    }
    Err(wrong(format!("{given:?} is not how this number is written: {text:?}")))
}

fn quoted(text: &str) -> String {
    format!("'{text}'")
}
