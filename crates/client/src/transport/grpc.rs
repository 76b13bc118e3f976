//! Transport over gRPC to one server.

use std::{sync::Arc, time::Duration};

use sequent_core::{Block, BoxFuture, Clock, ErrorKind, SourceError, SystemClock};
use sequent_proto::v1::{self, definitions_client::DefinitionsClient, sequences_client::SequencesClient};
use tonic::{Request, Response, Status};

use crate::{
    client::{address::Address, options::Options},
    error::{Error, ErrorKind as Kind, PROTOCOL},
    transport::{
        GrantResponse, NumberRequest, Refusal, TemplateData, Transport, Verb,
        channel::{Channel, SERVICE, ServerConnection, is_serving},
        foreign,
        status::refusal,
        tls::ClientTls,
    },
};

/// Limit on a response in bytes: ten thousand of the longest texts, and far more than the longest list of blocks.
const ANSWER_MAX: usize = 12 * 1024 * 1024;

/// Limit on attempts on one server, if each time a connection that had served was closed.
const TRIES_MAX: usize = 4;

/// Method of the service of definitions.
pub(crate) type DefinitionsMethod<Q, A> =
    fn(DefinitionsClient<Channel>, Request<Q>) -> BoxFuture<'static, Result<Response<A>, Status>>;

/// Transport to one server.
pub(crate) struct GrpcTransport {
    connection: ServerConnection,
}

impl GrpcTransport {
    pub(crate) fn new(address: Address, options: &Options, tls: Option<Arc<ClientTls>>) -> Arc<Self> {
        Arc::new(Self { connection: ServerConnection::new(address, options, tls) })
    }

    /// Runs work on the current connection, and on a new one if the server closes that meanwhile. A graceful close is
    /// no failure of the endpoint.
    async fn with_channel<T, F>(&self, work: impl Fn(Channel) -> F) -> Result<T, Refusal>
    where
        F: Future<Output = Result<T, Refusal>>,
    {
        let (mut tries, mut was_refused) = (0, false);
        let token = self.connection.token.as_ref().inspect(|token| token.refresh());
        loop {
            let sent = token.map(|token| token.header());
            let channel = self.connection.channel().await.map_err(Refusal::Fault)?;
            let outcome = tokio::select! {
                outcome = work(channel.clone()) => outcome,
                () = channel.wait_closed() => {
                    channel.end();
                    let text = "the connection ended, and the answer did not come";
                    Err(Refusal::Fault(SourceError::new(ErrorKind::Unavailable, text)))
                }
            };
            tries += 1;
            match outcome {
                Err(Refusal::Fault(_))
                    if channel.was_closed() && channel.has_answered() && tries < TRIES_MAX => {}
                Err(Refusal::Final(error)) if error.kind() == Kind::Unauthenticated && !was_refused => {
                    // The token may have been rotated: another one in the file is tried, once.
                    was_refused = true;
                    let (Some(token), Some(sent)) = (token, &sent) else { return Err(Refusal::Final(error)) };
                    if !token.read_after_refusal_of(sent).await {
                        return Err(Refusal::Final(error));
                    }
                }
                outcome => return outcome,
            }
        }
    }

    async fn send_numbers(&self, channel: Channel, ask: &NumberRequest) -> Result<GrantResponse, Refusal> {
        let mut client = SequencesClient::with_origin(channel.clone(), self.connection.origin())
            .max_decoding_message_size(ANSWER_MAX);
        let (sequence, count) = (ask.scope.name().as_str().to_owned(), ask.count);
        let input = ask.scope.template_input();
        let (values, at) = (input.with.clone().into_iter().collect(), input.instant(SystemClock.wall_ms()));
        let outcome = match ask.verb {
            Verb::Next => {
                let message = v1::NextRequest { sequence, count: Some(count), values, at, above: ask.above };
                let answer = channel.tracked(client.next(timed(message, ask.within)));
                answer.await.map(|answer| {
                    let answer = answer.into_inner();
                    let v1::NextResponse { blocks, texts, period, at, version, .. } = answer;
                    (blocks, None, version, TemplateData { texts, period, at, ..TemplateData::default() })
                })
            }
            Verb::Lease => {
                let message = v1::LeaseRequest { sequence, count, values, at, above: ask.above };
                let answer = channel.tracked(client.lease(timed(message, ask.within)));
                answer.await.map(|answer| {
                    let answer = answer.into_inner();
                    let age = Some(Duration::from_millis(answer.max_age_ms));
                    // An end that can't be parsed is ignored, since the age of the lease is limited anyway.
                    let version_end = answer.version_end.parse().ok();
                    let template_data = TemplateData {
                        period: answer.period,
                        rendering: answer.texts,
                        version_end,
                        ..TemplateData::default()
                    };
                    (answer.blocks, age, answer.version, template_data)
                })
            }
        };
        let (blocks, max_age, version, template_data) = outcome.map_err(|status| refusal(&status))?;
        let blocks = blocks.iter().map(block).collect::<Result<_, _>>().map_err(Refusal::foreign)?;
        Ok(GrantResponse { blocks, max_age, version, template_data })
    }

