//! PostgreSQL: its defaults of durability and small buffers.

use std::{collections::BTreeMap, fs, net::SocketAddr, path::Path, process::Command};

use super::{
    engine::{Engine, Place, Signal, says},
    program::Program,
    server::Server,
    sql::Sql,
    tool, tree,
};

/// A PostgreSQL server.
pub type Postgres = Server<PostgreSql>;

/// PostgreSQL's programs.
#[derive(Debug)]
pub struct PostgreSql;

const FOLDERS: &[&str] = &["/usr/lib/postgresql/*/bin"];
const INITDB: Program = Program { name: "initdb", package: "postgresql", folders: FOLDERS };
const CLIENT: Program = Program { name: "psql", package: "postgresql-client", folders: FOLDERS };
const BACKUP: Program = Program { name: "pg_basebackup", package: "postgresql-client", folders: FOLDERS };
/// A third of a fresh database is a spare template that nobody here needs, and every server is a copy of it all.
const FEWER_FILES: &str =
    "UPDATE pg_database SET datistemplate = false WHERE datname = 'template0'\nDROP DATABASE template0\n";
/// A first message: four bytes of length, protocol 3.0, user and database, each ended by a zero byte.
const STARTUP: &[u8] = b"\0\0\0\x29\0\x03\0\0user\0postgres\0database\0postgres\0\0";

impl Engine for PostgreSql {
    const NAME: &'static str = "postgres";
    const PROGRAM: Program = Program { name: "postgres", package: "postgresql", folders: FOLDERS };
    const ACCOUNT: &'static str = "postgres";
    /// Which it calls a fast shutdown: TERM would wait for the clients to go.
    const STOP: Signal = Signal::INT;
    const HAS_TEMPLATE: bool = true;

    async fn create(place: &Place<'_>) {
        let password = place.home.keep_file("password", Self::ADMIN.1.as_bytes()).await;
        let mut initdb = place.command(&INITDB.path());
        // Nobody needs what is half made: it need not reach the disk.
        initdb.args(["--no-sync", "--locale=C", "--encoding=UTF8", "--wal-segsize=4", "--no-instructions"]);
        initdb.args(["--auth-local=trust", "--auth-host=scram-sha-256", "--username", Self::ADMIN.0]);
        initdb.arg("--pwfile").arg(password).arg("--pgdata").arg(place.data());
        let mut single = place.command(&Self::PROGRAM.path());
        single.arg("--single").arg("-F").arg("-D").arg(place.data()).arg(Self::DATABASE);
        for (command, input) in [(initdb, ""), (single, FEWER_FILES)] {
            if let Err(why) = tool::run(command, input).await {
                panic!("{why}");
            }
        }
    }

    fn command(place: &Place<'_>) -> Command {
        let mut server = place.command(&Self::PROGRAM.path());
        server.arg("-D").arg(place.data()).arg("-p").arg(place.port.to_string());
        server.args(["-c", "listen_addresses=127.0.0.1", "-c"]);
        server.arg(format!("unix_socket_directories={}", place.folder().display()));
        // In its own folder, not where a kill would leave it to the machine.
        server.args(["-c", "dynamic_shared_memory_type=mmap", "-c", "shared_buffers=16MB"]);
        server.args(["-c", "max_wal_size=64MB", "-c", "min_wal_size=32MB"]);
        // After a kill it syncs each of its thousand files, most of which no test has touched.
        server.args(["-c", "recovery_init_sync_method=syncfs"]);
        for (name, value) in place.settings {
            server.arg("-c").arg(format!("{name}={value}"));
        }
        server
    }

    /// While it starts or recovers it refuses with an error (`E`); afterwards it asks who is there (`R`).
    async fn answers(port: u16) -> bool {
        says(port, STARTUP, &[b"R"]).await
    }

    /// A segment of shared memory, of which a machine has few, outlives a kill. The seventh line of the file that says
    /// which process has the data says which segment.
    fn sweep(data: &Path) {
        let file = fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
        let Some(segment) = file.lines().nth(6).and_then(|line| line.split_whitespace().nth(1)) else {
            return;
        };
        drop(Command::new("ipcrm").args(["-m", segment]).output());
    }
}

impl Sql for PostgreSql {
    const SCHEME: &'static str = "postgres";
    const DATABASE: &'static str = "postgres";
    /// Over TCP the password is asked for, so that a refused login can be tested; over the socket nobody is.
    const ADMIN: (&'static str, &'static str) = ("postgres", "admin-of-a-test");

    fn client(folder: &Path, port: u16) -> Command {
        let mut client = Command::new(CLIENT.path());
        client.args(["--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--field-separator=\t"]);
        client.args(["--set=ON_ERROR_STOP=1", "--username", Self::ADMIN.0, "--dbname", Self::DATABASE]);
        client.arg("--host").arg(folder).arg("--port").arg(port.to_string());
        client
    }
}

impl Server<PostgreSql> {
    /// A standby of the server that is found at `primary`, from which it streams from now on, and which does not wait for it;
    /// the address may be a wire's that is cut later.
    ///
    /// # Panics
    ///
    /// If no copy of its data can be made; with what was said of it.
    pub async fn standby(primary: SocketAddr) -> Self {
        let standby = Self::without_data(&[]).await;
        let settings = BTreeMap::new();
        let place = standby.place(&settings);
        let mut backup = place.command(&BACKUP.path());
        backup.env("PGPASSWORD", PostgreSql::ADMIN.1).arg("--pgdata").arg(place.data());
        backup.args(["--write-recovery-conf", "--checkpoint=fast", "--wal-method=stream", "--no-sync"]);
        backup.args(["--username", PostgreSql::ADMIN.0, "--host", "127.0.0.1", "--port"]);
        backup.arg(primary.port().to_string());
        if let Err(why) = tool::run(backup, "").await {
            panic!("{why}");
        }
        standby.restart().await;
        standby
    }

    /// Makes a standby a primary, whatever the one that it had thinks of it; it takes writes when this returns.
    ///
    /// # Panics
    ///
    /// If that takes a minute.
    pub async fn promote(&self) {
        let done = self.sql("SELECT pg_promote(true, 60)").await;
        assert_eq!(done, "t\n", "it is no primary after a minute");
    }

    /// Kills the process behind one connection (`pg_backend_pid()`): the server ends all others and recovers, with
    /// the start time that it had.
    pub fn kill_backend(&self, pid: i32) {
        tree::signal(pid, Signal::KILL);
    }
}
