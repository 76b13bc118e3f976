//! Who may: the role of the documentation, logins that end, and what is refused, by whom, and why.

use sequent_backend::{etcd::EtcdLedger, net::ServerOptions};
use sequent_core::{DurabilityClass, ErrorKind, Why, ledger::Identity};
use sequent_testkit::servers::Etcd;

use crate::support::{Caller, every_call, failed, ledger, options};

/// What no error may show.
pub(crate) const PASSWORD: &str = "geheim-of-a-test";

/// The documentation's role and user, with a password, and nobody without.
async fn guarded() -> Etcd {
    let server = Etcd::start().await;
    let page = include_str!("../../src/etcd/mod.rs");
    let commands: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("//! etcdctl ")).collect();
    assert_eq!(commands.len(), 4, "the documentation lists what a role needs");
    let asked = format!("sequent:{PASSWORD}");
    for command in commands {
        let mut words: Vec<&str> = command.split(' ').collect();
        if words[..2] == ["user", "add"] {
            words[2] = &asked;
        }
        server.ctl(&words).await;
    }
    server.ctl(&["user", "add", &format!("root:{PASSWORD}")]).await;
    server.ctl(&["user", "grant-role", "root", "root"]).await;
    server.ctl(&["auth", "enable"]).await;
    server
}

fn url_as(server: &Etcd, user: &str, path: &str) -> String {
    server.url().replace("http://", &format!("http://{user}:{PASSWORD}@")) + path
}

#[tokio::test]
async fn the_documented_role_is_all_that_a_ledger_needs() {
    let server = guarded().await;
    every_call(EtcdLedger::new(options(&url_as(&server, "sequent", "")))).await;
    let other = EtcdLedger::new(options(&url_as(&server, "sequent", "/other")));
    failed(other.inspect().await, ErrorKind::Refused, &["permission denied", "role"]);
    failed(ledger(&server).inspect().await, ErrorKind::Refused, &["name a user in the url"]);
    let stranger = options(&url_as(&server, "sequent", "").replace(PASSWORD, "wrong"));
    let error = EtcdLedger::new(stranger).inspect().await.unwrap_err();
    assert_eq!(error.why(), Some(Why::LoginRefused));
    failed::<()>(Err(error), ErrorKind::Refused, &["the right password?"]);
    let needless = Etcd::start().await;
    every_call(EtcdLedger::new(options(&url_as(&needless, "sequent", "")))).await;
}

#[tokio::test]
async fn a_login_that_has_ended_is_replaced_and_a_new_password_is_read_from_its_file() {
    let server = guarded().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("password");
    std::fs::write(&file, format!("{PASSWORD}\n")).unwrap();
    let url = server.url().replace("http://", "http://sequent@");
    let with_file = ServerOptions { password_file: Some(file.clone()), ..options(&url) };
    let mut caller = Caller::of(EtcdLedger::new(with_file)).await;
    caller.open(1).await.unwrap();
    // Whoever is told a password anew has no login any more.
    let root = format!("root:{PASSWORD}");
    server.ctl(&["--user", &root, "user", "revoke-role", "sequent", "sequent"]).await;
    server.ctl(&["--user", &root, "user", "grant-role", "sequent", "sequent"]).await;
    assert_eq!(caller.raise(1, 500).await.unwrap(), 500);
    std::fs::write(&file, "another-word\n").unwrap();
    let body = r#"{"name": "sequent", "password": "another-word"}"#;
    let token = server
        .ask("/v3/auth/authenticate", &format!(r#"{{"name": "root", "password": "{PASSWORD}"}}"#))
        .await;
    let token: serde_json::Value = serde_json::from_str(&token).unwrap();
    server.ask_as(token["token"].as_str().unwrap(), "/v3/auth/user/changepw", body).await;
    assert_eq!(caller.raise(1, 600).await.unwrap(), 600);
}

#[tokio::test]
async fn without_space_nothing_is_written_and_with_space_it_goes_on() {
    let server = Etcd::start_with(&[("quota-backend-bytes", "500000")]).await;
    let mut caller = Caller::of(ledger(&server)).await;
    caller.open(1).await.unwrap();
    let much = "x".repeat(100_000);
    let mut tries = 0;
    while server.try_ctl(&["put", "foreign", &much]).await.is_ok() {
        tries += 1;
        assert!(tries < 100, "the quota is reached");
    }
    failed(
        caller.raise(1, 900).await,
        ErrorKind::Unavailable,
        &["space exceeded", "--auto-compaction-retention"],
    );
    assert_eq!(ledger(&server).inspect().await.unwrap().durability.class, DurabilityClass::Durable);
    let status = server.ask("/v3/maintenance/status", "{}").await;
    let status: serde_json::Value = serde_json::from_str(&status).unwrap();
    let revision = status["header"]["revision"].as_str().unwrap();
    server.ctl(&["compact", revision]).await;
    server.ctl(&["defrag"]).await;
    server.ctl(&["alarm", "disarm"]).await;
    assert_eq!(caller.raise_when_back(1, 900).await, 900);
}

#[tokio::test]
async fn what_is_no_etcd_says_so() {
    let redis = sequent_testkit::servers::Redis::start().await;
    let elsewhere = EtcdLedger::new(options(&format!("http://{}", redis.address())));
    failed(elsewhere.inspect().await, ErrorKind::Unavailable, &[]);
    let server = Etcd::start_with(&[("enable-grpc-gateway", "false")]).await;
    failed(ledger(&server).inspect().await, ErrorKind::Refused, &["--enable-grpc-gateway"]);
    let absent = ServerOptions { create: false, ..options(&Etcd::start().await.url()) };
    let error = EtcdLedger::new(absent).inspect().await.unwrap_err();
    assert_eq!((error.kind(), error.why()), (ErrorKind::Unavailable, Some(Why::ConnectionRefused)));
}
