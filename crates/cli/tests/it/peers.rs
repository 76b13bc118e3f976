//! Servers that run with a configuration: commands find them, and say whom they asked, who did not answer, and what is away.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{
    place::Place,
    running::{FREE, Running},
};

/// A ledger that nobody listens for.
const LEDGER_AWAY: &str =
    "[ledger]\nstore = \"mysql\"\nurl = \"mysql://sequent@127.0.0.1:1/ledger\"\nconnect_timeout_ms = 200\n";

/// Two slots of cluster shop, and this ledger.
fn configure(place: &Place, name: &str, ledger: &str) {
    let shard =
        |slot: u8| format!("[[shard]]\nslot = {slot}\nstore = \"sqlite\"\npath = \"shard-{slot}.db\"\n");
    let top =
        "cluster = \"shop\"\nauto_create = [\"*\"]\n[ring]\nshard_bits = 1\nattempt_timeout_ms = 2000\n";
    place.write(name, &format!("{top}{}{}{ledger}", shard(0), shard(1)));
}

/// A place with that configuration and its server at work.
fn served() -> (Place, Running) {
    let place = Place::new();
    configure(&place, "shop.toml", "[ledger]\nstore = \"sqlite\"\npath = \"ledger.db\"\n");
    let server = serve(&place);
    server.next();
    (place, server)
}

fn serve(place: &Place) -> Running {
    let args = ["serve", "--config", "shop.toml", "--set", "limits.drain_delay_s=0"];
    Running::start(place, &[&args[..], &FREE].concat())
}

fn shop<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [args, &["--config", "shop.toml"]].concat()
}

/// What the servers said, the one with this admin listener among them.
fn of<'a>(report: &'a Value, server: &Running) -> &'a Value {
    let servers = report["servers"].as_array().unwrap_or_else(|| panic!("{report}"));
    let said = servers.iter().find(|said| said["admin"] == server.admin.as_str());
    said.unwrap_or_else(|| panic!("{} is not in {report}", server.admin))
}

/// Looks until the servers see what is awaited.
fn shards_until(place: &Place, is_so: impl Fn(&Value) -> bool) -> Value {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let report = place.json(&shop(&["shards", "--json"]));
        if is_so(&report) {
            return report;
        }
        assert!(Instant::now() < until, "{report}");
    }
}

#[test]
fn a_server_with_a_configuration_is_found_and_asked() {
    let (place, server) = served();
    let said = place.json(&shop(&["evict", "1", "--why", "new disk", "--json"]));
    assert_eq!(of(&said, &server)["answered"], true, "{said}");
    // It obeys within two seconds, and on a machine that is busy with much else a bit later.
    let report = shards_until(&place, |report| of(report, &server)["slots"][1]["state"] == "evicted");
    let seen = of(&report, &server);
    assert_eq!(
        (&seen["answered"], &seen["slots"][1]["state"]),
        (&true.into(), &"evicted".into()),
        "{report}"
    );
    assert_eq!(seen["slots"][1]["cause"]["kind"], "command", "{report}");
    let text = place.text(&shop(&["shards"]));
    let line = format!("  {}  serving  1 of 2 live", server.admin);
    assert!(text.contains("servers asked: 1, answered: 1") && text.contains(&line), "{text}");
    assert_eq!(of(&place.json(&shop(&["doctor", "--json"])), &server)["answered"], true);
    let text = place.text(&shop(&["rescue", "1", "--why", "it is there"]));
    assert!(text.contains(&format!("server {}", server.admin)) && text.contains("slot 1 is "), "{text}");
    shards_until(&place, |report| of(report, &server)["slots"][1]["state"] == "live");
    // It is not of the cluster that there is without a configuration, though it runs on that directory.
    let numbers = place.run(&["next", "order", "--server", ""]);
    assert!(numbers.code != Some(0), "{numbers:?}");
    let (code, err) = server.end();
    assert_eq!(code, Some(0), "{err}");
    let text = place.text(&shop(&["shards"]));
    assert!(text.contains("servers asked: none, for none of cluster shop runs on "), "{text}");
}

#[test]
fn a_server_that_hangs_is_named_and_the_others_are_heard() {
    let (place, server) = served();
    let other = serve(&place);
    server.signal("STOP");
    let text = place.text(&shop(&["shards"]));
    server.signal("CONT");
    assert!(text.contains("servers asked: 2, answered: 1"), "{text}");
    assert!(text.contains(&format!("{}  did not answer: no answer within ", server.admin)), "{text}");
    assert!(text.contains(&format!("{}  serving  2 of 2 live", other.admin)), "{text}");
}

#[test]
fn while_the_ledger_is_away_every_slot_is_shown_and_the_ledger_named() {
    let (place, server) = served();
    configure(&place, "away.toml", LEDGER_AWAY);
    let ran = place.run(&["shards", "--config", "away.toml", "--json"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert_eq!(ran.error()["reason"], "LEDGER_UNAVAILABLE", "{ran:?}");
    let report = ran.as_json();
    let states: Vec<&str> =
        report["slots"].as_array().unwrap().iter().map(|slot| slot["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["open", "open"], "{report}");
    let fault = report["ledger"]["fault"].as_str().unwrap();
    assert!(fault.contains("127.0.0.1:1/ledger") && fault.contains("refused"), "{fault}");
    assert_eq!(of(&report, &server)["slots"][0]["state"], "live", "{report}");
    let ran = place.run(&["shards", "--config", "away.toml"]);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(lines[1].starts_with("0     open") && lines[2].starts_with("1     open"), "{ran:?}");
    assert!(lines.iter().any(|line| line.starts_with("ledger  mysql://")), "{ran:?}");
}
