//! Web service that numbers its orders.
//!
//! ```console
//! $ sequent dev                                        # or a cluster's `sequent serve`
//! grpc   http://127.0.0.1:41215
//! $ SEQUENT_SERVER=http://127.0.0.1:41215 cargo run -p sequent-client --example web_orders
//! orders on http://127.0.0.1:8080/orders
//! $ curl -X POST -d '2 tea' http://127.0.0.1:8080/orders
//! {"items":"2 tea","order":"1"}
//! ```
//!
//! It shows one client and one handle for the whole service, made at its start. `ready()` runs before the port opens,
//! so the first order does not wait. A retryable error becomes a 503 with `Retry-After`.

use std::{convert::Infallible, error::Error, net::SocketAddr, time::Duration};

use http::{Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use sequent_client::{Client, Sequence};
use serde_json::json;
use tokio::net::TcpListener;

/// Limit on an order in bytes.
const ORDER_MAX: usize = 16 * 1024;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let client = Client::from_env().await?;
    // An order without a number after 300 ms is refused, so that its caller does not wait.
    let orders = client.sequence("order")?.deadline(Duration::from_millis(300));
    orders.ready().await?;

    let address: SocketAddr = std::env::var("LISTEN").unwrap_or("127.0.0.1:8080".to_owned()).parse()?;
    let listener = TcpListener::bind(address).await?;
    println!("orders on http://{}/orders", listener.local_addr()?);
    loop {
        let (socket, _) = listener.accept().await?;
        let orders = orders.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let orders = orders.clone();
                async move { Ok::<_, Infallible>(answer(&orders, request).await) }
            });
            let served = http1::Builder::new()
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(socket), service);
            if let Err(error) = served.await {
                eprintln!("a connection ended early: {error}");
            }
        });
    }
}

async fn answer(orders: &Sequence, request: Request<Incoming>) -> Response<Full<Bytes>> {
    if (request.method(), request.uri().path()) != (&Method::POST, "/orders") {
        return respond(StatusCode::NOT_FOUND, &json!({"error": "POST /orders is all there is"}));
    }
    // Validate first, then take the number: a number that nobody uses is a gap.
    let Ok(body) = Limited::new(request.into_body(), ORDER_MAX).collect().await else {
        return respond(StatusCode::PAYLOAD_TOO_LARGE, &json!({"error": "an order has at most 16 KiB"}));
    };
    let items = String::from_utf8_lossy(&body.to_bytes()).trim().to_owned();
    if items.is_empty() {
        return respond(StatusCode::BAD_REQUEST, &json!({"error": "an order of nothing"}));
    }
    match orders.next().await {
        Ok(number) => respond(StatusCode::CREATED, &json!({"order": number, "items": items})),
        Err(error) => {
            let passes = error.is_retryable();
            eprintln!("no number: {}: {error}", error.reason());
            let status =
                if passes { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::INTERNAL_SERVER_ERROR };
            let mut response =
                respond(status, &json!({"error": "no order number", "reason": error.reason()}));
            if passes {
                let after = error.retry_after().unwrap_or(Duration::from_secs(1)).as_secs();
                response.headers_mut().insert(header::RETRY_AFTER, after.into());
            }
            response
        }
    }
}

fn respond(status: StatusCode, body: &serde_json::Value) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(format!("{body}\n"))));
    *response.status_mut() = status;
    response
}
