//! Tokens on the real program: each verb at each API with each kind of credential, and what a token leaves behind.

mod certificates;
mod redis;

use std::{
    fs::{self, File},
    io::{Read as _, Write as _},
    net::TcpStream,
    path::PathBuf,
    process::Stdio,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use sequent_client::{Client, ErrorKind, v1};
use serde_json::Value;

use crate::{
    place::Place,
    running::{FREE, Running, said},
};

const SHARDS: &str = "cluster = \"shop\"\n\
    [ring]\nshard_bits = 1\nallow_volatile = true\n[ledger]\nstore = \"memory\"\n\
    [[shard]]\nslot = 0\nstore = \"memory\"\n[[shard]]\nslot = 1\nstore = \"memory\"\n\
    [[sequence]]\nname = \"order\"\ntemplate = \"O@{seq,w=9}\"\n\
    [[sequence]]\nname = \"plain\"\n\
    [[sequence]]\nname = \"other\"\n\
    [limits]\ndrain_delay_s = 0\n\
    [auth]\nmode = \"required\"\n";

/// Everything, of every sequence.
const ALL: &str = "next,lease,tell,list,show,preview,parse,reveal,define,status,metrics:*";

/// Everything that has a name, of another sequence.
const NARROW: &str = "next,lease,tell,show,preview,parse,define:other*";

/// How long a server may take to read a changed configuration.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server whose principals have tokens in files.
struct Site {
    place: Place,
    server: Running,
}

/// A principal of the configuration, as `sequent token new` prints it.
fn principal(place: &Place, name: &str, args: &[&str]) -> String {
    let file = place.path(&format!("{name}.token"));
    let file = file.to_str().unwrap().to_owned();
    place.text(&[&["token", "new", name, "--out", &file], args].concat())
}

impl Site {
    fn start() -> Self {
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
        let url = format!("http://{}", site.server.grpc);
        assert_eq!(site.sdk("revoked", &url, Call::Show), "OK");
        site.configure(&parts[..3].concat());
        let until = Instant::now() + PATIENCE;
        while site.sdk("revoked", &url, Call::Show) != "UNAUTHENTICATED" {
            assert!(Instant::now() < until, "the configuration is not read again");
        }
        site
    }

    fn serve(place: Place, principals: &str) -> Self {
        let file = place.path("sequent.toml");
        fs::write(&file, format!("{SHARDS}{principals}")).unwrap();
        let args = [&["serve", "-vvv", "--config", file.to_str().unwrap()], &FREE[..]].concat();
        // Nobody reads a pipe while the server runs, and it says much.
        let log = File::create(place.path("log")).unwrap();
        let child = place.command(&args).stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        Self { place, server: Running::of(child) }
    }

    fn configure(&self, principals: &str) {
        fs::write(self.place.path("sequent.toml"), format!("{SHARDS}{principals}")).unwrap();
        self.server.signal("HUP");
    }

    fn token_file(&self, whose: &str) -> PathBuf {
        self.place.path(&format!("{whose}.token"))
    }

    fn token(&self, whose: &str) -> String {
        fs::read_to_string(self.token_file(whose)).unwrap().trim().to_owned()
    }

    /// The reason of an answer by HTTP, or `OK`.
    fn http(&self, whose: &str, line: &str, body: &str) -> String {
        let admin = ["GET /metrics", "GET /v1/status", "GET /livez", "GET /readyz", "GET /console"];
        let to = if admin.contains(&line) { &self.server.admin } else { &self.server.http };
        let token = match whose {
            "none" => String::new(),
            whose => format!("\r\nauthorization: Bearer {}", self.token(whose)),
        };
        let json = if body.is_empty() { "" } else { "\r\ncontent-type: application/json" };
        let head = format!("{line} HTTP/1.1{token}{json}\r\ncontent-length: {}", body.len());
        reason(&said(to, &head, body))
    }

    /// The reason of an answer by gRPC, or `OK`.
    fn sdk(&self, whose: &str, url: &str, call: Call) -> String {
        let settings = Client::builder();
        let settings = if whose == "none" { settings } else { settings.token_file(self.token_file(whose)) };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let client = settings.connect(url).await.unwrap();
            match call.send(&client).await {
                Ok(()) => "OK".to_owned(),
                Err(error) => {
                    assert!(!error.is_retryable(), "{error:?}");
                    assert!(client.endpoints().iter().all(|(_, is_healthy)| *is_healthy), "{error:?}");
                    error.reason().to_owned()
                }
            }
        })
    }
}

