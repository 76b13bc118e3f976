//! A server whose principals have tokens in files, and calls of it.

use std::{
    fs::{self, File},
    path::PathBuf,
    process::Stdio,
    time::{Duration, Instant},
};

use sequent_client::{Client, v1};
use serde_json::Value;

use crate::{
    place::Place,
    running::{FREE, Running, said},
};

pub(super) const SHARDS: &str = "cluster = \"shop\"\n\
    [ring]\nshard_bits = 1\nallow_volatile = true\n[ledger]\nstore = \"memory\"\n\
    [[shard]]\nslot = 0\nstore = \"memory\"\n[[shard]]\nslot = 1\nstore = \"memory\"\n\
    [[sequence]]\nname = \"order\"\ntemplate = \"O@{seq,w=9}\"\n\
    [[sequence]]\nname = \"plain\"\n\
    [[sequence]]\nname = \"other\"\n\
    [limits]\ndrain_delay_s = 0\n\
    [auth]\nmode = \"required\"\n";

/// Everything, of every sequence.
pub(super) const ALL: &str = "next,lease,tell,list,show,preview,parse,reveal,define,status,metrics,operate:*";

/// Everything that has a name, of another sequence.
pub(super) const NARROW: &str = "next,lease,tell,show,preview,parse,define:other*";

/// How long a server may take to read a changed configuration.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// A server whose principals have tokens in files.
pub(super) struct Site {
    pub(super) place: Place,
    pub(super) server: Running,
}

/// A principal of the configuration, as `sequent token new` prints it.
pub(super) fn principal(place: &Place, name: &str, args: &[&str]) -> String {
    let file = place.path(&format!("{name}.token"));
    let file = file.to_str().unwrap().to_owned();
    place.text(&[&["token", "new", name, "--out", &file], args].concat())
}

impl Site {
    pub(super) fn start() -> Self {
        let place = Place::new();
        let parts = [
            principal(&place, "right", &["--allow", ALL]),
            principal(&place, "narrow", &["--allow", NARROW]),
            principal(&place, "expired", &["--allow", ALL, "--expires", "2020-01-01"]),
            principal(&place, "revoked", &["--allow", ALL]),
        ];
        drop(principal(&place, "unknown", &["--allow", ALL]));
        let site = Self::serve(place, &parts.concat());
        // The token of `revoked` was good until this reload.
        assert_eq!(site.sdk("revoked", Call::Show).0, "OK");
        site.configure(&parts[..3].concat());
        let until = Instant::now() + PATIENCE;
        while site.sdk("revoked", Call::Show).0 != "UNAUTHENTICATED" {
            assert!(Instant::now() < until, "the configuration is not read again");
        }
        site
    }

    pub(super) fn serve(place: Place, principals: &str) -> Self {
        let file = place.path("sequent.toml");
        fs::write(&file, format!("{SHARDS}{principals}")).unwrap();
        let args = [&["serve", "-vvv", "--config", file.to_str().unwrap()], &FREE[..]].concat();
        // Nobody reads a pipe while the server runs, and it says much.
        let log = File::create(place.path("log")).unwrap();
        let child = place.command(&args).stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        Self { place, server: Running::of(child) }
    }

    pub(super) fn configure(&self, principals: &str) {
        fs::write(self.place.path("sequent.toml"), format!("{SHARDS}{principals}")).unwrap();
        self.server.signal("HUP");
    }

    pub(super) fn token_file(&self, whose: &str) -> PathBuf {
        self.place.path(&format!("{whose}.token"))
    }

    pub(super) fn token(&self, whose: &str) -> String {
        fs::read_to_string(self.token_file(whose)).unwrap().trim().to_owned()
    }

    /// The reason of an answer of the HTTP listener, or `OK`.
    pub(super) fn http(&self, whose: &str, line: &str, body: &str) -> String {
        self.asked(&self.server.http, whose, (line, body)).0
    }

    /// The reason of an answer to a request with a token, or `OK`, and the answer.
    pub(super) fn asked(&self, to: &str, whose: &str, (line, body): (&str, &str)) -> (String, String) {
        let token = match whose {
            "none" => String::new(),
            whose => format!("\r\nauthorization: Bearer {}", self.token(whose)),
        };
        let json = if body.is_empty() { "" } else { "\r\ncontent-type: application/json" };
        let head = format!("{line} HTTP/1.1{token}{json}\r\ncontent-length: {}", body.len());
        let answer = said(to, &head, body);
        (reason(&answer), answer)
    }

    /// The reason of an answer by gRPC, or `OK`, and its text.
    pub(super) fn sdk(&self, whose: &str, call: Call) -> (String, String) {
        let settings = Client::builder();
        let settings = if whose == "none" { settings } else { settings.token_file(self.token_file(whose)) };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let client = settings.connect(&format!("http://{}", self.server.grpc)).await.unwrap();
            match call.send(&client).await {
                Ok(()) => ("OK".to_owned(), String::new()),
                Err(error) => {
                    assert!(!error.is_retryable(), "{error:?}");
                    assert!(client.endpoints().iter().all(|(_, is_healthy)| *is_healthy), "{error:?}");
                    (error.reason().to_owned(), error.to_string())
                }
            }
        })
    }
}

