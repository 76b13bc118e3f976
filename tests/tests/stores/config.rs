//! Tables that name servers: each key, its default and bound, and no secret in any fault.

use sequent_engine::config::{Config, Fault, Faults, Place, ServerPlace, Sources, Tls};

fn load(text: &str) -> Result<Config, Faults> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sequent.toml");
    std::fs::write(&file, text).unwrap();
    Config::load(&Sources::embedded("/d").file(&file))
}

fn faults(text: &str) -> Vec<String> {
    load(text).unwrap_err().0.into_iter().map(without_place).collect()
}

fn without_place(fault: Fault) -> String {
    Fault { at: String::new(), ..fault }.to_string()
}

const LEDGER: &str = "[ledger]\nstore = \"mysql\"\nurl = \"mysql://u@l/d\"\n";

fn shard(slot: u8, store: &str, more: &str) -> String {
    format!("[[shard]]\nslot = {slot}\nstore = \"{store}\"\n{more}\n")
}

fn server(config: &Config, at: usize) -> ServerPlace {
    match &config.shards.as_ref().unwrap()[at].place {
        Place::Server(server) => (**server).clone(),
        other => panic!("{other}"),
    }
}

#[test]
fn what_nobody_says_has_its_default() {
    let text = shard(0, "mysql-row", "url = \"mysql://u:geheim@h/d\"")
        + &shard(1, "postgres-row", "url = \"postgres://u@h/d\"\npassword_file = \"p\"")
        + LEDGER;
    let config = load(&text).unwrap();
    let (mysql, postgres) = (server(&config, 0), server(&config, 1));
    assert_eq!(
        (mysql.options.tls, mysql.options.connections_max, mysql.options.keep_alive.as_secs()),
        (Tls::Off, 16, 15)
    );
    assert_eq!(
        (postgres.options.tls, postgres.options.connections_max, postgres.options.keep_alive.as_secs()),
        (Tls::Prefer, 4, 5)
    );
    assert_eq!(
        (mysql.options.connect_timeout.as_millis(), postgres.options.connect_timeout.as_millis()),
        (800, 800)
    );
    assert_eq!(postgres.options.password_file.unwrap().to_str(), Some("/d/p"), "under the data directory");
    let printed = format!("{config:?} {:?} {mysql}", config.shown());
    assert!(printed.contains("mysql://u@h:3306/d") && !printed.contains("geheim"), "{printed}");
    let shown: Vec<String> = config.shown().iter().map(ToString::to_string).collect();
    for line in ["shard[0].url = \"mysql://u:***@h/d\"  # file", "shard[0].tls = \"off\"  # default"] {
        assert!(shown.iter().any(|shown| shown == line), "{line}: {shown:#?}");
    }
}

#[test]
fn every_bound_is_exact() {
    for (store, url, key, inside, beyond) in [
        ("mysql-row", "mysql", "connections_max", 1, 0),
        ("mysql-row", "mysql", "connections_max", 256, 257),
        ("postgres-row", "postgres", "connections_max", 64, 65),
        ("mysql-segment", "mysql", "keep_alive_s", 1, 0),
        ("postgres-row", "postgres", "keep_alive_s", 3600, 3601),
        ("mysql-auto-increment", "mysql", "connect_timeout_ms", 10, 9),
        ("mysql-row", "mysql", "connect_timeout_ms", 1000, 1001),
        ("redis", "redis", "keep_alive_s", 3600, 3601),
        ("redis", "redis", "connections_max", 256, 257),
    ] {
        let database = if store == "redis" { "0" } else { "d" };
        let line = format!("url = \"{url}://u@h/{database}\"");
        let text = |value| shard(0, store, &format!("{line}\n{key} = {value}")) + LEDGER;
        load(&text(inside)).unwrap();
        let found = faults(&text(beyond));
        assert_eq!(found.len(), 1, "{found:#?}");
        assert!(found[0].starts_with(&format!("shard[0].{key} is {beyond}: ")), "{}", found[0]);
        assert!(found[0].contains(&inside.to_string()), "the bound is named: {}", found[0]);
    }
}

