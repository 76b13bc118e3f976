//! Two ways to take one text apart where both parts are closed lists: all that they can say is laid end to end.

use std::collections::HashMap;

use super::pair::{Neighbours, Pair};
use crate::{
    letters::Letters,
    template::{Kind, Map},
};

impl Neighbours<'_> {
    /// Two readings of one text, if both parts are closed lists, and a bounded search finds some.
    pub(super) fn closed(&self) -> Option<Pair> {
        let (left, right) = (self.map(self.left)?, self.map(self.right)?);
        let between: String = self.between.iter().filter_map(Letters::example).collect();
        if !self.may_be_shown() || !self.reads_between(&between) {
            return None;
        }
        let mut known = HashMap::new();
        for one in left.texts() {
            for two in right.texts() {
                self.step()?;
                let (text, other) = (format!("{one}{between}{two}"), (one.to_owned(), two.to_owned()));
                if let Some(one) = known.insert(text.clone(), other.clone()) {
                    return Some(Pair { one, other, text });
                }
            }
        }
        None
    }

    fn map(&self, at: usize) -> Option<&Map> {
        match &self.claim.template.parts[at].kind {
            Kind::Ctx(ctx) => ctx.map.as_ref(),
            _ => None,
        }
    }
}
