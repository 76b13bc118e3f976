//! Clients that lease as much as they are given, and throw it away: a key is not used up, and others are served.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use sequent_proto::v1::{LeaseRequest, sequences_client::SequencesClient};
use tokio::task::JoinSet;
use tonic::{
    Code, Status,
    transport::{Channel, Endpoint},
};
use tonic_types::StatusExt;

use crate::{
    place::{PATIENT, Place},
    running::{FREE, Running, said, say},
};

/// How long the clients are greedy.
const GREED: Duration = Duration::from_secs(4);

/// Connections, and requests in flight on each.
const CONNECTIONS: usize = 4;
const STREAMS: usize = 8;

const CONFIG: &str = r#"
auto_create = ["test-*"]
[[sequence]]
name = "order"
template = "@{seq,w=9,over=error}"
[[sequence]]
name = "endless"
[[sequence]]
name = "day"
template = "@{seq,w=5,over=error}"
placement = "dense"
[[sequence]]
name = "shop"
template = "@{ctx,shop,len=3}-@{seq,w=5}"
"#;

/// What the clients were given.
#[derive(Default)]
struct Given {
    numbers: AtomicU64,
    refused: AtomicU64,
}

fn served() -> (Place, Running) {
    served_with(&[])
}

fn served_with(settings: &[&str]) -> (Place, Running) {
    let place = Place::new();
    place.write("sequent.toml", CONFIG);
    let set: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
    let args = [&["serve", "--config", "sequent.toml"], &FREE[..], &PATIENT, &set].concat();
    let server = Running::start(&place, &args);
    (place, server)
}

