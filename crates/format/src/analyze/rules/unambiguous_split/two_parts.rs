//! Searches an example for S1: a text with two readings, by two parts of variable length.
//!
//! The readings are `a m b = A M B`. `A` is longer than `a` by a shift, so that `m b` is the end of `A`, then `M B`. Each character
//! must be allowed at its position in both readings.

use std::cell::Cell;

use crate::{
    analyze::{analysis::Analysis, part_shape::PartShape},
    charset::Charset,
    date::DecodedDate,
    template::{Kind, Part},
};

/// The largest shift, beyond the length between the parts. If two readings differ by more, others differ by less, except under some
/// expressions.
const SHIFT_MAX: usize = 4;

/// How much longer than their shortest text the parts are tried.
pub(super) const LONGER_MAX: usize = 3;

/// The limit of positions compared, over all lengths and shifts. A person waits for the example, so without one by then the fault is
/// reported without it.
const SEARCH_STEPS_MAX: usize = 20_000;

/// Two readings of one text: the texts of both parts in the first reading and in the second.
pub(super) struct TwoReadings {
    pub(super) one: (String, String),
    pub(super) other: (String, String),
    pub(super) text: String,
}

/// Two neighbours of variable length, with the charset of each position between them.
pub(super) struct Neighbours<'a> {
    pub(super) analysis: &'a Analysis,
    pub(super) left: usize,
    pub(super) right: usize,
    pub(super) between: &'a [Charset],
    /// How many positions were compared.
    steps: Cell<usize>,
}

/// The charset of each position between two parts.
pub(super) fn charsets_between(analysis: &Analysis, left: usize, right: usize) -> Vec<Charset> {
    let positions =
        (left + 1..right).flat_map(|at| analysis.shapes[at].positions(&analysis.template.parts[at]));
    positions.collect()
}

impl<'a> Neighbours<'a> {
    pub(super) fn new(analysis: &'a Analysis, left: usize, right: usize, between: &'a [Charset]) -> Self {
        Self { analysis, left, right, between, steps: Cell::new(0) }
    }

    /// Two readings of one text, if the bounded search finds any.
    pub(super) fn example(&self) -> Option<TwoReadings> {
        if !self.can_have_example() {
            return None;
        }
        let (one, two) = (self.shape(self.left), self.shape(self.right));
        for shift in 1..=self.between.len() + SHIFT_MAX {
            for (more_left, more_right) in
                (0..=LONGER_MAX).flat_map(|l| (0..=LONGER_MAX).map(move |r| (l, r)))
            {
                let (left, right) = (one.min + more_left, two.min + more_right);
                if left + shift > one.max || right + shift > two.max {
                    continue;
                }
                if self.is_over() {
                    return None;
                }
                if let Some(pair) = self.overlay(shift, left, right) {
                    return Some(pair);
                }
            }
        }
        None
    }

    /// Whether a text can be an example. It cannot if a part between is derived, since this search does not compute derived parts, or
    /// if even the shortest text is too long.
    pub(super) fn can_have_example(&self) -> bool {
        let shapes = &self.analysis.shapes;
        let parts = &self.analysis.template.parts;
        let has_derived =
            (self.left + 1..self.right).any(|at| parts[at].inputs().is_some() && shapes[at].max > 0);
        let least: usize = shapes.iter().map(|shape| shape.min).sum();
        !has_derived && least <= self.analysis.settings.maxlen
    }

    /// Counts one comparison; `None` above the limit.
    pub(super) fn step(&self) -> Option<()> {
        let steps = self.steps.get() + 1;
        (steps <= SEARCH_STEPS_MAX).then(|| self.steps.set(steps))
    }

    /// Whether the limit is reached.
    pub(super) fn is_over(&self) -> bool {
        self.steps.get() >= SEARCH_STEPS_MAX
    }

    /// A text that contains what is between the parts twice, although it has only one reading.
    pub(super) fn repeated_separator(&self) -> Option<((String, String), String)> {
        if !self.can_have_example() {
            return None;
        }
        let between: String = self.between.iter().filter_map(Charset::example).collect();
        if !self.reads_between(&between) {
            return None;
        }
        let run =
            |at: usize, count: usize| self.shape(at).charset.example().map(|c| c.to_string().repeat(count));
        let around = |at: usize| Some(format!("{}{between}{}", run(at, 1)?, run(at, 1)?));
        let least = |at: usize| run(at, self.shape(at).min.max(1));
        let either = [(around(self.left)?, least(self.right)?), (least(self.left)?, around(self.right)?)];
        let (left, right) = either
            .into_iter()
            .find(|(left, right)| self.accepts(self.left, left) && self.accepts(self.right, right))?;
        let text = format!("{left}{between}{right}");
        Some(((left, right), text))
    }

    pub(super) fn shape(&self, at: usize) -> &PartShape {
        &self.analysis.shapes[at]
    }

