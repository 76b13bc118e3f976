//! MariaDB and PostgreSQL: what outlives a kill, what a copy takes back, what a suspended server answers.

use std::{path::Path, time::Duration};

use sequent_testkit::{
    proxy::{Mode, Proxy},
    servers::{Maria, MariaDb, PostgreSql, Postgres, Server, Sql},
};
use tokio::{io::AsyncReadExt, net::TcpStream, time::timeout};

/// How often is asked at most; each time starts a client, so this is a minute and more.
const ASKS_MAX: usize = 1_000;

async fn rows<E: Sql>(server: &Server<E>) -> String {
    server.sql("SELECT MAX(id), COUNT(*) FROM t").await
}

/// What comes of asking again and again.
async fn first<T, F: Future<Output = Option<T>>>(ask: impl Fn() -> F) -> T {
    for _ in 0..ASKS_MAX {
        if let Some(found) = ask().await {
            return found;
        }
    }
    panic!("asked {ASKS_MAX} times in vain");
}

/// How many processes work in a folder.
fn processes_in(folder: &Path) -> usize {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    all.filter(|entry| std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder)))
        .count()
}

/// What is committed outlives a kill; a copy that was put back knows nothing of what came after it.
async fn a_kill_keeps_and_a_copy_goes_back<E: Sql>() {
    let server = Server::<E>::start().await;
    let (port, pid) = (server.port(), server.pid().await);
    server.sql("CREATE TABLE t (id BIGINT PRIMARY KEY); INSERT INTO t VALUES (1), (2)").await;
    let copy = server.copy().await;
    server.sql("INSERT INTO t VALUES (3)").await;
    assert_ne!(processes_in(&server.folder()), 0);

    server.kill().await;
    assert!(!server.runs().await);
    assert_eq!(processes_in(&server.folder()), 0, "a process of a killed server is still there");
    assert!(server.try_sql("SELECT 1").await.is_err(), "somebody answers for a server that was killed");
    server.restart().await;
    assert_eq!(rows(&server).await, "3\t3\n");

    server.restore_from(&copy).await;
    assert_eq!(rows(&server).await, "2\t2\n");
    assert_eq!(server.port(), port);
    assert_ne!(server.pid().await, pid);
}

/// A suspended server takes connections, as the kernel does for it, and says nothing until it goes on.
async fn a_suspended_server_hangs_and_goes_on<E: Sql>() {
    let server = Server::<E>::start().await;
    server.suspend().await;
    {
        let late = server.sql("SELECT 1");
        tokio::pin!(late);
        assert!(timeout(Duration::from_millis(200), &mut late).await.is_err(), "a suspended server answered");
        server.resume().await;
        assert_eq!(late.await, "1\n");
    }
    server.suspend().await;
    // Killed where it stands: neither this nor a drop waits for somebody to let it go on.
    server.kill().await;
    assert!(TcpStream::connect(server.address()).await.is_err());
}

#[tokio::test]
async fn mariadb_keeps_through_a_kill_and_goes_back_with_a_copy() {
    a_kill_keeps_and_a_copy_goes_back::<Maria>().await;
}

#[tokio::test]
async fn postgres_keeps_through_a_kill_and_goes_back_with_a_copy() {
    a_kill_keeps_and_a_copy_goes_back::<PostgreSql>().await;
}

#[tokio::test]
async fn mariadb_suspended_hangs_and_goes_on() {
    a_suspended_server_hangs_and_goes_on::<Maria>().await;
}

#[tokio::test]
async fn postgres_suspended_hangs_and_goes_on() {
    a_suspended_server_hangs_and_goes_on::<PostgreSql>().await;
}

const ASK: &str =
    "SELECT @@innodb_autoinc_lock_mode, @@auto_increment_increment, @@innodb_flush_log_at_trx_commit";

#[tokio::test]
async fn settings_hold_for_later_starts_too_and_two_servers_are_two() {
    let wanted = [("innodb_autoinc_lock_mode", "2"), ("auto_increment_increment", "2")];
    let (one, other) = tokio::join!(MariaDb::start_with(&wanted), MariaDb::start());
    assert_eq!(one.sql(ASK).await, "2\t2\t1\n");
    assert_eq!(other.sql(ASK).await, "1\t1\t1\n");
    one.set("auto_increment_increment", "1").await;
    one.restart().await;
    assert_eq!(one.sql(ASK).await, "2\t1\t1\n");
    assert_ne!(one.port(), other.port());
}

