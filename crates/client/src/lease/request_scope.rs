//! Scope of requests: a sequence, the values for its template, and the instant.

use std::{collections::BTreeMap, sync::Arc};

use sequent_core::SequenceName;
use sequent_format::Timestamp;

/// Stands for an empty instant that a caller gave. No server parses it as an instant.
const NO_INSTANT: &str = " ";

/// A sequence and the input for its template. Each scope has its own lease. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct RequestScope {
    name: SequenceName,
    input: Arc<TemplateInput>,
}

/// Input of a request for the template.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct TemplateInput {
    /// Values by name.
    pub(crate) with: BTreeMap<String, String>,
    /// Instant that selects the period. Empty means now.
    pub(crate) at: String,
    /// Period that the response must have, for texts that are rendered locally.
    pub(crate) expected: Option<ExpectedPeriod>,
}

/// A period of a version. Numbers of any other period must not get its texts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ExpectedPeriod {
    pub(crate) version: u32,
    pub(crate) period: String,
    /// Start of the period, in milliseconds since 1970, and its end if it has one.
    pub(crate) from_ms: i64,
    pub(crate) until_ms: Option<i64>,
}

impl RequestScope {
    /// A scope without input.
    pub(crate) fn of(name: SequenceName) -> Self {
        Self { name, input: Arc::default() }
    }

    /// The same scope with one value added or replaced.
    pub(crate) fn with(&self, name: String, value: String) -> Self {
        let mut input = TemplateInput::clone(&self.input);
        input.with.insert(name, value);
        Self { name: self.name.clone(), input: Arc::new(input) }
    }

    /// The same scope at an instant.
    pub(crate) fn at(&self, at: String) -> Self {
        // The server would read an empty instant as now, and not refuse it.
        let at = if at.is_empty() { NO_INSTANT.to_owned() } else { at };
        let input = TemplateInput { at, ..TemplateInput::clone(&self.input) };
        Self { name: self.name.clone(), input: Arc::new(input) }
    }

    /// The same scope for one period of one version.
    pub(crate) fn for_period(&self, expected: ExpectedPeriod) -> Self {
        let input = TemplateInput { expected: Some(expected), ..TemplateInput::clone(&self.input) };
        Self { name: self.name.clone(), input: Arc::new(input) }
    }

    pub(crate) fn name(&self) -> &SequenceName {
        &self.name
    }

    pub(crate) fn template_input(&self) -> &TemplateInput {
        &self.input
    }
}

impl TemplateInput {
    /// The instant of a request: the caller's. If a period is expected, the instant within it that is nearest to now.
    pub(crate) fn instant(&self, now_ms: u64) -> String {
        match &self.expected {
            Some(expected) if self.at.is_empty() => {
                let now = i64::try_from(now_ms).unwrap_or(i64::MAX).max(expected.from_ms);
                let last = expected.until_ms.map_or(now, |until| until - 1);
                Timestamp::from_millisecond(now.min(last)).map(|at| at.to_string()).unwrap_or_default()
            }
            _ => self.at.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_instant_told_stays_within_the_period_that_is_due() {
        let scope = RequestScope::of("order".parse().unwrap());
        assert_eq!(scope.template_input().instant(5000), "", "the server's own now");
        let expected =
            |until_ms| ExpectedPeriod { version: 1, period: "x".to_owned(), from_ms: 10_000, until_ms };
        let instant_at =
            |until_ms, now_ms| scope.for_period(expected(until_ms)).template_input().instant(now_ms);
        assert_eq!(instant_at(Some(20_000), 5000), "1970-01-01T00:00:10Z");
        assert_eq!(instant_at(Some(20_000), 15_000), "1970-01-01T00:00:15Z");
        assert_eq!(instant_at(Some(20_000), 30_000), "1970-01-01T00:00:19.999Z");
        assert_eq!(instant_at(None, 30_000), "1970-01-01T00:00:30Z");
        assert_eq!(scope.at(String::new()).template_input().instant(1), " ", "an empty instant is not now");
        assert_eq!(
            scope.at("2026-04-01".to_owned()).for_period(expected(None)).template_input().instant(1),
            "2026-04-01"
        );
    }
}
