//! The definitions of a cluster, asked of its servers: for tools, in the wire's own types.

use sequent_proto::v1;

use crate::{
    client::Client,
    error::Error,
    transport::{Refusal, endpoints::Endpoints},
};

/// One call of the service.
#[derive(Debug, Clone)]
pub(crate) enum DefinitionsRequest {
    Define(Box<v1::DefineRequest>),
    List(v1::ListRequest),
    Show(v1::ShowRequest),
    Preview(Box<v1::PreviewRequest>),
    Parse(Box<v1::ParseRequest>),
}

/// What it is answered with.
#[derive(Debug)]
pub(crate) enum DefinitionsResponse {
    Define(Box<v1::DefineResponse>),
    List(v1::ListResponse),
    Show(Box<v1::ShowResponse>),
    Preview(Box<v1::PreviewResponse>),
    Parse(v1::ParseResponse),
}

/// `sequent.v1.Definitions` of whichever server answers. Nothing here takes a number.
#[derive(Debug, Clone)]
pub struct Definitions(Client);

impl Client {
    /// The definitions of this client's cluster. A client in memory has none.
    pub fn definitions(&self) -> Definitions {
        Definitions(self.in_this_process().clone())
    }
}

impl Definitions {
    /// Defines a sequence, or its next version. The same once more changes nothing.
    pub async fn define(&self, request: v1::DefineRequest) -> Result<v1::DefineResponse, Error> {
        match self.endpoints().call_definitions(&DefinitionsRequest::Define(Box::new(request))).await? {
            DefinitionsResponse::Define(response) => Ok(*response),
            _ => Err(mistaken()),
        }
    }

    /// The sequences after a name: a page of them.
    pub async fn list(&self, request: v1::ListRequest) -> Result<v1::ListResponse, Error> {
        match self.endpoints().call_definitions(&DefinitionsRequest::List(request)).await? {
            DefinitionsResponse::List(response) => Ok(response),
            _ => Err(mistaken()),
        }
    }

    /// One sequence with its definition.
    pub async fn show(&self, request: v1::ShowRequest) -> Result<v1::ShowResponse, Error> {
        match self.endpoints().call_definitions(&DefinitionsRequest::Show(request)).await? {
            DefinitionsResponse::Show(response) => Ok(*response),
            _ => Err(mistaken()),
        }
    }

    /// What a template, or a sequence, makes of a number.
    pub async fn preview(&self, request: v1::PreviewRequest) -> Result<v1::PreviewResponse, Error> {
        match self.endpoints().call_definitions(&DefinitionsRequest::Preview(Box::new(request))).await? {
            DefinitionsResponse::Preview(response) => Ok(*response),
            _ => Err(mistaken()),
        }
    }

    /// What a text says.
    pub async fn parse(&self, request: v1::ParseRequest) -> Result<v1::ParseResponse, Error> {
        match self.endpoints().call_definitions(&DefinitionsRequest::Parse(Box::new(request))).await? {
            DefinitionsResponse::Parse(response) => Ok(response),
            _ => Err(mistaken()),
        }
    }

    fn endpoints(&self) -> &Endpoints {
        &self.0.state().endpoints
    }
}

/// Where there are no definitions: in memory, as tests have it.
pub(crate) fn none_here() -> Refusal {
    Refusal::Final(Error::field("server", "memory", "definitions are a server's: connect to one"))
}

fn mistaken() -> Error {
    Error::new(crate::error::PROTOCOL, "an answer of another call")
}
