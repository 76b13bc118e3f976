//! The content of a definition, in one canonical text.

pub(crate) mod capacity;
mod check;
mod compat;
mod counter;
mod effective;
mod in_words;
mod options;
#[cfg(test)]
mod tests;

use sequent_core::{
    FieldFault, Fits, Key, KeyError, Numbering, SequenceName, Span, ledger::Definition, word_enum,
};
use sequent_format::{CounterSpec, Format, Timestamp};
use serde::{Deserialize, Serialize};

use self::effective::Earlier;
use crate::texts::Texts;

pub use effective::{EARLIER_MAX, EFFECTIVE_AHEAD_MIN, Effective};
pub use options::{BodyOptions, RESERVE_MS_MAX};

/// A key with fewer numbers than this has `dense` as its default placement.
pub const SPREAD_CAPACITY_MIN: u64 = 1_000_000;

word_enum! {
    /// A placement of this version.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Placement {
        /// Numbers are spread over the slots of the ring.
        Spread = "spread",
        /// One counter in the ledger: in order, without gaps, and only while the ledger is available.
        Dense = "dense",
    }
}

/// The content of a definition: all of it but name and version.
///
/// Its text in the ledger is JSON with the fields in this order and without blanks, so that equal definitions have
/// equal texts:
///
/// ```
/// use sequent_engine::Body;
/// let text = r#"{"placement":"spread","start":1,"step":1,"fits":"js"}"#;
/// assert_eq!(Body::default().to_text(), text);
/// assert_eq!(Body::from_text(text)?, Body::default());
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Body {
    placement: Placement,
    start: u64,
    step: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    end: Option<u64>,
    #[serde(with = "in_words")]
    fits: Fits,
    #[serde(default, with = "in_words", skip_serializing_if = "in_words::is_default")]
    numbering: Numbering,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reserve_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at_risk_max: Option<u64>,
    /// The sequence whose counter it draws from, if that is not its own.
    #[serde(default, with = "in_words::option", skip_serializing_if = "Option::is_none")]
    counter: Option<SequenceName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    texts: Option<Texts>,
    /// When it takes effect, if another version is in effect before.
    #[serde(default, with = "in_words::option", skip_serializing_if = "Option::is_none")]
    from: Option<Timestamp>,
    /// The versions in effect before it, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    earlier: Vec<Earlier>,
}

impl Default for Body {
    fn default() -> Self {
        Self {
            placement: Placement::Spread,
            start: 1,
            step: 1,
            end: None,
            fits: Fits::default(),
            numbering: Numbering::default(),
            reserve_ms: None,
            at_risk_max: None,
            counter: None,
            texts: None,
            from: None,
            earlier: Vec::new(),
        }
    }
}

impl Body {
    /// The numbers: up to `end`, the limit of `fits`, and the last number with a text.
    pub fn span(&self) -> Span {
        // Both constructors have checked the bounds: the default is never used.
        self.checked_span().unwrap_or_default()
    }

    fn checked_span(&self) -> Result<Span, FieldFault> {
        let limit = self.fits.limit();
        let template = self.texts_end().filter(|end| *end < limit);
        let end = self.end.into_iter().chain(template).min();
        self.span_up_to(end)
    }

    /// The field that bounds it, and the last number, if that is below the limit of `fits`.
    pub(crate) fn bound(&self) -> Option<(&'static str, u64)> {
        let last = self.span().limit();
        if self.end == Some(last) {
            return Some(("end", last));
        }
        (last < self.fits.limit()).then_some(("template", last))
    }

    /// The last number that the template has a text for. A number whose text would repeat that of an earlier one has
    /// none, since the cluster does not know how long ago that one was issued.
    fn texts_end(&self) -> Option<u64> {
        let CounterSpec { end, wrap, .. } = self.format()?.counter_spec();
        let round = wrap.map(|wrap| self.start.saturating_add(wrap.cycle).saturating_sub(self.step));
        Some(round.unwrap_or(end))
    }

    /// The texts' settings, if it has a template.
    pub fn texts(&self) -> Option<&Texts> {
        self.texts.as_ref()
    }

    /// The renderer of its texts, if it has a template.
    pub fn format(&self) -> Option<&Format> {
        self.texts.as_ref()?.format()
    }

    /// How encoded numbers become its numbers.
    pub fn numbering(&self) -> Numbering {
        self.numbering
    }

    /// The placement.
    pub fn placement(&self) -> Placement {
        self.placement
    }

    /// The canonical text.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The same without earlier versions.
    pub(crate) fn alone(self) -> Self {
        Self { texts: self.texts.map(|texts| texts.alone()), from: None, earlier: Vec::new(), ..self }
    }

    /// The content of a text that this version can read.
    pub fn from_text(text: &str) -> Result<Self, String> {
        let mut body = Self::unproven(text)?;
        body.prove()?;
        body.prove_earlier()?;
        Ok(body)
    }

    /// The same without verification, for display if the key of `obf` is missing. It can't render or parse texts.
    pub fn unproven(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    fn prove(&mut self) -> Result<(), FieldFault> {
        self.texts = self.texts.take().map(Texts::proven).transpose()?;
        self.checked_span().map(drop)
    }

    /// A key with the form of every key of `name`: with a period or not, the number of values, and the shortest
    /// values. An error if even this key can't be held.
    pub fn example_key(&self, name: &SequenceName) -> Result<Key, KeyError> {
        let name = self.counted_by(name);
        let Some(format) = self.format() else { return Ok(Key::of(name)) };
        // All keys of a kind of period have one length.
        let period = format.period_back(Timestamp::UNIX_EPOCH, 0).unwrap_or_default();
        let values: Vec<String> = format.value_bytes_min().map(|bytes| "0".repeat(bytes)).collect();
        Key::new(name, &period, &values.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// The definition of `name` with this content and version.
    pub fn defining(&self, name: &SequenceName, version: u32) -> Definition {
        Definition { name: name.clone(), version, body: self.to_text() }
    }
}
