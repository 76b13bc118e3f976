//! One way to ask one endpoint: over the wire, in memory, or as a test scripts it.

pub(crate) mod channel;
pub(crate) mod endpoints;
pub(crate) mod foreign_endpoints;
pub(crate) mod grpc;
pub(crate) mod status;

use std::{sync::Arc, time::Duration};

use sequent_core::{Block, BoxFuture, ErrorKind, SourceError};
use sequent_format::Timestamp;

use crate::{
    client::definitions::{DefinitionsRequest, DefinitionsResponse, none_here},
    error::Error,
    lease::request_scope::RequestScope,
};

/// What an endpoint is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    /// Numbers for immediate use: all of them, or none.
    Next,
    /// Numbers to be handed out from here, for a limited time: perhaps fewer.
    Lease,
}

impl Verb {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Next => "next",
            Self::Lease => "lease",
        }
    }
}

/// One request.
#[derive(Debug, Clone)]
pub(crate) struct NumberRequest {
    pub(crate) verb: Verb,
    pub(crate) scope: RequestScope,
    pub(crate) count: u32,
    /// The highest number that this client was given; 0: not told.
    pub(crate) above: i64,
    /// How long the answer is waited for.
    pub(crate) within: Duration,
}

/// What was given.
#[derive(Debug)]
pub(crate) struct GrantResponse {
    pub(crate) blocks: Vec<Block>,
    /// How long a lease may be handed out.
    pub(crate) max_age: Option<Duration>,
    /// The definition's version.
    pub(crate) version: u32,
    /// What belongs to a template.
    pub(crate) template_data: TemplateData,
}

/// What belongs to a template; empty without one.
#[derive(Debug, Default)]
pub(crate) struct TemplateData {
    /// A text for each number that is for immediate use.
    pub(crate) texts: Vec<String>,
    /// The key of the period.
    pub(crate) period: String,
    /// The instant that the texts show.
    pub(crate) at: String,
    /// For a lease: what renders its texts.
    pub(crate) rendering: Option<TemplateSettings>,
    /// For a lease: when another version takes effect, if one waits.
    pub(crate) version_end: Option<Timestamp>,
}

/// What renders texts: a template, and what stands around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TemplateSettings {
    pub(crate) template: String,
    pub(crate) zone: String,
    pub(crate) maxlen: usize,
    pub(crate) charset: String,
    pub(crate) unique: String,
}

/// Why nothing was given, and whom that concerns.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The endpoint's own fault: it counts against its health, and another is asked.
    Fault(SourceError),
    /// Nobody's fault here; another endpoint may know better.
    Elsewhere(Error),
    /// Every endpoint would say the same.
    Final(Error),
}

impl Refusal {
    /// Something answered, but not like a server of sequences: another endpoint is asked. What it said is for a caller
    /// that finds no other.
    pub(crate) fn foreign(said: Error) -> Self {
        Self::Fault(foreign(said))
    }
}

/// The fault of an endpoint that answers like no server of sequences.
pub(crate) fn foreign(said: Error) -> SourceError {
    SourceError::new(ErrorKind::Unavailable, "no answer of a server of sequences").because(said)
}

/// An endpoint.
pub(crate) trait Transport: Send + Sync {
    /// Its name for people.
    fn address(&self) -> String;

    /// One request, without retry and without a limit of its own in time.
    fn ask(self: Arc<Self>, ask: NumberRequest) -> BoxFuture<'static, Result<GrantResponse, Refusal>>;

    /// One call about definitions, which may take so long.
    fn call_definitions(
        self: Arc<Self>,
        _: DefinitionsRequest,
        _: Duration,
    ) -> BoxFuture<'static, Result<DefinitionsResponse, Refusal>> {
        Box::pin(std::future::ready(Err(none_here())))
    }

    /// Whether it would serve; consumes nothing.
    fn check(self: Arc<Self>) -> BoxFuture<'static, Result<(), SourceError>>;
}
