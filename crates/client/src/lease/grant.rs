//! Numbers that an endpoint has granted. Those that nobody accepts are burnt and counted.

use std::time::Duration;

use sequent_core::Block;
use sequent_format::Timestamp;

use crate::{
    error::{Error, PROTOCOL},
    number::Number,
    telemetry::client_metrics,
    transport::{GrantResponse, NumberRequest, TemplateData, TemplateSettings, Verb},
};

/// Granted numbers. Dropped without being taken, they are burnt.
#[derive(Debug)]
pub(crate) struct Grant {
    blocks: Vec<Block>,
    age: Option<Duration>,
    version: u32,
    template_data: TemplateData,
}

impl Grant {
    /// Checks a response against its request. The response of a server that granted anything else is not used.
    pub(crate) fn checked(ask: &NumberRequest, granted: GrantResponse) -> Result<Self, Error> {
        let GrantResponse { blocks, max_age, version, template_data } = granted;
        let grant = Self { blocks, age: max_age, version, template_data };
        let (count, asked) = (grant.count(), u64::from(ask.count));
        let fits = match ask.verb {
            Verb::Next => count == asked && [0, asked].contains(&grant.texts_count()),
            Verb::Lease => (1..=asked).contains(&count) && grant.age.is_some_and(|age| !age.is_zero()),
        };
        let text = || {
            let (verb, age) = (ask.verb.as_str(), grant.age);
            format!("{verb} of {asked} numbers was answered with {count}, good for {age:?}")
        };
        if fits { Ok(grant) } else { Err(Error::new(PROTOCOL, text())) }
    }

    /// How long the numbers may be handed out, if they expire.
    pub(crate) fn age(&self) -> Option<Duration> {
        self.age
    }

    /// Version of the definition.
    pub(crate) fn version(&self) -> u32 {
        self.version
    }

    /// Takes the numbers.
    pub(crate) fn into_blocks(mut self) -> Vec<Block> {
        std::mem::take(&mut self.blocks)
    }

    /// Key of the period; empty if the sequence never resets.
    pub(crate) fn period(&self) -> &str {
        &self.template_data.period
    }

    /// When another version takes effect, if one is waiting.
    pub(crate) fn version_end(&self) -> Option<Timestamp> {
        self.template_data.version_end
    }

    /// Template and settings, if the holder renders texts.
    pub(crate) fn rendering(&self) -> Option<&TemplateSettings> {
        self.template_data.rendering.as_ref()
    }

    /// The highest number, or 0.
    pub(crate) fn highest(&self) -> u64 {
        self.blocks.iter().map(Block::last).max().unwrap_or(0)
    }

    /// Takes the template data.
    pub(crate) fn template_data(&mut self) -> TemplateData {
        std::mem::take(&mut self.template_data)
    }

    fn texts_count(&self) -> u64 {
        u64::try_from(self.template_data.texts.len()).unwrap_or(u64::MAX)
    }

    fn count(&self) -> u64 {
        self.blocks.iter().map(Block::count).fold(0, u64::saturating_add)
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
