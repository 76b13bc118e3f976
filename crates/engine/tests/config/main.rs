//! A configuration is refused whole, with every fault at once: place, key, value, bound.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail as tests do")]

mod cautions;
mod page;
mod places;
mod principals;

use std::{fs, path::Path};

use sequent_engine::config::{Config, Fault, Faults, Origin, Place, Sources};

/// The faults of a file, a line each, without their places.
fn faults(text: &str) -> Vec<String> {
    placed(text).into_iter().map(|fault| Fault { at: String::new(), ..fault }.to_string()).collect()
}

fn placed(text: &str) -> Vec<Fault> {
    let folder = tempfile::tempdir().unwrap();
    load(folder.path(), text).expect_err("this configuration has faults").0
}

fn load(folder: &Path, text: &str) -> Result<Config, Faults> {
    let file = folder.join("sequent.toml");
    fs::write(&file, text).unwrap();
    Config::load(&Sources::embedded(folder.join("data")).file(&file))
}

fn accepted(text: &str) -> Config {
    let folder = tempfile::tempdir().unwrap();
    load(folder.path(), text).unwrap()
}

#[test]
fn what_is_slow_depends_on_whose_disk_it_is() {
    let shown = |config: &Config| {
        config.shown().iter().find(|shown| shown.key == "ring.slow_after_ms").unwrap().value.clone()
    };
    let embedded = Config::load(&Sources::embedded("d")).unwrap();
    assert_eq!((embedded.ring.slow_after.as_millis(), shown(&embedded).as_str()), (500, "500"));
    let configured = accepted("cluster = \"shop\"\n");
    assert_eq!((configured.ring.slow_after.as_millis(), shown(&configured).as_str()), (200, "200"));
    let short = Config::load(&Sources::embedded("d").flag("ring.attempt_timeout_ms", "300")).unwrap();
    assert_eq!(short.ring.slow_after.as_millis(), 300, "what nobody said is no fault");
}

#[test]
fn without_a_file_it_is_the_embedded_cluster() {
    let config = Config::load(&Sources::embedded("d")).unwrap();
    assert_eq!(config.cluster.as_str(), "embedded");
    assert!(config.auto_create.is_match("anything.at:all"));
    assert!(config.embedded && config.shards.is_none());
    let layout = config.first_layout();
    assert_eq!((layout.shard_bits(), layout.memory_bits()), (2, 0));
    let places: Vec<Place> = config.shards_of(layout).into_iter().map(|part| part.place).collect();
    assert_eq!(places[3], Place::Sqlite("d/shard-3.db".into()));
    assert_eq!(config.ledger.place, Place::Sqlite("d/ledger.db".into()));
}

#[test]
fn an_empty_file_creates_nothing_by_itself() {
    assert!(!accepted("").auto_create.is_match("order"), "patterns are for the embedded default only");
}

#[test]
fn three_faults_are_three_lines() {
    let found = faults("cluster = \"a b\"\n[ring]\nshard_bits = 11\nslow_afer_ms = 5\n");
    assert_eq!(found.len(), 3, "{found:#?}");
    assert!(found[0].starts_with("cluster is \"a b\": name has ' ' at byte 1"), "{}", found[0]);
    assert_eq!(found[1], "ring.shard_bits is 11: 0 to 10 are allowed");
    let unknown = "ring.slow_afer_ms is unknown: did you mean slow_after_ms? shard_bits, memory_bits, ";
    assert!(found[2].starts_with(unknown), "{}", found[2]);
}

