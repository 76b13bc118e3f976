//! Request traces at a collector: spans with request ids, in the traces of their callers.

use std::{sync::Arc, time::Duration};

use http_body_util::{BodyExt, Empty};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use sequent_server::Traces;
use tokio::{net::TcpListener, sync::mpsc};
use tracing_subscriber::layer::SubscriberExt;

use crate::{raw_http, server::Server};

/// How long spans may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Collector that keeps what it receives.
async fn collector() -> (String, mpsc::UnboundedReceiver<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}/v1/traces", listener.local_addr().unwrap());
    let (keep, kept) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let keep = keep.clone();
            let service = service_fn(move |request: http::Request<Incoming>| {
                let keep = keep.clone();
                async move {
                    let path = request.uri().path().to_owned();
                    let body = request.into_body().collect().await?.to_bytes();
                    drop(keep.send((path, body.to_vec())));
                    Ok::<_, hyper::Error>(http::Response::new(Empty::<bytes::Bytes>::new()))
                }
            });
            tokio::spawn(
                hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(socket), service),
            );
        }
    });
    (endpoint, kept)
}

fn holds(body: &[u8], part: &[u8]) -> bool {
    body.windows(part.len()).any(|window| window == part)
}

/// On one thread, so that the subscriber of this test sees this server only.
#[tokio::test]
async fn a_request_is_a_span_with_its_id_in_its_callers_trace() {
    let _alone = crate::ALONE.lock().await;
    let (endpoint, mut kept) = collector().await;
    let traces = Arc::new(Traces::to(&endpoint, 1).unwrap());
    let _heard = tracing::subscriber::set_default(tracing_subscriber::registry().with(traces.layer()));
    let mut server = Server::start().await;
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let request = format!(
        "POST /v1/sequences/order/next HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 0\r\n\
         x-request-id: checkout-77\r\ntraceparent: 00-{trace}-00f067aa0ba902b7-01\r\n\r\n"
    );
    let said = raw_http::raw(server.http, request.as_bytes()).await;
    assert_eq!(said.status, 200, "{said:?}");
    server.stop();
    (&mut server.ended).await.unwrap();
    let ended = Arc::clone(&traces);
    tokio::task::spawn_blocking(move || ended.end()).await.unwrap();
    let id: Vec<u8> = (0..16).map(|at| u8::from_str_radix(&trace[2 * at..2 * at + 2], 16).unwrap()).collect();
    loop {
        let (path, body) = tokio::time::timeout(PATIENCE, kept.recv()).await.unwrap().unwrap();
        assert_eq!(path, "/v1/traces");
        if holds(&body, b"checkout-77") {
            assert!(holds(&body, b"request") && holds(&body, b"sequent") && holds(&body, &id));
            return;
        }
    }
}
