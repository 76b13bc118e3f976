//! What a sequence gives, in one canonical text.

use sequent_core::{Fits, Layout, SequenceName, Span, SpanError, ledger::Definition};
use serde::{Deserialize, Serialize};

use crate::live::LEASE_PARTS;

/// A key with fewer numbers than this has `dense` as its default placement.
pub const SPREAD_CAPACITY_MIN: u64 = 1_000_000;

/// A placement of this version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// Over the ring.
    Spread,
}

impl Placement {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Spread => "spread",
        }
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
    #[serde(with = "fits_word")]
    fits: Fits,
}

/// A field of a definition that is out of bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyFault {
    /// The field.
    pub field: &'static str,
    /// What was found.
    pub value: String,
    /// What is allowed.
    pub bound: String,
}

impl Default for Body {
    fn default() -> Self {
        Self { placement: Placement::Spread, start: 1, step: 1, end: None, fits: Fits::default() }
    }
}

impl Body {
    /// A content, checked as far as it can be without a layout; `None` takes the default.
    pub fn check(
        placement: Option<&str>,
        start: u64,
        step: u64,
        end: Option<u64>,
        fits: Option<&str>,
    ) -> Result<Self, BodyFault> {
        let fits = fits.map_or(Ok(Fits::default()), str::parse::<Fits>).map_err(|error| of_span(&error))?;
        let span = Span::new(start, step, end, fits).map_err(|error| of_span(&error))?;
        let body = Self { placement: Placement::Spread, start, step, end, fits };
        let refuse = |value: &str, bound: String| {
            Err(BodyFault { field: "placement", value: value.to_owned(), bound })
        };
        match placement {
            Some("spread") => Ok(body),
            Some(word @ ("dense" | "book")) => {
                refuse(&format!("{word:?}"), format!("{word} is not built into this version, spread is"))
            }
            Some(word) => refuse(&format!("{word:?}"), "spread, dense and book are known".to_owned()),
            None if end.is_some() && span.capacity() < SPREAD_CAPACITY_MIN => refuse(
                "missing, which means \"dense\" here",
                format!(
                    "end leaves {} numbers, fewer than {SPREAD_CAPACITY_MIN}, and dense is not built into this \
                     version: set a higher end, or placement = \"spread\" if gaps are welcome",
                    span.capacity()
                ),
            ),
            None => Ok(body),
        }
    }

    /// Which numbers.
    pub fn span(&self) -> Span {
        // Both ways in have checked the bounds; a default span is never seen.
        Span::new(self.start, self.step, self.end, self.fits).unwrap_or_default()
    }

    /// Where it counts.
    pub fn placement(&self) -> Placement {
        self.placement
    }

    /// The canonical text.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The content of a text that this version can read.
    pub fn from_text(text: &str) -> Result<Self, String> {
        let body: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        Span::new(body.start, body.step, body.end, body.fits).map_err(|error| error.to_string())?;
        Ok(body)
    }

    /// The definition of `name` in this content and version.
    pub fn defining(&self, name: &SequenceName, version: u32) -> Definition {
        Definition { name: name.clone(), version, body: self.to_text() }
    }

    /// Whether `self` may take the place of `held`: a changed start or step would give numbers of the old ones again.
    pub fn may_follow(&self, held: &Self) -> bool {
        (self.start, self.step) == (held.start, held.step)
    }

    /// Refuses `spread` over a bound where what may be skipped is more than 1 % of it, with the sum.
    pub fn check_layout(&self, layout: Layout, at_risk_max: u64) -> Result<(), BodyFault> {
        let Some(end) = self.end else { return Ok(()) };
        let capacity = self.span().capacity();
        let share = capacity / LEASE_PARTS;
        let reserve = share.min(at_risk_max).max(layout.numbers_per_id());
        let ceilings = share.max(layout.origin());
        let lease = share.max(1);
        let skipped = u128::from(reserve) + u128::from(ceilings) + u128::from(lease);
        if skipped * 100 <= u128::from(capacity) {
            return Ok(());
        }
        let bound = format!(
            "spread could skip {skipped} of {capacity} numbers (reserve {reserve}, ceilings {ceilings}, lease {lease}, \
             for each server), and at most 1 % is allowed"
        );
        Err(BodyFault { field: "end", value: end.to_string(), bound })
    }
}

fn of_span(error: &SpanError) -> BodyFault {
    let field = match error {
        SpanError::Start(_) => "start",
        SpanError::Step(_) => "step",
        SpanError::End { .. } => "end",
        SpanError::Beyond { field, .. } => field,
        SpanError::Fits(_) => "fits",
    };
    // Core's text is `field is value: bound`.
    let text = error.to_string();
    let rest = text.strip_prefix(field).and_then(|rest| rest.strip_prefix(" is ")).unwrap_or(&text);
    let (value, bound) = rest.split_once(": ").unwrap_or((rest, ""));
    BodyFault { field, value: value.to_owned(), bound: bound.to_owned() }
}

mod fits_word {
    use sequent_core::Fits;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
    pub(super) fn serialize<S: Serializer>(fits: &Fits, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(fits.as_str())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Fits, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}