/// Key, a value that is just allowed, and one just beyond; of both ends.
const BOUNDS: [(&str, &str, i64, i64); 34] = [
    ("ring", "shard_bits", 0, -1),
    ("ring", "shard_bits", 10, 11),
    ("ring", "memory_bits", 16, 17),
    ("ring", "slow_after_ms", 1, 0),
    ("ring", "slow_limit", 1, 0),
    ("ring", "slow_limit", 1000, 1001),
    ("ring", "slow_window_s", 1, 0),
    ("ring", "slow_window_s", 3600, 3601),
    ("ring", "attempt_timeout_ms", 60_000, 60_001),
    ("ring", "rescue_after_ms", 10, 9),
    ("ring", "rescue_after_max_s", 1, 0),
    ("ring", "rescue_after_max_s", 86_400, 86_401),
    ("ledger", "outage_s", 1, 0),
    ("ledger", "outage_s", 86_400, 86_401),
    ("reservoir", "reserve_ms", 0, -1),
    ("reservoir", "reserve_ms", 600_000, 600_001),
    ("reservoir", "at_risk_max", 1, 0),
    ("reservoir", "at_risk_max", 1_000_000_000, 1_000_000_001),
    ("reservoir", "servers", 1, 0),
    ("reservoir", "servers", 1000, 1001),
    ("limits", "deadline_ms", 1, 0),
    ("limits", "deadline_ms", 600_000, 600_001),
    ("limits", "max_count", 1, 0),
    ("limits", "max_count", 1_000_000, 1_000_001),
    ("limits", "lease_max_count", 1, 0),
    ("limits", "lease_max_count", 10_000_000, 10_000_001),
    ("limits", "lease_max_age_ms", 100, 99),
    ("limits", "lease_max_age_ms", 600_000, 600_001),
    ("limits", "connections_max", 1_000_000, 1_000_001),
    ("limits", "connections_per_address_max", 1, 0),
    ("limits", "drain_delay_s", 0, -1),
    ("limits", "drain_delay_s", 3600, 3601),
    ("limits", "drain_timeout_s", 0, -1),
    ("limits", "drain_timeout_s", 3600, 3601),
];

#[test]
fn every_bound_is_exact() {
    for (section, key, inside, beyond) in BOUNDS {
        accepted(&format!("[{section}]\n{key} = {inside}\n"));
        let found = faults(&format!("[{section}]\n{key} = {beyond}\n"));
        assert_eq!(found.len(), 1, "{found:#?}");
        assert!(found[0].starts_with(&format!("{section}.{key} is {beyond}: ")), "{}", found[0]);
        assert!(found[0].contains(&inside.to_string()), "the bound is named: {}", found[0]);
    }
}

#[test]
fn what_depends_on_each_other_is_checked_together() {
    let found = faults("[ring]\nslow_after_ms = 2000\nrescue_after_ms = 5000\nrescue_after_max_s = 1\n");
    assert_eq!(
        found,
        [
            "ring.slow_after_ms is 2000: at most attempt_timeout_ms, 1000 ms, is allowed",
            "ring.rescue_after_ms is 5000: at most rescue_after_max_s, 1000 ms, is allowed",
        ]
    );
}

#[test]
fn wrong_types_say_what_was_found() {
    let found = faults(
        "auto_create = 3\nring = 1\nsequence = \"x\"\n[limits]\nmax_count = \"5\"\n[ledger]\nsingle_server = 1\n",
    );
    assert_eq!(found.len(), 5, "{found:#?}");
    for line in [
        "auto_create is 3: a list of texts is expected: [\"a*\", \"b\"]",
        "ring is integer: a table, [ring], is expected",
        "limits.max_count is \"5\": 1 to 1000000 are allowed",
        "ledger.single_server is 1: true and false are allowed",
        "sequence is string: a list, [[sequence]], is expected",
    ] {
        assert!(found.iter().any(|fault| fault == line), "{line}: {found:#?}");
    }
}