#[test]
fn a_url_at_fault_is_named_and_its_secret_is_not() {
    for (store, url) in [
        ("mysql-row", "\"postgres://u:geheim@h/d\""),
        ("mysql-row", "\"mysql://u:geheim@h\""),
        ("mysql-row", "\"mysql://u:geheim@h/d?ssl=geheim\""),
        ("mysql-row", "\"mysql://u:geheim@${NOWHERE}/d\""),
        ("mysql-row", "[\"mysql://u:geheim@h/d\"]"),
        ("postgres-row", "\"postgres://u:geheim@h:0/d\""),
        ("postgres-row", "\"geheim\""),
        ("postgres-row", "\"postgres://u:gehei%6\""),
        ("redis", "\"rediss://u:geheim@h\""),
        ("redis", "\"redis://u:geheim@h/x\""),
        ("memcached", "\"memcached://u:geheim@h/1\""),
    ] {
        let found = faults(&(shard(0, store, &format!("url = {url}")) + LEDGER));
        assert!(found.len() == 1 && found[0].starts_with("shard[0].url is "), "{url}: {found:#?}");
        assert!(!found[0].contains("gehei"), "{url}: {}", found[0]);
    }
}

#[test]
fn two_counters_on_one_database_are_refused_where_it_can_be_seen() {
    let same = |one: &str, other: &str| {
        let text = shard(0, "mysql-row", &format!("url = \"mysql://a@{one}\""))
            + &shard(1, "mysql-segment", &format!("url = \"mysql://b@{other}\""))
            + LEDGER;
        load(&text).err().map(|found| found.0.into_iter().map(without_place).collect::<Vec<_>>())
    };
    let found = same("DB.example/d", "db.example.:3306/d").unwrap();
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(
        found[0]
            .starts_with("shard[1].url is mysql://b@db.example.:3306/d: shard[0].url is the same database")
    );
    assert!(same("localhost/d", "127.0.0.1/d").is_some() && same("l:3306/d", "h/d").is_some());
    assert_eq!((same("h/d", "h/e"), same("h:1/d", "h:2/d"), same("h/d", "g/d")), (None, None, None));
    let volatile = |slot, store: &str, url: &str| shard(slot, store, &format!("url = \"{url}\""));
    let redis = |one, other| volatile(0, "redis", one) + &volatile(1, "redis", other) + LEDGER;
    load(&redis("redis://h/0", "redis://h/1")).unwrap();
    for (one, other) in [("redis://h", "valkey://a@h:6379/0"), ("redis://localhost", "redis://[::1]/0")] {
        let found = faults(&redis(one, other));
        assert!(found.len() == 1 && found[0].starts_with("shard[1].url is "), "{found:#?}");
    }
    let row = |slot, schema| shard(slot, "postgres-row", &format!("url = \"postgres://u@h/d\"{schema}"));
    load(&(row(0, "") + &row(1, "\nschema = \"b\"") + LEDGER)).unwrap();
    let found = faults(&(row(0, "") + &row(1, "\nschema = \"sequent_store\"") + LEDGER));
    assert!(found.len() == 1 && found[0].starts_with("shard[1].url is "), "{found:#?}");
}

