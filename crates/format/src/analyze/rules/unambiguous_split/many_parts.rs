//! Searches an example for S1 if more than two parts vary in length. Each two neighbours may have a boundary, one from the left and
//! one from the right, and all parts together still have two readings.

use crate::charset::Charset;

use super::two_parts::{LONGER_MAX, Neighbours};

/// The most parts of variable length in an example: the combinations of lengths grow exponentially.
const VARYING_MAX: usize = 4;

/// Two readings of one text: the texts of the parts that differ, by index.
pub(super) struct ManyReadings {
    pub(super) one: Vec<(usize, String)>,
    pub(super) other: Vec<(usize, String)>,
    pub(super) text: String,
}

/// The length of each part from the left one to the right one.
type Lengths = Vec<usize>;

impl Neighbours<'_> {
    /// Two readings of one text by all parts from the left one to the right one, if the bounded search finds any.
    pub(super) fn many_parts_example(&self) -> Option<ManyReadings> {
        if !self.can_have_example() {
            return None;
        }
        let positions: Vec<Vec<Charset>> = (self.left..=self.right).map(|at| self.positions(at)).collect();
        let all = self.lengths()?;
        let pairs =
            all.iter().enumerate().flat_map(|(at, one)| all[..at].iter().map(move |other| (other, one)));
        let same_length =
            pairs.filter(|(one, other)| one.iter().sum::<usize>() == other.iter().sum::<usize>());
        for (one, other) in same_length {
            if self.is_over() {
                return None;
            }
            if let Some(text) = self.common_text(&positions, one, other)
                && let Some(found) = self.readings(&text, one, other)
            {
                return Some(found);
            }
        }
        None
    }

    /// The charset of each position of a part; of a part of variable length, one for all positions.
    fn positions(&self, at: usize) -> Vec<Charset> {
        let shape = self.shape(at);
        if shape.varies() {
            vec![shape.charset.clone()]
        } else {
            shape.positions(&self.analysis.template.parts[at])
        }
    }

    /// The lengths to try, shortest texts first; `None` if too many parts vary in length.
    fn lengths(&self) -> Option<Vec<Lengths>> {
        let shapes = || (self.left..=self.right).map(|at| self.shape(at));
        if shapes().filter(|shape| shape.varies()).count() > VARYING_MAX {
            return None;
        }
        let mut all: Vec<Lengths> = vec![Vec::new()];
        for shape in shapes() {
            let longest = shape.max.min(shape.min + LONGER_MAX);
            let longer =
                |known: Lengths| (shape.min..=longest).map(move |length| [&known[..], &[length]].concat());
            all = all.into_iter().flat_map(longer).collect();
        }
        all.sort_by_key(|lengths| lengths.iter().sum::<usize>());
        Some(all)
    }

    /// A text whose characters are allowed at their positions in both readings.
    fn common_text(&self, positions: &[Vec<Charset>], one: &Lengths, other: &Lengths) -> Option<String> {
        let layout = |lengths: &Lengths| -> Vec<(usize, usize)> {
            let parts = lengths.iter().enumerate();
            let of = |(part, length): (usize, &usize)| {
                let last = positions[part].len().saturating_sub(1);
                (0..*length).map(move |at| (part, at.min(last)))
            };
            parts.flat_map(of).collect()
        };
        let character = |(one, other): ((usize, usize), (usize, usize))| {
            self.step()?;
            positions[one.0].get(one.1)?.shared(positions[other.0].get(other.1)?).example()
        };
        layout(one).into_iter().zip(layout(other)).map(character).collect()
    }

    /// Both readings of a text, if all parts accept their texts.
    fn readings(&self, text: &str, one: &Lengths, other: &Lengths) -> Option<ManyReadings> {
        let (one, other) = (self.read(text, one)?, self.read(text, other)?);
        let differing = |texts: &[String], others: &[String]| -> Vec<(usize, String)> {
            let parts = texts.iter().zip(others).enumerate().filter(|(_, (text, other))| text != other);
            parts.map(|(part, (text, _))| (self.left + part, text.clone())).collect()
        };
        let text = text.to_owned();
        Some(ManyReadings { one: differing(&one, &other), other: differing(&other, &one), text })
    }

    /// The texts of the parts of these lengths, if all parts accept them.
    fn read(&self, text: &str, lengths: &Lengths) -> Option<Vec<String>> {
        let mut rest = text.chars();
        let pieces: Vec<String> =
            lengths.iter().map(|length| rest.by_ref().take(*length).collect()).collect();
        let is_accepted = |(part, piece): (usize, &String)| self.accepts(self.left + part, piece);
        pieces.iter().enumerate().all(is_accepted).then_some(pieces)
    }
}
