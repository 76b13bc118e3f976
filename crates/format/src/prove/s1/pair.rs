//! Two ways to take one text apart, where two parts vary and nothing parts them: found by laying one over the other.
//!
//! `a m b = A M B`, where `A` is longer than `a` by a shift: then `m b` is also a piece of `A`, then `M B`. Each character
//! of it must be allowed in both of its places.

use std::cell::Cell;

use crate::{
    date::Shown,
    letters::Letters,
    prove::Claim,
    shape::Shape,
    template::{Kind, Part},
};

/// By how much more than what stands between the first part may be longer: two readings that differ by more differ by less,
/// too, unless an expression has it otherwise.
const SHIFT_MAX: usize = 4;

/// How much longer than their shortest the parts are tried.
pub(super) const LONGER_MAX: usize = 3;

/// How many places are looked at, of all lengths and shifts together: an example is a kindness, and who looks at a preview
/// waits for it. Where there is none by then, the fault is told without.
const SEARCH_STEPS_MAX: usize = 20_000;

/// Two readings of one text: what each part says in the one, and in the other.
pub(super) struct Pair {
    pub(super) one: (String, String),
    pub(super) other: (String, String),
    pub(super) text: String,
}

/// Two neighbours that vary, with what can stand at each place between them.
pub(super) struct Neighbours<'a> {
    pub(super) claim: &'a Claim,
    pub(super) left: usize,
    pub(super) right: usize,
    pub(super) between: &'a [Letters],
    /// How many places were looked at.
    steps: Cell<usize>,
}

impl<'a> Neighbours<'a> {
    pub(super) fn new(claim: &'a Claim, left: usize, right: usize, between: &'a [Letters]) -> Self {
        Self { claim, left, right, between, steps: Cell::new(0) }
    }

