//! Request ids: the caller's id is in the response, on the fast path and on the slow one.

use sequent_proto::v1::LeaseRequest;
use tonic::{Request, Status, metadata::MetadataMap};

use crate::{Server, ask, raw_http};

const NAME: &str = "x-request-id";

async fn asked(server: &Server, path: &str, id: &str) -> raw_http::Said {
    let head =
        format!("POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{NAME}: {id}\r\n\r\n");
    raw_http::raw(server.http, head.as_bytes()).await
}

#[tokio::test]
async fn http_echoes_a_request_id_and_names_what_failed() {
    let server = Server::start().await;
    // The first request takes the slow path, the last ones the fast one.
    for id in ["first", "second", "third", "7d1e-90"] {
        let said = asked(&server, "/v1/sequences/order/next", id).await;
        assert_eq!((said.status, said.header(NAME)), (200, Some(id)), "{said:?}");
    }
    let said = asked(&server, "/v1/sequences/order/next?count=0", "mine").await;
    assert_eq!((said.status, said.header(NAME)), (400, Some("mine")));
    let said = raw_http::post(server.http, "/v1/sequences/order/next", "").await;
    assert_eq!((said.status, said.header(NAME)), (200, None), "nobody has named it");
    for bad in ["two words", &"x".repeat(129), ""] {
        let said = asked(&server, "/nowhere", bad).await;
        let made = said.header(NAME).unwrap_or_default();
        assert!(said.status == 404 && made != bad && made.len() > 16, "{said:?}");
    }
}

#[tokio::test]
async fn grpc_echoes_a_request_id_and_names_what_failed() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let named = |metadata: &MetadataMap| metadata.get(NAME).map(|id| id.to_str().unwrap().to_owned());
    for id in ["first", "second", "third"] {
        let mut request = Request::new(ask("order", None));
        request.metadata_mut().insert(NAME, id.parse().unwrap());
        let response = client.next(request).await.unwrap();
        assert_eq!(named(response.metadata()).as_deref(), Some(id));
    }
    let mut lease =
        Request::new(LeaseRequest { sequence: "order".to_owned(), count: 0, ..LeaseRequest::default() });
    lease.metadata_mut().insert(NAME, "mine".parse().unwrap());
    let refused: Status = client.lease(lease).await.unwrap_err();
    assert_eq!(named(refused.metadata()).as_deref(), Some("mine"));
    let refused = client.next(ask("order", Some(0))).await.unwrap_err();
    assert!(named(refused.metadata()).is_some_and(|made| made.len() > 16), "{refused:?}");
}
