//! Numbers between an endpoint and whoever wanted them: what nobody takes is burnt, and counted.

use std::time::Duration;

use sequent_core::Block;
use sequent_format::Timestamp;

use crate::{
    error::{Error, PROTOCOL},
    number::Number,
    telemetry::client_metrics,
    transport::{GrantResponse, NumberRequest, TemplateData, TemplateSettings, Verb},
};

/// What was granted. Dropped unopened, its numbers are burnt.
#[derive(Debug)]
pub(crate) struct Grant {
    blocks: Vec<Block>,
    age: Option<Duration>,
    version: u32,
    template_data: TemplateData,
}

impl Grant {
    /// Checks an answer against what was asked for. A server that gives other than that is not understood, and what
    /// it gave is not used.
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

    /// How long they may be handed out, where they age.
    pub(crate) fn age(&self) -> Option<Duration> {
        self.age
    }

    /// The version of the definition that they were given under.
    pub(crate) fn version(&self) -> u32 {
        self.version
    }

    /// The numbers, for somebody who uses them.
    pub(crate) fn into_blocks(mut self) -> Vec<Block> {
        std::mem::take(&mut self.blocks)
    }

    /// The key of the period; empty where the sequence never resets.
    pub(crate) fn period(&self) -> &str {
        &self.template_data.period
    }

    /// When another version takes effect, if one waits.
    pub(crate) fn version_end(&self) -> Option<Timestamp> {
        self.template_data.version_end
    }

    /// What renders its texts, where they are rendered by its holder.
    pub(crate) fn rendering(&self) -> Option<&TemplateSettings> {
        self.template_data.rendering.as_ref()
    }

    /// The highest number of it, 0 where there is none.
    pub(crate) fn highest(&self) -> u64 {
        self.blocks.iter().map(Block::last).max().unwrap_or(0)
    }

    /// What belongs to a template, taken out of it.
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

/// One number on its way to the caller that waits for it.
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