    /// The readings with parts of these lengths, the left part longer by a shift in the second reading.
    fn overlay(&self, shift: usize, left: usize, right: usize) -> Option<TwoReadings> {
        let (one, two, between) = (self.shape(self.left), self.shape(self.right), self.between);
        let width = between.len();
        let begin = one.charset.example()?.to_string().repeat(left);
        let character = |at: usize| {
            self.step()?;
            let first = between.get(at).unwrap_or(&two.charset);
            let second = match at.checked_sub(shift) {
                None => &one.charset,
                Some(at) => between.get(at).unwrap_or(&two.charset),
            };
            first.shared(second).example()
        };
        let rest: Vec<char> = (0..width + shift + right).map(character).collect::<Option<_>>()?;
        let of = |from: usize, to: usize| rest[from..to].iter().collect::<String>();
        let pair = TwoReadings {
            one: (begin.clone(), of(width, rest.len())),
            other: (format!("{begin}{}", of(0, shift)), of(shift + width, rest.len())),
            text: format!("{begin}{}", of(0, rest.len())),
        };
        let is_read = self.reads_between(&of(0, width))
            && self.reads_between(&of(shift, shift + width))
            && [&pair.one, &pair.other]
                .into_iter()
                .all(|(left, right)| self.accepts(self.left, left) && self.accepts(self.right, right));
        is_read.then_some(pair)
    }

    /// Whether the parts between can have this text. Derived parts must have no text.
    pub(super) fn reads_between(&self, text: &str) -> bool {
        let mut rest = text;
        (self.left + 1..self.right).all(|at| {
            let count = self.shape(at).max;
            let end = rest.char_indices().nth(count).map_or(rest.len(), |(at, _)| at);
            let (piece, after) = rest.split_at(end);
            rest = after;
            self.accepts(at, piece)
        })
    }

    /// Whether a part can have this text.
    pub(super) fn accepts(&self, at: usize, piece: &str) -> bool {
        let Part { kind, .. } = &self.analysis.template.parts[at];
        match kind {
            Kind::Text(text) => text == piece,
            Kind::Ctx(ctx) => {
                ctx.re.as_ref().is_none_or(|re| re.matches(piece))
                    && ctx.map.as_ref().is_none_or(|map| map.value(piece).is_some())
                    && piece.trim() == piece
                    && !piece.contains("  ")
            }
            Kind::Seq(_) => self.is_number(piece),
            Kind::Date(date) => {
                let mut decoded = DecodedDate::default();
                let read = date.pattern.decode(piece, &mut decoded);
                read.and_then(|()| decoded.completed(date.pattern.fiscal)).is_ok()
            }
            Kind::Check(_) | Kind::Call(_) => piece.is_empty(),
        }
    }

    /// Whether some number has this text. With `obf` the tweak is unknown here, so any tweak will do.
    fn is_number(&self, piece: &str) -> bool {
        let (codec, mut written) = (&self.analysis.codec, String::new());
        let number = codec.read(piece.as_bytes(), &[]);
        number.is_some_and(|number| codec.push(number, &[], &mut written).is_ok() && written == piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{settings::Settings, template::Template};

    /// Whether the search between the first two values finds an example, and how many positions it compared.
    fn searched(template: &str) -> (bool, usize) {
        let template = Template::parse(template).unwrap();
        let analysis = Analysis::new(&template, &Settings { maxlen: 256, ..Settings::default() }).unwrap();
        let varying: Vec<usize> =
            (0..analysis.shapes.len()).filter(|at| analysis.shapes[*at].varies()).collect();
        let between = charsets_between(&analysis, varying[0], varying[1]);
        let neighbours = Neighbours::new(&analysis, varying[0], varying[1], &between);
        (neighbours.example().is_some(), neighbours.steps.get())
    }

    #[test]
    fn the_search_for_an_example_is_bounded() {
        let ends = "@{ctx,b,max=128}@{seq,id=s,w=4,over=error}";
        // Each position has a character, but no text of them matches the expression, whatever shift and length.
        let (found, steps) = searched(&format!("@{{ctx,a,max=128}}@{{ctx,x,len=120,re=\"\\w+~\"}}{ends}"));
        assert!(!found && (10_000..=20_000).contains(&steps), "{steps}");
        let (found, steps) = searched(&format!("@{{ctx,a,max=128}}-X-{ends}"));
        assert!(found && steps < 100, "{steps}");
    }

    #[test]
    fn nothing_is_searched_if_no_text_can_be_an_example() {
        let ends = "@{ctx,b,max=128}@{seq,id=s,w=4,over=error}";
        let wide: Vec<String> = (0..58).map(|at| format!("@{{ctx,c{at},len=128}}")).collect();
        let wide = wide.concat();
        let made = format!("@{{ctx,a,max=128}}@{{check,damm,over=s}}{ends}");
        for template in [made, format!("@{{ctx,a,max=128}}{wide}{ends}")] {
            assert_eq!(searched(&template), (false, 0), "{template}");
        }
    }
}
