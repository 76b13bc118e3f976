//! Splits a text into the texts of its parts, by the plan of rule S1.

use crate::{
    analyze::rules::unambiguous_split::Boundary,
    charset::Charset,
    error::{DecodeError, DecodeErrorKind},
    format::Format,
    limits::TEXT_BYTES_MAX,
    number::crockford_canonical,
    template::Kind,
};

/// The text of one part.
#[derive(Debug, Clone, Default)]
pub(super) struct Piece {
    /// Its column, in characters from 1.
    pub(super) column: usize,
    pub(super) chars: usize,
    pub(super) text: String,
}

/// The texts of all parts in the order of the template; empty for hidden parts.
pub(super) fn pieces(format: &Format, text: &str) -> Result<Vec<Piece>, DecodeError> {
    if text.len() > TEXT_BYTES_MAX {
        let what = format!("text has {} bytes: at most {TEXT_BYTES_MAX} are allowed", text.len());
        return Err(DecodeError::new(1, DecodeErrorKind::Shape, what));
    }
    let chars: Vec<char> = text.chars().collect();
    let ends = ends(format, &chars)?;
    let mut begin = 0;
    let mut pieces = Vec::new();
    for (at, end) in ends.into_iter().enumerate() {
        let piece = canonical(format, at, &chars[begin..end]);
        check_shape(format, at, &piece, begin)?;
        pieces.push(Piece { column: begin + 1, chars: piece.len(), text: piece.iter().collect() });
        begin = end;
    }
    Ok(pieces)
}

/// The end of each part, in characters.
fn ends(format: &Format, chars: &[char]) -> Result<Vec<usize>, DecodeError> {
    let shapes = format.shapes();
    let split_plan = format.split_plan();
    let wrong_length = || {
        let (low, high) = (format.min_len(), format.max_len());
        let bound = if low == high { format!("{low}") } else { format!("{low} to {high}") };
        let what = format!("text has {} characters: this template has {bound}", chars.len());
        DecodeError::new(1, DecodeErrorKind::Shape, what)
    };
    if chars.len() < format.min_len() || chars.len() > format.max_len() {
        return Err(wrong_length());
    }
    let mut ends = vec![0; shapes.len()];
    let mut boundaries = split_plan.forward.iter();
    // From the left, as far as boundaries are found from the left.
    let (mut at, mut begin) = (0, 0);
    while at < shapes.len() {
        let end = if shapes[at].varies() {
            let Some(boundary) = boundaries.next() else { break };
            end_from_left(boundary, chars, begin, format, at)?
        } else {
            begin + shapes[at].max
        };
        (ends[at], begin) = (end, end);
        at += 1;
    }
    if begin > chars.len() {
        return Err(wrong_length());
    }
    // From the right, down to the one part without a boundary.
    let mut boundaries = split_plan.backward.iter();
    let mut end = chars.len();
    for from_right in (at..shapes.len()).rev() {
        ends[from_right] = end;
        let start = match (shapes[from_right].varies(), from_right == at) {
            (_, true) => break,
            (false, _) => end.checked_sub(shapes[from_right].max),
            (true, _) => boundaries.next().and_then(|boundary| start_from_right(boundary, chars, end)),
        };
        end = start.filter(|start| *start >= begin).ok_or_else(wrong_length)?;
    }
    if ends.last().is_some_and(|last| *last != chars.len()) {
        return Err(wrong_length());
    }
    Ok(ends)
}

/// The end of a part, found from its start.
fn end_from_left(
    boundary: &Boundary,
    chars: &[char],
    begin: usize,
    format: &Format,
    at: usize,
) -> Result<usize, DecodeError> {
    let rest = chars.get(begin..).unwrap_or_default();
    let found = rest
        .iter()
        .position(|c| boundary.charset.contains(*c))
        .and_then(|found| found.checked_sub(boundary.distance));
    found.map(|length| begin + length).ok_or_else(|| {
        let label = format.template().parts[at].label();
        let what = format!("the end of {label} is not found{}", expected(&boundary.charset));
        DecodeError::new(begin + 1, DecodeErrorKind::Shape, what)
    })
}

/// The start of a part, found from its end.
fn start_from_right(boundary: &Boundary, chars: &[char], end: usize) -> Option<usize> {
    let found = chars[..end].iter().rposition(|c| boundary.charset.contains(*c))?;
    (found + 1 + boundary.distance <= end).then_some(found + 1 + boundary.distance)
}

fn expected(charset: &Charset) -> String {
    charset.example().map_or_else(String::new, |c| format!(": {c:?} or similar is expected"))
}

/// Checks that a piece has the length and characters of its part.
fn check_shape(format: &Format, at: usize, piece: &[char], begin: usize) -> Result<(), DecodeError> {
    let shape = &format.shapes()[at];
    let part = &format.template().parts[at];
    let text: String = piece.iter().collect();
    let error = |at: usize, what: String| Err(DecodeError::new(begin + at + 1, DecodeErrorKind::Shape, what));
    if let Kind::Text(own) = &part.kind {
        return if *own == text { Ok(()) } else { error(0, format!("found {text:?}, expected {own:?}")) };
    }
    if piece.len() < shape.min || piece.len() > shape.max {
        let what =
            format!("{} is {text:?}: {} to {} characters are expected", part.label(), shape.min, shape.max);
        return error(0, what);
    }
    match piece.iter().position(|c| !shape.charset.contains(*c)) {
        Some(wrong) => error(wrong, format!("{:?} cannot stand in {}", piece[wrong], part.label())),
        None => Ok(()),
    }
}

/// A piece in the spelling of the template. Only Crockford's base 32 has several spellings; rule S1 refuses padding that would be
/// changed here.
fn canonical(format: &Format, at: usize, piece: &[char]) -> Vec<char> {
    let crockford = match &format.template().parts[at].kind {
        Kind::Seq(seq) => seq.alphabet.is_crockford(),
        Kind::Check(check) => check.algorithm.name == "crockford",
        _ => false,
    };
    if crockford { piece.iter().copied().map(crockford_canonical).collect() } else { piece.to_vec() }
}