#[test]
fn shards_name_their_list_index() {
    let found = faults(
        "[ring]\nshard_bits = 1\n\
         [[shard]]\nslot = 0\nstore = \"sqlite\"\npath = \"a.db\"\n\
         [[shard]]\nslot = 0\nstore = \"sqlite\"\npath = \"x/../a.db\"\n\
         [[shard]]\nstore = \"sqlite\"\n\
         [[shard]]\nslot = 2\nstore = \"memory\"\n\
         [[shard]]\nslot = 1\nstore = \"mongodb\"\nurl = \"mongodb://u@h/d\"\n\
         [[shard]]\nslot = 1\nstore = \"mysql-rows\"\n",
    );
    let has =
        |start: &str| assert!(found.iter().any(|fault| fault.starts_with(start)), "{start}: {found:#?}");
    has("shard[1].slot is 0: shard[0] has the same slot");
    has("shard[1].path is ");
    has("shard[2].slot is missing: 0 to 1023 are allowed");
    has("shard[2].path is missing: ");
    has("shard[3].slot is 2: 0 to 1 are allowed with shard_bits = 1");
    has("shard[3].store is \"memory\": ring.allow_volatile = true is demanded");
    let left_out = usize::from(!cfg!(feature = "full"));
    if left_out == 1 {
        has("shard[4].store is \"mongodb\": not built into this version, sqlite");
    }
    has("shard[5].store is \"mysql-rows\": unknown, sqlite, memory, mysql-auto-increment, ");
    has("ledger.single_server is false: true is demanded where a shard is reached over a network");
    assert_eq!(found.len(), 8 + left_out, "{found:#?}");
}

#[test]
fn one_file_is_one_file_by_whatever_name() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("real.db"), "").unwrap();
    std::os::unix::fs::symlink("real.db", data.join("link.db")).unwrap();
    let shard =
        |slot: u8, path: &str| format!("[[shard]]\nslot = {slot}\nstore = \"sqlite\"\npath = \"{path}\"\n");
    let found = load(folder.path(), &(shard(0, "real.db") + &shard(1, "link.db"))).unwrap_err();
    assert!(found.0[0].bound.starts_with("shard[0].path is the same file"), "{found}");
    let found = load(folder.path(), &(shard(0, "real.db") + "[ledger]\npath = \"./real.db\"\n")).unwrap_err();
    assert!(found.0[0].bound.starts_with("ledger.path is the same file"), "{found}");
}

#[test]
fn sequences_are_checked_field_by_field() {
    let found = faults(
        "[[sequence]]\nname = \"-\"\nversion = 0\n\
         [[sequence]]\nname = \"a\"\nstart = 5\nend = 4\n\
         [[sequence]]\nname = \"b\"\nplacement = \"book\"\n\
         [[sequence]]\nname = \"c\"\nend = 999999\n\
         [[sequence]]\nname = \"d\"\ntemplate = \"@{ctx,store}@{seq,w=8}\"\n\
         [[sequence]]\nname = \"e\"\nfits = \"int16\"\n\
         [[sequence]]\nname = \"f\"\n\
         [[sequence]]\nname = \"f\"\nend = 1000000\n\
         [[sequence]]\nplacement = \"wide\"\n",
    );
    let expected = [
        "sequence[0].name is \"-\": name has '-' at byte 0",
        "sequence[0].version is 0: 1 to 4294967295 are allowed",
        "sequence[1].end is 4: at least start, 5, is allowed",
        "sequence[2].placement is \"book\": book is not built into this version, spread and dense are",
        "sequence[4].template is \"@{ctx,store}@{seq,w=8}\": S1, column 1: ctx store and seq both vary in length",
        "sequence[5].fits is \"int16\": js, int32, uint32 and int64 are allowed",
        "sequence[7].name is \"f\": sequence[6] has the same name",
        "sequence[8].name is missing: ",
        "sequence[8].placement is \"wide\": spread and dense are known",
    ];
    for start in expected {
        assert!(found.iter().any(|fault| fault.starts_with(start)), "{start}: {found:#?}");
    }
    assert_eq!(found.len(), expected.len(), "{found:#?}");
}

/// A ring of which each slot has a table a sequence.
#[cfg(feature = "servers")]
const TABLES: &str = "[ring]\nshard_bits = 1\n[ledger]\nsingle_server = true\n\
    [[shard]]\nslot = 0\nstore = \"mysql-auto-increment\"\nurl = \"mysql://u@h/zero\"\n\
    [[shard]]\nslot = 1\nstore = \"mysql-auto-increment\"\nurl = \"mysql://u@h/one\"\n";

