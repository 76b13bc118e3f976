//! What operators change by a server's admin listener, and what it leads to.

use std::{
    fs,
    path::PathBuf,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    place::Place,
    running::{FREE, Running, said},
};

const CONFIG: &str = "cluster = \"shop\"\nauto_create = [\"new*\"]\n\
    [ring]\nshard_bits = 1\nallow_volatile = true\n[ledger]\nstore = \"memory\"\n\
    [[shard]]\nslot = 0\nstore = \"memory\"\n[[shard]]\nslot = 1\nstore = \"memory\"\n\
    [[sequence]]\nname = \"order\"\n\
    [[sequence]]\nname = \"repair\"\ntemplate = \"@{date,yyyyMMdd}-@{ctx,area,len=3}-@{seq,w=5}\"\n\
    [limits]\ndrain_delay_s = 0\n";

const REQUIRED: &str = "[auth]\nmode = \"required\"\n[audit]\nfile = \"audit.jsonl\"\n";

/// How long a server may take to obey a slot command, or to read its configuration.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A server with principals, whose tokens are in files.
pub(crate) struct Site {
    pub(crate) place: Place,
    pub(crate) server: Running,
}

impl Site {
    /// Each principal is a name with its scopes.
    pub(crate) fn start(principals: &[(&str, &[&str])]) -> Self {
        let place = Place::new();
        let tables: Vec<String> =
            principals.iter().map(|(name, allow)| principal(&place, name, allow)).collect();
        Self::serve(place, &format!("{CONFIG}{REQUIRED}{}", tables.concat()))
    }

    pub(crate) fn serve(place: Place, config: &str) -> Self {
        let file = place.write("sequent.toml", config);
        let args = [&["serve", "--config", file.to_str().unwrap()], &FREE[..]].concat();
        let server = Running::start(&place, &args);
        Self { place, server }
    }

    pub(crate) fn token_file(&self, whose: &str) -> PathBuf {
        self.place.path(&format!("{whose}.token"))
    }

    /// Status, reason (`OK` if there is none) and body of an answer of the admin listener.
    pub(crate) fn ask(&self, whose: &str, line: &str, body: &Value) -> (u16, String, Value) {
        let token = match whose {
            "none" => String::new(),
            whose => {
                let token = fs::read_to_string(self.token_file(whose)).unwrap();
                format!("\r\nauthorization: Bearer {}", token.trim())
            }
        };
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let kind = if body.is_empty() { "" } else { "\r\ncontent-type: application/json" };
        let head = format!("{line} HTTP/1.1{token}{kind}\r\ncontent-length: {}", body.len());
        answer(&said(&self.server.admin, &head, &body))
    }

    /// The body of an answer that must succeed.
    pub(crate) fn done(&self, whose: &str, line: &str, body: &Value) -> Value {
        let (status, reason, body) = self.ask(whose, line, body);
        assert_eq!((status, reason.as_str()), (200, "OK"), "{whose}: {line}: {body}");
        body
    }

    fn state(&self, slot: usize) -> String {
        let status = self.done("ann", "GET /v1/status", &Value::Null);
        status["shards"][slot]["state"].as_str().unwrap().to_owned()
    }

