//! Databases with users who have what the book grants them, and no more; and the configuration of servers over them.

use std::{
    fmt::Write as _,
    net::SocketAddr,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use sequent_engine::{Engine, NextRequest, Options, config::Config};
use sequent_testkit::servers::{MariaDb, Postgres, Redis};
use tempfile::TempDir;

/// The head of the ledger's section, in which it is yet to be named: for how long numbers go on while it is away.
pub(crate) fn ledger_away(outage: Duration) -> String {
    format!("[ledger]\noutage_s = {}\n", outage.as_secs())
}

/// What no listing and no error may show.
pub(crate) const PASSWORD: &str = "geheim-of-a-test";

/// The pages of the book that have users and grants.
const PAGES: [&str; 3] = [
    include_str!("../../../docs/operating/stores/mysql.md"),
    include_str!("../../../docs/operating/stores/postgres.md"),
    include_str!("../../../docs/operating/stores/redis.md"),
];

/// Their lines.
fn lines() -> impl Iterator<Item = &'static str> {
    PAGES.into_iter().flat_map(str::lines)
}

/// The book's grants: each statement with the comment behind it.
fn grants() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = lines().filter(|line| line.starts_with("GRANT "));
    lines.map(|line| line.split_once("--").unwrap_or((line, "PostgreSQL")))
}

/// The grant for `kind`, of the database that the book calls `example`.
fn grant(kind: &str, example: &str, database: &str) -> String {
    let found = grants().find(|(_, kinds)| kinds.split([',', ' ']).any(|word| word == kind));
    let (statement, _) = found.unwrap_or_else(|| panic!("the book grants {kind} nothing"));
    assert!(statement.contains(example), "{statement}");
    statement.replace(example, database)
}

/// A database with its user, as the book has them.
pub(crate) async fn maria(server: &MariaDb, database: &str, kind: &str) {
    let example = if kind == "ledger" { "`ledger`" } else { "`shard0`" };
    let grant = grant(kind, example, &format!("`{database}`"));
    let user = format!("CREATE USER IF NOT EXISTS 'sequent'@'%' IDENTIFIED BY '{PASSWORD}'");
    server.sql(&format!("CREATE DATABASE `{database}`; {user}; {grant}")).await;
}

/// The database `seq` with its role, as the book has them. What everybody may do by default would hide a grant that
/// is missing.
pub(crate) async fn postgres(server: &Postgres) {
    server.sql("CREATE DATABASE seq; REVOKE ALL ON DATABASE seq FROM PUBLIC;").await;
    server.sql(&format!("CREATE ROLE seq LOGIN PASSWORD '{PASSWORD}';")).await;
    server.sql(&grant("PostgreSQL", "DATABASE seq TO seq", "DATABASE seq TO seq")).await;
}

/// The user of the book, for the keys of `cluster`, in a file that the server reads at each start.
pub(crate) async fn redis_users(server: &Redis, cluster: &str) {
    let found = lines().find_map(|line| line.strip_prefix("ACL SETUSER "));
    let statement = found.unwrap_or_else(|| panic!("the book lets nobody into Redis"));
    let user = statement.replace(">PASSWORD", &format!(">{PASSWORD}")).replace("shop-eu", cluster);
    let file = server.keep_file("users.acl", format!("user {user}\n").as_bytes()).await;
    server.set("aclfile", &file.display().to_string()).await;
    server.restart().await;
}

/// A file with the password and what an editor leaves behind it.
pub(crate) fn password_file(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, format!("{PASSWORD}\n")).unwrap();
    // Doctor names a password that others can read.
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    path
}

/// A configuration over MariaDB databases that grows by a place at a time, and the folder of their password's file.
pub(crate) struct Plan {
    pub(crate) text: String,
    folder: TempDir,
}

impl Plan {
    pub(crate) fn of(settings: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        password_file(folder.path(), "password");
        Self { text: settings.to_owned(), folder }
    }

    /// With a slot on this database, which is made.
    pub(crate) async fn shard(self, slot: usize, server: &MariaDb, database: &str) -> Self {
        maria(server, database, "mysql-row").await;
        self.shard_at(slot, server.address(), database)
    }

    /// With a slot on a database that there is, at an address that may be a wire's.
    pub(crate) fn shard_at(self, slot: usize, address: SocketAddr, database: &str) -> Self {
        self.with(&format!("[[shard]]\nslot = {slot}\nstore = \"mysql-row\""), address, database)
    }

    /// With a slot that counts by `AUTO_INCREMENT`, on this database, which is made. `settings` are further lines.
    pub(crate) async fn codes(self, slot: usize, server: &MariaDb, database: &str, settings: &str) -> Self {
        let kind = "mysql-auto-increment";
        maria(server, database, kind).await;
        let place = format!("[[shard]]\nslot = {slot}\nstore = \"{kind}\"\n{settings}");
        self.with(&place, server.address(), database)
    }

    /// With the ledger on this database, which is made. Ceilings are as little ahead as can be set.
    pub(crate) async fn ledger(self, server: &MariaDb, database: &str) -> Self {
        maria(server, database, "ledger").await;
        self.with("[ledger]\noutage_s = 1\nstore = \"mysql\"", server.address(), database)
    }

    fn with(mut self, place: &str, address: SocketAddr, database: &str) -> Self {
        let secret = self.folder.path().join("password");
        let url = format!("mysql://sequent@{address}/{database}");
        let secret = secret.display();
        writeln!(self.text, "{place}\nurl = \"{url}\"\npassword_file = \"{secret}\"").unwrap();
        self
    }
}

pub(crate) async fn open(config: &Config) -> Engine {
    Engine::open(config.clone(), Options::default()).await.unwrap()
}

/// Numbers of `order`; no request may fail.
pub(crate) async fn take(engine: &Engine, count: u64) -> Vec<u64> {
    let issued = engine.next(&NextRequest::new("order").unwrap().count(count)).await;
    issued.unwrap_or_else(|error| panic!("a request failed: {error} {error:?}")).numbers.numbers().collect()
}

#[test]
fn the_books_grants_are_those_of_the_modules_pages() {
    let pages = [
        include_str!("../../../crates/backend/src/mysql/mod.rs"),
        include_str!("../../../crates/backend/src/postgres/mod.rs"),
        include_str!("../../../crates/backend/src/redis/mod.rs"),
    ]
    .concat();
    assert_eq!(grants().count(), 4, "three of MySQL, one of PostgreSQL");
    for line in lines().filter(|line| line.starts_with("GRANT ") || line.starts_with("ACL SETUSER ")) {
        assert!(pages.contains(&format!("//! {line}\n")), "no page has it: {line}");
    }
}
