//! Numbers by HTTP and gRPC: the same counter, each number once.

use std::collections::BTreeSet;

use sequent_proto::v1::{LeaseRequest, NextResponse};

use crate::{Server, ask, raw_http};

fn numbers(response: &NextResponse) -> Vec<u64> {
    let of = |block: &sequent_proto::v1::Block| {
        let (first, step) = (block.first, block.step);
        (0..i64::from(block.count)).map(move |at| u64::try_from(first + step * at).unwrap())
    };
    response.blocks.iter().flat_map(of).collect()
}

#[tokio::test]
async fn http_gives_one_or_many() {
    let server = Server::start().await;
    let said = raw_http::post(server.http, "/v1/sequences/order/next", "").await;
    assert_eq!(
        (said.status, said.body.as_str()),
        (200, r#"{"sequence":"order","numbers":["1"],"version":1}"#)
    );
    assert_eq!(said.header("cache-control"), Some("no-store"));
    let said = raw_http::post(server.http, "/v1/sequences/order/next?count=3", "").await;
    assert_eq!(said.numbers(), [2, 3, 4]);
    let said = raw_http::post(server.http, "/v1/sequences/order/next", r#"{"count": 2, "values": {}}"#).await;
    assert_eq!(said.numbers(), [5, 6]);
    let said = raw_http::post(server.http, "/v1/sequences/short/next", "").await;
    assert_eq!(said.json()["version"], 7);
    let said = raw_http::get(server.http, "/openapi.json").await;
    assert_eq!(said.json()["openapi"], "3.1.0");
}

#[tokio::test]
async fn grpc_gives_one_many_and_leases() {
    let limits = [("limits.lease_max_count", "20000"), ("limits.lease_max_age_ms", "3000")];
    let server = Server::with(&limits).await;
    let mut client = server.client().await;
    let response = client.next(ask("order", None)).await.unwrap().into_inner();
    assert_eq!((numbers(&response), response.sequence.as_str(), response.version), (vec![1], "order", 1));
    let response = client.next(ask("order", Some(5))).await.unwrap().into_inner();
    assert_eq!(numbers(&response), [2, 3, 4, 5, 6]);
    let lease = LeaseRequest { sequence: "order".to_owned(), count: 4_000_000, ..LeaseRequest::default() };
    let lease = client.lease(lease).await.unwrap().into_inner();
    let leased: u32 = lease.blocks.iter().map(|block| block.count).sum();
    assert_eq!((leased, lease.max_age_ms), (20_000, 3_000), "as many as one lease may have");
    assert!(server.number().await > 20_006, "a lease is cut from the same reservoir");
}

#[tokio::test]
async fn both_apis_give_numbers_with_their_texts() {
    let server = Server::start().await;
    let body = r#"{"count": 2, "values": {"area": "010"}, "at": "2017-03-04T09:00:00+08:00"}"#;
    let said = raw_http::post(server.http, "/v1/sequences/dated/next", body).await;
    let expected = r#"{"sequence":"dated","numbers":["1","2"],"texts":["20170304010\"0001","20170304010\"0002"],"period":"20170304","at":"2017-03-04T09:00:00+08:00","version":2}"#;
    assert_eq!((said.status, said.body.as_str()), (200, expected));
    let values = std::collections::HashMap::from([("area".to_owned(), "010".to_owned())]);
    let at = "2017-03-04T15:59:59Z".to_owned();
    let mut client = server.client().await;
    let next =
        sequent_proto::v1::NextRequest { values: values.clone(), at: at.clone(), ..ask("dated", Some(1)) };
    let next = client.next(next).await.unwrap().into_inner();
    assert_eq!((numbers(&next), next.texts.as_slice()), (vec![3], &["20170304010\"0003".to_owned()][..]));
    assert_eq!((next.period.as_str(), next.at.as_str()), ("20170304", "2017-03-04T23:59:59+08:00"));
    let lease = LeaseRequest { sequence: "dated".to_owned(), count: 5, values, at, above: 0 };
    let lease = client.lease(lease).await.unwrap().into_inner();
    assert_eq!((lease.period.as_str(), lease.period_end.as_str()), ("20170304", "2017-03-04T16:00:00Z"));
    assert!(
        lease.max_age_ms > 0 && lease.blocks[0].count > 0,
        "of a period that the holder named: {lease:?}"
    );
    let status = client.next(ask("dated", None)).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::InvalidArgument, "{status}");
    let said = raw_http::post(server.http, "/v1/sequences/dated/next", "").await;
    assert_eq!((said.status, &said.json()["errors"][0]["field"]), (400, &"values.area".into()), "{said:?}");
}

#[tokio::test]
async fn a_caller_with_a_number_of_another_cluster_is_told() {
    let server = Server::start().await;
    let mut client = server.client().await;
    client.next(ask("order", Some(10))).await.unwrap();
    let with = |above| sequent_proto::v1::NextRequest { above, ..ask("order", None) };
    client.next(with(10)).await.unwrap();
    let status = client.next(with(i64::MAX)).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::FailedPrecondition, "{status}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_number_is_given_twice_by_two_apis_at_once() {
    const CALLERS: usize = 16;
    const CALLS: usize = 60;
    let server = Server::start().await;
    let mut callers = tokio::task::JoinSet::new();
    for caller in 0..CALLERS {
        let (http, mut client) = (server.http, server.client().await);
        callers.spawn(async move {
            let mut seen = Vec::new();
            for call in 0..CALLS {
                let count = 1 + u32::try_from((call * 7 + caller) % 4).unwrap();
                if caller % 2 == 0 {
                    let path = format!("/v1/sequences/order/next?count={count}");
                    seen.extend(raw_http::post(http, &path, "").await.numbers());
                } else {
                    let response = client.next(ask("order", Some(count))).await.unwrap();
                    seen.extend(numbers(&response.into_inner()));
                }
            }
            seen
        });
    }
    let given: Vec<u64> = callers.join_all().await.into_iter().flatten().collect();
    let distinct: BTreeSet<u64> = given.iter().copied().collect();
    assert_eq!(distinct.len(), given.len());
    assert!(given.len() >= CALLERS * CALLS);
}