/// The reason of a problem document; `OK` for any other answer.
fn reason(answer: &str) -> String {
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

/// Calls of gRPC.
#[derive(Debug, Clone, Copy)]
enum Call {
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

/// How an answer depends on the credential: what nobody needs, what any principal may, what needs a verb.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Needs {
    Nobody,
    Anybody,
    Verb,
}

const HTTP: &[(Needs, &str, &str)] = &[
    (Needs::Verb, "POST /v1/sequences/plain/next", ""),
    (Needs::Verb, "POST /v1/sequences/plain/next?count=2", ""),
    (Needs::Verb, "POST /v1/sequences/pl%61in/next", ""),
    (Needs::Verb, "GET /v1/sequences", ""),
    (Needs::Verb, "GET /v1/sequences/order", ""),
    (Needs::Verb, "PUT /v1/sequences/made", r#"{"placement": "spread"}"#),
    (Needs::Verb, "POST /v1/preview", r#"{"sequence": "order", "number": "7"}"#),
    (Needs::Verb, "POST /v1/parse", r#"{"sequence": "order", "text": "O000000001"}"#),
    (Needs::Verb, "POST /v1/preview", r#"{"definition": {"template": "X@{seq,w=5}"}}"#),
    (Needs::Anybody, "GET /openapi.json", ""),
    (Needs::Verb, "GET /metrics", ""),
    (Needs::Verb, "GET /v1/status", ""),
    (Needs::Nobody, "GET /livez", ""),
    (Needs::Nobody, "GET /readyz", ""),
    (Needs::Nobody, "GET /console", ""),
];

const GRPC: &[Call] =
    &[Call::Next, Call::Lease, Call::List, Call::Show, Call::Define, Call::Preview, Call::Parse];

const CREDENTIALS: [&str; 6] = ["none", "unknown", "expired", "revoked", "narrow", "right"];

fn expected(needs: Needs, whose: &str) -> &'static str {
    match (needs, whose) {
        (Needs::Nobody, _) | (_, "right") | (Needs::Anybody, "narrow") => "OK",
        (Needs::Verb, "narrow") => "PERMISSION_DENIED",
        _ => "UNAUTHENTICATED",
    }
}

#[test]
fn each_verb_at_each_api_with_each_credential() {
    let site = Site::start();
    let url = format!("http://{}", site.server.grpc);
    for whose in CREDENTIALS {
        for (needs, line, body) in HTTP {
            // Twice, since the second request of a number may find it ready.
            for _ in 0..2 {
                assert_eq!(site.http(whose, line, body), expected(*needs, whose), "{whose}: {line} {body}");
            }
        }
        for call in GRPC {
            assert_eq!(site.sdk(whose, &url, *call), expected(Needs::Verb, whose), "{whose}: gRPC {call:?}");
        }
    }
    // Balancers ask the listener that they send requests to.
    for path in ["/livez", "/readyz"] {
        assert_eq!(reason(&said(&site.server.http, &format!("GET {path} HTTP/1.1"), "")), "OK", "{path}");
    }
    let refused = |why: &str| site.metric("right", "sequent_auth_refused_total", why);
    for why in ["missing", "unknown", "expired", "denied"] {
        assert!(refused(&format!("why=\"{why}\"")) > 0.0, "{why}");
    }
    site.leaves_no_trace();
}

impl Site {
    /// Ends the server. No token and no hash may stand in what it said and showed.
    fn leaves_no_trace(self) {
        let status = self.http_body("right", "GET /v1/status");
        assert!(status.contains("\"principals\":[{"), "{status}");
        let metrics = self.http_body("right", "GET /metrics");
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
    fn metric(&self, whose: &str, name: &str, labels: &str) -> f64 {
        let shown = self.http_body(whose, "GET /metrics");
        let of = |line: &str| {
            let (found, value) = line.rsplit_once(' ')?;
            let named = found.split('{').next()? == name && found.contains(labels);
            named.then(|| value.parse::<f64>().ok())?
        };
        shown.lines().filter_map(of).sum()
    }

    fn http_body(&self, whose: &str, line: &str) -> String {
        let head = format!("{line} HTTP/1.1\r\nauthorization: Bearer {}", self.token(whose));
        let answer = said(&self.server.admin, &head, "");
        answer.split_once("\r\n\r\n").unwrap().1.to_owned()
    }
}

/// A connection that is kept: its fast path must hear of a reload.
#[test]
fn a_token_that_is_revoked_ends_on_the_connection_that_used_it() {
    let place = Place::new();
    let (stays, goes) =
        (principal(&place, "stays", &["--allow", ALL]), principal(&place, "goes", &["--allow", ALL]));
    let site = Site::serve(place, &format!("{stays}{goes}"));
    let mut connection = TcpStream::connect(&site.server.http).unwrap();
    let mut ask = |whose: &str| {
        let head = format!(
            "POST /v1/sequences/plain/next HTTP/1.1\r\nhost: localhost\r\nauthorization: bearer {}\r\n\r\n",
            site.token(whose)
        );
        connection.write_all(head.as_bytes()).unwrap();
        let mut bytes = [0; 4096];
        let count = connection.read(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..count]).split(' ').nth(1).unwrap().to_owned()
    };
    for _ in 0..5 {
        assert_eq!((ask("goes"), ask("stays")), ("200".to_owned(), "200".to_owned()));
    }
    site.configure(&stays);
    let until = Instant::now() + PATIENCE;
    while ask("goes") != "401" {
        assert!(Instant::now() < until, "the connection goes on");
    }
    assert_eq!(ask("stays"), "200");
    // A configuration with a fault changes nothing.
    site.configure(&stays.replace("allow", "alow"));
    let until = Instant::now() + PATIENCE;
    let refused = || site.metric("stays", "sequent_config_reloads_total", "outcome=\"refused\"");
    while refused() < 1.0 {
        assert!(Instant::now() < until, "the fault is not noticed");
    }
    assert_eq!((ask("stays"), ask("goes")), ("200".to_owned(), "401".to_owned()));
}

/// A file that is empty on a full disk, or cut while it is written.
#[test]
fn a_configuration_that_is_cut_opens_nothing() {
    let place = Place::new();
    let named = principal(&place, "named", &["--allow", ALL]);
    let site = Site::serve(place, &named);
    let refused = || site.metric("named", "sequent_config_reloads_total", "outcome=\"refused\"");
    let begin_of_auth = SHARDS.find("[auth]").unwrap();
    for (cut, least) in [("", 1.0), (&SHARDS[..begin_of_auth], 2.0)] {
        fs::write(site.place.path("sequent.toml"), cut).unwrap();
        site.server.signal("HUP");
        let until = Instant::now() + PATIENCE;
        while refused() < least {
            assert!(Instant::now() < until, "the cut file is not noticed: {cut}");
        }
        for line in ["POST /v1/sequences/plain/next", "GET /v1/status"] {
            assert_eq!(site.http("none", line, ""), "UNAUTHENTICATED", "{line}: {cut}");
        }
    }
    let log = fs::read_to_string(site.place.path("log")).unwrap();
    assert!(log.contains("auth.mode is weaker in the file"), "{log}");
    site.configure(&named);
    assert_eq!(site.http("named", "POST /v1/sequences/plain/next", ""), "OK");
}

/// A definition that conflicts with the one in force, as one that the ledger is too far away for, must keep nobody in.
#[test]
fn a_token_is_revoked_though_the_rest_of_the_file_is_refused() {
    let place = Place::new();
    let (stays, goes) =
        (principal(&place, "stays", &["--allow", ALL]), principal(&place, "goes", &["--allow", ALL]));
    let site = Site::serve(place, &format!("{stays}{goes}"));
    let next = "POST /v1/sequences/plain/next";
    assert_eq!((site.http("goes", next, ""), site.http("stays", next, "")), ("OK".into(), "OK".into()));
    let conflict = SHARDS.replace("O@{seq,w=9}", "P@{seq,w=9}");
    fs::write(site.place.path("sequent.toml"), format!("{conflict}{stays}")).unwrap();
    site.server.signal("HUP");
    let until = Instant::now() + PATIENCE;
    while site.http("goes", next, "") != "UNAUTHENTICATED" {
        assert!(Instant::now() < until, "it is still let in");
    }
    assert_eq!(site.http("stays", next, ""), "OK");
    let reloads = |outcome: &str| site.metric("stays", "sequent_config_reloads_total", outcome);
    assert!(reloads("outcome=\"refused\"") > 0.0 && reloads("outcome=\"ok\"") < 0.5);
    fs::write(site.place.path("sequent.toml"), format!("{SHARDS}{stays}")).unwrap();
    let until = Instant::now() + PATIENCE;
    while reloads("outcome=\"ok\"") < 0.5 {
        assert!(Instant::now() < until, "the mended file is not put in force");
    }
}

#[test]
fn a_list_has_what_may_be_listed_and_a_report_is_believed_of_few() {
    let place = Place::new();
    let parts = [
        principal(&place, "some", &["--allow", "list:o*", "--deny", "list:other", "--allow", "next:*"]),
        principal(&place, "tells", &["--allow", "next,tell:*"]),
        principal(&place, "sees", &["--allow", "next,tell,show:*", "--allow", "metrics"]),
    ];
    let site = Site::serve(place, &parts.concat());
    let ask = |whose: &str, line: &str| {
        let head = format!("{line} HTTP/1.1\r\nauthorization: Bearer {}", site.token(whose));
        let answer = said(&site.server.http, &head, "");
        serde_json::from_str::<Value>(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    };
    let listed = ask("some", "GET /v1/sequences");
    let names: Vec<&str> =
        listed["sequences"].as_array().unwrap().iter().map(|it| it["sequence"].as_str().unwrap()).collect();
    assert_eq!(names, ["order"]);
    let far = "POST /v1/sequences/plain/next?above=9000000000000000000";
    assert!(ask("some", far)["numbers"].is_array(), "the report of a caller without tell is not heard");
    let told = ask("tells", far);
    assert_eq!(told["reason"], "CLUSTER_BEHIND");
    assert!(!told["detail"].as_str().unwrap().contains("at most"), "{told}");
    assert!(ask("sees", far)["detail"].as_str().unwrap().contains("at most"));
    let behind = site.metric("sees", "sequent_cluster_behind_total", "");
    assert!((behind - 2.0).abs() < 0.1, "{behind}");
}

#[test]
fn hidden_numbers_are_revealed_to_those_alone_who_may() {
    let place = Place::new();
    fs::create_dir_all(place.path("sequent-data")).unwrap();
    fs::write(place.path("sequent-data/hide.key"), "00112233445566778899aabbccddeeff\n").unwrap();
    let hidden = "[[obf_key]]\nname = \"hide\"\nfile = \"hide.key\"\n\
                  [[sequence]]\nname = \"coupon\"\ntemplate = \"C@{seq,w=9,obf=ff1:hide}\"\n";
    let parts = [
        hidden.to_owned(),
        principal(&place, "shop", &["--allow", "next,preview,parse:*"]),
        principal(&place, "audit", &["--allow", "next,preview,parse,reveal:*"]),
    ];
    let site = Site::serve(place, &parts.concat());
    let preview = r#"{"sequence": "coupon", "number": "7"}"#;
    let parse = r#"{"sequence": "coupon", "text": "C000000001"}"#;
    for (line, body) in [("POST /v1/preview", preview), ("POST /v1/parse", parse)] {
        assert_eq!(site.http("shop", line, body), "PERMISSION_DENIED", "{line}");
        assert_eq!(site.http("audit", line, body), "OK", "{line}");
    }
    assert_eq!(site.http("shop", "POST /v1/preview", r#"{"sequence": "order", "number": "7"}"#), "OK");
}

/// Whatever comes after it is what a file that is cut lacks.
#[test]
fn a_table_of_a_token_ends_with_what_is_allowed() {
    let place = Place::new();
    let table =
        place.text(&["token", "new", "shop", "--allow", "next:*", "--deny", "next:secret*", "--out", "t"]);
    assert!(table.ends_with("deny = [\"next:secret*\"]\nallow = [\"next:*\"]\n"), "{table}");
}

#[test]
fn nobody_draws_from_a_counter_that_is_not_theirs() {
    let place = Place::new();
    let parts =
        principal(&place, "narrow", &["--allow", NARROW]) + &principal(&place, "right", &["--allow", ALL]);
    let site = Site::serve(place, &parts);
    let define = |whose: &str, name: &str, counter: &str| {
        let body = format!("{{\"template\": \"X@{{seq,ref={counter},w=9}}\"}}");
        site.http(whose, &format!("PUT /v1/sequences/{name}"), &body)
    };
    assert_eq!(define("narrow", "other-a", "plain"), "PERMISSION_DENIED");
    assert_eq!(define("narrow", "other-a", "other"), "OK");
    assert_eq!(define("right", "other-b", "plain"), "OK");
}

#[test]
fn commands_send_the_token_of_a_file() {
    let place = Place::new();
    let parts =
        principal(&place, "right", &["--allow", ALL]) + &principal(&place, "narrow", &["--allow", NARROW]);
    let site = Site::serve(place, &parts);
    let (place, url) = (&site.place, format!("http://{}", site.server.grpc));
    let (right, narrow) = (site.token_file("right"), site.token_file("narrow"));
    let (right, narrow) = (right.to_str().unwrap(), narrow.to_str().unwrap());
    let next = ["next", "plain", "--server", &url];
    let ran = place.run(&next);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err.contains("UNAUTHENTICATED") && ran.err.contains("a token is expected"), "{ran:?}");
    let ran = place.run(&[&next[..], &["--token-file", narrow]].concat());
    assert!(ran.err.contains("PERMISSION_DENIED: narrow lacks the verb next for plain"), "{ran:?}");
    assert_eq!(place.text(&[&next[..], &["--token-file", right]].concat()), "1\n");
    let out = place.command(&next).env("SEQUENT_TOKEN_FILE", right).output().unwrap();
    assert_eq!(String::from_utf8(out.stdout).unwrap(), "2\n");
    assert!(place.text(&["list", "--server", &url, "--token-file", right]).contains("plain"));
    let ran = place.run(&[&next[..], &["--token-file", site.token("right").as_str()]].concat());
    assert!(ran.code == Some(2) && ran.err.contains("a token is never an argument"), "{ran:?}");
    assert!(!ran.err.contains(&site.token("right")[13..]), "{ran:?}");
    let config = place.path("sequent.toml");
    let check = ["token", "check", "--config", config.to_str().unwrap(), "--token-file"];
    let told = place.text(&[&check[..], &[right, "next:order", "metrics"]].concat());
    assert_eq!(told, "principal right, expires never\n  next:order  allowed\n  metrics  allowed\n");
    let ran = place.run(&[&check[..], &[narrow, "next:order"]].concat());
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err.contains("PERMISSION_DENIED: narrow lacks next:order"), "{ran:?}");
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(right).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let again = place.run(&["token", "new", "right", "--allow", ALL, "--out", right]);
    assert_eq!(again.code, Some(1), "a token that is there is not overwritten: {again:?}");
}

/// The kind that a service matches on.
#[test]
fn the_sdk_tells_who_is_unknown_from_who_may_not() {
    let site = Site::serve(Place::new(), NOBODY);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let error = runtime.block_on(async {
        let client = Client::connect(&format!("http://{}", site.server.grpc)).await.unwrap();
        client.sequence("plain").unwrap().next().await.unwrap_err()
    });
    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::Unauthenticated, false));
}

const NOBODY: &str = "[[principal]]\nname = \"x\"\ncert_names = [\"x\"]\n";

/// The load of a client, until it is told to stop.
struct Load {
    given: AtomicU64,
    failed: Mutex<Vec<sequent_client::Error>>,
    is_over: AtomicBool,
}

impl Load {
    async fn run(&self, client: &Client, is_fresh: bool) {
        let sequence = client.sequence("plain").unwrap();
        while !self.is_over.load(Ordering::Relaxed) {
            let number = if is_fresh { sequence.next_fresh().await } else { sequence.next().await };
            match number {
                Ok(_) => drop(self.given.fetch_add(1, Ordering::Relaxed)),
                Err(error) => self.failed.lock().unwrap().push(error),
            }
            tokio::task::yield_now().await;
        }
    }

    /// Waits until so many more numbers were given.
    fn more(&self, count: u64) {
        let (from, until) = (self.given.load(Ordering::Relaxed), Instant::now() + PATIENCE);
        while self.given.load(Ordering::Relaxed) < from + count {
            assert!(Instant::now() < until, "no numbers come: {:?}", self.failed.lock().unwrap());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn a_token_is_rotated_under_load_and_no_request_is_lost() {
    let place = Place::new();
    let watch = principal(&place, "watch", &["--allow", "metrics"]);
    let (old, new) =
        (principal(&place, "shop", &["--allow", ALL]), principal(&place, "new", &["--allow", ALL]));
    let hash = |part: &str| {
        part.lines().find_map(|line| line.strip_prefix("token_sha256 = [")).unwrap()[..66].to_owned()
    };
    let only_new = old.replace(&hash(&old), &hash(&new));
    let both = old.replace(&hash(&old), &format!("{}, {}", hash(&old), hash(&new)));
    let site = Site::serve(place, &format!("{watch}{old}"));
    let reloads = || site.metric("watch", "sequent_config_reloads_total", "outcome=\"ok\"");
    let reload = |principals: &str| {
        let (before, until) = (reloads(), Instant::now() + PATIENCE);
        site.configure(&format!("{watch}{principals}"));
        while reloads() <= before {
            assert!(Instant::now() < until, "the configuration is not read again");
        }
    };
    let (file, url) = (site.token_file("shop"), format!("http://{}", site.server.grpc));
    let old_token = site.token("shop");
    let load = Load { given: AtomicU64::new(0), failed: Mutex::default(), is_over: AtomicBool::new(false) };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let runtime =
                tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
            runtime.block_on(async {
                let client =
                    Client::builder().token_file(&file).deadline(PATIENCE).connect(&url).await.unwrap();
                tokio::join!(load.run(&client, true), load.run(&client, true), load.run(&client, false));
            });
        });
        load.more(200);
        reload(&both);
        load.more(200);
        fs::rename(site.token_file("new"), &file).unwrap();
        // The client may not have read the file yet: then it does so when it is refused.
        reload(&only_new);
        load.more(1000);
        load.is_over.store(true, Ordering::Relaxed);
    });
    let failed = load.failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} requests were lost: {:?}", failed.len(), failed.first());
    fs::write(&file, old_token).unwrap();
    assert_eq!(site.sdk("shop", &url, Call::Show), "UNAUTHENTICATED", "the old token is gone");
}
