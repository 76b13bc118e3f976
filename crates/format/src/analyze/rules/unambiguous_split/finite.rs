//! Searches an example for S1 if both parts have a finite list of texts, by a map or an expression of few matches: all combinations
//! are tried.

use std::collections::HashMap;

use crate::{charset::Charset, limits::MAP_ENTRIES_MAX, template::Kind};

use super::two_parts::{Neighbours, TwoReadings};

impl Neighbours<'_> {
    /// Two readings of one text, if both parts are finite and the bounded search finds any.
    pub(super) fn finite_example(&self) -> Option<TwoReadings> {
        let (left, right) = (self.texts(self.left)?, self.texts(self.right)?);
        let between: String = self.between.iter().filter_map(Charset::example).collect();
        if !self.can_have_example() || !self.reads_between(&between) {
            return None;
        }
        let mut known = HashMap::new();
        for one in &left {
            for two in &right {
                self.step()?;
                let (text, other) = (format!("{one}{between}{two}"), (one.clone(), two.clone()));
                if let Some(one) = known.insert(text.clone(), other.clone()) {
                    return Some(TwoReadings { one, other, text });
                }
            }
        }
        None
    }

    /// All texts of a part with a map, or with an expression of few matches.
    fn texts(&self, at: usize) -> Option<Vec<String>> {
        let Kind::Ctx(ctx) = &self.analysis.template.parts[at].kind else { return None };
        let mut texts: Vec<String> = match (&ctx.map, &ctx.re) {
            (Some(map), _) => map.texts().map(str::to_owned).collect(),
            (None, Some(re)) => re.matches_up_to(MAP_ENTRIES_MAX)?,
            (None, None) => return None,
        };
        let shape = self.shape(at);
        let fits = |text: &str| (shape.min..=shape.max).contains(&text.chars().count());
        let is_in_charset = |text: &str| text.chars().all(|c| shape.charset.contains(c));
        texts.retain(|text| fits(text) && is_in_charset(text) && self.accepts(at, text));
        Some(texts)
    }
}
