//! Definitions of sequences, read and written through the servers of a cluster.

use sequent_proto::v1;

use crate::{
    client::Client,
    error::Error,
    transport::{Refusal, endpoints::Endpoints},
};

/// Request of the service `Definitions`.
#[derive(Debug, Clone)]
pub(crate) enum DefinitionsRequest {
    Define(Box<v1::DefineRequest>),
    List(v1::ListRequest),
    Show(v1::ShowRequest),
    Preview(Box<v1::PreviewRequest>),
    Parse(Box<v1::ParseRequest>),
}

/// Its response.
#[derive(Debug)]
pub(crate) enum DefinitionsResponse {
    Define(Box<v1::DefineResponse>),
    List(v1::ListResponse),
    Show(Box<v1::ShowResponse>),
    Preview(Box<v1::PreviewResponse>),
    Parse(v1::ParseResponse),
}

/// Client of the service `sequent.v1.Definitions`. No call of it takes a number.
#[derive(Debug, Clone)]
pub struct Definitions(Client);

impl Client {
    /// Definitions of this client's cluster. A client in memory has none.
    pub fn definitions(&self) -> Definitions {
        Definitions(self.in_this_process().clone())
    }
}

impl Definitions {
    /// Defines a sequence, or its next version. A repeated call changes nothing.
    pub async fn define(&self, request: v1::DefineRequest) -> Result<v1::DefineResponse, Error> {
        match self.endpoints().call_definitions(&DefinitionsRequest::Define(Box::new(request))).await? {
            DefinitionsResponse::Define(response) => Ok(*response),
            _ => Err(mistaken()),
        }
    }

    /// Lists one page of sequences, after a given name.
    pub async fn list(&self, request: v1::ListRequest) -> Result<v1::ListResponse, Error> {
        match self.endpoints().call_definitions(&DefinitionsRequest::List(request)).await? {
            DefinitionsResponse::List(response) => Ok(response),
            _ => Err(mistaken()),
        }
    }

    /// Shows one sequence with its definition.
    pub async fn show(&self, request: v1::ShowRequest) -> Result<v1::ShowResponse, Error> {
        match self.endpoints().call_definitions(&DefinitionsRequest::Show(request)).await? {
            DefinitionsResponse::Show(response) => Ok(*response),
            _ => Err(mistaken()),
        }
    }

    /// Renders the text that a number would have, by a template or by the definition of a sequence.
    pub async fn preview(&self, request: v1::PreviewRequest) -> Result<v1::PreviewResponse, Error> {
        match self.endpoints().call_definitions(&DefinitionsRequest::Preview(Box::new(request))).await? {
            DefinitionsResponse::Preview(response) => Ok(*response),
            _ => Err(mistaken()),
        }
    }

    /// Parses a text into its number and values.
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

/// Error of a client in memory, which has no definitions.
pub(crate) fn none_here() -> Refusal {
    Refusal::Final(Error::field("server", "memory", "definitions are a server's: connect to one"))
}

fn mistaken() -> Error {
    Error::new(crate::error::PROTOCOL, "an answer of another call")
}
