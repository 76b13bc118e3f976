//! etcd: one member by default, which fsyncs each commit, with short elections. More members are settings of the test.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use super::{
    account::Account,
    engine::{Engine, Place, Signal, says},
    program::Program,
    server::Server,
    tool,
};

const CLIENT: Program = Program { name: "etcdctl", package: "etcd-client", folders: &[] };

/// What a member is called where the test says nothing else.
const NAME: &str = "alone";
/// Where it would be asked by other members, of which there are none: it listens wherever there is room.
const PEER: &str = "http://127.0.0.1:1";
/// How long one answer may take.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// A member of etcd.
pub type Etcd = Server<EtcdServer>;

/// etcd's programs.
#[derive(Debug)]
pub struct EtcdServer;

impl Engine for EtcdServer {
    const NAME: &'static str = "etcd";
    const PROGRAM: Program = Program { name: "etcd", package: "etcd-server", folders: &[] };
    const ACCOUNT: &'static str = "etcd";
    const STOP: Signal = Signal::TERM;
    const HAS_TEMPLATE: bool = false;

    async fn create(_place: &Place<'_>) {}

    /// Its settings are its long options; the test's own go before these.
    fn command(place: &Place<'_>) -> Command {
        let own = format!("http://127.0.0.1:{}", place.port);
        let cluster = format!("{NAME}={PEER}");
        let mut settings: BTreeMap<&str, &str> = [
            ("name", NAME),
            ("listen-client-urls", &own),
            ("advertise-client-urls", &own),
            ("listen-peer-urls", "http://127.0.0.1:0"),
            ("initial-advertise-peer-urls", PEER),
            ("initial-cluster", &cluster),
            // A member that is alone waits for nobody: the shorter, the sooner it answers.
            ("heartbeat-interval", "20"),
            ("election-timeout", "200"),
        ]
        .into();
        settings.extend(place.settings.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let mut server = place.command(&Self::PROGRAM.path());
        server.arg("--data-dir").arg(place.data());
        server.args(settings.iter().map(|(name, value)| format!("--{name}={value}")));
        server
    }

    /// It is in health once it has a leader, and what is asked is read from a quorum.
    async fn answers(port: u16) -> bool {
        says(port, b"GET /health HTTP/1.0\r\n\r\n", &[b"HTTP/1.0 200"]).await
    }
}

impl Server<EtcdServer> {
    /// Where clients find it.
    pub fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// Asks its JSON gateway as administrator where it asks nobody who he is: the answer's body.
    ///
    /// # Panics
    ///
    /// If it does not answer, or with an error.
    pub async fn ask(&self, path: &str, json: &str) -> String {
        self.ask_as("", path, json).await
    }

    /// The same as whom a login has told this token.
    ///
    /// # Panics
    ///
    /// If it does not answer, or with an error.
    pub async fn ask_as(&self, token: &str, path: &str, json: &str) -> String {
        let answer = timeout(ANSWER_LIMIT, ask(self.port(), token, path, json)).await;
        let answer = answer.unwrap_or_else(|_| panic!("{path}: no answer within {ANSWER_LIMIT:?}"));
        let answer = answer.unwrap_or_else(|error| panic!("{path}: {error}"));
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        assert!(head.starts_with("HTTP/1.0 200"), "{path} {json}: {answer}");
        body.to_owned()
    }

    /// Runs its command-line client: what it printed.
    ///
    /// # Panics
    ///
    /// If it fails.
    pub async fn ctl(&self, words: &[&str]) -> String {
        self.try_ctl(words).await.unwrap_or_else(|why| panic!("{why}"))
    }

    /// The same, where a failure is of interest: what the client said.
    pub async fn try_ctl(&self, words: &[&str]) -> Result<String, String> {
        let mut client = client();
        client.arg("--endpoints").arg(self.url()).args(words);
        tool::run(client, "").await
    }

    /// A snapshot of what it holds, as an operator takes one while it runs: a file in its folder.
    pub async fn snapshot(&self, name: &str) -> PathBuf {
        let path = self.folder().join(name);
        self.ctl(&["snapshot", "save", &path.display().to_string()]).await;
        path
    }

    /// Kills it, makes a new data directory of a snapshot, and starts it again: as an operator who restores a backup.
    /// The new cluster has the old one's names.
    ///
    /// # Panics
    ///
    /// If the snapshot can't be made a data directory of.
    pub async fn restore_snapshot(&self, snapshot: &Path) {
        self.kill().await;
        let data = self.folder().join("data");
        tool::remove(&data).await;
        let mut client = client();
        client.args(["snapshot", "restore"]).arg(snapshot).arg("--data-dir").arg(&data);
        client.args(["--name", NAME, "--initial-advertise-peer-urls", PEER]);
        client.arg("--initial-cluster").arg(format!("{NAME}={PEER}"));
        if let Err(why) = tool::run(client, "").await {
            panic!("{why}");
        }
        if let Some(account) = Account::of(EtcdServer::ACCOUNT, EtcdServer::PROGRAM.package) {
            tool::give(&data, &account.owner()).await;
        }
        self.restart().await;
    }
}

fn client() -> Command {
    let mut client = Command::new(CLIENT.path());
    client.env("ETCDCTL_API", "3");
    client
}

/// In the older protocol, in which the end of the connection is the end of the answer.
async fn ask(port: u16, token: &str, path: &str, json: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    let login = if token.is_empty() { String::new() } else { format!("Authorization: {token}\r\n") };
    let head = format!("POST {path} HTTP/1.0\r\n{login}Content-Length: {}\r\n\r\n", json.len());
    let request = head + json;
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
