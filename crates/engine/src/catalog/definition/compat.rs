//! Compatibility of a new definition with the one in force. A definition that could repeat a number or a text is refused.

use sequent_core::SequenceName;

use super::{Body, BodyFault};
use crate::texts::Texts;

impl Body {
    /// Whether `self` may take the place of `held`: a changed start or step would give numbers of the old ones again, and
    /// a changed template, or a first one, must give no text that the old ones gave. A number is one with its period and
    /// the values that partition it: another period's counter begins again, if texts tell them apart.
    pub fn may_follow(&self, held: &Self) -> bool {
        self.follows(held).is_ok()
    }

    /// The same, with what it does that it may not, and how to mend it.
    pub fn follows(&self, held: &Self) -> Result<(), String> {
        if (self.start, self.step) != (held.start, held.step) {
            return Err(format!(
                "changes start or step, which would give numbers of the version before again: keep start {} and step \
                 {}, or define another sequence",
                held.start, held.step
            ));
        }
        if self.placement != held.placement {
            let (was, is) = (held.placement.as_str(), self.placement.as_str());
            return Err(format!(
                "changes placement from {was} to {is}, another counter, which would give numbers of the version before \
                 again: say --placement {was} (placement = {was:?} in a file), or define another sequence"
            ));
        }
        match (&self.texts, &held.texts) {
            (None, None) => Ok(()),
            (Some(texts), None) => texts.follows_numbers(),
            (None, Some(held)) => Err(format!(
                "has no template any more, and its texts were unique by it: keep {}, or define another sequence",
                held.template()
            )),
            (Some(texts), Some(held)) => texts.follows(held),
        }
    }

    /// The same, knowing the templates of `held`, which was `version`.
    #[must_use]
    pub(crate) fn after(&self, version: u32, held: &Self) -> Self {
        match (&self.texts, &held.texts) {
            (Some(texts), held) => Self { texts: Some(texts.after(version, held.as_ref())), ..self.clone() },
            _ => self.clone(),
        }
    }

    /// The same as it is brought for a sequence of which `held` is known: where a key hides its numbers, the name hides
    /// them too.
    pub(crate) fn named(&self, name: &SequenceName, held: Option<&Self>) -> Result<Self, BodyFault> {
        let Some(texts) = self.texts().filter(|texts| texts.hides()) else { return Ok(self.clone()) };
        let texts = texts.named(name, held.and_then(Self::texts))?;
        Ok(Self { texts: Some(texts), ..self.clone() })
    }

    /// Whether both say the same, whatever versions before said, from whenever on, and whether the name hides numbers too.
    pub(crate) fn says_as(&self, other: &Self) -> bool {
        let said = |texts: &Texts| texts.alone().nameless();
        let alone = |body: &Self| Self { texts: body.texts.as_ref().map(said), ..body.at_once() };
        alone(self) == alone(other)
    }
}