    fn until(&self, slot: usize, states: &[&str]) {
        let end = Instant::now() + PATIENCE;
        while !states.contains(&&*self.state(slot)) {
            assert!(Instant::now() < end, "slot {slot} is {}", self.state(slot));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn next(&self, name: &str) -> u64 {
        let token = fs::read_to_string(self.token_file("ann")).unwrap();
        let head =
            format!("POST /v1/sequences/{name}/next HTTP/1.1\r\nauthorization: Bearer {}", token.trim());
        let (status, _, body) = answer(&said(&self.server.http, &head, ""));
        assert_eq!(status, 200, "{body}");
        body["numbers"][0].as_str().unwrap().parse().unwrap()
    }
}

fn answer(text: &str) -> (u16, String, Value) {
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let body: Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {text}"));
    let reason = body["reason"].as_str().unwrap_or("OK").to_owned();
    (status, reason, body)
}

/// A principal of the configuration, as `sequent token new` prints it.
pub(crate) fn principal(place: &Place, name: &str, allow: &[&str]) -> String {
    let file = place.path(&format!("{name}.token"));
    let allow: Vec<&str> = allow.iter().flat_map(|scope| ["--allow", *scope]).collect();
    place.text(&[&["token", "new", name, "--out", file.to_str().unwrap()], &allow[..]].concat())
}

/// Somebody who may do everything, and somebody who may do all but operate and define.
const PRINCIPALS: [(&str, &[&str]); 2] = [
    ("ann", &["operate,status,metrics", "next,define,show,list:*"]),
    ("shop", &["next,lease,tell,list,show,preview,parse,reveal:*", "status,metrics"]),
];

#[test]
fn slots_and_numbers_follow_and_the_server_says_who_it_was() {
    let site = Site::start(&PRINCIPALS);
    assert_eq!(site.done("ann", "GET /v1/status", &Value::Null)["caller"], "ann");
    let (_, _, problem) = site.ask("shop", "POST /v1/slots/1/evict", &json!({ "why": "new disk" }));
    assert_eq!((&problem["verb"], &problem["principal"]), (&"operate".into(), &"shop".into()), "{problem}");
    let given = site.done("ann", "POST /v1/slots/1/evict", &json!({ "why": "new disk", "for_s": 3600 }));
    assert_eq!(
        (&given["word"]["who"], &given["word"]["why"]),
        (&"ann".into(), &"new disk".into()),
        "{given}"
    );
    assert!(given["word"]["until_ms"].as_u64() > given["word"]["at_ms"].as_u64(), "{given}");
    site.until(1, &["evicted"]);
    let (status, _, problem) = site.ask("ann", "POST /v1/slots/0/drain", &json!({ "why": "all of them" }));
    assert_eq!((status, &problem["errors"][0]["field"]), (400, &"slot".into()), "the last one: {problem}");
    let given = site.done("ann", "POST /v1/slots/1/rescue", &json!({ "why": "it is there" }));
    assert_eq!(given["tried_at_next_use"], json!([]));
    // It is live once numbers have come from it.
    site.until(1, &["live", "probation"]);
    site.done("ann", "POST /v1/slots/1/drain", &json!({ "why": "moves" }));
    site.until(1, &["draining", "drained"]);
    site.done("ann", "POST /v1/slots/1/rescue", &json!({ "why": "it is there" }));

    assert!(site.next("order") < 1000);
    let report = site.done("ann", "POST /v1/sequences/order/advance", &json!({ "to": "250000" }));
    assert_eq!((&report["key"], &report["already"]), (&"order".into(), &false.into()), "{report}");
    let end = Instant::now() + PATIENCE;
    while site.next("order") <= 250_000 {
        assert!(Instant::now() < end, "the server gives numbers that were advanced over");
    }
    let body = json!({ "to": "400", "values": { "area": "010" }, "period": "20260401" });
    let report = site.done("ann", "POST /v1/sequences/repair/advance", &body);
    assert!(report["key"].as_str().unwrap().contains("010"), "{report}");
    let refused = site.ask("ann", "POST /v1/sequences/newer/advance", &json!({ "to": "5" }));
    assert_eq!(refused.1, "SEQUENCE_NOT_FOUND");
    site.done("ann", "POST /v1/sequences/newer/advance", &json!({ "to": "5", "create": true }));

    let defined = site.done("ann", "PUT /v1/sequences/made", &json!({ "template": "M@{seq,w=9}" }));
    assert_eq!((&defined["sequence"], &defined["version"]), (&"made".into(), &1.into()), "{defined}");
    assert!(site.next("made") > 0);
}

#[test]
fn what_is_wrong_is_named_and_nothing_is_done() {
    let site = Site::start(&PRINCIPALS);
    let long = "x".repeat(501);
    for (line, body, field) in [
        ("POST /v1/slots/1/evict", Value::Null, "body"),
        ("POST /v1/slots/1/evict", json!({}), "why"),
        ("POST /v1/slots/1/evict", json!({ "why": " " }), "why"),
        ("POST /v1/slots/1/evict", json!({ "why": "a\u{202e}b" }), "why"),
        ("POST /v1/slots/1/evict", json!({ "why": long }), "why"),
        ("POST /v1/slots/1/evict", json!({ "why": "x", "who": "bob" }), "body"),
        ("POST /v1/slots/1/evict", json!({ "why": "x", "for_s": 0 }), "for_s"),
        ("POST /v1/slots/1/rescue", json!({ "why": "x", "for_s": 5 }), "body"),
        ("POST /v1/slots/2/evict", json!({ "why": "x" }), "slot"),
        ("POST /v1/slots/-1/evict", json!({ "why": "x" }), "slot"),
        ("POST /v1/slots/one/evict", json!({ "why": "x" }), "slot"),
        ("POST /v1/sequences/order/advance", json!({}), "to"),
        ("POST /v1/sequences/order/advance", json!({ "to": "0" }), "to"),
        ("POST /v1/sequences/order/advance", json!({ "to": "9000000000000000" }), "to"),
        (
            "POST /v1/sequences/order/advance",
            json!({ "to": "9", "at": "2026-01-01", "period": "x" }),
            "period",
        ),
        ("POST /v1/sequences/o%20/advance", json!({ "to": "9" }), "name"),
        ("POST /v1/sequences/o%20/forget", json!({ "confirmed": true }), "name"),
        ("POST /v1/sequences/order/forget", json!({ "confirmed": true }), "name"),
        ("POST /v1/sequences/newer/forget", json!({ "yes": true }), "body"),
        ("PUT /v1/sequences/made", json!({ "placement": "here" }), "placement"),
    ] {
        let (status, reason, problem) = site.ask("ann", line, &body);
        assert_eq!((status, reason.as_str()), (400, "INVALID_ARGUMENT"), "{line} {body}: {problem}");
        assert_eq!(problem["errors"][0]["field"], field, "{line} {body}: {problem}");
    }
    let large = json!({ "why": "x".repeat(100_000) });
    assert_eq!(site.ask("ann", "POST /v1/slots/1/evict", &large).0, 413);
    assert_eq!(site.ask("ann", "DELETE /v1/slots/1/evict", &Value::Null).0, 405);
    let token = fs::read_to_string(site.token_file("ann")).unwrap();
    let token = format!("authorization: Bearer {}", token.trim());
    let body = json!({ "why": "x" }).to_string();
    for (headers, status) in [
        ("content-type: text/plain", 415),
        ("content-type: application/json\r\norigin: https://evil.example", 403),
        ("content-type: application/json\r\nsec-fetch-site: cross-site", 403),
    ] {
        let head = format!(
            "POST /v1/slots/1/evict HTTP/1.1\r\n{token}\r\n{headers}\r\ncontent-length: {}",
            body.len()
        );
        assert_eq!(answer(&said(&site.server.admin, &head, &body)).0, status, "{headers}");
    }
    assert_eq!((site.state(1), site.next("order")), ("live".to_owned(), 1), "nothing was done");
}

#[test]
fn a_name_is_forgotten_by_a_server_and_recorded_with_who_did_it() {
    let site = Site::start(&PRINCIPALS);
    let forget = "POST /v1/sequences/made/forget";
    let refused = site.ask("ann", forget, &json!({ "confirmed": true }));
    assert_eq!((refused.0, refused.1.as_str()), (404, "SEQUENCE_NOT_FOUND"), "{}", refused.2);
    site.done("ann", "PUT /v1/sequences/made", &json!({ "template": "M@{seq,w=9}" }));
    let plan = site.done("ann", forget, &json!({}));
    assert_eq!((&plan["done"], &plan["version"]), (&Value::Null, &1.into()), "{plan}");
    assert_eq!(site.next("made"), 1, "nothing was done");
    let (status, _, problem) = site.ask("ann", forget, &json!({ "confirmed": true }));
    let bound = problem["errors"][0]["bound"].as_str().unwrap();
    assert!(status == 400 && bound.contains("this server has made in use"), "{problem}");
    // Another name, which nobody uses, by the command.
    site.done("ann", "PUT /v1/sequences/unused", &json!({ "template": "U@{seq,w=9}" }));
    let (admin, ann) = (format!("http://{}", site.server.admin), site.token_file("ann"));
    let by = ["--admin", &admin, "--token-file", ann.to_str().unwrap()];
    let run = |args: &[&str]| site.place.run(&[&["forget", "unused"], args, &by].concat());
    let plan = run(&[]);
    assert_eq!(plan.code, Some(3), "{plan:?}");
    assert!(plan.out.contains("unused would be forgotten"), "{plan:?}");
    let done = run(&["--yes", "--json"]);
    let told: Value = serde_json::from_str(&done.out).unwrap_or_else(|error| panic!("{error}: {done:?}"));
    assert_eq!((&told["done"]["version"], &told["done"]["already"]), (&2.into(), &false.into()), "{told}");
    let token = fs::read_to_string(&ann).unwrap();
    let head = format!("POST /v1/sequences/unused/next HTTP/1.1\r\nauthorization: Bearer {}", token.trim());
    let (status, _, body) = answer(&said(&site.server.http, &head, ""));
    assert!(status == 404 && body["detail"].as_str().unwrap().contains("was forgotten"), "{body}");
    assert_eq!(run(&["--yes"]).code, Some(0), "once more");
    let config = site.place.path("sequent-data/audit.jsonl");
    let end = Instant::now() + PATIENCE;
    let lines = loop {
        let text = fs::read_to_string(&config).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        let lines: Vec<Value> = lines.filter(|line: &Value| line["what"] == "forget").collect();
        if lines.len() >= 4 {
            break lines;
        }
        assert!(Instant::now() < end, "{text}");
        std::thread::sleep(Duration::from_millis(20));
    };
    let told: Vec<_> =
        lines.iter().map(|line| (&line["principal"], &line["sequence"], &line["outcome"])).collect();
    let [ann, made, unused] = ["ann", "made", "unused"].map(Value::from);
    let [missing, invalid, ok] = ["SEQUENCE_NOT_FOUND", "INVALID_ARGUMENT", "OK"].map(Value::from);
    let expected =
        [(&ann, &made, &missing), (&ann, &made, &invalid), (&ann, &unused, &ok), (&ann, &unused, &ok)];
    assert_eq!(told, expected);
}

#[test]
fn while_nobody_has_a_name_nobody_operates() {
    let site = Site::serve(Place::new(), CONFIG);
    for (line, body) in [
        ("POST /v1/slots/1/evict", json!({ "why": "new disk" })),
        ("POST /v1/slots/1/drain", json!({ "why": "new disk", "for_s": 3600 })),
        ("POST /v1/slots/1/rescue", json!({ "why": "it is there" })),
        ("POST /v1/sequences/order/advance", json!({ "to": "250000" })),
        ("PUT /v1/sequences/made", json!({ "placement": "spread" })),
        ("POST /v1/sequences/made/forget", json!({ "confirmed": true })),
    ] {
        let (status, reason, problem) = site.ask("none", line, &body);
        assert_eq!((status, reason.as_str()), (403, "PERMISSION_DENIED"), "{line}: {problem}");
        let detail = problem["detail"].as_str().unwrap();
        assert!(
            detail.contains("auth.mode = \"required\"") && detail.contains("sequent token new"),
            "{detail}"
        );
    }
}

#[test]
fn commands_ask_the_server_that_is_named() {
    let site = Site::start(&PRINCIPALS);
    let (ann, shop) = (site.token_file("ann"), site.token_file("shop"));
    let admin = format!("http://{}", site.server.admin);
    let by = |args: &[&str], token: &PathBuf| {
        let own = ["--admin", &admin, "--token-file", token.to_str().unwrap()];
        // Nothing of the cluster is opened here.
        let mut command = site.place.command(&[args, &own].concat());
        let ran: crate::place::Ran =
            command.env("SEQUENT_SERVER", "http://127.0.0.1:1").output().unwrap().into();
        ran
    };
    let evict = ["evict", "1", "--why", "new disk", "--for", "1h"];
    by(&evict, &shop).refused(1, &["PERMISSION_DENIED: shop lacks the verb operate"]);
    by(&[&evict[..], &["--who", "bob"]].concat(), &ann)
        .refused(2, &["--who is \"bob\"", "the server says who"]);
    let ran = by(&evict, &ann);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.out.contains("slot 1: evict, said by ann at") && ran.out.contains("obeys: slot 1 is evicted"),
        "{ran:?}"
    );
    by(&["drain", "0", "--why", "x"], &ann).refused(2, &["the last slot that can give", "--leave-none"]);
    let ran = by(&["rescue", "1", "--why", "it is there", "--json"], &ann);
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&told["word"]["verb"], &told["word"]["who"]), (&"rescue".into(), &"ann".into()), "{told}");
    assert_eq!((&told["slot"], &told["servers"][0]["answered"]), (&1.into(), &true.into()), "{told}");
    let ran = by(&["advance", "order", "250000"], &ann);
    assert!(ran.out.starts_with("order is advanced: no number up to 250000 is given any more"), "{ran:?}");
    let ran = by(&["advance", "repair", "400", "--with", "area=010", "--period", "20260401"], &ann);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    by(&["advance", "order", "9"], &ann).refused(2, &["to is", "at least 250000 is allowed"]);
    let define =
        ["define", "made", "--template", "M@{seq,w=9}", "--zone", "Asia/Shanghai", "--end", "999999"];
    by(&define, &shop).refused(1, &["PERMISSION_DENIED"]);
    let ran = by(&define, &ann);
    assert!(
        ran.out.starts_with("made version 1 is in force") && ran.out.contains("numbers    999999"),
        "{ran:?}"
    );
    let ran = by(&[&define[..], &["--json"]].concat(), &ann);
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&told["already"], &told["capacity"]["numbers"]), (&true.into(), &"999999".into()), "{told}");
    assert_eq!(by(&["forget", "made"], &shop).code, Some(1), "it may not");
    drop(
        site.place
            .run(&["evict", "1", "--why", "x", "--admin", "http://127.0.0.1:1"])
            .refused(4, &["SERVER_UNAVAILABLE"]),
    );
    assert!(!site.place.path("sequent-data/ledger.db").exists(), "no ledger was opened here");
}
