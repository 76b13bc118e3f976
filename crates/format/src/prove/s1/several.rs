//! Two ways to take one text apart where more than two parts vary: each neighbour may be parted by itself, one from the left
//! and one from the right, and all together by nothing.

use super::pair::{LONGER_MAX, Neighbours};
use crate::letters::Letters;

/// The most parts that vary in an example: what they can be long grows with each.
const VARYING_MAX: usize = 4;

/// Two readings of one text: what each part says that says another thing in the other one.
pub(super) struct Several {
    pub(super) one: Vec<(usize, String)>,
    pub(super) other: Vec<(usize, String)>,
    pub(super) text: String,
}

/// How long each part is, from the first that varies to the last.
type Lengths = Vec<usize>;

impl Neighbours<'_> {
    /// Two readings of one text by all parts from the left one to the right one, if a bounded search finds some.
    pub(super) fn several(&self) -> Option<Several> {
        if !self.may_be_shown() {
            return None;
        }
        let places: Vec<Vec<Letters>> = (self.left..=self.right).map(|at| self.places(at)).collect();
        let all = self.lengths()?;
        let pairs =
            all.iter().enumerate().flat_map(|(at, one)| all[..at].iter().map(move |other| (other, one)));
        let alike = pairs.filter(|(one, other)| one.iter().sum::<usize>() == other.iter().sum::<usize>());
        for (one, other) in alike {
            if self.is_over() {
                return None;
            }
            if let Some(text) = self.of_both(&places, one, other)
                && let Some(found) = self.told(&text, one, other)
            {
                return Some(found);
            }
        }
        None
    }

    /// What can stand at each place of a part, or at all of one that varies.
    fn places(&self, at: usize) -> Vec<Letters> {
        let shape = self.shape(at);
        if shape.varies() {
            vec![shape.letters.clone()]
        } else {
            shape.places(&self.claim.template.parts[at])
        }
    }

    /// The lengths that are tried, the shortest texts first; `None` where too many parts vary.
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

    /// A text that has a character for each place in both readings.
    fn of_both(&self, places: &[Vec<Letters>], one: &Lengths, other: &Lengths) -> Option<String> {
        let laid = |lengths: &Lengths| -> Vec<(usize, usize)> {
            let parts = lengths.iter().enumerate();
            let of = |(part, length): (usize, &usize)| {
                let last = places[part].len().saturating_sub(1);
                (0..*length).map(move |at| (part, at.min(last)))
            };
            parts.flat_map(of).collect()
        };
        let character = |(one, other): ((usize, usize), (usize, usize))| {
            self.step()?;
            places[one.0].get(one.1)?.shared(places[other.0].get(other.1)?).example()
        };
        laid(one).into_iter().zip(laid(other)).map(character).collect()
    }

    /// Both readings of a text, where all parts can say what they say in them.
    fn told(&self, text: &str, one: &Lengths, other: &Lengths) -> Option<Several> {
        let (one, other) = (self.read(text, one)?, self.read(text, other)?);
        let apart = |said: &[String], than: &[String]| -> Vec<(usize, String)> {
            let parts = said.iter().zip(than).enumerate().filter(|(_, (said, than))| said != than);
            parts.map(|(part, (said, _))| (self.left + part, said.clone())).collect()
        };
        let text = text.to_owned();
        Some(Several { one: apart(&one, &other), other: apart(&other, &one), text })
    }

    fn read(&self, text: &str, lengths: &Lengths) -> Option<Vec<String>> {
        let mut rest = text.chars();
        let pieces: Vec<String> =
            lengths.iter().map(|length| rest.by_ref().take(*length).collect()).collect();
        let is_said = |(part, piece): (usize, &String)| self.takes(self.left + part, piece);
        pieces.iter().enumerate().all(is_said).then_some(pieces)
    }
}
