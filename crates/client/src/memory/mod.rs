//! A cluster in memory, for users' tests: the whole client, without a server.

mod unruly;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use sequent_core::{Block, BoxFuture, SourceError};

use self::unruly::Unruly;
use crate::{
    error::Error,
    options::AGELESS,
    scope::Scope,
    transport::{Ask, Dated, Granted, Refusal, Transport, Verb},
};

/// Counts from 1 for each name, and each tuple of values.
#[derive(Default)]
pub(crate) struct Memory {
    unruly: Option<u64>,
    counters: Mutex<HashMap<Scope, Counter>>,
}

enum Counter {
    /// 1, 2, 3, …
    Plain(u64),
    /// Neither without gaps nor in order.
    Unruly(Unruly),
}

impl Memory {
    /// In order, or unruly from a seed.
    pub(crate) fn new(unruly: Option<u64>) -> Arc<Self> {
        Arc::new(Self { unruly, ..Self::default() })
    }

    fn grant(&self, ask: &Ask) -> Option<Granted> {
        let mut counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = || self.unruly.map_or(Counter::Plain(0), |seed| Counter::Unruly(Unruly::new(seed)));
        let counter = counters.entry(ask.scope.clone()).or_insert_with(fresh);
        let count = u64::from(ask.count);
        let blocks = match counter {
            Counter::Plain(last) => {
                let block = Block::new(*last + 1, 1, count).ok()?;
                *last = block.last();
                vec![block]
            }
            Counter::Unruly(unruly) => unruly.take(count, ask.verb == Verb::Next)?,
        };
        Some(Granted { blocks, max_age: Some(AGELESS), version: 1, dated: Dated::default() })
    }
}

impl Transport for Memory {
    fn address(&self) -> String {
        "memory".to_owned()
    }

    fn ask(self: Arc<Self>, ask: Ask) -> BoxFuture<'static, Result<Granted, Refusal>> {
        let granted = self.grant(&ask).ok_or_else(|| {
            Refusal::Final(Error::new("SEQUENCE_EXHAUSTED", format!("{} is at its end", ask.scope.name())))
        });
        Box::pin(std::future::ready(granted))
    }

    fn check(self: Arc<Self>) -> BoxFuture<'static, Result<(), SourceError>> {
        Box::pin(std::future::ready(Ok(())))
    }
}
