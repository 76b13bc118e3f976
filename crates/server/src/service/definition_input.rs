//! A definition as callers of the APIs write it.

use sequent_core::FieldFault;
use sequent_engine::{Body, BodyOptions, Texts};
use serde::Deserialize;
use serde_json::Value;

use crate::error::ApiError;

/// A definition as a caller writes it. An absent field has its default.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct DefinitionInput {
    pub(crate) version: Option<u64>,
    pub(crate) placement: Option<String>,
    pub(crate) start: Option<NumberInput>,
    pub(crate) step: Option<NumberInput>,
    pub(crate) end: Option<NumberInput>,
    pub(crate) fits: Option<String>,
    pub(crate) numbering: Option<String>,
    pub(crate) reserve_ms: Option<u64>,
    pub(crate) at_risk_max: Option<u64>,
    pub(crate) template: Option<String>,
    pub(crate) zone: Option<String>,
    pub(crate) maxlen: Option<u64>,
    pub(crate) charset: Option<String>,
    pub(crate) unique: Option<String>,
    pub(crate) window_s: Option<u64>,
    pub(crate) retain_periods: Option<u64>,
    pub(crate) effective: Option<String>,
}

/// A number as a string, or as an integer if its reader has not rounded it.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum NumberInput {
    Integer(u64),
    Text(String),
}

impl DefinitionInput {
    /// The definition, checked.
    pub(super) fn body(self) -> Result<Body, ApiError> {
        let start = number("start", self.start)?.unwrap_or(1);
        let step = number("step", self.step)?.unwrap_or(1);
        let end = number("end", self.end)?;
        let around = self.zone.is_some() || self.maxlen.is_some() || self.charset.is_some();
        let texts = match self.template {
            Some(template) => {
                // A value that does not fit into memory is above the limit, and is refused later.
                let maxlen = self.maxlen.map(|maxlen| usize::try_from(maxlen).unwrap_or(usize::MAX));
                let texts = Texts::new(template).maxlen(maxlen).charset(self.charset);
                let retained = self.retain_periods.map(|periods| u32::try_from(periods).unwrap_or(u32::MAX));
                let texts = texts.window_s(self.window_s).retain_periods(retained);
                let texts = texts.unique(self.unique.as_deref()).map_err(|error| body_error(&error))?;
                Some(self.zone.into_iter().fold(texts, Texts::zone))
            }
            None if around
                || self.unique.is_some()
                || self.window_s.is_some()
                || self.retain_periods.is_some() =>
            {
                let bound = "zone, maxlen, charset, unique, window_s and retain_periods belong to one";
                return Err(ApiError::field("template", "missing", bound));
            }
            None => None,
        };
        let placement = self.placement.as_deref();
        let Self { numbering, reserve_ms, at_risk_max, .. } = self;
        let options = BodyOptions { numbering, reserve_ms, at_risk_max };
        let body = Body::check(placement, start, step, end, self.fits.as_deref(), texts);
        body.and_then(|body| body.with_options(&options, placement)).map_err(|error| body_error(&error))
    }
}

/// The number that a field has, if it is there.
pub(crate) fn number(field: &'static str, number: Option<NumberInput>) -> Result<Option<u64>, ApiError> {
    match number {
        None => Ok(None),
        Some(NumberInput::Integer(number)) => Ok(Some(number)),
        Some(NumberInput::Text(text)) => {
            let bound = || format!("a whole number is expected: 0 to {}", i64::MAX);
            // `parse` accepts a sign, which is no digit.
            let number = text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
            number.map(Some).ok_or_else(|| ApiError::field(field, &text, bound()))
        }
    }
}

pub(super) fn body_error(error: &FieldFault) -> ApiError {
    let value = serde_json::from_str::<Value>(&error.value).ok();
    let value = value.as_ref().and_then(Value::as_str).unwrap_or(&error.value);
    ApiError::field(error.field.clone(), value, error.bound.clone())
}
