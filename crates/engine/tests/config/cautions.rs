//! What is allowed and named: connections without TLS, places on one host, any name from anywhere.

use sequent_engine::config::{Config, Sources};

use crate::accepted;

/// 2026-06-01, in milliseconds since 1970.
const NOW_MS: u64 = 1_780_272_000_000;

/// The cautions of a ring of two shards and a ledger: hosts, and further keys of all three.
fn of(hosts: [&str; 3], keys: &str) -> Vec<String> {
    let [ledger, first, second] = hosts.map(|host| format!("mysql://u:geheim@{host}"));
    let text = format!(
        "[ledger]\nstore = \"mysql\"\nurl = \"{ledger}/l\"\n{keys}\n\
         [ring]\nshard_bits = 1\n\
         [[shard]]\nslot = 0\nstore = \"mysql-row\"\nurl = \"{first}/a\"\n{keys}\n\
         [[shard]]\nslot = 1\nstore = \"mysql-row\"\nurl = \"{second}/b\"\n{keys}\n"
    );
    accepted(&text).cautions(NOW_MS).iter().map(ToString::to_string).collect()
}

#[test]
fn connections_in_clear_to_other_hosts_are_named() {
    let found = of(["10.0.0.1", "127.0.0.1:1", "localhost:2"], "");
    assert_eq!(found, ["plaintext: the password and every number cross the network to 10.0.0.1 in clear"]);
    assert_eq!(of(["10.0.0.1", "db1", "db2"], "").len(), 3);
    assert_eq!(of(["10.0.0.1", "db1", "db2"], "tls = \"verify\""), [""; 0]);
    assert_eq!(of(["[::1]", "127.0.0.1:1", "%2Frun%2Fmysql"], ""), [""; 0]);
}

#[test]
fn places_on_one_host_are_named_but_on_loopback() {
    let tls = "tls = \"verify\"";
    assert_eq!(of(["db0", "db1:1", "db1:2"], tls), ["one_host: slot 0, slot 1 are on host db1"]);
    assert_eq!(of(["db1", "db1", "db2"], tls), ["one_host: the ledger, slot 0 are on host db1"]);
    assert_eq!(of(["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"], ""), [""; 0]);
}

#[test]
fn sequences_that_no_server_would_define_are_named() {
    let of = |keys: &str, at_risk_max: u64| {
        let text = format!("[reservoir]\nat_risk_max = {at_risk_max}\n[[sequence]]\nname = \"q\"\n{keys}\n");
        accepted(&text).cautions(NOW_MS).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let said = "not_definable: sequence q is refused unless it is in force: at_risk_max is 200: at most 10, \
        reservoir.at_risk_max, is allowed";
    assert_eq!(of("at_risk_max = 200", 10), [said]);
    assert_eq!(of("at_risk_max = 10", 10), [""; 0]);
    let small = of("placement = \"spread\"\nend = 100", 1_000_000);
    assert!(small.len() == 1 && small[0].contains("end is 100: spread could skip"), "{small:?}");
    assert_eq!(of("placement = \"dense\"\nend = 100", 1_000_000), [""; 0]);
}

#[test]
fn passwords_of_urls_and_values_of_variables_are_shown_nowhere() {
    let mut sources = Sources::embedded("d").flag("traces.endpoint", "http://u:geheim@c:4318/v1/traces");
    let shown = Config::load(&sources).unwrap();
    let shown = shown.shown().iter().find(|shown| shown.key == "traces.endpoint").unwrap().to_string();
    assert_eq!(shown, "traces.endpoint = \"http://u:***@c:4318/v1/traces\"  # flag");
    sources.environment.insert("SECRET".to_owned(), "ge heim".to_owned());
    let faults = Config::load(&sources.flag("cluster", "${SECRET}")).unwrap_err().to_string();
    assert!(faults.contains("cluster is \"${SECRET}\"") && !faults.contains("ge heim"), "{faults}");
}

#[test]
fn any_name_from_anywhere_is_named() {
    let of = |patterns: &str, listen: &str| {
        let sources = Sources::embedded("d").flag("auto_create", patterns).flag("listen.http", listen);
        let sources = sources.flag("listen.plaintext", "trusted").flag("auth.mode", "off");
        Config::load(&sources).unwrap().cautions(NOW_MS).len()
    };
    assert_eq!((of("*", "0.0.0.0:7421"), of("a,?*", "10.0.0.1:7421")), (1, 1));
    assert_eq!((of("*", "127.0.0.1:7421"), of("order*", "0.0.0.0:7421")), (0, 0));
}

#[test]
fn principals_that_have_expired_or_will_soon_are_named() {
    let principal = |name: &str, end: &str| {
        format!("[[principal]]\nname = \"{name}\"\ncert_names = [\"{name}\"]\nexpires = \"{end}\"\n")
    };
    let parts = [("gone", "2026-06-01"), ("soon", "2026-06-14"), ("later", "2026-06-16")];
    let principals = parts.map(|(name, end)| principal(name, end)).concat();
    let text = format!("[auth]\nmode = \"required\"\n{principals}");
    let found: Vec<String> = accepted(&text).cautions(NOW_MS).iter().map(ToString::to_string).collect();
    let expected = [
        "principal_expires: principal gone expired at 2026-06-01T00:00:00Z",
        "principal_expires: principal soon expires at 2026-06-14T00:00:00Z",
    ];
    assert_eq!(found, expected);
}
