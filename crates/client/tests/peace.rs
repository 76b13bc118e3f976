//! Connections that a server ends in peace, as it does to old ones, cost no call and no endpoint.

#![allow(clippy::disallowed_methods, reason = "how long a call took is what shows")]
#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use hyper::{body::Incoming, server::conn::http2, service::service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use sequent_client::Client;
use sequent_proto::v1::{self, sequences_server};
use tokio::{net::TcpListener, sync::Notify};
use tonic::{Request, Response, Status};
use tower_service::Service;

/// Answers on one connection.
const ANSWERS: u64 = 10;

/// Counts.
#[derive(Clone, Default)]
struct Counter(Arc<AtomicU64>);

impl Counter {
    fn block(&self, count: u32) -> v1::Block {
        let first = self.0.fetch_add(u64::from(count), Ordering::Relaxed) + 1;
        v1::Block { first: first.cast_signed(), step: 1, count }
    }
}

#[tonic::async_trait]
impl sequences_server::Sequences for Counter {
    async fn next(&self, request: Request<v1::NextRequest>) -> Result<Response<v1::NextResponse>, Status> {
        let blocks = vec![self.block(request.into_inner().count.unwrap_or(1))];
        Ok(Response::new(v1::NextResponse { blocks, ..Default::default() }))
    }

    async fn lease(&self, request: Request<v1::LeaseRequest>) -> Result<Response<v1::LeaseResponse>, Status> {
        let blocks = vec![self.block(request.into_inner().count)];
        Ok(Response::new(v1::LeaseResponse { blocks, max_age_ms: 1000, ..Default::default() }))
    }
}

/// Serves, and ends each connection in peace after some answers. It has no health service: nobody may ask for it.
async fn serve(listener: TcpListener) {
    let service = sequences_server::SequencesServer::new(Counter::default());
    loop {
        let (socket, _) = listener.accept().await.unwrap();
        socket.set_nodelay(true).unwrap();
        let (service, answered) = (service.clone(), Arc::new(Notify::new()));
        let (heard, count) = (Arc::clone(&answered), Arc::new(AtomicU64::new(0)));
        let service = service_fn(move |request: hyper::Request<Incoming>| {
            let (answer, answered) = (service.clone().call(request), Arc::clone(&answered));
            let count = Arc::clone(&count);
            async move {
                let answer = answer.await;
                if count.fetch_add(1, Ordering::Relaxed) == ANSWERS {
                    answered.notify_one();
                }
                answer
            }
        });
        tokio::spawn(async move {
            let connection =
                http2::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(socket), service);
            tokio::pin!(connection);
            tokio::select! {
                ended = connection.as_mut() => drop(ended),
                () = heard.notified() => {
                    connection.as_mut().graceful_shutdown();
                    drop(connection.await);
                }
            }
        });
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_ends_its_connections_is_not_put_out() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(serve(listener));
    let client = Client::builder().connect_lazily(&address).unwrap();
    // Callers that share nothing but the connection, so that some are always under way when it ends.
    let callers: Vec<_> = (0..8)
        .map(|caller| {
            let orders =
                client.sequence(&format!("order-{caller}")).unwrap().deadline(Duration::from_secs(10));
            tokio::spawn(async move {
                let mut slowest = Duration::ZERO;
                for _ in 0..100 {
                    let begun = std::time::Instant::now();
                    orders.next_fresh().await.unwrap();
                    slowest = slowest.max(begun.elapsed());
                }
                slowest
            })
        })
        .collect();
    for caller in callers {
        // Whoever is put out comes back after half a second at the earliest: nobody was, not even for a moment.
        let slowest = caller.await.unwrap();
        assert!(slowest < Duration::from_millis(400), "{slowest:?}");
    }
}
