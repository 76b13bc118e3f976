//! What a definition may say besides its range and its template: how numbers are made of ids, and how many are held ready.

use std::time::Duration;

use sequent_buffer::ReservoirConfig;
use sequent_core::{FieldFault, Numbering, Span};

use super::{Body, Placement};

/// The longest `reserve_ms` of a sequence, ten minutes.
pub const RESERVE_MS_MAX: u64 = 600_000;

/// Options of a definition. `None` has its default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BodyOptions {
    /// `ordinal` or `encoded`.
    pub numbering: Option<String>,
    /// How long the numbers kept ready last; by default `reservoir.reserve_ms`.
    pub reserve_ms: Option<u64>,
    /// The most numbers of one key that a server's crash may lose; by default `reservoir.at_risk_max`.
    pub at_risk_max: Option<u64>,
}

impl Body {
    /// The same with options. `placement` is what the definition says of it.
    ///
    /// ```
    /// use sequent_engine::{Body, BodyOptions};
    /// let encoded = BodyOptions { numbering: Some("encoded".to_owned()), ..BodyOptions::default() };
    /// let body = Body::check(None, 1, 1, None, None, None)?.with_options(&encoded, None)?;
    /// assert!(body.to_text().contains(r#""start":0"#), "{}", body.to_text());
    /// assert_eq!(body.with_options(&encoded, Some("dense")).unwrap_err().field, "numbering");
    /// # Ok::<(), sequent_core::FieldFault>(())
    /// ```
    pub fn with_options(self, options: &BodyOptions, placement: Option<&str>) -> Result<Self, FieldFault> {
        let BodyOptions { numbering, reserve_ms, at_risk_max } = options;
        let body = match numbering.as_deref().map_or(Ok(Numbering::Ordinal), str::parse)? {
            Numbering::Ordinal => self,
            Numbering::Encoded => self.encoded(placement)?,
        };
        within("reserve_ms", *reserve_ms, 0..=RESERVE_MS_MAX)?;
        within("at_risk_max", *at_risk_max, 1..=1_000_000_000)?;
        let held = [("reserve_ms", reserve_ms), ("at_risk_max", at_risk_max)];
        let said = held.into_iter().find_map(|(field, value)| Some((field, (*value)?)));
        if let Some((field, value)) = said.filter(|_| body.placement == Placement::Dense) {
            let bound = "a dense sequence holds nothing ready: leave it out, or say placement spread";
            return Err(FieldFault::new(field, value, bound));
        }
        Ok(Self { reserve_ms: *reserve_ms, at_risk_max: *at_risk_max, ..body })
    }

    /// The same with encoded numbers: what a slot's counter and its index make, without start and step.
    fn encoded(self, placement: Option<&str>) -> Result<Self, FieldFault> {
        if self.start > 1 {
            let bound = "encoded numbers begin at 2^(n+m), whatever the ring is: leave it out";
            return Err(FieldFault::new("start", self.start, bound));
        }
        if self.step != 1 {
            return Err(FieldFault::new("step", self.step, "encoded numbers have no step: leave it out"));
        }
        if placement == Some(Placement::Dense.as_str()) {
            let bound = "dense numbers have no slot: leave it out, or say placement spread";
            return Err(FieldFault::new("numbering", "\"encoded\"", bound));
        }
        let body = Self { start: 0, numbering: Numbering::Encoded, placement: Placement::Spread, ..self };
        body.checked_span()?;
        Ok(body)
    }

    /// The span of these bounds, by the numbering.
    pub(super) fn span_up_to(&self, end: Option<u64>) -> Result<Span, FieldFault> {
        match self.numbering {
            Numbering::Ordinal => Span::new(self.start, self.step, end, self.fits),
            Numbering::Encoded => Span::itself(end, self.fits),
        }
    }

    /// The most numbers of one key that a crash may lose, if the definition says so.
    pub(crate) fn at_risk_max(&self) -> Option<u64> {
        self.at_risk_max
    }

    /// How much a process holds ready of each key, if `held` holds for sequences that do not say it. It never has more at
    /// risk. A process that takes once, and holds nothing for any sequence, holds nothing for this one.
    pub(crate) fn reservoir(&self, held: ReservoirConfig) -> ReservoirConfig {
        let at_risk_max = self.at_risk_max.map_or(held.at_risk_max, |own| own.min(held.at_risk_max));
        let held = ReservoirConfig { at_risk_max, ..held };
        match self.reserve_ms.filter(|_| held.floor > 0) {
            None => held,
            Some(0) => ReservoirConfig { reserve: Duration::ZERO, floor: 0, ..held },
            Some(reserve_ms) => ReservoirConfig { reserve: Duration::from_millis(reserve_ms), ..held },
        }
    }

    /// Refuses more numbers at risk than the configuration of this cluster allows to any sequence.
    pub(super) fn check_at_risk(&self, held_max: u64) -> Result<(), FieldFault> {
        match self.at_risk_max.filter(|own| *own > held_max) {
            None => Ok(()),
            Some(own) => {
                let bound = format!("at most {held_max}, reservoir.at_risk_max, is allowed");
                Err(FieldFault::new("at_risk_max", own, bound))
            }
        }
    }
}

fn within(
    field: &'static str,
    value: Option<u64>,
    bounds: std::ops::RangeInclusive<u64>,
) -> Result<(), FieldFault> {
    match value.filter(|value| !bounds.contains(value)) {
        None => Ok(()),
        Some(value) => {
            let bound = format!("{} to {} are allowed", bounds.start(), bounds.end());
            Err(FieldFault::new(field, value, bound))
        }
    }
}
