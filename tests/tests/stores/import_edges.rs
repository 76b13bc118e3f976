//! Edges of an import: a first number of 0, last numbers, rows of one name, tables of another format, some databases at once.

use sequent_testkit::servers::{MariaDb, Postgres, Redis};

use super::imported::{actions, run, source, starts};
use crate::{
    http::Http,
    load::until,
    place::{Place, Ran},
    server::Server,
};

/// A counter of a report.
fn counter(ran: &Ran, name: &str) -> serde_json::Value {
    let report = ran.json();
    let found = report["counters"].as_array().unwrap().iter().find(|counter| counter["counter"] == name);
    found.unwrap_or_else(|| panic!("{name}: {report}")).clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_number_0_that_both_gave_has_passed() {
    let place = Place::new();
    let file = |next: u64| {
        std::fs::write(place.path("a.csv"), format!("counter,next_number,step\nzero,{next},1\n")).unwrap();
    };
    let verify = || run(&place, &["import", "a.csv", "--verify", "--watch-s", "0", "--json"]);
    file(0);
    run(&place, &["import", "a.csv", "--yes"]).succeeded();
    assert_eq!(counter(&verify().succeeded(), "zero")["standing"], "kept");
    assert_eq!(run(&place, &["next", "zero"]).succeeded().numbers(), [0]);
    for (next, gap) in [(1, 1), (3, 3)] {
        file(next);
        let (ran, found) = (verify(), counter(&verify(), "zero"));
        assert_eq!(
            (ran.code, &found["standing"], &found["gap"]),
            (Some(3), &"passed".into(), &gap.into()),
            "{found}"
        );
    }
    file(1);
    let done = run(&place, &["import", "a.csv", "--yes", "--json"]).succeeded();
    let note = counter(&done, "zero")["note"].to_string();
    assert!(note.contains(": those up to 0 may be the other system's, too"), "{note}");
    verify().succeeded();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sequence_of_postgres_ends_where_it_ended_there() {
    let (db, place) = (Postgres::start().await, Place::new());
    db.sql(
        "CREATE SEQUENCE bounded MAXVALUE 1000000; SELECT nextval('bounded');
         CREATE SEQUENCE short AS integer START 2000000000; CREATE SEQUENCE free;
         CREATE SEQUENCE spent MAXVALUE 2; SELECT nextval('spent'); SELECT nextval('spent');",
    )
    .await;
    let file = source(&place, &db.url());
    let import = ["import", "--source-file", &file, "--yes", "--json"];
    let done = run(&place, &import);
    let of = |name: &str| counter(&done, name);
    let (bounded, short) = (of("bounded"), of("short"));
    assert_eq!((bounded["end"].as_str(), short["end"].as_str()), (Some("1000000"), Some("2147483647")));
    assert!(of("free")["end"].is_null(), "{done:?}");
    let why = of("spent")["note"].to_string();
    assert!(why.contains("its next number is 3, and the other system ends at 2: none is left"), "{why}");
    let listed = run(&place, &["list", "--json"]).succeeded().json();
    let end = |name: &str| {
        let mut sequences = listed["sequences"].as_array().unwrap().iter();
        sequences.find(|sequence| sequence["sequence"] == name).unwrap()["end"].as_str().unwrap().to_owned()
    };
    assert_eq!([end("bounded"), end("short"), end("free")], ["1000000", "2147483647", "9007199254740991"]);
    assert_eq!(actions(&run(&place, &import))["bounded"], "nothing");

    // A document has its end, too. What is there with another end or step is told.
    let document = |end: u64| {
        let text = format!(
            "{{\"_id\": \"doc\", \"start\": 0.0, \"end\": {end}.0, \"step\": 10.0, \"current\": 50.0}}"
        );
        std::fs::write(place.path("m.json"), text).unwrap();
    };
    document(20_000_000);
    run(&place, &["import", "m.json", "--yes"]).succeeded();
    document(10_000_000);
    std::fs::write(place.path("s.csv"), "counter,last_number,step\nfree,20000,10\n").unwrap();
    let shorter = run(&place, &["import", "m.json", "--json"]).succeeded();
    let note = counter(&shorter, "doc")["note"].to_string();
    assert!(note.contains("it ends at 10000000 there, and at 20000000 here"), "{note}");
    let other = run(&place, &["import", "s.csv", "--json"]).succeeded();
    let note = counter(&other, "free")["note"].to_string();
    assert!(note.contains("its step is 10 there, and stays 1 here"), "{note}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_of_another_format_and_rows_of_one_name_are_one_counter() {
    let (db, place) = (MariaDb::start().await, Place::new());
    let table = "(id bigint PRIMARY KEY AUTO_INCREMENT, generate_time datetime)";
    for index in 0..4 {
        db.sql(&format!("CREATE TABLE sto_seq_{index} {table} AUTO_INCREMENT = {}", 100 + index)).await;
    }
    db.sql("CREATE TABLE sequence_value (Name varbinary(50), ID int); INSERT INTO sequence_value VALUES ('dup', 2000), ('dup', 9000)")
        .await;
    let file = source(&place, &db.url());
    let import = ["import", "--source-file", &file, "--table-name", "%s_seq_%d"];
    let done = run(&place, &[&import[..], &["--yes", "--json"]].concat()).succeeded();
    assert_eq!((counter(&done, "sto")["numbering"].as_str(), starts(&place)["dup"]), (Some("encoded"), 9001));
    let note = counter(&done, "dup")["note"].to_string();
    assert!(note.contains("several rows have this name: the highest one counts"), "{note}");
    let shown = run(&Place::new(), &import).succeeded();
    assert!(shown.out.contains("spread encoded"), "{shown:?}");
    let some = [&import[..], &["--table", "sto_seq_0", "--table", "sto_seq_1"]].concat();
    run(&place, &some).refused(1, &["sto_seq_2 is there, too, and has numbers of the same sequence"]);
    let mapped = [&import[..], &["--map", "sto=order", "--map", "stp=bill"]].concat();
    run(&place, &mapped).refused(2, &["map is stp=bill", "none of those found is it"]);
    run(&place, &["import", "--source-file", &file, "--table-name", "%s_sec_%d"])
        .refused(2, &["table_name is %s_sec_%d", "no table that was found has such a name"]);
    run(&place, &["import", "--source-file", &file, "--table-name", "%s"])
        .refused(2, &["--table-name", "%d"]);
    run(&place, &["import", "--source-file", &file, "--table-name", "a.%s_%d"])
        .refused(2, &["--table-name", "the source names the database"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_one_of_the_databases_has_is_enough() {
    let (db, place) = (MariaDb::start().await, Place::new());
    let table = "(id bigint PRIMARY KEY AUTO_INCREMENT, generate_time datetime)";
    db.sql(&format!(
        "CREATE DATABASE a; CREATE DATABASE b; CREATE TABLE a.sto_code_0 {table}; CREATE TABLE b.sto_code_1 {table};
         CREATE TABLE b.odd_code_1 {table};"
    ))
    .await;
    let [a, b] = ["a", "b"].map(|name| format!("mysql://root@{}/{name}", db.address()));
    let import = ["import", &a, &b, "--tables", "2", "--table", "sto_code_0", "--table", "sto_code_1"];
    let plan = run(&place, &[&import[..], &["--json"]].concat()).succeeded();
    assert_eq!(actions(&plan).into_iter().collect::<Vec<_>>(), [("sto".to_owned(), "define".to_owned())]);
    let missing = run(&place, &[&import[..], &["--table", "sto_code_2"]].concat());
    missing.refused(1, &["table is \"sto_code_2\"", "/a, mysql://", "/b"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_that_leaves_no_room_for_first_uses_says_so() {
    let place = Place::new();
    std::fs::write(place.path("a.csv"), "counter,last_number,step\na,1,1\nb,1,1\nc,1,1\n").unwrap();
    let ran = |most: &str| {
        run(&place, &["import", "a.csv", "--set", &format!("limits.auto_create_max={most}")]).succeeded().err
    };
    let said = "3 sequences are in use then: first uses define none beyond 3, limits.auto_create_max";
    assert!(ran("3").contains(said));
    assert!(!ran("4").contains("first uses"));
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_that_differ_by_capitals_or_have_other_columns_are_all_read() {
    let (db, place) = (MariaDb::start().await, Place::new());
    let others = [
        ", generate_time datetime",
        ", generate_time datetime",
        ", generate_time datetime, src int",
        ", created int",
    ];
    for (index, more) in others.iter().enumerate() {
        let columns = format!("(id bigint PRIMARY KEY AUTO_INCREMENT{more})");
        db.sql(&format!("CREATE TABLE sto_code_{index} {columns} AUTO_INCREMENT = {}", 100 + index)).await;
    }
    db.sql(
        "CREATE TABLE cosid (name varchar(100), last_max_id bigint); INSERT INTO cosid VALUES ('low', 6);
         CREATE TABLE CosId (name varchar(100), last_max_id bigint); INSERT INTO CosId VALUES ('other', 7);
         CREATE TABLE orders (id bigint PRIMARY KEY AUTO_INCREMENT, generate_time datetime, total int);
         CREATE TABLE odd_code_0 (id bigint PRIMARY KEY AUTO_INCREMENT, generate_time datetime);
         CREATE TABLE odd_code_1 (id bigint PRIMARY KEY, generate_time datetime);",
    )
    .await;
    let file = source(&place, &db.url());
    let done = run(&place, &["import", "--source-file", &file, "--yes", "--json"]);
    assert_eq!(
        (done.code, counter(&done, "sto")["to"].clone()),
        (Some(3), ((102 << 2) | 3).to_string().into())
    );
    let why = counter(&done, "odd")["note"].to_string();
    assert!(why.contains("table odd_code_1 has no column that counts by itself"), "{why}");
    let starts = starts(&place);
    assert_eq!((starts["low"], starts["other"]), (7, 8));
    assert!(!starts.contains_key("orders"), "rows of orders are no numbers: {starts:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_in_short_floats_are_refused() {
    let (mysql, postgres, place) = (MariaDb::start().await, Postgres::start().await, Place::new());
    let table = |float: &str| {
        format!(
            "CREATE TABLE cosid (name varchar(100), last_max_id {float}); INSERT INTO cosid VALUES ('short', 1234564)"
        )
    };
    mysql.sql(&table("float")).await;
    postgres.sql(&table("real")).await;
    for (url, word) in [(mysql.url(), "(float)"), (postgres.url(), "(real)")] {
        let file = source(&place, &url);
        let why =
            counter(&run(&place, &["import", "--source-file", &file, "--json"]), "short")["note"].to_string();
        assert!(why.contains(word) && why.contains("a whole number is expected"), "{why}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_is_refused() {
    let (primary, replica, place) = (Redis::start().await, Redis::start().await, Place::new());
    primary.ask(&["SET", "order", "41"]).await;
    let address = primary.address();
    replica.ask(&["REPLICAOF", &address.ip().to_string(), &address.port().to_string()]).await;
    let import = |server: &Redis| {
        let file = source(&place, &server.url());
        run(&place, &["import", "--source-file", &file])
    };
    import(&replica).refused(1, &["the server is a replica, whose counters may be behind: name the primary"]);
    import(&primary).succeeded();

    let primary = Postgres::start().await;
    let standby = Postgres::standby(primary.address()).await;
    let file = source(&place, &standby.url());
    run(&place, &["import", "--source-file", &file]).refused(1, &["the server is a replica"]);
}

/// Servers report what they gave later than they give it, and a killed one never does.
#[tokio::test(flavor = "multi_thread")]
async fn there_is_no_room_in_numbers_that_a_sequence_may_have_given() {
    let place = Place::new();
    let mut server = Server::start("auto_create = [\"used\"]\n");
    let mut http = Http::connect(server.http()).await.unwrap();
    let mut given = 0;
    while given < 1000 {
        given = http.next_of("used", 20).await.unwrap().into_iter().max().unwrap().max(given);
    }
    std::fs::write(place.path("u.csv"), "counter,last_number,step\nused,500,1\n").unwrap();
    let file = place.path("u.csv").display().to_string();
    let import = ["import", &file, "--ahead", "1000", "--yes", "--json"];
    server.kill();
    server.restart();
    let refused = server.operate(&import);
    assert_eq!(refused.code, Some(3), "{refused:?}");
    let note = counter(&refused, "used")["note"].to_string();
    assert!(note.contains("the next of the other system is 501: there is no room for it"), "{note}");
    let done = server.operate(&["import", &file, "--yes", "--json"]).succeeded();
    let note = counter(&done, "used")["note"].to_string();
    assert!(note.contains(": those up to 500 may be the other system's, too"), "{note}");
}

/// The fields of a hash may be bytes.
#[tokio::test(flavor = "multi_thread")]
async fn a_hash_of_bytes_is_passed_over_by_its_name() {
    let (redis, place) = (Redis::start().await, Place::new());
    redis.ask(&["SET", "seq:a", "10"]).await;
    redis.ask(&["EVAL", "return redis.call('HSET', KEYS[1], '\\255', '\\254')", "1", "session:1"]).await;
    let file = source(&place, &redis.url());
    let done = run(&place, &["import", "--source-file", &file, "--yes", "--json"]).succeeded();
    assert_eq!((actions(&done).len(), starts(&place)["seq:a"]), (1, 11));
    let ran = run(&place, &["import", "--source-file", &file, "--pattern", "*", "--json"]);
    let note = counter(&ran, "session:1")["note"].to_string();
    assert!(ran.code == Some(3) && note.contains("it is a hash with"), "{ran:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_primary_of_a_redis_cluster_is_read() {
    let place = Place::new();
    let bus = [(); 3].map(|()| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    let bus = bus.map(|socket| socket.local_addr().unwrap().port().to_string());
    let mut nodes = Vec::new();
    for port in &bus {
        nodes.push(Redis::start_with(&[("cluster-enabled", "yes"), ("cluster-port", port)]).await);
    }
    for (node, slots) in nodes.iter().zip([["0", "5460"], ["5461", "10922"], ["10923", "16383"]]) {
        node.ask(&["CLUSTER", "ADDSLOTSRANGE", slots[0], slots[1]]).await;
    }
    let file = source(&place, &nodes[0].url());
    let import = ["import", "--source-file", &file, "--pattern", "seq:*", "--yes", "--json"];
    let ran = run(&place, &import);
    assert!(ran.code != Some(0) && ran.err.contains("serves 5461 of 16384 slots"), "{ran:?}");
    for (node, bus) in nodes[1..].iter().zip(&bus[1..]) {
        nodes[0].ask(&["CLUSTER", "MEET", "127.0.0.1", &node.port().to_string(), bus]).await;
    }
    for node in &nodes {
        until("the cluster is whole", async || {
            node.ask(&["CLUSTER", "INFO"]).await.contains("cluster_state:ok")
        })
        .await;
    }
    for at in 0..20 {
        let (name, value) = (format!("seq:{at}"), (100 + at).to_string());
        let mut set = false;
        for node in &nodes {
            set |= node.try_ask(&["SET", &name, &value]).await.is_ok();
        }
        assert!(set, "no node has {name}");
    }
    run(&place, &import).succeeded();
    let starts = starts(&place);
    assert!((0..20).all(|at| starts[&format!("seq:{at}")] == 101 + at), "{starts:?}");
}