/// The reason of a problem document; `OK` for any other answer.
pub(super) fn reason(answer: &str) -> String {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap();
    if status == "200" {
        return "OK".to_owned();
    }
    let body: Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"));
    if status == "401" {
        assert!(head.to_lowercase().contains("\r\nwww-authenticate: bearer"), "{head}");
        assert!(body["why"].is_string(), "{body}");
    }
    assert_eq!(body["status"].to_string(), status, "{answer}");
    body["reason"].as_str().unwrap().to_owned()
}

impl Site {
    /// Ends the server. No token and no hash may stand in what it said and showed.
    pub(super) fn leaves_no_trace(self) {
        let status = self.admin("right", "GET /v1/status");
        assert!(status.contains("\"principals\":[{"), "{status}");
        let metrics = self.admin("right", "GET /metrics");
        let config = self.place.text(&[
            "config",
            "show",
            "--config",
            self.place.path("sequent.toml").to_str().unwrap(),
        ]);
        assert!(config.contains("principal[0].token_sha256 = [\"***\"]"), "{config}");
        let file = fs::read_to_string(self.place.path("sequent.toml")).unwrap();
        let hashes: Vec<String> = file
            .lines()
            .filter_map(|line| line.strip_prefix("token_sha256 = [\""))
            .map(|rest| rest[..64].to_owned())
            .collect();
        assert_eq!(hashes.len(), 3);
        let tokens = ["right", "narrow", "expired", "revoked", "unknown"].map(|whose| self.token(whose));
        let mut server = self.server;
        server.signal("TERM");
        assert_eq!(server.child.wait().unwrap().code(), Some(0));
        let log = fs::read_to_string(self.place.path("log")).unwrap();
        for (what, text) in
            [("log", &log), ("status", &status), ("metrics", &metrics), ("config show", &config)]
        {
            for secret in tokens.iter().map(|token| &token[13..]).chain(hashes.iter().map(|hash| &hash[..16]))
            {
                assert!(!text.contains(secret), "{what} has {secret}");
            }
        }
        assert!(log.contains("request refused"), "no refusal was logged");
    }

    /// A metric, summed over its labels as far as `labels` are among them.
    pub(super) fn metric(&self, whose: &str, name: &str, labels: &str) -> f64 {
        self.metric_of(&self.server, whose, name, labels)
    }

    /// The same of another server of the site.
    pub(super) fn metric_of(&self, server: &Running, whose: &str, name: &str, labels: &str) -> f64 {
        let (_, shown) = self.asked(&server.admin, whose, ("GET /metrics", ""));
        let of = |line: &str| {
            let (found, value) = line.rsplit_once(' ')?;
            let named = found.split('{').next()? == name && found.contains(labels);
            named.then(|| value.parse::<f64>().ok())?
        };
        shown.lines().filter_map(of).sum()
    }

    /// The body of an answer of the admin listener.
    fn admin(&self, whose: &str, line: &str) -> String {
        let (_, answer) = self.asked(&self.server.admin, whose, (line, ""));
        answer.split_once("\r\n\r\n").unwrap().1.to_owned()
    }
}

/// Calls of gRPC.
#[derive(Debug, Clone, Copy)]
pub(super) enum Call {
    Next,
    Lease,
    List,
    Show,
    Define,
    Preview,
    Parse,
}

impl Call {
    async fn send(self, client: &Client) -> Result<(), sequent_client::Error> {
        let definitions = client.definitions();
        let order = || "order".to_owned();
        match self {
            Self::Next => client.sequence("plain")?.next_fresh().await.map(drop),
            Self::Lease => client.sequence("plain")?.next().await.map(drop),
            Self::List => definitions.list(v1::ListRequest::default()).await.map(drop),
            Self::Show => definitions.show(v1::ShowRequest { sequence: order() }).await.map(drop),
            Self::Define => {
                let definition =
                    Some(v1::Definition { placement: "spread".to_owned(), ..v1::Definition::default() });
                let ask = v1::DefineRequest {
                    sequence: "made".to_owned(),
                    definition,
                    ..v1::DefineRequest::default()
                };
                definitions.define(ask).await.map(drop)
            }
            Self::Preview => {
                let by = Some(v1::preview_request::By::Sequence(order()));
                definitions
                    .preview(v1::PreviewRequest { by, ..v1::PreviewRequest::default() })
                    .await
                    .map(drop)
            }
            Self::Parse => {
                let by = Some(v1::parse_request::By::Sequence(order()));
                definitions.parse(v1::ParseRequest { by, text: "O000000001".to_owned() }).await.map(drop)
            }
        }
    }
}
