//! A proxy that shares out connections: it is refused where it shows itself, and nothing that it answers is used.

use std::{process::Command, sync::Arc};

use sequent_backend::postgres::PostgresStore;
use sequent_core::{ErrorKind, Store};
use sequent_testkit::{
    Oracle,
    servers::{Engine, Place, Program, Server, Signal},
};
use tokio::{net::TcpStream, task::JoinSet};

use crate::support::{Counting, MAKER, PASSWORD, Site, failed, options};

/// `PgBouncer`, dealing out two connections by the transaction.
struct PgBouncer;

impl Engine for PgBouncer {
    const NAME: &'static str = "pgbouncer";
    const PROGRAM: Program = Program { name: "pgbouncer", package: "pgbouncer", folders: &["/usr/sbin"] };
    const ACCOUNT: &'static str = "postgres";
    const STOP: Signal = Signal::INT;
    const HAS_TEMPLATE: bool = false;

    async fn create(_: &Place<'_>) {}

    fn command(place: &Place<'_>) -> Command {
        let (port, settings) = (place.port, place.settings);
        let file = place.folder().join("pgbouncer.ini");
        let text = format!(
            "[databases]\npostgres = host=127.0.0.1 port={} user={MAKER} password={PASSWORD}\n\
             [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n\
             pool_mode = transaction\ndefault_pool_size = 2\nignore_startup_parameters = {}\n",
            settings["server"], settings["ignored"],
        );
        std::fs::write(&file, text).unwrap();
        let mut command = place.command(&Self::PROGRAM.path());
        command.arg(file);
        command
    }

    async fn answers(port: u16) -> bool {
        TcpStream::connect(("127.0.0.1", port)).await.is_ok()
    }
}

async fn proxy(site: &Site, ignored: &str) -> (Server<PgBouncer>, PostgresStore) {
    let port = site.server.port().to_string();
    let proxy = Server::start_with(&[("server", port.as_str()), ("ignored", ignored)]).await;
    let url = format!("postgres://{MAKER}:{PASSWORD}@{}/postgres", proxy.address()).parse().unwrap();
    (proxy, PostgresStore::new(options(url)))
}

#[tokio::test]
async fn one_that_knows_no_options_is_refused() {
    let site = Site::new().await;
    let (_proxy, store) = proxy(&site, "extra_float_digits").await;
    failed(store.inspect().await, ErrorKind::Refused, &["proxy", "connect to the server itself"]);
}

#[tokio::test]
async fn one_that_drops_the_sessions_settings_is_refused() {
    let site = Site::new().await;
    let (_proxy, store) = proxy(&site, "extra_float_digits, options").await;
    failed(store.inspect().await, ErrorKind::Refused, &["lock_timeout", "proxy"]);
}

/// Every setting is as a session would set it: nothing is left but the server's process.
#[tokio::test]
async fn one_that_looks_like_the_server_is_noticed_when_it_shares() {
    let site = Site::new().await;
    let settings = [
        ("lock_timeout", "700ms"),
        ("statement_timeout", "10s"),
        ("idle_in_transaction_session_timeout", "2s"),
    ];
    for (name, value) in settings {
        site.server.sql(&format!("ALTER ROLE {MAKER} SET {name} = '{value}'")).await;
    }
    let own = Counting::begin(site.store(), 0).await;
    let (_proxy, store) = proxy(&site, "extra_float_digits, options").await;
    let (oracle, mut tasks) = (Arc::new(Oracle::new()), JoinSet::new());
    let shared = Arc::new(Counting { store, ..own });
    for _ in 0..8 {
        let (counting, oracle) = (Arc::clone(&shared), Arc::clone(&oracle));
        tasks.spawn(async move {
            for _ in 0..50 {
                match counting.take(2).await {
                    Ok(block) => oracle.add_block(block, "a take").unwrap(),
                    Err(error) => return Some(error),
                }
            }
            None
        });
    }
    let mut refused = 0;
    while let Some(ended) = tasks.join_next().await {
        let Some(error) = ended.unwrap() else { continue };
        assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
        refused += 1;
    }
    assert!(refused > 0, "nobody noticed that connections were shared");
}
