//! Definitions of sequences, read and written through the servers of a cluster.

use sequent_proto::v1;

use crate::{
    client::Client,
    error::Error,
    transport::{Refusal, grpc::DefinitionsMethod},
};

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
        self.call(request, |mut client, request| Box::pin(async move { client.define(request).await })).await
    }

    /// Lists one page of sequences, after a given name.
    pub async fn list(&self, request: v1::ListRequest) -> Result<v1::ListResponse, Error> {
        self.call(request, |mut client, request| Box::pin(async move { client.list(request).await })).await
    }

    /// Shows one sequence with its definition.
    pub async fn show(&self, request: v1::ShowRequest) -> Result<v1::ShowResponse, Error> {
        self.call(request, |mut client, request| Box::pin(async move { client.show(request).await })).await
    }

    /// Renders the text that a number would have, by a template or by the definition of a sequence.
    pub async fn preview(&self, request: v1::PreviewRequest) -> Result<v1::PreviewResponse, Error> {
        self.call(request, |mut client, request| Box::pin(async move { client.preview(request).await })).await
    }

    /// Parses a text into its number and values.
    pub async fn parse(&self, request: v1::ParseRequest) -> Result<v1::ParseResponse, Error> {
        self.call(request, |mut client, request| Box::pin(async move { client.parse(request).await })).await
    }

    async fn call<Q, A>(&self, request: Q, method: DefinitionsMethod<Q, A>) -> Result<A, Error>
    where
        Q: Clone + Send + Sync + 'static,
        A: Send + 'static,
    {
        self.0.state().endpoints.call_definitions(&request, method).await
    }
}

/// Error of a client in memory, which has no definitions.
pub(crate) fn none_here() -> Refusal {
    Refusal::Final(Error::field("server", "memory", "definitions are a server's: connect to one"))
}
