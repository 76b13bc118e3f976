//! PostgreSQL: its defaults of durability and small buffers.

use std::{fs, path::Path, process::Command};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{
    engine::{Engine, Place, Signal},
    program::Program,
    server::Server,
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
const ADMIN: &str = "postgres";
/// Over TCP passwords are asked for, so that a refused login can be tested; over the socket nobody is.
const PASSWORD: &str = "admin-of-a-test";
const DATABASE: &str = "postgres";
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
        let password = place.home.keep_file("password", PASSWORD.as_bytes()).await;
        let mut initdb = place.command(&INITDB.path());
        // Nobody needs what is half made: it need not reach the disk.
        initdb.args(["--no-sync", "--locale=C", "--encoding=UTF8", "--wal-segsize=4", "--no-instructions"]);
        initdb.args(["--auth-local=trust", "--auth-host=scram-sha-256", "--username", ADMIN]);
        initdb.arg("--pwfile").arg(password).arg("--pgdata").arg(place.data());
        if let Err(why) = tool::run(initdb, "").await {
            panic!("{why}");
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
        for (name, value) in place.settings {
            server.arg("-c").arg(format!("{name}={value}"));
        }
        server
    }

    /// While it starts or recovers it refuses with an error (`E`); afterwards it asks who is there (`R`).
    async fn answers(port: u16) -> bool {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)).await else { return false };
        stream.write_all(STARTUP).await.is_ok() && stream.read_u8().await.is_ok_and(|kind| kind == b'R')
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

impl Server<PostgreSql> {
    /// As its administrator, in a database that is there.
    pub fn url(&self) -> String {
        self.url_as(ADMIN, PASSWORD)
    }

    /// As somebody whom a test has created.
    pub fn url_as(&self, user: &str, password: &str) -> String {
        format!("postgres://{user}:{password}@{}/{DATABASE}", self.address())
    }

    /// Runs statements as administrator, each committed by itself: rows in lines, columns with tabs between them.
    ///
    /// # Panics
    ///
    /// If one fails.
    pub async fn sql(&self, statements: &str) -> String {
        self.try_sql(statements).await.unwrap_or_else(|why| panic!("{why}\nof: {statements}"))
    }

    /// The same, where a failure is of interest.
    pub async fn try_sql(&self, statements: &str) -> Result<String, String> {
        let mut client = Command::new(CLIENT.path());
        client.args(["--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--field-separator=\t"]);
        client.args(["--set=ON_ERROR_STOP=1", "--username", ADMIN, "--dbname", DATABASE]);
        client.arg("--host").arg(self.folder()).arg("--port").arg(self.port().to_string());
        tool::run(client, statements).await
    }

    /// Kills the process behind one connection (`pg_backend_pid()`): the server ends all others and recovers, with
    /// the start time that it had.
    pub fn kill_backend(&self, pid: i32) {
        tree::signal(pid, Signal::KILL);
    }
}
