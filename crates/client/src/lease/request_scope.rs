//! What is asked of: a sequence, the values that a template wants, and the instant that counts.

use std::{collections::BTreeMap, sync::Arc};

use sequent_core::SequenceName;
use sequent_format::Timestamp;

/// What stands for an empty instant that a caller named: no reader takes it for one.
const NO_INSTANT: &str = " ";

/// A sequence, and what a request says to its template. Cheap to clone. Each has a lease of its own.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct RequestScope {
    name: SequenceName,
    input: Arc<TemplateInput>,
}

/// What a request says to a template.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct TemplateInput {
    /// Values by name.
    pub(crate) with: BTreeMap<String, String>,
    /// The instant that counts; empty: now.
    pub(crate) at: String,
    /// What an answer must be of, for texts that are rendered here.
    pub(crate) expected: Option<ExpectedPeriod>,
}

/// A period of a version: numbers of another one must not get its texts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ExpectedPeriod {
    pub(crate) version: u32,
    pub(crate) period: String,
    /// An instant of the period, in milliseconds since 1970, and where it may end.
    pub(crate) from_ms: i64,
    pub(crate) until_ms: Option<i64>,
}

impl RequestScope {
    /// A sequence, and nothing to its template.
    pub(crate) fn of(name: SequenceName) -> Self {
        Self { name, input: Arc::default() }
    }

    /// The same with one more value, or another one of that name.
    pub(crate) fn with(&self, name: String, value: String) -> Self {
        let mut input = TemplateInput::clone(&self.input);
        input.with.insert(name, value);
        Self { name: self.name.clone(), input: Arc::new(input) }
    }

    /// The same at an instant.
    pub(crate) fn at(&self, at: String) -> Self {
        // Empty would be no instant at all further on, and so now: what is none is refused by whoever reads it.
        let at = if at.is_empty() { NO_INSTANT.to_owned() } else { at };
        let input = TemplateInput { at, ..TemplateInput::clone(&self.input) };
        Self { name: self.name.clone(), input: Arc::new(input) }
    }

    /// The same for one period of one version.
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
    /// The instant as it is told: the caller's; or, where a period is due, now or the instant of it that is nearest.
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
        let told = |until_ms, now_ms| scope.for_period(expected(until_ms)).template_input().instant(now_ms);
        assert_eq!(told(Some(20_000), 5000), "1970-01-01T00:00:10Z");
        assert_eq!(told(Some(20_000), 15_000), "1970-01-01T00:00:15Z");
        assert_eq!(told(Some(20_000), 30_000), "1970-01-01T00:00:19.999Z");
        assert_eq!(told(None, 30_000), "1970-01-01T00:00:30Z");
        assert_eq!(scope.at(String::new()).template_input().instant(1), " ", "an empty instant is not now");
        assert_eq!(
            scope.at("2026-04-01".to_owned()).for_period(expected(None)).template_input().instant(1),
            "2026-04-01"
        );
    }
}
