//! Decodes a text into number, period and partition: split it, decode each part, render the number again, compare.

mod split;

use std::collections::BTreeMap;

use crate::{
    date::DecodedDate,
    error::{DecodeError, DecodeErrorKind},
    format::Format,
    render::{KnownParts, RenderContext, check_value},
    template::{Kind, Part},
};

/// A decoded text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// The number. If numbers wrap, it is the one of the first round.
    pub number: u64,
    /// The key of the period; empty if the counter never resets. `None` if the text does not determine it, which
    /// `unique=period` allows.
    pub period: Option<String>,
    /// The names and values that partition the counter. A value is missing if the text does not determine it, which
    /// `unique=partition` allows: a hidden value, or a `map` with two values for one text.
    pub partition: Vec<(String, String)>,
    /// All values that the text determines, as a caller gives them. A date is as in the text.
    pub values: Vec<(String, String)>,
    /// The text as the template renders it. The given text may spell it differently, such as O for 0.
    pub text: String,
}

impl Format {
    /// Decodes a text and verifies check digits, dates and spelling. The error names the part that does not fit.
    ///
    /// ```
    /// use sequent_format::{Settings, Template};
    /// let format = Template::parse("SN-@{seq,w=8,id=s}-@{check,damm,over=s}")?.analyze(&Settings::default())?;
    /// assert_eq!(format.decode("SN-00000572-4")?.number, 572);
    /// assert_eq!(
    ///     format.decode("SN-00000527-4").unwrap_err().to_string(),
    ///     "column 13: check damm is '4', expected '2': a typing error, or another number"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn decode(&self, text: &str) -> Result<Decoded, DecodeError> {
        let pieces = split::pieces(self, text)?;
        let (known, values, period) = known_parts(self, &pieces)?;
        let partition = known.partition.clone();
        let context = RenderContext::from_parts(self, known);
        let (number, text) = number(self, &context, &pieces)?;
        Ok(Decoded { number, period, partition, values, text })
    }
}

/// The parts before the number is known, the caller's values, and the period if the text determines it.
type Known = (KnownParts, Vec<(String, String)>, Option<String>);

fn known_parts(format: &Format, pieces: &[split::Piece]) -> Result<Known, DecodeError> {
    let mut known = KnownParts::default();
    let mut values = Vec::new();
    let mut dates: BTreeMap<Option<&str>, DecodedDate> = BTreeMap::new();
    for (at, part) in format.template().parts.iter().enumerate() {
        let piece = &pieces[at];
        let error = |kind, what: String| DecodeError::new(piece.column, kind, what);
        match &part.kind {
            Kind::Ctx(ctx) if ctx.show => {
                let text = piece.text.as_str();
                let value = match &ctx.map {
                    Some(map) => map
                        .value(text)
                        .map(|_| map.only_value(text))
                        .ok_or("no value has this text".to_owned()),
                    None => check_value(format, at, ctx, text).map(|()| Some(text)),
                };
                let value = value.map_err(|bound| {
                    error(DecodeErrorKind::Value, format!("{} is {:?}: {bound}", ctx.name, piece.text))
                })?;
                // A text of two values does not determine the value, as if it were hidden.
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
                // All parts of one date must agree.
                let decoded = dates.entry(date.at.as_deref()).or_default();
                let read = date.pattern.decode(&piece.text, decoded);
                read.and_then(|()| decoded.completed(date.pattern.fiscal).map(drop))
                    .map_err(|what| error(DecodeErrorKind::Date, what))?;
                if let Some(name) = &date.at {
                    known.partition.push((name.clone(), piece.text.clone()));
                    values.push((name.clone(), piece.text.clone()));
                }
            }
            _ => {}
        }
        known.texts.push(if is_known_before_number(part) { piece.text.clone() } else { String::new() });
    }
    let period = period(format, dates.remove(&None).unwrap_or_default())?;
    known.period = period.clone().unwrap_or_default();
    Ok((known, values, period))
}

/// The period of the date of issue.
fn period(format: &Format, issued: DecodedDate) -> Result<Option<String>, DecodeError> {
    let date =
        issued.completed(format.fiscal()).map_err(|what| DecodeError::new(1, DecodeErrorKind::Date, what))?;
    if let Some((from, to)) = date.span().filter(|(from, to)| !format.zone().shows(*from, *to)) {
        let what = format!("clocks of {} never showed {from} to {to}", format.zone_name());
        return Err(DecodeError::new(1, DecodeErrorKind::Date, what));
    }
    Ok(date.period(format.reset(), format.fiscal()))
}

fn is_known_before_number(part: &Part) -> bool {
    part.inputs().is_none() && !matches!(part.kind, Kind::Seq(_))
}

/// The number and its text, which must be the given one.
fn number(
    format: &Format,
    context: &RenderContext,
    pieces: &[split::Piece],
) -> Result<(u64, String), DecodeError> {
    let seq = &pieces[format.template().seq];
    let wrong = |what: String| DecodeError::new(seq.column, DecodeErrorKind::Number, what);
    let number = format.codec().read(seq.text.as_bytes(), context.tweak());
    let number = number.ok_or_else(|| wrong(format!("{:?} is no number of this template", seq.text)))?;
    let text = context.text(number).map_err(|error| wrong(error.to_string()))?;
    let given: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
    if text == given {
        let is_given = format.codec().check(number);
        return is_given
            .map(|()| (number, text))
            .map_err(|bound| wrong(format!("{:?} is {number}: {bound}", seq.text)));
    }
    let shapes = format.shapes();
    let mut rest: &str = &text;
    for (at, piece) in pieces.iter().enumerate() {
        // Up to the first different part all lengths are equal, so the rendered text is cut at the same columns.
        let end = rest.char_indices().nth(piece.chars).map_or(rest.len(), |(at, _)| at);
        let (expected, after) = rest.split_at(end);
        rest = after;
        if expected == piece.text {
            continue;
        }
        let part = &format.template().parts[at];
        if !matches!(part.kind, Kind::Check(_)) || shapes[at].max != piece.chars {
            return Err(DecodeError::new(
                piece.column,
                DecodeErrorKind::Number,
                format!("found {:?}, expected {expected:?}", piece.text),
            ));
        }
        let what = format!(
            "{} is '{}', expected '{expected}': a typing error, or another number",
            part.label(),
            piece.text
        );
        return Err(DecodeError::new(piece.column, DecodeErrorKind::CheckDigit, what));
    }
    Err(wrong(format!("{given:?} is another spelling of {text:?}")))
}