#[test]
fn what_does_not_go_together_is_refused() {
    let row = |more: &str| shard(0, "mysql-row", &format!("url = \"mysql://u:geheim@h/d\"\n{more}"));
    let cache = |more: &str| shard(0, "memcached", &format!("url = \"memcached://h\"\n{more}"));
    for (text, start) in [
        (row(""), "ledger.single_server is false: true is demanded where a shard is reached over a network"),
        (
            row("[ledger]\nstore = \"memory\"\n[ring]\nallow_volatile = true"),
            "ledger.single_server is false: ",
        ),
        (
            shard(0, "redis", "url = \"redis://h\"") + "[ledger]\nstore = \"memory\"\nsingle_server = true",
            "ledger.store is \"memory\": ring.allow_volatile = true is demanded for what is lost with its process",
        ),
        (
            row("password_file = \"p\"") + LEDGER,
            "shard[0].password_file is there: the url holds a password too",
        ),
        (
            row("tls = \"require\"") + LEDGER,
            "shard[0].tls is \"require\": \"off\", \"prefer\", \"verify\" are allowed",
        ),
        (
            row("tls_ca_file = \"ca\"") + LEDGER,
            "shard[0].tls_ca_file is there: tls = \"prefer\" or \"verify\" looks",
        ),
        (row("schema = \"s\"") + LEDGER, "shard[0].schema is there: this kind of store has no such key"),
        (cache("tls = \"verify\"") + LEDGER, "shard[0].tls is there: this kind"),
        (cache("keep_alive_s = 5") + LEDGER, "shard[0].keep_alive_s is there: this kind"),
        (cache("connections_max = 65") + LEDGER, "shard[0].connections_max is 65: "),
        (
            row("connect_timeout_ms = 900\n[ring]\nattempt_timeout_ms = 500") + LEDGER,
            "shard[0].connect_timeout_ms is 900: at most ring.",
        ),
        (
            shard(0, "mysql-row", "") + LEDGER,
            "shard[0].url is missing: mysql://user@host:3306/database is expected",
        ),
    ] {
        let found = faults(&text);
        assert!(found.len() == 1 && found[0].starts_with(start), "{start}: {found:#?}");
    }
    load(&row("[ledger]\nsingle_server = true")).unwrap();
    let quick = load(&(row("[ring]\nattempt_timeout_ms = 500") + LEDGER)).unwrap();
    assert_eq!(server(&quick, 0).options.connect_timeout.as_millis(), 500, "what nobody said is no fault");
}

fn etcd(more: &str) -> String {
    shard(0, "mysql-row", "url = \"mysql://u@h/d\"") + &format!("[ledger]\nstore = \"etcd\"\n{more}\n")
}

#[test]
fn a_ledger_on_etcd_has_members_a_user_and_papers() {
    let more = "url = \"https://u:geheim@a,https://b:80/shop-eu\"\ntls_ca_file = \"ca\"\n\
        tls_cert_file = \"own\"\ntls_key_file = \"key\"\nconnections_max = 16";
    let config = load(&etcd(more)).unwrap();
    let Place::Server(server) = config.ledger.place.clone() else { panic!("{:?}", config.ledger.place) };
    assert_eq!(server.to_string(), "https://u@a:2379,https://b:80/shop-eu");
    let papers = [server.options.tls_ca_file, server.options.tls_cert_file, server.options.tls_key_file];
    let papers = papers.map(|file| file.unwrap().display().to_string());
    assert_eq!((server.options.tls, papers), (Tls::Verify, ["/d/ca", "/d/own", "/d/key"].map(str::to_owned)));
    let printed = format!("{config:?} {:?}", config.shown());
    assert!(!printed.contains("geheim"), "{printed}");
    for (more, start) in [
        ("", "ledger.url is missing: http://user@host:2379"),
        ("url = \"etcd://u:geheim@h\"", "ledger.url is "),
        ("url = \"http://a/x,http://u:geheim@b/y\"", "ledger.url is "),
        ("url = \"http://u:geheim@a\"\npassword_file = \"p\"", "ledger.password_file is there: "),
        ("url = \"http://a\"\ntls_ca_file = \"p\"", "ledger.tls_ca_file is there: https:// in the url"),
        ("url = \"https://a\"\ntls_key_file = \"p\"", "ledger.tls_cert_file is missing: "),
        ("url = \"http://a\"\nconnections_max = 17", "ledger.connections_max is 17: "),
        ("url = \"http://a\"\ntls = \"off\"", "ledger.tls is there: this kind"),
    ] {
        let found = faults(&etcd(more));
        assert!(found.len() == 1 && found[0].starts_with(start), "{more}: {found:#?}");
        assert!(!found[0].contains("geheim"), "{}", found[0]);
    }
}
