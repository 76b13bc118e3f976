//! Two ways to take one text apart where both parts are closed lists, by a map or an expression of few words: all that they can say
//! is laid end to end.

use std::collections::HashMap;

use super::pair::{Neighbours, Pair};
use crate::{letters::Letters, limits::MAP_ENTRIES_MAX, template::Kind};

impl Neighbours<'_> {
    /// Two readings of one text, if both parts are closed lists, and a bounded search finds some.
    pub(super) fn closed(&self) -> Option<Pair> {
        let (left, right) = (self.list(self.left)?, self.list(self.right)?);
        let between: String = self.between.iter().filter_map(Letters::example).collect();
        if !self.may_be_shown() || !self.reads_between(&between) {
            return None;
        }
        let mut known = HashMap::new();
        for one in &left {
            for two in &right {
                self.step()?;
                let (text, other) = (format!("{one}{between}{two}"), (one.clone(), two.clone()));
                if let Some(one) = known.insert(text.clone(), other.clone()) {
                    return Some(Pair { one, other, text });
                }
            }
        }
        None
    }

    /// All that a part can show, where that is a list: of a map, or of an expression that few texts match.
    fn list(&self, at: usize) -> Option<Vec<String>> {
        let Kind::Ctx(ctx) = &self.claim.template.parts[at].kind else { return None };
        let mut texts: Vec<String> = match (&ctx.map, &ctx.re) {
            (Some(map), _) => map.texts().map(str::to_owned).collect(),
            (None, Some(re)) => re.list(MAP_ENTRIES_MAX)?,
            (None, None) => return None,
        };
        let shape = self.shape(at);
        let fits = |text: &str| (shape.min..=shape.max).contains(&text.chars().count());
        let letters = |text: &str| text.chars().all(|c| shape.letters.contains(c));
        texts.retain(|text| fits(text) && letters(text) && self.takes(at, text));
        Some(texts)
    }
}
