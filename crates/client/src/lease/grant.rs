//! Numbers that an endpoint has granted. Those that nobody accepts are burnt and counted.

use std::ops::Deref;

use sequent_core::Block;

use crate::{
    error::{Error, PROTOCOL},
    number::Number,
    telemetry::client_metrics,
    transport::{GrantResponse, NumberRequest, TemplateData, Verb},
};

/// Granted numbers. Dropped without being taken, they are burnt.
#[derive(Debug)]
pub(crate) struct Grant(GrantResponse);

impl Grant {
    /// Checks a response against its request. The response of a server that granted anything else is not used.
    pub(crate) fn checked(ask: &NumberRequest, granted: GrantResponse) -> Result<Self, Error> {
        let grant = Self(granted);
        let (count, asked) = (grant.count(), u64::from(ask.count));
        let texts = u64::try_from(grant.template_data.texts.len()).unwrap_or(u64::MAX);
        let fits = match ask.verb {
            Verb::Next => count == asked && [0, asked].contains(&texts),
            Verb::Lease => (1..=asked).contains(&count) && grant.max_age.is_some_and(|age| !age.is_zero()),
        };
        let text = || {
            let (verb, age) = (ask.verb.as_str(), grant.max_age);
            format!("{verb} of {asked} numbers was answered with {count}, good for {age:?}")
        };
        if fits { Ok(grant) } else { Err(Error::new(PROTOCOL, text())) }
    }

    /// Takes the numbers.
    pub(crate) fn into_blocks(mut self) -> Vec<Block> {
        std::mem::take(&mut self.0.blocks)
    }

    /// Takes the template data.
    pub(crate) fn take_template_data(&mut self) -> TemplateData {
        std::mem::take(&mut self.0.template_data)
    }

    /// Key of the period; empty if the sequence never resets.
    pub(crate) fn period(&self) -> &str {
        &self.template_data.period
    }

    /// The highest number, or 0.
    pub(crate) fn highest(&self) -> u64 {
        self.blocks.iter().map(Block::last).max().unwrap_or(0)
    }

    fn count(&self) -> u64 {
        self.blocks.iter().map(Block::count).fold(0, u64::saturating_add)
    }
}

impl Deref for Grant {
    type Target = GrantResponse;

    fn deref(&self) -> &GrantResponse {
        &self.0
    }
}

impl Drop for Grant {
    fn drop(&mut self) {
        client_metrics::burnt(client_metrics::UNAWAITED, self.count());
    }
}

/// One number for one waiting caller. Dropped without being accepted, it is burnt.
#[derive(Debug)]
pub(crate) struct PendingNumber(Option<Number>);

impl PendingNumber {
    pub(crate) fn new(number: Number) -> Self {
        Self(Some(number))
    }

    pub(crate) fn accept(mut self) -> Option<Number> {
        self.0.take()
    }
}

impl Drop for PendingNumber {
    fn drop(&mut self) {
        client_metrics::burnt(client_metrics::UNAWAITED, u64::from(self.0.is_some()));
    }
}