/// Leases of a sequence until `over`, one after another. A refusal must say which limit it is, and when it is worth
/// another try.
async fn lease_on(channel: Channel, sequence: &'static str, over: Arc<AtomicBool>, given: Arc<Given>) {
    let mut client = SequencesClient::new(channel);
    let lease = LeaseRequest { sequence: sequence.to_owned(), count: u32::MAX, ..LeaseRequest::default() };
    while !over.load(Ordering::Relaxed) {
        match client.lease(lease.clone()).await {
            Ok(leased) => {
                let numbers = leased.into_inner().blocks.iter().map(|block| u64::from(block.count)).sum();
                given.numbers.fetch_add(numbers, Ordering::Relaxed);
            }
            Err(status) => {
                check_refusal(&status);
                given.refused.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// Greedy clients beside `others`, which is called again and again; what the clients were given.
fn under_greed(server: &Running, sequence: &'static str, others: impl Fn()) -> Arc<Given> {
    let (over, given) = (Arc::new(AtomicBool::new(false)), Arc::<Given>::default());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let url = format!("http://{}", server.grpc);
    let greedy = runtime.block_on(async {
        let mut greedy = JoinSet::new();
        for _ in 0..CONNECTIONS {
            let channel = Endpoint::from_shared(url.clone()).unwrap().connect().await.unwrap();
            for _ in 0..STREAMS {
                greedy.spawn(lease_on(channel.clone(), sequence, Arc::clone(&over), Arc::clone(&given)));
            }
        }
        greedy
    });
    let until = Instant::now() + GREED;
    while Instant::now() < until {
        others();
        std::thread::sleep(Duration::from_millis(20));
    }
    over.store(true, Ordering::Relaxed);
    runtime.block_on(greedy.join_all());
    given
}

fn check_refusal(status: &Status) {
    assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
    let info = status.get_details_error_info().unwrap();
    assert_eq!((info.reason.as_str(), info.metadata["quota"].as_str()), ("QUOTA_EXCEEDED", "burn"));
    assert_eq!(info.metadata["of"], "order");
    let wait = status.get_details_retry_info().unwrap().retry_delay.unwrap();
    assert!(wait > Duration::ZERO && wait < Duration::from_secs(60), "{wait:?}");
}

#[test]
fn a_bounded_key_keeps_nearly_all_of_its_numbers_and_who_wants_one_is_served() {
    let (_place, server) = served();
    let highest = AtomicU64::new(0);
    let given = under_greed(&server, "order", || {
        // Anything but a number fails the test.
        let number = server.next()["numbers"][0].as_str().unwrap().parse::<u64>().unwrap();
        highest.fetch_max(number, Ordering::Relaxed);
    });
    let (numbers, refused) = (given.numbers.load(Ordering::Relaxed), given.refused.load(Ordering::Relaxed));
    println!("{numbers} numbers leased, {refused} leases refused");
    let reached = server.next()["numbers"][0].as_str().unwrap().parse::<u64>().unwrap();
    assert!(reached < 10_000_000, "{reached}: more than 1 % is used up");
    assert!(refused > 0 && highest.load(Ordering::Relaxed) > 0);
    let counted = server.metric("sequent_burn_limited_total", "");
    assert!(
        counted >= f64::from(u32::try_from(refused).unwrap()),
        "{counted} of {refused} refusals were counted"
    );
    let (_, log) = server.end();
    assert!(log.contains("burn limit reached"), "{log}");
}

#[test]
fn a_key_without_a_near_end_moves_by_what_leases_may_have_and_not_by_what_is_asked_for() {
    let (_place, server) = served();
    let given = under_greed(&server, "endless", || {});
    let a_second = given.numbers.load(Ordering::Relaxed) / GREED.as_secs();
    println!("{a_second} numbers leased a second");
    assert!(a_second < 50_000_000, "{a_second}");
    assert_eq!(given.refused.load(Ordering::Relaxed), 0, "leases get smaller, and none is refused");
}

#[test]
fn a_dense_key_gives_two_large_requests_at_once_and_says_when_it_gives_more() {
    let (_place, server) = served();
    let ask = |query: &str| say(&server.http, &format!("POST /v1/sequences/day/next{query} HTTP/1.1"));
    let large = (0..9).filter(|_| ask("?count=10000").starts_with("HTTP/1.1 200")).count();
    assert_eq!(large, 2);
    let refused = ask("?count=2");
    assert!(refused.starts_with("HTTP/1.1 429"), "{refused}");
    for part in ["retry-after: ", "\"quota\":\"burn\"", "\"of\":\"day\"", "\"retry_after_ms\":"] {
        assert!(refused.contains(part), "{part} is not in {refused}");
    }
}

/// The status line's code of a request for one number.
fn asked(server: &Running, name: &str, body: &str) -> String {
    let head = format!(
        "POST /v1/sequences/{name}/next HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: {}",
        body.len()
    );
    said(&server.http, &head, body).split(' ').nth(1).unwrap().to_owned()
}

#[test]
fn first_uses_define_no_more_names_than_allowed_and_known_names_go_on() {
    let (_place, server) = served_with(&["limits.auto_create_max=9"]);
    let codes: Vec<String> = (0..12).map(|name| asked(&server, &format!("test-{name}"), "")).collect();
    // Four are in the configuration.
    let expected = ["200", "200", "200", "200", "200", "429", "429", "429", "429", "429", "429", "429"];
    assert_eq!(codes, expected);
    assert_eq!([asked(&server, "test-4", ""), asked(&server, "order", "")], ["200", "200"]);
}

#[test]
fn one_sequences_partitions_refuse_nobody_elses() {
    let (_place, server) = served_with(&["limits.keys_per_sequence_max=3"]);
    let shop = |shop: u32| asked(&server, "shop", &format!("{{\"values\":{{\"shop\":\"{shop:03}\"}}}}"));
    let codes: Vec<String> = (0..5).map(shop).collect();
    assert_eq!(codes, ["200", "200", "200", "429", "429"]);
    assert_eq!([shop(1), asked(&server, "endless", "")], ["200", "200"]);
    assert!((server.metric("sequent_keys_made_total", "") - 4.0).abs() < 0.5);
}