#[cfg(feature = "servers")]
#[test]
fn a_sequence_that_no_slots_store_can_hold_is_told_which_can() {
    let (long, fits) = ("x".repeat(58), "y".repeat(57));
    let sequences = format!("[[sequence]]\nname = \"{long}\"\n[[sequence]]\nname = \"{fits}\"\n");
    let found = faults(&format!("{TABLES}{sequences}"));
    let said = format!(
        "sequence[0].name is \"{long}\": slot 0: key {long} can't be held by mysql-auto-increment, which has a table a \
         key: its table's name would have 65 characters, at most 64 are allowed; mysql-row and mysql-segment can"
    );
    assert_eq!(found, [said]);
    // One slot that can is enough, whatever its kind.
    let with = |kind: &str| format!("{}{sequences}", TABLES.replacen("mysql-auto-increment", kind, 1));
    accepted(&with("mysql-segment"));
    accepted(&with("mysql-row"));
    let url = "mysql-auto-increment\"\nurl = \"mysql://u@h/zero";
    accepted(&format!("{}{sequences}", TABLES.replacen(url, "sqlite\"\npath = \"zero.db", 1)));
}

#[cfg(feature = "servers")]
#[test]
fn tables_with_auto_increment_are_named_adopted_and_kept_as_the_shard_says() {
    let with = |keys: &str| TABLES.replacen("\nurl", &format!("\n{keys}\nurl"), 1);
    accepted(&with("table_name = \"shop.%s_no_%d\"\nadopt_tables = true\nkeep_rows = \"30 days\""));
    for (keys, part) in [
        ("table_name = \"%d_%s\"", "shard[0].table_name is \"%d_%s\": \"%s_code_%d\" is expected"),
        ("keep_rows = \"some\"", "shard[0].keep_rows is \"some\": \"purge\", \"all\" and days"),
        ("adopt_tables = 1", "shard[0].adopt_tables is 1: true and false are allowed"),
    ] {
        let found = faults(&with(keys));
        assert!(found.len() == 1 && found[0].starts_with(part), "{found:#?}");
    }
    for key in ["table_name = \"%s_code_%d\"", "adopt_tables = true", "keep_rows = \"all\""] {
        let found = faults(&with(key).replacen("mysql-auto-increment", "mysql-row", 1));
        let only = "only store = \"mysql-auto-increment\" has such tables";
        assert!(found.len() == 1 && found[0].contains(only), "{found:#?}");
    }
    let twice = faults(&TABLES.replace("h/one", "h/zero"));
    let parts = [
        "shard[1].url",
        "shard[0].url is the same database",
        "one stamp",
        "make another database on that server",
    ];
    assert!(twice.len() == 1 && parts.iter().all(|part| twice[0].contains(part)), "{twice:#?}");
}

#[test]
fn a_flag_wins_over_the_environment_that_over_the_file_that_over_the_default() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sequent.toml");
    fs::write(&file, "[ring]\nslow_limit = 4\nslow_window_s = 50\nmemory_bits = 1\n").unwrap();
    let mut sources = Sources::embedded(folder.path()).file(&file).flag("ring.slow_limit", "6");
    sources.environment.insert("SEQUENT_RING_SLOW_LIMIT".to_owned(), "5".to_owned());
    sources.environment.insert("SEQUENT_RING_SLOW_WINDOW_S".to_owned(), "40".to_owned());
    sources.environment.insert("SEQUENT_AUTO_CREATE".to_owned(), "a*, b".to_owned());
    let config = Config::load(&sources).unwrap();
    assert_eq!((config.ring.slow_limit, config.ring.memory_bits), (6, Some(1)));
    assert!(config.auto_create.is_match("abc") && !config.auto_create.is_match("c"));
    let origin = |key: &str| {
        let shown: Vec<_> = config.shown().iter().filter(|shown| shown.key == key).collect();
        assert_eq!(shown.len(), 1, "{key} is shown once");
        (shown[0].value.as_str(), shown[0].origin.clone())
    };
    assert_eq!(origin("ring.slow_limit"), ("6", Origin::Flag));
    let variable = Origin::Environment("SEQUENT_RING_SLOW_WINDOW_S".to_owned());
    assert_eq!(origin("ring.slow_window_s"), ("40", variable));
    assert_eq!(origin("ring.memory_bits"), ("1", Origin::File));
    assert_eq!(origin("ring.slow_after_ms"), ("200", Origin::Default));
}

