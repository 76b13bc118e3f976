//! Cuts a text into the texts of its parts, the way that rule S1 has proven.

use crate::{
    Format, InvertError, InvertErrorKind, letters::Letters, limits::TEXT_BYTES_MAX, prove::Cut,
    radix::crockford_spelling, template::Kind,
};

/// The text of one part.
#[derive(Debug, Clone, Default)]
pub(super) struct Piece {
    /// Where it begins, in characters from 1.
    pub(super) column: usize,
    pub(super) chars: usize,
    pub(super) text: String,
}

/// The texts of all parts, in the order of the template; of hidden ones, nothing.
pub(super) fn pieces(format: &Format, text: &str) -> Result<Vec<Piece>, InvertError> {
    if text.len() > TEXT_BYTES_MAX {
        let what = format!("text has {} bytes: at most {TEXT_BYTES_MAX} are allowed", text.len());
        return Err(InvertError::new(1, InvertErrorKind::Shape, what));
    }
    let chars: Vec<char> = text.chars().collect();
    let ends = ends(format, &chars)?;
    let mut begin = 0;
    let mut pieces = Vec::new();
    for (at, end) in ends.into_iter().enumerate() {
        let piece = normal(format, at, &chars[begin..end]);
        fits(format, at, &piece, begin)?;
        pieces.push(Piece { column: begin + 1, chars: piece.len(), text: piece.iter().collect() });
        begin = end;
    }
    Ok(pieces)
}

/// Where each part ends.
fn ends(format: &Format, chars: &[char]) -> Result<Vec<usize>, InvertError> {
    let shapes = format.shapes();
    let decoding = format.decoding();
    let wrong_length = || {
        let (low, high) = (format.min_len(), format.max_len());
        let bound = if low == high { format!("{low}") } else { format!("{low} to {high}") };
        let what = format!("text has {} characters: {bound} belong to this template", chars.len());
        InvertError::new(1, InvertErrorKind::Shape, what)
    };
    if chars.len() < format.min_len() || chars.len() > format.max_len() {
        return Err(wrong_length());
    }
    let mut ends = vec![0; shapes.len()];
    let mut cuts = decoding.forward.iter();
    // From the left, as far as parts tell their ends.
    let (mut at, mut begin) = (0, 0);
    while at < shapes.len() {
        let end = if shapes[at].varies() {
            let Some(cut) = cuts.next() else { break };
            end_by(cut, chars, begin, format, at)?
        } else {
            begin + shapes[at].max
        };
        (ends[at], begin) = (end, end);
        at += 1;
    }
    if begin > chars.len() {
        return Err(wrong_length());
    }
    // From the right, down to the part that is left over.
    let mut cuts = decoding.backward.iter();
    let mut end = chars.len();
    for from_right in (at..shapes.len()).rev() {
        ends[from_right] = end;
        let start = match (shapes[from_right].varies(), from_right == at) {
            (_, true) => break,
            (false, _) => end.checked_sub(shapes[from_right].max),
            (true, _) => cuts.next().and_then(|cut| begin_by(cut, chars, end)),
        };
        end = start.filter(|start| *start >= begin).ok_or_else(wrong_length)?;
    }
    if ends.last().is_some_and(|last| *last != chars.len()) {
        return Err(wrong_length());
    }
    Ok(ends)
}

fn end_by(cut: &Cut, chars: &[char], begin: usize, format: &Format, at: usize) -> Result<usize, InvertError> {
    let rest = chars.get(begin..).unwrap_or_default();
    let found = rest.iter().position(|c| cut.at.contains(*c)).and_then(|mark| mark.checked_sub(cut.distance));
    found.map(|length| begin + length).ok_or_else(|| {
        let label = format.template().parts[at].label();
        let what = format!("nothing tells where {label} ends{}", belongs(&cut.at));
        InvertError::new(begin + 1, InvertErrorKind::Shape, what)
    })
}

fn begin_by(cut: &Cut, chars: &[char], end: usize) -> Option<usize> {
    let mark = chars[..end].iter().rposition(|c| cut.at.contains(*c))?;
    (mark + 1 + cut.distance <= end).then_some(mark + 1 + cut.distance)
}

fn belongs(letters: &Letters) -> String {
    letters.example().map_or_else(String::new, |c| format!(": {c:?} or the like belongs there"))
}

/// A piece has its part's length and characters.
fn fits(format: &Format, at: usize, piece: &[char], begin: usize) -> Result<(), InvertError> {
    let shape = &format.shapes()[at];
    let part = &format.template().parts[at];
    let text: String = piece.iter().collect();
    let fault = |at: usize, what: String| Err(InvertError::new(begin + at + 1, InvertErrorKind::Shape, what));
    if let Kind::Text(own) = &part.kind {
        return if *own == text {
            Ok(())
        } else {
            fault(0, format!("{text:?} stands where {own:?} belongs"))
        };
    }
    if piece.len() < shape.min || piece.len() > shape.max {
        let what =
            format!("{} is {text:?}: {} to {} characters belong there", part.label(), shape.min, shape.max);
        return fault(0, what);
    }
    match piece.iter().position(|c| !shape.letters.contains(*c)) {
        Some(wrong) => fault(wrong, format!("{:?} cannot stand in {}", piece[wrong], part.label())),
        None => Ok(()),
    }
}

/// A part of Crockford's digits as it is rendered, however it was typed; rule S1 keeps padding out of what that changes.
fn normal(format: &Format, at: usize, piece: &[char]) -> Vec<char> {
    let crockford = match &format.template().parts[at].kind {
        Kind::Seq(seq) => seq.digits.is_crockford(),
        Kind::Check(check) => check.algorithm.name() == "crockford",
        _ => false,
    };
    if crockford { piece.iter().copied().map(crockford_spelling).collect() } else { piece.to_vec() }
}
