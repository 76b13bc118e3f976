//! A running cluster, as one process sees it.

use std::{sync::Arc, time::Instant};

use sequent_buffer::Reservoir;
use sequent_core::{Blocks, NameError, SequenceName};

use crate::{Desk, EngineError, OpenError, Options, config::Config, report::Status};

/// An ask for numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextRequest {
    /// The sequence.
    pub name: SequenceName,
    /// How many numbers, all or nothing: 1 by default.
    pub count: u64,
    /// When the caller stops waiting; `limits.deadline_ms` from now by default.
    pub deadline: Option<Instant>,
}

impl NextRequest {
    /// One number of `name`, within the configured deadline.
    pub fn new(name: &str) -> Result<Self, NameError> {
        Ok(Self { name: name.parse()?, count: 1, deadline: None })
    }

    /// The same ask for `count` numbers.
    #[must_use]
    pub fn count(self, count: u64) -> Self {
        Self { count, ..self }
    }

    /// The same ask, waiting until `deadline`.
    #[must_use]
    pub fn deadline(self, deadline: Instant) -> Self {
        Self { deadline: Some(deadline), ..self }
    }
}

/// Numbers that were handed out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issued {
    /// The sequence.
    pub sequence: SequenceName,
    /// As many as asked for, ascending by first.
    pub numbers: Blocks,
    /// The version of the definition that they were given under.
    pub version: u32,
}

/// A live key's reservoir. While it is held, the key is not given up as idle.
#[derive(Clone)]
pub struct Keyed {
    reservoir: Reservoir,
}

impl Keyed {
    /// Where the key's numbers are ready.
    pub fn reservoir(&self) -> &Reservoir {
        &self.reservoir
    }
}

/// A running cluster, as one process sees it. Cheap to clone.
#[derive(Clone)]
pub struct Engine(Arc<()>);

impl Engine {
    /// Checks what is there, opens every store that answers, and starts what runs in the background.
    pub async fn open(config: Config, options: Options) -> Result<Self, OpenError> {
        todo!()
    }

    /// Numbers of a sequence: all or nothing.
    pub async fn next(&self, request: &NextRequest) -> Result<Issued, EngineError> {
        todo!()
    }

    /// The reservoir of a sequence's key, for callers that take one by one.
    pub async fn reservoir(&self, name: &SequenceName) -> Result<Keyed, EngineError> {
        todo!()
    }

    /// What an operator does: lists, words, histories.
    pub fn desk(&self) -> &Desk {
        todo!()
    }

    /// How ring, keeper and live keys are; looks at each store afresh.
    pub async fn status(&self) -> Status {
        todo!()
    }

    /// What happened lately, oldest first: at most [`RECENT_MAX`](crate::RECENT_MAX) events.
    pub fn recent(&self) -> Vec<crate::Recent> {
        todo!()
    }

    /// Lets requests finish, burns what is ready, reports the exact `seen`, and closes the stores.
    pub async fn shutdown(&self) {
        todo!()
    }
}