#[test]
fn a_flag_takes_a_list_as_the_file_has_it_or_parted_by_commas() {
    let with = |text: &str| Config::load(&Sources::embedded("d").flag("auto_create", text));
    for text in [r#"["order*", "b"]"#, "[ 'order*', \"b\", ]", "order*,b", " order* , b "] {
        let config = with(text).unwrap();
        let is = |name: &str| config.auto_create.is_match(name);
        assert!(is("orders") && is("b") && !is("o") && !is("bb"), "{text}");
        let shown = config.shown().iter().find(|shown| shown.key == "auto_create").unwrap();
        assert_eq!(shown.to_string(), r#"auto_create = ["order*", "b"]  # flag"#, "{text}");
    }
    assert!(!with("[]").unwrap().auto_create.is_match("order"));
    assert!(with("[a-c]*").unwrap().auto_create.is_match("box"), "a class of characters is no list");
    for text in [r#"["order*""#, r#""order*""#, r#"["a", 1]"#, "['a' 'b']"] {
        let refused = with(text).unwrap_err().0;
        let said = refused.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        assert!(said.starts_with("flag: auto_create is ") && said.contains(r#": ["a*", "b"]"#), "{said}");
        assert_eq!(refused.len(), 1, "{said}");
    }
}

#[test]
fn secrets_are_taken_from_the_environment_and_never_shown() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sequent.toml");
    fs::write(&file, "[ledger]\npath = \"${PLACE}/l.db\"\n[[shard]]\nslot = 0\nstore = \"sqlite\"\npath = \"${NOWHERE}\"\n").unwrap();
    let mut sources = Sources::embedded(folder.path()).file(&file);
    sources.environment.insert("PLACE".to_owned(), "/hidden".to_owned());
    let found = Config::load(&sources).unwrap_err();
    assert_eq!(found.0.len(), 1, "{found}");
    let said = "shard[0].path is \"${NOWHERE}\": environment variable NOWHERE is not set";
    assert!(found.0[0].to_string().ends_with(said), "{found}");
    sources.environment.insert("NOWHERE".to_owned(), "s.db".to_owned());
    let config = Config::load(&sources).unwrap();
    assert_eq!(config.ledger.place, Place::Sqlite("/hidden/l.db".into()));
    let shown = config.shown().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    assert!(shown.contains("ledger.path = \"${PLACE}/l.db\"") && !shown.contains("hidden"), "{shown}");
}

#[test]
fn a_password_in_an_address_is_masked_in_faults_and_listings() {
    let found = faults(
        "[ledger]\nstore = \"etcd\"\nurl = \"etcd://u:geheim@h/d\"\npassword_file = \"p\"\nx = \"geheim\"\n",
    );
    assert!(!found.join("\n").contains("geheim"), "{found:#?}");
    assert_eq!(found.len(), 2, "{found:#?}");
}

#[test]
fn listening_places_are_checked_for_the_server() {
    let found = faults("[listen]\ngrpc = \"7420\"\nhttps = \"x\"\n");
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(found[0].starts_with("listen.grpc is \"7420\": an address and port"), "{}", found[0]);
    let trusted = "[listen]\nadmin = \"0.0.0.0:9\"\nplaintext = \"trusted\"\n";
    let config = accepted(&format!("{trusted}[auth]\nmode = \"off\"\n"));
    assert_eq!((config.listen.admin.port(), config.listen.grpc.port()), (9, 7420));
}

/// The file may have been cut before `[auth]`.
#[test]
fn beyond_loopback_everybody_is_let_in_only_where_that_is_written() {
    let trusted = "[listen]\nadmin = \"0.0.0.0:9\"\nplaintext = \"trusted\"\n";
    let found = faults(trusted);
    assert_eq!(found.len(), 1, "{found:#?}");
    for word in ["auth.mode is missing", "[auth] mode = \"off\"", "\"required\""] {
        assert!(found[0].contains(word), "{word}: {}", found[0]);
    }
    accepted("[listen]\nadmin = \"127.0.0.1:9\"\nplaintext = \"trusted\"\n");
}

#[test]
fn names_of_hosts_and_pages_that_fit_too_much_or_nothing_are_refused() {
    let hosts = |host: &str| format!("[listen]\nhosts = [\"{host}\"]\n");
    for host in ["", "*", "*com", "*.", "a.*.svc", "shop.svc:7421", "http://shop.svc", "sh op", "*.*"] {
        let found = faults(&hosts(host));
        let is_named =
            found.first().is_some_and(|fault| fault.starts_with(&format!("listen.hosts is {host:?}: ")));
        assert!(found.len() == 1 && is_named, "{host:?}: {found:#?}");
    }
    for host in ["shop", "*.svc", "sequent-a.shop_1.svc.cluster.local"] {
        accepted(&hosts(host));
    }
    let origins = |origin: &str| format!("[listen]\norigins = [\"{origin}\"]\n");
    for origin in ["", "null", "*", "ops.example", "https://", "https://ops.example/", "https://*.example"] {
        let found = faults(&origins(origin));
        let is_named =
            found.first().is_some_and(|fault| fault.starts_with(&format!("listen.origins is {origin:?}: ")));
        assert!(found.len() == 1 && is_named, "{origin:?}: {found:#?}");
    }
    for origin in ["https://ops.example", "http://10.0.0.7:8080", "https://[::1]:8443"] {
        accepted(&origins(origin));
    }
}

#[test]
fn a_listener_beyond_loopback_needs_tls_or_a_trusted_network() {
    let found = faults("[listen]\ngrpc = \"10.0.0.1:7420\"\nhttp = \"[::1]:7421\"\n");
    // All that is missing is told at once.
    assert!(
        found.len() == 2 && found[1].starts_with("auth.mode is \"off\": on loopback alone"),
        "{found:#?}"
    );
    for word in ["listen.grpc is \"10.0.0.1:7420\"", "tls.mode", "listen.plaintext = \"trusted\""] {
        assert!(found[0].contains(word), "{word}: {}", found[0]);
    }
    let tls = "cert_file = \"a\"\nkey_file = \"/b\"\n";
    for mode in ["allow", "require"] {
        let text = format!("[listen]\ngrpc = \"0.0.0.0:7420\"\n[tls]\nmode = \"{mode}\"\n{tls}");
        let found = faults(&text);
        assert!(
            found.len() == 1 && found[0].starts_with("auth.mode is \"off\": on loopback alone"),
            "{found:#?}"
        );
        let auth = "[auth]\nmode = \"required\"\n[[principal]]\nname = \"a\"\ncert_names = [\"a\"]\n";
        let tls = accepted(&format!("{text}{auth}")).tls;
        assert!(
            tls.cert_file.as_ref().is_some_and(|path| path.ends_with("a") && path != Path::new("a")),
            "{tls:?}"
        );
        assert_eq!(tls.key_file.as_deref(), Some(Path::new("/b")));
    }
}

#[test]
fn names_of_clients_are_matched_by_patterns_that_do_not_stop_at_a_slash() {
    let config = accepted(
        "[tls]\nmode = \"require\"\ncert_file = \"a\"\nkey_file = \"b\"\nclient_auth = \"required\"\nclient_ca_file = \"c\"\n\
         allowed_names = [\"spiffe://prod/ns/shop/*\", \"web.*\"]\n",
    );
    let allowed = config.tls.allowed();
    for (name, is_allowed) in [
        ("spiffe://prod/ns/shop/sa/web", true),
        ("web.shop.internal", true),
        ("spiffe://prod/ns/bank/sa/web", false),
        ("x-web.shop", false),
        ("", false),
    ] {
        assert_eq!(allowed.has(name), is_allowed, "{name}");
    }
}
