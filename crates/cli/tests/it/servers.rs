//! Commands that ask a server: named, or found at work on the data directory.

use crate::{
    place::{PATIENT, Place},
    running::{FREE, Running},
};

fn serve(place: &Place) -> Running {
    Running::start(place, &[&["serve"], &FREE[..], &PATIENT].concat())
}

/// Requests for numbers at a server's gRPC API.
fn asked(server: &Running) -> f64 {
    server.metric("sequent_requests_total", "api=\"grpc\"")
}

#[test]
fn a_server_at_work_on_the_directory_is_found_and_asked() {
    let place = Place::with_cluster();
    let server = serve(&place);
    assert_eq!(place.numbers(&["next", "order", "-n", "3"]), [6, 7, 8]);
    assert!(asked(&server) >= 1.0, "the numbers came from the files");
    let before = asked(&server);
    assert_eq!(place.numbers(&["next", "order", "--in-process"]).len(), 1);
    assert!((asked(&server) - before).abs() < 0.5, "--in-process asked the server");
    let (code, err) = server.end();
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(place.numbers(&["next", "order"]).len(), 1);
}

#[test]
fn a_server_that_was_killed_is_not_found() {
    let place = Place::with_cluster();
    let mut server = serve(&place);
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    assert_eq!(place.numbers(&["next", "order"]).len(), 1);
}

#[test]
fn a_server_is_named_by_flag_or_environment_and_no_files_are_made() {
    let (place, far) = (Place::new(), Place::new());
    let server = Running::start(&far, &["dev", "--json"]);
    let url = format!("http://{}", server.grpc);
    let ran = place.run(&["next", "order", "-n", "2", "--server", &url, "--json"]);
    assert_eq!(ran.as_json()["numbers"], serde_json::json!(["1", "2"]), "{ran:?}");
    assert_eq!(ran.as_json()["version"], 1);
    let mut command = place.command(&["next", "order"]);
    let out = command.env("SEQUENT_SERVER", &url).output().unwrap();
    assert_eq!(String::from_utf8(out.stdout).unwrap(), "3\n");
    assert!(!place.path("sequent-data").exists(), "a cluster was made though a server was named");
}

