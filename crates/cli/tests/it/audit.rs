//! The audit log of the real program: a line for each change and refusal, rotation, a broken chain, a full disk.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
    time::Instant,
};

use serde_json::{Value, json};

use crate::{
    operate::{PATIENCE, Site},
    running::said,
};

const PRINCIPALS: [(&str, &[&str]); 2] =
    [("ann", &["operate,status,metrics", "next,define:*"]), ("shop", &["next:*"])];

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

impl Site {
    /// The status of the log, once it is as expected.
    fn log(&self, is_so: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            let found = self.done("ann", "GET /v1/status", &Value::Null)["audit"].take();
            if is_so(&found) {
                return found;
            }
            assert!(Instant::now() < end, "{found}");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

#[test]
fn changes_and_refusals_are_lines() {
    let site = Site::start(&PRINCIPALS);
    let path = site.place.path("sequent-data/audit.jsonl");
    let evict = "POST /v1/slots/1/evict";
    site.ask("none", evict, &json!({ "why": "x" }));
    site.ask("shop", evict, &json!({ "why": "x" }));
    site.done("ann", evict, &json!({ "why": "new disk" }));
    site.ask("ann", "POST /v1/slots/0/drain", &json!({ "why": "the last" }));
    site.done("ann", "POST /v1/slots/1/rescue", &json!({ "why": "it is there" }));
    site.done("ann", "POST /v1/sequences/order/advance", &json!({ "to": "250000" }));
    site.done("ann", "PUT /v1/sequences/made", &json!({ "placement": "spread" }));
    site.done("ann", "PUT /v1/sequences/made", &json!({ "placement": "spread" }));
    let body = json!({ "placement": "spread" }).to_string();
    let token = fs::read_to_string(site.token_file("ann")).unwrap();
    let head = format!(
        "PUT /v1/sequences/web HTTP/1.1\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: {}",
        token.trim(),
        body.len()
    );
    assert!(said(&site.server.http, &head, &body).starts_with("HTTP/1.1 200"));
    let config = site.place.path("sequent.toml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, text.replace("drain_delay_s = 0", "drain_delay_s = 1")).unwrap();
    site.server.signal("HUP");
    let reloads = |outcome: &str, count: usize| {
        let end = Instant::now() + PATIENCE;
        let so_many = || {
            lines(&path).iter().filter(|line| line["what"] == "reload" && line["outcome"] == outcome).count()
        };
        while so_many() < count {
            assert!(Instant::now() < end, "{:?}", lines(&path));
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    };
    reloads("OK", 1);
    fs::write(&config, "nothing = 1").unwrap();
    reloads("CONFIGURATION_REFUSED", 1);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let secrets = ["ann", "shop"].map(|whose| fs::read_to_string(site.token_file(whose)).unwrap());
    let place = site.end();
    let log = lines(&path);
    let found: Vec<(&str, &str, &str)> = log
        .iter()
        .map(|line| ["what", "principal", "outcome"].map(|field| line[field].as_str().unwrap_or("-")).into())
        .collect();
    assert_eq!(
        found,
        [
            ("start", "-", "OK"),
            ("refused", "-", "UNAUTHENTICATED"),
            ("refused", "shop", "PERMISSION_DENIED"),
            ("evict", "ann", "OK"),
            ("drain", "ann", "INVALID_ARGUMENT"),
            ("rescue", "ann", "OK"),
            ("advance", "ann", "OK"),
            ("define", "ann", "OK"),
            ("define", "ann", "OK"),
            ("reload", "-", "OK"),
            ("reload", "-", "CONFIGURATION_REFUSED"),
            ("stop", "-", "OK"),
        ]
    );
    for (line, listener) in log.iter().zip([Value::Null, "admin".into(), "admin".into(), "admin".into()]) {
        assert_eq!(line["listener"], listener, "{line}");
    }
    assert_eq!((&log[1]["why"], &log[1]["peer"]), (&"missing".into(), &"127.0.0.1".into()));
    assert_eq!(
        (&log[2]["verb"], &log[3]["slot"], &log[3]["why"]),
        (&"operate".into(), &1.into(), &"new disk".into())
    );
    assert_eq!((&log[6]["key"], &log[6]["to"]), (&"order".into(), &"250000".into()));
    assert_eq!((&log[8]["sequence"], &log[8]["listener"]), (&"web".into(), &"http".into()));
    assert_eq!((&log[7]["sequence"], &log[7]["version"]), (&"made".into(), &1.into()));
    assert_eq!((&log[9]["keys"], log[9]["user"].is_u64()), (&json!(["limits.drain_delay_s"]), true));
    let text = fs::read_to_string(&path).unwrap();
    for secret in secrets {
        assert!(!text.contains(&secret.trim()[13..]), "a token is in the log");
    }
    check_finds_what_is_changed(&place, &path);
}

fn check_finds_what_is_changed(place: &crate::place::Place, path: &Path) {
    let (text, file) = (fs::read_to_string(path).unwrap(), path.to_str().unwrap());
    let told = place.text(&["audit", "check", file]);
    assert!(told.starts_with("12 lines, each follows the line before it\n"), "{told}");
    let page = include_str!("../../../../docs/operating/audit.md");
    assert!(told.lines().take(2).all(|line| page.contains(line)), "the page shows something else: {told}");
    let told = place.json(&["audit", "check", file, "--json"]);
    assert_eq!((&told["lines"], told["last"].as_str().unwrap().len()), (&12.into(), 64));
    fs::write(path, text.replace("new disk", "old disk")).unwrap();
    place
        .run(&["audit", "check", file])
        .refused(1, &["audit.jsonl line 5: it does not follow the line before it"]);
    let without: Vec<&str> = text.lines().filter(|line| !line.contains("\"advance\"")).collect();
    fs::write(path, without.join("\n") + "\n").unwrap();
    place.run(&["audit", "check", file]).refused(1, &["line 7"]);
}

impl Site {
    /// Ends the server, which must succeed.
    fn end(self) -> crate::place::Place {
        let (code, err) = self.server.end();
        assert_eq!(code, Some(0), "{err}");
        self.place
    }
}

#[test]
fn a_file_that_was_moved_away_is_opened_anew_by_sighup() {
    let site = Site::start(&PRINCIPALS);
    let (path, old) =
        (site.place.path("sequent-data/audit.jsonl"), site.place.path("sequent-data/audit.jsonl.1"));
    site.done("ann", "PUT /v1/sequences/one", &json!({ "placement": "spread" }));
    site.log(|log| log["written"] == 2);
    fs::rename(&path, &old).unwrap();
    site.server.signal("HUP");
    site.log(|log| log["written"].as_u64() >= Some(3));
    site.done("ann", "PUT /v1/sequences/two", &json!({ "placement": "spread" }));
    let place = site.end();
    let whats = |path: &Path| -> Vec<String> {
        lines(path).iter().map(|line| line["what"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        (whats(&old), whats(&path)),
        (
            vec!["start".to_owned(), "define".to_owned()],
            ["reload", "define", "stop"].map(str::to_owned).to_vec()
        )
    );
    let [old, new] = [&old, &path].map(|path| path.to_str().unwrap());
    assert!(place.text(&["audit", "check", old, new]).starts_with("5 lines"));
    place.run(&["audit", "check", new, old]).refused(1, &["audit.jsonl.1 line 1"]);
}

#[test]
fn a_full_disk_is_told_and_serving_goes_on() {
    let site = Site::start(&PRINCIPALS);
    let (path, away) = (site.place.path("sequent-data/audit.jsonl"), site.place.path("sequent-data/away"));
    site.log(|log| log["written"] == 1);
    fs::rename(&path, &away).unwrap();
    symlink("/dev/full", &path).unwrap();
    site.server.signal("HUP");
    let log = site.log(|log| log["fault"].is_string());
    assert!(log["fault"].as_str().unwrap().contains("No space left on device"), "{log}");
    let defined = site.done("ann", "PUT /v1/sequences/one", &json!({ "placement": "spread" }));
    assert_eq!(defined["version"], 1, "changes go on");
    site.log(|log| log["lost"].as_u64() >= Some(2));
    let metrics = |name: &str| {
        let token = fs::read_to_string(site.token_file("ann")).unwrap();
        let head = format!("GET /metrics HTTP/1.1\r\nauthorization: Bearer {}", token.trim());
        let shown = said(&site.server.admin, &head, "");
        let value =
            shown.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).map(str::to_owned);
        value.unwrap_or_else(|| panic!("{name}: {shown}")).parse::<f64>().unwrap()
    };
    assert!((metrics("sequent_audit_unwritable") - 1.0).abs() < 0.1);
    assert!(metrics("sequent_audit_lines_total{outcome=\"lost\"}") >= 2.0);
    fs::remove_file(&path).unwrap();
    fs::rename(&away, &path).unwrap();
    site.done("ann", "PUT /v1/sequences/two", &json!({ "placement": "spread" }));
    site.log(|log| log["fault"].is_null());
    assert!(metrics("sequent_audit_unwritable").abs() < 0.1);
    let (code, err) = site.server.end();
    assert_eq!(code, Some(0));
    assert_eq!(err.matches("the audit log can't be written").count(), 1, "once: {err}");
    let log = lines(&path);
    assert!(
        log.iter().any(|line| line["what"] == "lines_lost" && line["count"].as_u64() >= Some(2)),
        "{log:?}"
    );
    assert!(site.place.text(&["audit", "check", path.to_str().unwrap()]).contains("each follows"));
}

#[test]
fn a_file_that_cannot_be_written_stops_no_start() {
    let place = crate::place::Place::new();
    let ann = crate::operate::principal(&place, "ann", &["status", "next:*"]);
    let config = format!(
        "auto_create = [\"*\"]\n[auth]\nmode = \"required\"\n[audit]\nfile = \"/proc/nowhere/audit.jsonl\"\n{ann}"
    );
    let site = Site::serve(place, &config);
    let log = site.log(|log| log["fault"].is_string());
    assert!(log["fault"].as_str().unwrap().contains("/proc/nowhere/audit.jsonl"), "{log}");
    let (_, err) = site.server.end();
    assert!(err.contains("the audit log can't be written"), "{err}");
}
