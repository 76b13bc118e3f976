//! Compatibility of a new definition with the one in force. A definition that could repeat a number or a text is
//! refused.

use sequent_core::{FieldFault, SequenceName};

use super::Body;
use crate::texts::Texts;

impl Body {
    /// Whether `self` may replace `held`. A changed start or step would repeat old numbers. A changed template, or a
    /// first one, must not produce an old text. A number is identified together with its period and the values that
    /// partition it: the counter of another period begins again if the texts show the period.
    pub fn may_follow(&self, held: &Self) -> bool {
        self.follows(held).is_ok()
    }

    /// The same, with the reason and the remedy.
    pub fn follows(&self, held: &Self) -> Result<(), String> {
        if self.counter != held.counter {
            let of = |body: &Self| {
                body.counter.as_ref().map_or_else(|| "its own".to_owned(), |name| format!("that of {name}"))
            };
            return Err(format!(
                "changes its counter from {} to {}, which would give numbers of the version before again: keep the ref of its \
                 template, or define another sequence",
                of(held),
                of(self),
            ));
        }
        if self.numbering != held.numbering {
            return Err(format!(
                "changes numbering from {was} to {}, which would give numbers of the version before again: keep \
                 numbering {was}, or define another sequence",
                self.numbering,
                was = held.numbering,
            ));
        }
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
                 again: keep placement {was}, or define another sequence"
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

    /// The same, including the templates of `held`, which was `version`.
    #[must_use]
    pub(crate) fn after(&self, version: u32, held: &Self) -> Self {
        match (&self.texts, &held.texts) {
            (Some(texts), held) => Self { texts: Some(texts.after(version, held.as_ref())), ..self.clone() },
            _ => self.clone(),
        }
    }

    /// The same for import into a sequence of which `held` is known: with its counter. If a key hides its numbers, the
    /// name becomes part of the hiding.
    pub(crate) fn named(&self, name: &SequenceName, held: Option<&Self>) -> Result<Self, FieldFault> {
        let body = self.clone().drawing(name, held)?;
        let Some(texts) = body.texts().filter(|texts| texts.hides()) else { return Ok(body) };
        let texts = texts.named(name, held.and_then(Self::texts))?;
        Ok(Self { texts: Some(texts), ..body })
    }

    /// Whether both have the same content. Former versions, the instant of effect, and what the sequence's name adds are
    /// ignored: its counter, and its part in the hiding of numbers.
    pub(crate) fn says_as(&self, other: &Self) -> bool {
        let said = |texts: &Texts| texts.alone().nameless();
        let alone =
            |body: &Self| Self { texts: body.texts.as_ref().map(said), counter: None, ..body.at_once() };
        alone(self) == alone(other)
    }
}