#[tokio::test]
async fn users_may_what_they_were_granted() {
    let server = Postgres::start_with(&[("synchronous_commit", "off")]).await;
    assert_eq!(server.sql("SHOW synchronous_commit; SHOW fsync").await, "off\non\n");
    server.sql("CREATE ROLE someone LOGIN PASSWORD 'secret'; CREATE TABLE t (id BIGINT)").await;
    let refused = server.try_sql("SET ROLE someone; SELECT * FROM t").await.unwrap_err();
    assert!(refused.contains("permission denied for table t"), "{refused}");
    server.sql("GRANT SELECT ON t TO someone; SET ROLE someone; SELECT * FROM t").await;
    assert_eq!(
        server.url_as("someone", "secret"),
        format!("postgres://someone:secret@127.0.0.1:{}/postgres", server.port())
    );
}

#[tokio::test]
async fn one_connection_of_postgres_dies_and_the_server_recovers() {
    let server = Postgres::start().await;
    let started = server.sql("SELECT pg_postmaster_start_time()").await;
    let pid = server
        .sql("CREATE UNLOGGED TABLE u (id INT); INSERT INTO u VALUES (1); SELECT pg_backend_pid()")
        .await;
    let held = tokio::join!(server.try_sql("SELECT pg_sleep(60)"), async {
        let find = "SELECT pid FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'";
        server.kill_backend(first(|| async { server.sql(find).await.trim().parse().ok() }).await);
    });
    assert!(held.0.is_err(), "{held:?} of {pid}");
    // It recovers, and refuses meanwhile.
    let rows = first(|| async { server.try_sql("SELECT COUNT(*) FROM u").await.ok() }).await;
    assert_eq!(rows, "0\n", "what is not logged is emptied by a recovery");
    assert_eq!(server.sql("SELECT pg_postmaster_start_time()").await, started);
}

#[tokio::test]
async fn a_file_for_the_server_can_be_read_by_it() {
    let server = Postgres::start().await;
    let file = server.keep_file("note", b"for the server").await;
    assert_eq!(server.sql(&format!("SELECT pg_read_file('{}')", file.display())).await, "for the server\n");
}

#[tokio::test]
#[should_panic(expected = "unknown variable 'no_such_setting=1'")]
async fn a_server_that_does_not_start_shows_its_log() {
    drop(MariaDb::start_with(&[("no_such_setting", "1")]).await);
}

#[tokio::test]
async fn the_port_says_what_the_server_says() {
    let server = MariaDb::start().await;
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    assert!(stream.read_u8().await.is_ok());
}

#[tokio::test]
async fn a_promoted_standby_goes_on_without_what_it_was_not_told() {
    let primary = Postgres::start().await;
    let wire = Proxy::to(primary.address()).await;
    let standby = Postgres::standby(wire.address()).await;
    primary.sql("CREATE TABLE t (id BIGINT PRIMARY KEY); INSERT INTO t VALUES (1)").await;
    first(async || standby.try_sql("SELECT id FROM t").await.ok().filter(|rows| rows == "1\n")).await;
    wire.set(Mode::Refuse).await;
    primary.sql("INSERT INTO t VALUES (2)").await;
    standby.promote().await;
    standby.sql("INSERT INTO t VALUES (3)").await;
    assert_eq!(standby.sql("SELECT id FROM t ORDER BY id").await, "1\n3\n");
}

#[tokio::test]
async fn mariadbs_follow_one_another_and_stop_at_what_contradicts() {
    let [one, two] = [1, 2].map(|number| MariaDb::start_in_group(number, &[]));
    let (one, two) = tokio::join!(one, two);
    one.sql("CREATE TABLE t (id BIGINT PRIMARY KEY); INSERT INTO t VALUES (1)").await;
    two.follow(one.address()).await;
    one.follow(two.address()).await;
    two.has_applied(&one).await;
    two.sql("INSERT INTO t VALUES (2)").await;
    one.has_applied(&two).await;
    assert_eq!(one.sql("SELECT id FROM t ORDER BY id").await, "1\n2\n");
    two.sql("STOP SLAVE; INSERT INTO t VALUES (3)").await;
    one.has_applied(&two).await;
    one.sql("SET sql_log_bin = 0; DELETE FROM t WHERE id = 3; SET sql_log_bin = 1; INSERT INTO t VALUES (3)")
        .await;
    two.sql("START SLAVE").await;
    first(async || two.replication().await.contains("Duplicate entry").then_some(())).await;
}
