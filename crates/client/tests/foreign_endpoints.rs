//! Foreign endpoints over the network: a proxy with its own page, or another service at the address.

#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

mod support;

use std::{convert::Infallible, future::ready, time::Duration};

use http_body_util::Full;
use hyper::{
    Request, Response,
    body::{Bytes, Incoming},
    server::conn::http2,
    service::service_fn,
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use sequent_client::{Client, Sequence};
use sequent_proto::v1::sequences_server::SequencesServer;
use support::Counter;
use tokio::net::TcpListener;
use tower_service::Service;

/// Responses of foreign endpoints: status, type, body, and the reason that a caller gets if there is no other
/// endpoint.
const STRANGERS: [(u16, &str, &str, &str); 6] = [
    (404, "text/plain", "404 page not found", "PROTOCOL"),
    (404, "application/json", "{}", "PROTOCOL"),
    (200, "text/html", "<!doctype html><title>Welcome to the proxy</title>", "PROTOCOL"),
    (405, "text/plain", "method not allowed", "PROTOCOL"),
    (401, "text/html", "<title>Who are you?</title>", "UNAUTHENTICATED"),
    (403, "text/html", "<title>Not from here</title>", "PERMISSION_DENIED"),
];

/// Each client picks one of two endpoints at random. With this many, one picks the first.
const CLIENTS_MAX: usize = 64;

/// Serves a page, or a server of sequences if there is none.
async fn listen(page: Option<(u16, &'static str, &'static str)>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let counter = SequencesServer::new(Counter::default());
    tokio::spawn(async move {
        loop {
            let (socket, _) = listener.accept().await.unwrap();
            let builder = http2::Builder::new(TokioExecutor::new());
            if let Some(page) = page {
                let said = service_fn(move |_: Request<Incoming>| ready(Ok::<_, Infallible>(answer(page))));
                tokio::spawn(builder.serve_connection(TokioIo::new(socket), said));
            } else {
                let counter = counter.clone();
                let said = service_fn(move |request| counter.clone().call(request));
                tokio::spawn(builder.serve_connection(TokioIo::new(socket), said));
            }
        }
    });
    address
}

fn answer((status, kind, page): (u16, &'static str, &'static str)) -> Response<Full<Bytes>> {
    let body = Full::new(Bytes::from_static(page.as_bytes()));
    Response::builder().status(status).header("content-type", kind).body(body).unwrap()
}

/// A proxy whose servers are down is not foreign.
#[tokio::test]
async fn what_passes_is_tried_again() {
    for status in [429, 500, 502, 503, 504] {
        let proxy = listen(Some((status, "text/html", "<title>Later</title>"))).await;
        let error = orders(&proxy).deadline(Duration::from_millis(100)).next_fresh().await.unwrap_err();
        assert_eq!((error.reason(), error.is_retryable()), ("SERVER_UNAVAILABLE", true), "{error}");
        assert!(error.to_string().contains(&format!("HTTP status {status}")), "{error}");
    }
}

fn orders(servers: &str) -> Sequence {
    Client::builder().connect_lazily(servers).unwrap().sequence("order").unwrap()
}

#[tokio::test]
async fn a_stranger_among_the_addresses_costs_no_call() {
    let server = listen(None).await;
    for (status, kind, page, reason) in STRANGERS {
        let stranger = listen(Some((status, kind, page))).await;
        let both = format!("{stranger},{server}");
        // Clients pick the first endpoint at random, so one of them meets the foreign one.
        let mut met = false;
        for _ in 0..CLIENTS_MAX {
            let client = Client::builder().connect_lazily(&both).unwrap();
            let orders = client.sequence("order").unwrap();
            orders.next_fresh().await.unwrap();
            orders.next().await.unwrap();
            met |= !client.endpoints()[0].1;
            if met {
                break;
            }
        }
        assert!(met, "{status} {kind}: who answers so is out");
        let error = self::orders(&stranger).next().await.unwrap_err();
        assert_eq!((error.reason(), error.is_retryable()), (reason, false), "{status} {kind}: {error}");
        assert!(error.to_string().contains(&stranger), "{error}");
        let error = Client::connect(&stranger).await.unwrap_err();
        assert_eq!(error.reason(), reason, "{status} {kind}: {error}");
    }
}
