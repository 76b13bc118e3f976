//! Previews of templates that take long to analyze.

use std::collections::BTreeMap;

use sequent_proto::v1::{Definition, PreviewRequest, definitions_client::DefinitionsClient, preview_request};
use tokio::task::JoinSet;
use tonic::Code;

use super::{Prober, start};
use crate::bad_grpc::check;

/// As many as would fill the requests in work, if previews counted among them.
const CONNECTIONS: usize = 90;
const STREAMS: usize = 250;

/// A template whose analysis takes long: several parts of many values.
fn slow(number: usize) -> PreviewRequest {
    let entries = |part: usize| (0..85).map(move |at| format!("{part}key{at}:{part}x{at}"));
    let map = |part| entries(part).collect::<Vec<_>>().join(";");
    let parts: Vec<String> = (0..3).map(|part| format!("@{{ctx,c{part},map={}}}-", map(part))).collect();
    let parts = parts.concat();
    let template = format!("N{number}-{parts}@{{seq,w=9}}");
    let definition = Definition { template, ..Definition::default() };
    let by = Some(preview_request::By::Definition(definition));
    PreviewRequest { by, capacity_only: true, ..PreviewRequest::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn previews_by_many_take_no_place_of_numbers() {
    let server = start(&[]).await;
    let prober = Prober::of(&server);
    let mut calls = JoinSet::new();
    for connection in 0..CONNECTIONS {
        let channel = server.channel().await;
        for stream in 0..STREAMS {
            let mut client = DefinitionsClient::new(channel.clone());
            calls.spawn(async move { client.preview(slow(connection * STREAMS + stream)).await.err() });
        }
    }
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    while let Some(outcome) = calls.join_next().await {
        let outcome = outcome.unwrap();
        if let Some(status) = outcome.as_ref().filter(|status| status.code() == Code::ResourceExhausted) {
            check("preview", status, Code::ResourceExhausted, "QUOTA_EXCEEDED", None);
            // Of the queue, or of the places of all calls of one address.
            let is_of = |text: &str| status.message().contains(text);
            assert!(is_of("may wait for their analysis") || is_of("requests of this address"), "{status}");
        }
        // A connection that the busy client does not serve in time is cut, and the server has said nothing.
        let is_cut = outcome.as_ref().is_some_and(|status| std::error::Error::source(status).is_some());
        let kind = outcome.map_or("answered".to_owned(), |status| format!("{:?}", status.code()));
        let kind = if is_cut { "cut".to_owned() } else { kind };
        *outcomes.entry(kind).or_default() += 1;
    }
    prober.was_not_refused().await;
    // A legitimate preview is answered again at once.
    let mut client = DefinitionsClient::new(server.channel().await);
    client.preview(slow(0)).await.unwrap();
    println!("{outcomes:?}");
    let of = |kind: &str| outcomes.get(kind).copied().unwrap_or_default();
    assert!(of("ResourceExhausted") > 0 && of("answered") > 0, "{outcomes:?}");
    let told = of("ResourceExhausted") + of("answered") + of("DeadlineExceeded");
    assert_eq!(told + of("cut"), CONNECTIONS * STREAMS, "{outcomes:?}");
    assert!(of("cut") < STREAMS, "{outcomes:?}");
}

#[tokio::test]
async fn a_connection_has_its_share_of_the_queue() {
    let server = start(&[]).await;
    let channel = server.channel().await;
    let mut calls = JoinSet::new();
    for number in 0..STREAMS {
        let mut client = DefinitionsClient::new(channel.clone());
        calls.spawn(async move { client.preview(slow(number)).await.err() });
    }
    let outcomes = calls.join_all().await;
    let refused = outcomes.iter().flatten().find(|status| status.message().contains("of one connection"));
    check("preview", refused.expect("refused"), Code::ResourceExhausted, "QUOTA_EXCEEDED", None);
}
