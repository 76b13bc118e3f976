//! MariaDB: InnoDB with its defaults of durability and small buffers.

use std::{net::SocketAddr, path::Path, process::Command};

use tokio::{io::AsyncReadExt, net::TcpStream};

use super::{
    engine::{Engine, Place, Signal},
    program::Program,
    server::Server,
    sql::Sql,
    tool,
};

/// A MariaDB server.
pub type MariaDb = Server<Maria>;

/// MariaDB's programs.
#[derive(Debug)]
pub struct Maria;

const PACKAGE: &str = "mariadb-server";
const INSTALL: Program = Program { name: "mariadb-install-db", package: PACKAGE, folders: &[] };
const CLIENT: Program = Program { name: "mariadb", package: "mariadb-client", folders: &[] };
const SOCKET: &str = "mariadb.sock";
/// The same for the template and for each start: another size is another redo log, written anew.
const LOG_SIZE: &str = "--innodb-log-file-size=8M";
/// Many servers at once would use up what the kernel offers for asynchronous reads and writes.
const NO_KERNEL_AIO: &str = "--innodb-use-native-aio=0";

impl Engine for Maria {
    const NAME: &'static str = "mariadb";
    const PROGRAM: Program = Program { name: "mariadbd", package: PACKAGE, folders: &["/usr/sbin"] };
    const ACCOUNT: &'static str = "mysql";
    const STOP: Signal = Signal::TERM;
    const HAS_TEMPLATE: bool = true;

    async fn create(place: &Place<'_>) {
        let mut install = place.command(&INSTALL.path());
        install.args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"]);
        // Nobody needs what is half made: it need not reach the disk.
        install.args([LOG_SIZE, NO_KERNEL_AIO, "--innodb-flush-method=nosync"]);
        install.arg(path("datadir", &place.data()));
        let sql = format!("CREATE DATABASE {};\n", Self::DATABASE);
        let sql = place.home.keep_file("first.sql", sql.as_bytes()).await;
        install.arg(path("extra-file", &sql));
        if let Err(why) = tool::run(install, "").await {
            panic!("{why}");
        }
    }

    fn command(place: &Place<'_>) -> Command {
        let mut server = place.command(&Self::PROGRAM.path());
        server.arg("--no-defaults").arg(path("datadir", &place.data()));
        server.arg(path("socket", &place.folder().join(SOCKET)));
        server.arg(path("pid-file", &place.folder().join("pid")));
        // A server that starts removes the temporary files of others in a folder that they share.
        server.arg(path("tmpdir", place.folder()));
        server.args(["--bind-address=127.0.0.1", "--skip-name-resolve", &format!("--port={}", place.port)]);
        server.args([
            LOG_SIZE,
            NO_KERNEL_AIO,
            "--innodb-buffer-pool-size=16M",
            "--innodb-log-buffer-size=2M",
        ]);
        server.args(["--innodb-buffer-pool-dump-at-shutdown=0", "--innodb-buffer-pool-load-at-startup=0"]);
        server.args(["--aria-pagecache-buffer-size=1M", "--key-buffer-size=64K", "--max-connections=300"]);
        server.args(place.settings.iter().map(|(name, value)| format!("--{name}={value}")));
        server
    }

    /// It greets when it takes logins: the first packet holds its protocol, 10, behind four bytes of head.
    async fn answers(port: u16) -> bool {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)).await else { return false };
        let mut greeting = [0; 5];
        stream.read_exact(&mut greeting).await.is_ok() && greeting[4] == 10
    }
}

impl Sql for Maria {
    const SCHEME: &'static str = "mysql";
    const DATABASE: &'static str = "sequent";
    /// Who has no password.
    const ADMIN: (&'static str, &'static str) = ("root", "");

    fn client(folder: &Path, _port: u16) -> Command {
        let mut client = Command::new(CLIENT.path());
        client.args(["--no-defaults", "--user", Self::ADMIN.0, "--batch", "--skip-column-names"]);
        client.arg(path("socket", &folder.join(SOCKET))).arg(Self::DATABASE);
        client
    }
}

impl Server<Maria> {
    /// One of several that replicate from one another, with a number of its own among them, and settings of the test's.
    pub async fn start_in_group(number: u32, settings: &[(&str, &str)]) -> Self {
        let number = number.to_string();
        let own = [("server-id", &*number), ("gtid-domain-id", &*number), ("log-bin", "binlog")];
        let kept = [("sync-binlog", "1"), ("log-slave-updates", "1")];
        Self::start_with(&[&own[..], &kept[..], settings].concat()).await
    }

    /// Begins to apply what the server at `source` commits, by global transaction identifiers, after it has committed it.
    pub async fn follow(&self, source: SocketAddr) {
        let (host, port, user) = (source.ip(), source.port(), Maria::ADMIN.0);
        self.sql(&format!(
            "CHANGE MASTER TO MASTER_HOST = '{host}', MASTER_PORT = {port}, MASTER_USER = '{user}', MASTER_PASSWORD = '', \
             MASTER_USE_GTID = slave_pos, MASTER_CONNECT_RETRY = 1; START SLAVE"
        ))
        .await;
    }

    /// Waits until it has applied what `source` has committed so far.
    ///
    /// # Panics
    ///
    /// If that takes a minute.
    pub async fn has_applied(&self, source: &Self) {
        let position = source.sql("SELECT @@global.gtid_binlog_pos").await;
        let waited = self.sql(&format!("SELECT MASTER_GTID_WAIT('{}', 60)", position.trim())).await;
        assert_eq!(waited, "0\n", "{} was not applied: {}", position.trim(), self.replication().await);
    }

    /// What it says of its replication: a line a field, without the fields' names.
    pub async fn replication(&self) -> String {
        self.sql("SHOW SLAVE STATUS\\G").await
    }
}

fn path(name: &str, value: &Path) -> String {
    format!("--{name}={}", value.display())
}