    /// Calls a method of the service of definitions, within the given time.
    pub(crate) async fn call_definitions<Q: Clone, A>(
        &self,
        request: &Q,
        within: Duration,
        method: DefinitionsMethod<Q, A>,
    ) -> Result<A, Refusal> {
        let called = self.with_channel(|channel| async move {
            let client = DefinitionsClient::with_origin(channel.clone(), self.connection.origin())
                .max_decoding_message_size(ANSWER_MAX);
            let outcome = channel.tracked(method(client, timed(request.clone(), within))).await;
            outcome.map(Response::into_inner).map_err(|status| refusal(&status))
        });
        called.await
    }

    async fn check_health(&self) -> Result<(), SourceError> {
        let found = self.with_channel(|channel| async {
            let served = is_serving(channel, self.connection.origin(), SERVICE.to_owned());
            served.await.map_err(Refusal::Fault)
        });
        match found.await {
            Ok(true) => Ok(()),
            Ok(false) => Err(SourceError::new(ErrorKind::Unavailable, "it is stopping, or not ready")),
            Err(Refusal::Fault(error)) => Err(error),
            Err(Refusal::Elsewhere(error) | Refusal::Final(error)) => Err(foreign(error)),
        }
    }
}

impl Transport for GrpcTransport {
    fn address(&self) -> String {
        self.connection.address.to_string()
    }

    fn ask(self: Arc<Self>, ask: NumberRequest) -> BoxFuture<'static, Result<GrantResponse, Refusal>> {
        Box::pin(async move { self.with_channel(|channel| self.send_numbers(channel, &ask)).await })
    }

    fn server(&self) -> Option<&GrpcTransport> {
        Some(self)
    }

    fn check(self: Arc<Self>) -> BoxFuture<'static, Result<(), SourceError>> {
        Box::pin(async move { self.check_health().await })
    }
}

fn timed<T>(message: T, within: Duration) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(within);
    request
}

/// Validates a block, as any input from a network.
fn block(block: &v1::Block) -> Result<Block, Error> {
    let whole = u64::try_from(block.first).ok().zip(u64::try_from(block.step).ok());
    let found = whole.and_then(|(first, step)| Block::new(first, step, u64::from(block.count)).ok());
    found.ok_or_else(|| Error::new(PROTOCOL, format!("an answer with a block that is none: {block:?}")))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use tokio::net::TcpListener;

    use super::*;

    /// Simulates for every first request what a race does to one in thousands: the connection ends without a
    /// response.
    #[tokio::test]
    async fn what_waits_on_a_connection_that_has_ended_is_asked_on_another_in_good_time() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let ended = tokio::spawn(async move {
            let first = listener.accept().await.unwrap();
            drop(first);
            let second = listener.accept().await.unwrap();
            (second, listener)
        });
        let transport = GrpcTransport::new(
            crate::client::address::parse(&address).unwrap().remove(0),
            &Options { connect_timeout: Duration::from_secs(1), ..Options::default() },
            None,
        );
        let (started, tries) = (SystemClock.now(), AtomicU32::new(0));
        let answer = transport.with_channel(|channel| {
            let attempt = tries.fetch_add(1, Ordering::Relaxed);
            async move {
                if attempt == 0 {
                    channel.tracked(async { Ok(()) }).await.unwrap();
                    std::future::pending::<()>().await;
                }
                Ok(attempt)
            }
        });
        assert_eq!(answer.await.unwrap(), 1, "on the second connection, and no fault");
        let took = SystemClock.now() - started;
        assert!(took < Duration::from_millis(900), "{took:?}: far less than an attempt has");
        drop(ended.await.unwrap());
    }
}