    /// Two readings of one text, if a bounded search finds some.
    pub(super) fn pair(&self) -> Option<Pair> {
        if !self.may_be_shown() {
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
                if let Some(pair) = self.laid(shift, left, right) {
                    return Some(pair);
                }
            }
        }
        None
    }

    /// Whether any text can be an example: not where a part between is made from others, which this search does not make,
    /// and not where even the shortest text is too long.
    pub(super) fn may_be_shown(&self) -> bool {
        let shapes = &self.claim.shapes;
        let parts = &self.claim.template.parts;
        let made = (self.left + 1..self.right).any(|at| parts[at].inputs().is_some() && shapes[at].max > 0);
        let least: usize = shapes.iter().map(|shape| shape.min).sum();
        !made && least <= self.claim.settings.maxlen
    }

    /// One more place is looked at, if it may be.
    pub(super) fn step(&self) -> Option<()> {
        let steps = self.steps.get() + 1;
        (steps <= SEARCH_STEPS_MAX).then(|| self.steps.set(steps))
    }

    /// Whether no more places may be looked at.
    pub(super) fn is_over(&self) -> bool {
        self.steps.get() >= SEARCH_STEPS_MAX
    }

    /// A text in which what stands between comes twice, though it can be read in one way only.
    pub(super) fn twice(&self) -> Option<((String, String), String)> {
        if !self.may_be_shown() {
            return None;
        }
        let between: String = self.between.iter().filter_map(Letters::example).collect();
        if !self.reads_between(&between) {
            return None;
        }
        let run =
            |at: usize, count: usize| self.shape(at).letters.example().map(|c| c.to_string().repeat(count));
        let around = |at: usize| Some(format!("{}{between}{}", run(at, 1)?, run(at, 1)?));
        let least = |at: usize| run(at, self.shape(at).min.max(1));
        let either = [(around(self.left)?, least(self.right)?), (least(self.left)?, around(self.right)?)];
        let (left, right) = either
            .into_iter()
            .find(|(left, right)| self.takes(self.left, left) && self.takes(self.right, right))?;
        let text = format!("{left}{between}{right}");
        Some(((left, right), text))
    }

    pub(super) fn shape(&self, at: usize) -> &Shape {
        &self.claim.shapes[at]
    }

    /// The readings with parts of these lengths, the first one longer by a shift in the other.
    fn laid(&self, shift: usize, left: usize, right: usize) -> Option<Pair> {
        let (one, two, between) = (self.shape(self.left), self.shape(self.right), self.between);
        let width = between.len();
        let begin = one.letters.example()?.to_string().repeat(left);
        let place = |at: usize| {
            self.step()?;
            let first = between.get(at).unwrap_or(&two.letters);
            let second = match at.checked_sub(shift) {
                None => &one.letters,
                Some(at) => between.get(at).unwrap_or(&two.letters),
            };
            first.shared(second).example()
        };
        let rest: Vec<char> = (0..width + shift + right).map(place).collect::<Option<_>>()?;
        let of = |from: usize, to: usize| rest[from..to].iter().collect::<String>();
        let pair = Pair {
            one: (begin.clone(), of(width, rest.len())),
            other: (format!("{begin}{}", of(0, shift)), of(shift + width, rest.len())),
            text: format!("{begin}{}", of(0, rest.len())),
        };
        let is_read = self.reads_between(&of(0, width))
            && self.reads_between(&of(shift, shift + width))
            && [&pair.one, &pair.other]
                .into_iter()
                .all(|(left, right)| self.takes(self.left, left) && self.takes(self.right, right));
        is_read.then_some(pair)
    }

    /// Whether the parts between can say this; what is made from other parts is said by them.
    pub(super) fn reads_between(&self, text: &str) -> bool {
        let mut rest = text;
        (self.left + 1..self.right).all(|at| {
            let count = self.shape(at).max;
            let end = rest.char_indices().nth(count).map_or(rest.len(), |(at, _)| at);
            let (piece, after) = rest.split_at(end);
            rest = after;
            self.takes(at, piece)
        })
    }

    pub(super) fn takes(&self, at: usize, piece: &str) -> bool {
        let Part { kind, .. } = &self.claim.template.parts[at];
        match kind {
            Kind::Text(text) => text == piece,
            Kind::Ctx(ctx) => {
                ctx.re.as_ref().is_none_or(|re| re.matches(piece))
                    && ctx.map.as_ref().is_none_or(|map| map.value(piece).is_some())
                    && piece.trim() == piece
                    && !piece.contains("  ")
            }
            Kind::Seq(_) => self.numbers(piece),
            Kind::Date(date) => {
                let mut shown = Shown::default();
                let read = date.pattern.read(piece, &mut shown);
                read.and_then(|()| shown.closed(date.pattern.fiscal)).is_ok()
            }
            Kind::Check(_) | Kind::Call(_) => piece.is_empty(),
        }
    }

    /// Whether a number is written so; where a key hides them, some number is.
    fn numbers(&self, piece: &str) -> bool {
        let (numbering, mut written) = (&self.claim.numbering, String::new());
        let number = numbering.read(piece.as_bytes(), &[]);
        number.is_some_and(|number| numbering.push(number, &[], &mut written).is_ok() && written == piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Settings, Template, prove::s1};

    /// Whether a search between the first and the last value finds a pair, and how many places it looked at.
    fn searched(template: &str) -> (bool, usize) {
        let template = Template::parse(template).unwrap();
        let claim = Claim::new(&template, &Settings { maxlen: 256, ..Settings::default() }).unwrap();
        let varying: Vec<usize> = (0..claim.shapes.len()).filter(|at| claim.shapes[*at].varies()).collect();
        let between = s1::between(&claim, varying[0], varying[1]);
        let neighbours = Neighbours::new(&claim, varying[0], varying[1], &between);
        (neighbours.pair().is_some(), neighbours.steps.get())
    }

    #[test]
    fn a_search_for_an_example_ends_after_so_many_steps() {
        let ends = "@{ctx,b,max=128}@{seq,id=s,w=4,over=error}";
        // Each place has a character, but no row of them is a value: what no shift and no length can mend.
        let (found, steps) = searched(&format!("@{{ctx,a,max=128}}@{{ctx,x,len=120,re=\"\\w+~\"}}{ends}"));
        assert!(!found && (10_000..=20_000).contains(&steps), "{steps}");
        let (found, steps) = searched(&format!("@{{ctx,a,max=128}}-X-{ends}"));
        assert!(found && steps < 100, "{steps}");
    }

    #[test]
    fn nothing_is_searched_where_no_text_can_be_an_example() {
        let ends = "@{ctx,b,max=128}@{seq,id=s,w=4,over=error}";
        let wide: Vec<String> = (0..58).map(|at| format!("@{{ctx,c{at},len=128}}")).collect();
        let wide = wide.concat();
        let made = format!("@{{ctx,a,max=128}}@{{check,damm,over=s}}{ends}");
        for template in [made, format!("@{{ctx,a,max=128}}{wide}{ends}")] {
            assert_eq!(searched(&template), (false, 0), "{template}");
        }
    }
}
