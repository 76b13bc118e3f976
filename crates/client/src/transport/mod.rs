//! Transport to one endpoint: over gRPC, in memory, or scripted by a test.

mod channel;
pub(crate) mod endpoints;
mod foreign_endpoints;
pub(crate) mod grpc;
mod status;
pub(crate) mod tls;
pub(crate) mod token_file;

use std::{sync::Arc, time::Duration};

use sequent_core::{Block, BoxFuture, ErrorKind, SourceError};
use sequent_format::Timestamp;
use sequent_proto::v1;

use crate::{error::Error, lease::request_scope::RequestScope, transport::grpc::GrpcTransport};

/// Method of a request for numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    /// Numbers for immediate use: all of them or none.
    Next,
    /// Numbers to hand out locally for a limited time, perhaps fewer than requested.
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

/// Request for numbers.
#[derive(Debug, Clone)]
pub(crate) struct NumberRequest {
    pub(crate) verb: Verb,
    pub(crate) scope: RequestScope,
    pub(crate) count: u32,
    /// The highest number that this client was given; 0 if there is none.
    pub(crate) above: i64,
    /// Time limit of the response.
    pub(crate) within: Duration,
}

/// Response with numbers, not validated yet.
#[derive(Debug)]
pub(crate) struct GrantResponse {
    pub(crate) blocks: Vec<Block>,
    /// How long a lease may be used.
    pub(crate) max_age: Option<Duration>,
    /// Version of the definition.
    pub(crate) version: u32,
    /// Template data.
    pub(crate) template_data: TemplateData,
}

/// Part of a response that depends on a template; empty without one.
#[derive(Debug, Default)]
pub(crate) struct TemplateData {
    /// Text of each number for immediate use.
    pub(crate) texts: Vec<String>,
    /// Key of the period.
    pub(crate) period: String,
    /// The instant that the texts show.
    pub(crate) at: String,
    /// For a lease: template and settings for local rendering.
    pub(crate) rendering: Option<v1::Texts>,
    /// For a lease: when another version takes effect, if one is waiting.
    pub(crate) version_end: Option<Timestamp>,
}

/// Why no numbers were granted, and what follows for the endpoint.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// Failure of the endpoint: it counts against its health, and another one is asked.
    Fault(SourceError),
    /// No failure of the endpoint, but another one may succeed.
    Elsewhere(Error),
    /// Every endpoint would answer the same.
    Final(Error),
}

impl Refusal {
    /// Another program answered: the next endpoint is asked. The caller sees this error only if there is no other.
    pub(crate) fn foreign(error: Error) -> Self {
        Self::Fault(foreign(error))
    }
}

/// Error of an endpoint at which another program answers.
pub(crate) fn foreign(error: Error) -> SourceError {
    SourceError::new(ErrorKind::Unavailable, "no answer of a server of sequences").because(error)
}

/// Transport to one endpoint.
pub(crate) trait Transport: Send + Sync {
    /// Address for messages.
    fn address(&self) -> String;

    /// Sends one request, without retry and without a time limit of its own.
    fn ask(self: Arc<Self>, ask: NumberRequest) -> BoxFuture<'static, Result<GrantResponse, Refusal>>;

    /// The server behind it. Only servers have definitions.
    fn server(&self) -> Option<&GrpcTransport> {
        None
    }

    /// Whether the endpoint is serving. It consumes nothing.
    fn check(self: Arc<Self>) -> BoxFuture<'static, Result<(), SourceError>>;
}
