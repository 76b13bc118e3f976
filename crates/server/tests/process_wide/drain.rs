//! Drain: every request that was accepted is answered. Counted by the metrics of the whole process.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use sequent_proto::v1::NextRequest;
use sequent_server::Drained;

use crate::{raw_http, server::Server};

/// Whether a call never left the client because its connection was closing. The error is the transport's and not the
/// server's, and the SDK asks another server. The server's metrics prove that nobody accepted it.
fn never_set_out(error: &tonic::Status) -> bool {
    std::error::Error::source(error).is_some()
}

/// Calls of `Next` that the gRPC server has counted, with any outcome.
async fn taken_by_grpc(server: &Server) -> usize {
    let shown = raw_http::get(server.admin, "/metrics").await.body;
    let ours = shown.lines().filter(|line| {
        line.starts_with("sequent_requests_total{") && line.contains(r#"api="grpc",method="next""#)
    });
    ours.map(|line| line.rsplit(' ').next().unwrap().parse::<usize>().unwrap()).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_that_was_taken_goes_unanswered() {
    let _alone = crate::ALONE.lock().await;
    let mut server = Server::with(&[("limits.drain_delay_s", "1")]).await;
    let leaving = Arc::new(AtomicBool::new(false));
    let mut callers = tokio::task::JoinSet::new();
    for caller in 0..8 {
        let (leaving, mut client, http) = (Arc::clone(&leaving), server.client().await, server.http);
        callers.spawn(async move {
            let (mut by_grpc, mut by_http) = (0, 0);
            while !leaving.load(Ordering::Relaxed) {
                if caller % 2 == 0 {
                    match client.next(order()).await {
                        Ok(_) => by_grpc += 1,
                        Err(error) => assert!(never_set_out(&error), "{error:?}"),
                    }
                } else {
                    assert_eq!(raw_http::post(http, "/v1/sequences/order/next", "").await.status, 200);
                    by_http += 1;
                }
            }
            (by_grpc, by_http)
        });
    }
    server.stop();
    while raw_http::get(server.admin, "/readyz").await.status == 200 {
        tokio::task::yield_now().await;
    }
    // A load balancer does this once the server is not ready.
    leaving.store(true, Ordering::Relaxed);
    let calls = callers.join_all().await;
    let (by_grpc, by_http): (Vec<usize>, Vec<usize>) = calls.into_iter().unzip();
    assert!(by_http.iter().sum::<usize>() > 0);
    assert_eq!(taken_by_grpc(&server).await, by_grpc.iter().sum::<usize>(), "taken, and answered");
    assert_eq!(server.ended.await.unwrap(), Drained { dropped: 0 });
}

fn order() -> NextRequest {
    NextRequest { sequence: "order".to_owned(), ..NextRequest::default() }
}