#[test]
fn what_a_server_refuses_is_said_as_at_every_door() {
    let place = Place::new();
    let server = Running::start(&place, &["dev", "--json"]);
    let url = format!("http://{}", server.grpc);
    let ran = place.run(&["next", "order", "-n", "10001", "--server", &url, "--json"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let said: serde_json::Value = serde_json::from_str(&ran.err).unwrap();
    assert_eq!(said["reason"], "INVALID_ARGUMENT");
    assert_eq!(said["errors"][0]["field"], "count");
    assert_eq!(said["errors"][0]["value"], "10001");
    let unknown = ["1 to the servers' limits.max_count (10000 by default) are allowed"];
    for count in ["0", "-1", "4294967296", "x"] {
        place.run(&["next", "order", "-n", count, "--server", &url]).refused(2, &unknown);
    }
    assert_eq!(place.run(&["next", "order", "--server", &url]).out, "1\n", "the refusals consumed numbers");
    let ran = place.run(&["next", "order", "--server", "ftp://x"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:?}");
}

#[test]
fn no_server_that_answers_is_an_error_to_try_again() {
    let place = Place::new();
    let ran = place.run(&["next", "order", "--server", "http://127.0.0.1:1"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(4), ""), "{ran:?}");
    assert!(ran.err.contains("SERVER_UNAVAILABLE") && ran.err.contains("127.0.0.1:1"), "{}", ran.err);
}

#[test]
fn a_bench_of_a_server_checks_every_number() {
    let place = Place::new();
    let server = Running::start(&place, &["dev", "--json"]);
    let url = format!("http://{}", server.grpc);
    let args = ["bench", "order", "--server", &url, "--count", "500", "--json"];
    let ran = place.run(&args);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let result = ran.as_json();
    assert_eq!((&result["numbers"], &result["duplicates"]), (&500.into(), &0.into()), "{result}");
    let args = ["bench", "order", "--server", &url, "--batch", "7", "--count", "10", "--json"];
    assert_eq!(place.run(&args).as_json()["numbers"], 70);
}

#[test]
fn every_command_that_a_server_can_answer_asks_the_one_of_the_environment() {
    let (place, far) = (Place::new(), Place::new());
    let servers = ["--set", "reservoir.servers=3"];
    let server =
        Running::start(&far, &[&["dev", "--json", "--set", "limits.define=true"], &servers[..]].concat());
    let url = format!("http://{}", server.grpc);
    let asked = |args: &[&str]| -> crate::place::Ran {
        place.command(args).env("SEQUENT_SERVER", &url).output().unwrap().into()
    };
    let text = |args: &[&str]| {
        let ran = asked(args);
        assert_eq!(ran.code, Some(0), "{args:?}: {ran:?}");
        ran.out
    };
    let template = "SN-@{seq,w=4,id=s}-@{check,damm,over=s}";
    let said = text(&["define", "part", "--template", template]);
    assert!(said.starts_with("part version 1 is in force") && said.contains("\nspread     "), "{said}");
    assert_eq!(
        said,
        far.text(&[&["define", "there", "--template", template], &servers[..]].concat())
            .replace("there", "part"),
        "word for word"
    );
    let options = ["--numbering", "encoded", "--reserve-ms", "0", "--at-risk-max", "64"];
    let encoded = text(&[&["define", "sto"][..], &options].concat());
    assert!(encoded.contains(r#""numbering":"encoded","reserve_ms":0,"at_risk_max":64"#), "{encoded}");
    assert!(text(&[&["define", "sto"][..], &options].concat()).contains("was in force"), "the same content");
    let here = far.text(&[&["define", "sto"][..], &options, &servers].concat());
    assert_eq!(here, encoded, "word for word");
    asked(&["define", "y", "--numbering", "encoded", "--start", "4"]).refused(2, &["start", "leave it out"]);
    assert!(text(&["define", "zero", "--start", "0"]).contains(r#""start":0"#));
    assert_eq!(text(&["next", "zero"]), "0\n");
    let bounded = "@{ctx,area,len=3}S@{seq,w=6,over=error}";
    let sum = |said: String| said.lines().skip(2).flat_map(|line| [line, "\n"]).collect::<String>();
    assert_eq!(text(&["preview", template, "--capacity"]), sum(said), "an unbounded one");
    for (name, more) in [("few", &[][..]), ("some", &["--placement", "spread"])] {
        let defined = text(&[&["define", name, "--template", bounded], more].concat());
        let told = text(&["preview", bounded, "--capacity"]);
        assert_eq!(told, sum(defined), "no value is needed");
        assert!(told.contains(" for each of 3 servers, "), "{told}");
        assert_eq!(
            told,
            place.text(&[&["preview", bounded, "--capacity"], &servers[..]].concat()),
            "no server"
        );
    }
    let json = asked(&["preview", bounded, "--with", "area=010", "--json"]).as_json();
    assert_eq!((&json["text"], &json["capacity"]["servers"]), (&"010S000001".into(), &3.into()), "{json}");
    assert_eq!(json["capacity"], asked(&["preview", bounded, "--capacity", "--json"]).as_json());
    assert!(text(&["preview", bounded, "--capacity", "--servers", "9"]).contains("for each of 9 servers"));
    asked(&["preview", "@{sqe}", "--capacity"]).refused(2, &["template", "seq"]);
    assert_eq!(text(&["next", "part"]), "SN-0001-3\n");
    assert!(text(&["list"]).contains(template));
    assert!(text(&["show", "part"]).contains("definition  "));
    assert!(text(&["parse", "part", "SN-0001-3"]).starts_with("number  1\n"));
    asked(&["parse", "part", "SN-0001-4"]).refused(2, &["check damm is '4'"]);
    asked(&["show", "other"]).refused(1, &["SEQUENCE_NOT_FOUND"]);
    for args in [
        &["explain", "part", "SN-0001-3"][..],
        &["advance", "part", "9"],
        &["doctor"],
        &["shards"],
        &["evict", "1", "--why", "x"],
        &["recover", "--moved"],
        &["resize", "--shard-bits", "3"],
    ] {
        asked(args).refused(2, &["SEQUENT_SERVER is ", args[0], "--data or --config"]);
    }
    assert!(!place.path("sequent-data").exists(), "a cluster was made though a server was named");
}
