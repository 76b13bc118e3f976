//! Cluster in memory, for tests of users: the whole client without a server.

mod chaos;
mod templates;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use sequent_core::{Block, BoxFuture, Layout, SequenceName, SourceError, Span};

pub(crate) use crate::memory::templates::Templates;
use crate::{
    client::options::AGELESS,
    error::Error,
    memory::{chaos::Chaos, templates::ResolvedRequest},
    transport::{GrantResponse, NumberRequest, Refusal, Transport, Verb},
};

/// Transport that counts from 1 per name. With a template, it counts from `start` in steps, per period and values.
#[derive(Default)]
pub(crate) struct Memory {
    chaos_seed: Option<u64>,
    templates: Templates,
    counters: Mutex<HashMap<(SequenceName, Vec<String>), Counter>>,
}

/// Counter of raw positions from 1. The span maps them to numbers.
enum Counter {
    /// The last position.
    Plain(u64),
    /// With gaps and out of order.
    Chaos(Chaos),
}

impl Memory {
    /// In order, or in chaos mode with a seed.
    pub(crate) fn new(chaos_seed: Option<u64>, templates: Templates) -> Arc<Self> {
        Arc::new(Self { chaos_seed, templates, counters: Mutex::default() })
    }

    fn grant(&self, ask: &NumberRequest) -> Result<GrantResponse, Error> {
        let resolved = self.templates.resolve(&ask.scope)?;
        let blocks = self.take(ask, &resolved).ok_or_else(|| self.exhausted(ask, &resolved))?;
        let template_data = resolved.template_data(ask, &blocks)?;
        Ok(GrantResponse { blocks, max_age: Some(AGELESS), version: 1, template_data })
    }

    /// The error of a server at the end of a sequence, with the numbers left if some are.
    fn exhausted(&self, ask: &NumberRequest, resolved: &ResolvedRequest) -> Error {
        let counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        let left = match counters.get(&resolved.key()) {
            Some(Counter::Plain(last)) => resolved.span.capacity().saturating_sub(*last),
            _ => 0,
        };
        let end = format!("{} is at its end, {}", ask.scope.name(), resolved.span.limit());
        let text = match left {
            0 => end,
            left => {
                format!("{end}: count is {}: at most {left} are allowed, since no more are left", ask.count)
            }
        };
        Error::new("SEQUENCE_EXHAUSTED", text)
    }

    fn take(&self, ask: &NumberRequest, resolved: &ResolvedRequest) -> Option<Vec<Block>> {
        let mut counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = || self.chaos_seed.map_or(Counter::Plain(0), |seed| Counter::Chaos(Chaos::new(seed)));
        let counter = counters.entry(resolved.key()).or_insert_with(fresh);
        let count = u64::from(ask.count);
        let (span, exactly) = (resolved.span, ask.verb == Verb::Next);
        let places = match counter {
            Counter::Plain(last) => {
                let left = span.capacity().saturating_sub(*last);
                let block = Block::new(*last + 1, 1, if exactly { count } else { count.min(left) }).ok()?;
                if block.count() > left {
                    return None;
                }
                *last = block.last();
                vec![block]
            }
            Counter::Chaos(chaos) => chaos.take(count, exactly)?,
        };
        let blocks = numbers(span, places)?;
        let taken: u64 = blocks.iter().map(Block::count).sum();
        (taken > 0 && (taken == count || !exactly)).then_some(blocks)
    }
}

/// Maps positions to numbers. Positions beyond the end are left out.
fn numbers(span: Span, places: Vec<Block>) -> Option<Vec<Block>> {
    let from_one = Layout::new(0, 0).ok()?;
    Some(places.into_iter().filter_map(|block| span.numbers(from_one, block)).collect())
}

impl Transport for Memory {
    fn address(&self) -> String {
        "memory".to_owned()
    }

    fn ask(self: Arc<Self>, ask: NumberRequest) -> BoxFuture<'static, Result<GrantResponse, Refusal>> {
        Box::pin(std::future::ready(self.grant(&ask).map_err(Refusal::Final)))
    }

    fn check(self: Arc<Self>) -> BoxFuture<'static, Result<(), SourceError>> {
        Box::pin(std::future::ready(Ok(())))
    }
}
