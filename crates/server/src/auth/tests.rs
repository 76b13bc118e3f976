//! Tests of principals without a socket, over a paused clock.

use std::{
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
    time::Duration,
};

use http::{HeaderMap, HeaderValue, header};
use sequent_core::{Clock, OsEntropy};
use sequent_engine::{
    Reason,
    config::{Config, Sources, Verb},
};
use sequent_testkit::PausedClock;
use tokio::time::advance;

use super::{Auth, Caller, ConnectionAuth, Token, routes::Need};
use crate::{error::ApiError, tls::peer::PeerCertificate};

const NEXT: Need = Need::Verb(Verb::Next);
const HERE: (&str, IpAddr) = ("http", IpAddr::V4(Ipv4Addr::LOCALHOST));
const MILLISECOND: Duration = Duration::from_millis(1);

/// A principal's table with a new token.
fn principal(name: &str, keys: &str) -> (Token, String) {
    let token = Token::generate(&OsEntropy);
    let hash = token.hash().to_hex();
    (token, format!("[[principal]]\nname = \"{name}\"\ntoken_sha256 = [\"{hash}\"]\n{keys}\n"))
}

fn config(principals: &[&str]) -> Config {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sequent.toml");
    let text = format!("[auth]\nmode = \"required\"\n{}", principals.concat());
    std::fs::write(&file, text).unwrap();
    Config::load(&Sources::embedded(folder.path()).file(file)).unwrap_or_else(|faults| panic!("{faults}"))
}

fn auth(principals: &[&str]) -> (Auth, Arc<PausedClock>) {
    let clock = Arc::new(PausedClock::new());
    (Auth::new(&config(principals), Arc::clone(&clock) as Arc<dyn Clock>), clock)
}

fn bearer(token: &Token) -> HeaderMap {
    let value = HeaderValue::try_from(format!("Bearer {}", token.text())).unwrap();
    HeaderMap::from_iter([(header::AUTHORIZATION, value)])
}

fn caller(connection: &Arc<ConnectionAuth>, token: &Token) -> Caller {
    connection.caller(NEXT, &bearer(token)).unwrap()
}

/// How many of `tries` requests for `count` numbers of `order` are admitted at this instant.
fn admitted(caller: &Caller, count: u64, tries: usize) -> usize {
    (0..tries).filter(|_| caller.again().admit_numbers("order", count).is_ok()).count()
}

fn wait(error: &ApiError) -> Duration {
    assert_eq!(error.reason(), Reason::QuotaExceeded, "{}", error.text());
    error.retry_after().unwrap()
}

