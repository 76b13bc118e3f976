//! Graceful close by the server, as for old connections: it costs no call and evicts no endpoint.

#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

mod support;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use hyper::{body::Incoming, server::conn::http2, service::service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use metrics_util::debugging::{DebugValue, DebuggingRecorder};
use sequent_client::Client;
use sequent_proto::v1::sequences_server;
use support::Counter;
use tokio::{net::TcpListener, sync::Notify};
use tower_service::Service;

/// Responses per connection.
const ANSWERS: u64 = 10;

/// Serves, and closes each connection gracefully after some responses. There is no health service, so that a probe
/// would fail.
async fn serve(listener: TcpListener, connections: Arc<AtomicU64>) {
    let service = sequences_server::SequencesServer::new(Counter::default());
    loop {
        let (socket, _) = listener.accept().await.unwrap();
        socket.set_nodelay(true).unwrap();
        connections.fetch_add(1, Ordering::Relaxed);
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
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    recorder.install().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let connections = Arc::new(AtomicU64::new(0));
    tokio::spawn(serve(listener, Arc::clone(&connections)));
    let client = Client::builder().connect_lazily(&address).unwrap();
    // The callers share only the connection, so some request is always in flight when it is closed.
    let callers: Vec<_> = (0..8)
        .map(|caller| {
            let orders =
                client.sequence(&format!("order-{caller}")).unwrap().deadline(Duration::from_secs(10));
            tokio::spawn(async move {
                for _ in 0..100 {
                    orders.next_fresh().await.unwrap();
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
    let ended = connections.load(Ordering::Relaxed) - 1;
    assert!(ended > 10, "{ended} connections were ended");
    let evictions = snapshotter
        .snapshot()
        .into_vec()
        .into_iter()
        .filter(|(key, ..)| key.key().name() == "sequent_client_endpoint_evictions_total");
    let evictions: Vec<_> = evictions.filter(|(.., value)| *value != DebugValue::Counter(0)).collect();
    assert!(evictions.is_empty(), "{evictions:?}");
}