#[test]
fn of_two_tokens_in_one_request_neither_counts() {
    let (token, part) = principal("shop", "allow = [\"next:*\"]");
    let (auth, _) = auth(&[&part]);
    let connection = auth.connection(HERE, None);
    let mut two = bearer(&token);
    two.append(header::AUTHORIZATION, two[header::AUTHORIZATION].clone());
    for _ in 0..2 {
        let error = connection.caller(NEXT, &two).map(drop).unwrap_err();
        assert_eq!(error.reason(), Reason::Unauthenticated);
        // From now on the connection knows its caller.
        caller(&connection, &token).admit_numbers("order", 1).map(drop).unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn quotas_are_exact_and_tell_when_they_have_recovered() {
    let (token, part) = principal("shop", "allow = [\"next:*\"]\nrequests_per_s = 50\nnumbers_per_s = 1000");
    let (auth, _) = auth(&[&part]);
    let caller = caller(&auth.connection(HERE, None), &token);
    // The caller is itself a request, which was admitted nothing yet.
    assert_eq!(admitted(&caller, 1, 100), 49, "the requests of a second");
    let error = caller.again().admit_numbers("order", 1).map(drop).unwrap_err();
    assert_eq!(wait(&error), 20 * MILLISECOND);
    advance(19 * MILLISECOND).await;
    assert_eq!(admitted(&caller, 1, 1), 0, "a millisecond too early");
    advance(MILLISECOND).await;
    assert_eq!(admitted(&caller, 1, 2), 1);
    advance(Duration::from_secs(9)).await;
    assert_eq!(admitted(&caller, 600, 1), 1);
    let error = caller.again().admit_numbers("order", 600).map(drop).unwrap_err();
    assert_eq!(wait(&error), 200 * MILLISECOND, "200 of the numbers are missing");
    advance(200 * MILLISECOND).await;
    assert_eq!(admitted(&caller, 600, 2), 1);
    let never = caller.again().admit_numbers("order", 1001).map(drop).unwrap_err();
    assert_eq!(never.reason(), Reason::InvalidArgument, "it would wait for ever");
}

#[tokio::test(start_paused = true)]
async fn the_fast_path_and_the_slow_one_use_up_the_same_quotas() {
    let (token, part) = principal("shop", "allow = [\"next:*\"]\nnumbers_per_s = 100\nnumbers_per_day = 150");
    let (auth, _) = auth(&[&part]);
    let (connection, headers) = (auth.connection(HERE, None), bearer(&token));
    assert_eq!(connection.ready(&headers, "order", || Some(())), None, "nobody is known yet");
    let caller = caller(&connection, &token);
    assert_eq!(admitted(&caller, 40, 1), 1);
    let ready =
        |tries| (0..tries).filter(|_| connection.ready(&headers, "order", || Some(())).is_some()).count();
    assert_eq!(ready(100), 60);
    advance(Duration::from_secs(60)).await;
    assert_eq!(ready(100), 50, "the rest of the day, to which a minute adds a tenth of a number");
    advance(Duration::from_secs(576)).await;
    assert_eq!(ready(100), 1, "one comes back each 576 seconds");
}

#[tokio::test(start_paused = true)]
async fn what_is_not_given_is_given_back() {
    let (token, part) = principal("shop", "allow = [\"next:*\"]\nnumbers_per_s = 100\nnumbers_per_day = 100");
    let (auth, _) = auth(&[&part]);
    let (connection, headers) = (auth.connection(HERE, None), bearer(&token));
    let caller = caller(&connection, &token);
    let settle = |caller: &Caller, outcome: Result<u64, Reason>| {
        let admitted = caller.admit_numbers("order", 100).unwrap_or_else(|error| panic!("{}", error.text()));
        caller.settle(&admitted, outcome);
    };
    settle(&caller, Err(Reason::NoShardAvailable));
    settle(&caller, Ok(0));
    assert_eq!(connection.ready(&headers, "order", || None::<()>), None);
    settle(&caller, Ok(40));
    assert_eq!(admitted(&caller, 60, 2), 1, "60 of them were not given");
    let (token, part) = principal("slow", "allow = [\"next:*\"]\nnumbers_per_s = 100");
    auth.reload(&config(&[&part]));
    let caller = self::caller(&connection, &token);
    settle(&caller, Err(Reason::DeadlineExceeded));
    assert_eq!(admitted(&caller, 1, 1), 0, "they may have been burnt");
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_refused_counts_as_one() {
    let (token, part) = principal("shop", "allow = [\"next:order\"]\nrequests_per_s = 10");
    let (auth, _) = auth(&[&part]);
    let (connection, headers) = (auth.connection(HERE, None), bearer(&token));
    let denied = (0..4).filter(|_| caller(&connection, &token).authorize("invoice").is_err()).count();
    caller(&connection, &token).refused_each(Reason::PermissionDenied, 4);
    assert_eq!(denied, 4);
    let ready = || connection.ready(&headers, "order", || Some(())).is_some();
    assert_eq!((0..10).filter(|_| ready()).count(), 2, "4, 1 and 3 of the 10 were refused");
    let over = caller(&connection, &token);
    assert_eq!(wait(&over.within_requests().unwrap_err()), 100 * MILLISECOND);
    assert_eq!(over.authorize("invoice").unwrap_err().reason(), Reason::PermissionDenied);
    assert!(over.admit("order").is_err());
}

#[tokio::test(start_paused = true)]
async fn a_reload_keeps_what_was_used_and_makes_connections_look_again() {
    let (token, part) = principal("shop", "allow = [\"next:*\"]\nnumbers_per_day = 10");
    let (auth, _) = auth(&[&part]);
    let (connection, headers) = (auth.connection(HERE, None), bearer(&token));
    assert_eq!(admitted(&caller(&connection, &token), 1, 20), 10);
    let (second, both) = principal("shop", "allow = [\"next:*\"]\nnumbers_per_day = 20");
    auth.reload(&config(&[&both]));
    assert_eq!(connection.ready(&headers, "order", || Some(())), None);
    let error = connection.caller(NEXT, &headers).map(drop).unwrap_err();
    assert_eq!(error.reason(), Reason::Unauthenticated, "its token is gone");
    assert_eq!(admitted(&caller(&connection, &second), 1, 20), 10, "ten of the twenty are used");
}

#[tokio::test(start_paused = true)]
async fn a_principal_that_expires_is_refused_within_a_second_on_connections_that_know_it() {
    let (token, part) = principal("shop", "allow = [\"next:*\"]\nexpires = \"2026-01-01T00:01:00Z\"");
    let (auth, _) = auth(&[&part]);
    let watch = tokio::spawn(auth.clone().watch_expiry());
    let (connection, headers) = (auth.connection(HERE, None), bearer(&token));
    caller(&connection, &token);
    advance(Duration::from_secs(59)).await;
    assert!(connection.ready(&headers, "order", || Some(())).is_some());
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(connection.ready(&headers, "order", || Some(())).is_none());
    let error = connection.caller(NEXT, &headers).map(drop).unwrap_err();
    assert_eq!(error.text(), "the principal of this token or certificate has expired");
    watch.abort();
}

#[tokio::test(start_paused = true)]
async fn deny_wins_and_a_name_that_was_allowed_allows_no_other() {
    let (token, part) = principal("shop", "allow = [\"next:order*\"]\ndeny = [\"next:order-secret*\"]");
    let (auth, _) = auth(&[&part]);
    let (connection, headers) = (auth.connection(HERE, None), bearer(&token));
    let caller = caller(&connection, &token);
    drop(caller.admit_numbers("order", 1));
    let ready = |name: &str| connection.ready(&headers, name, || Some(())).is_some();
    assert!(ready("order") && ready("order-2"));
    assert!(!ready("order-secret-1") && !ready("invoice"));
    for name in ["order-secret-1", "invoice", ""] {
        let error = caller.authorize(name).unwrap_err();
        assert_eq!(error.reason(), Reason::PermissionDenied, "{name}");
    }
    assert_eq!(caller.authorize("invoice").unwrap_err().text(), "shop lacks the verb next for invoice");
    let other = bearer(&Token::generate(&OsEntropy));
    assert!(connection.ready(&other, "order", || Some(())).is_none());
    assert!(connection.ready(&HeaderMap::new(), "order", || Some(())).is_none());
}

#[tokio::test(start_paused = true)]
async fn requests_in_work_are_bounded_and_end_with_their_guard() {
    let (token, part) = principal("shop", "allow = [\"next:*\"]\nin_flight_max = 2\nnew_keys_per_min = 3");
    let (auth, _) = auth(&[&part]);
    let caller = caller(&auth.connection(HERE, None), &token);
    let (first, second) = (caller.admit_numbers("order", 1), caller.admit_numbers("order", 1));
    assert!(first.is_ok() && second.is_ok());
    assert_eq!(admitted(&caller, 1, 3), 0);
    drop(first);
    assert_eq!(admitted(&caller, 1, 1), 1);
    let keys = |tries| (0..tries).filter(|_| caller.take_key(|| true).is_ok()).count();
    assert!(caller.take_key(|| false).is_ok());
    assert_eq!(keys(5), 3);
    advance(Duration::from_secs(20)).await;
    assert_eq!(keys(5), 1);
    let report = auth.report();
    assert_eq!(
        (&report[0]["name"], &report[0]["quotas"][1]["quota"]),
        (&"shop".into(), &"in_flight_max".into())
    );
    assert!(!report.to_string().contains(&token.hash().to_hex()[..8]));
}

#[tokio::test(start_paused = true)]
async fn a_certificate_counts_where_no_token_is_sent() {
    let (token, shop) = principal("shop", "allow = [\"next:*\"]");
    let web =
        "[[principal]]\nname = \"web\"\ncert_names = [\"spiffe://prod/ns/web/*\"]\nallow = [\"next:*\"]\n";
    let (auth, _) = auth(&[&shop, web]);
    let names =
        |name: &str| Some(Arc::new(PeerCertificate { names: vec![name.to_owned()], spki_sha256: [0; 32] }));
    let connection = auth.connection(HERE, names("spiffe://prod/ns/web/a"));
    let whose = |headers: &HeaderMap| connection.caller(NEXT, headers).map(|caller| caller.name().to_owned());
    assert_eq!(whose(&HeaderMap::new()).unwrap(), "web");
    assert!(connection.ready(&HeaderMap::new(), "order", || Some(())).is_some());
    assert_eq!(whose(&bearer(&token)).unwrap(), "shop");
    let wrong = bearer(&Token::generate(&OsEntropy));
    assert!(whose(&wrong).is_err(), "a wrong token is refused whatever the certificate is");
    let other = auth.connection(HERE, names("spiffe://test/ns/web/a"));
    let error = other.caller(NEXT, &HeaderMap::new()).map(drop).unwrap_err();
    assert_eq!(error.text(), "no principal has this token or certificate");
}
