//! Texts: the examples of the page for users through `preview`, `parse` and a live server, each with its stated date.

use std::fmt::Write as _;

use serde_json::json;

use crate::{
    place::Place,
    running::{FREE, Running, post, put},
};

const PAGE: &str = include_str!("../../../format/templates.md");

/// A row of the page.
struct Example {
    row: u32,
    template: String,
    text: String,
    at: String,
    zone: String,
    number: String,
    unique: Option<String>,
    maxlen: Option<String>,
    with: Vec<String>,
}

impl Example {
    /// A row's example; none of row 20, whose key stands in no configuration.
    fn read(line: &str) -> Option<Self> {
        let row = line.strip_prefix("| ")?.split(' ').next()?.parse::<u32>().ok()?;
        let code: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
        let [template, given, text] = code.try_into().ok()?;
        let mut example = Self {
            row,
            template: template.to_owned(),
            text: text.to_owned(),
            at: "2026-06-15".to_owned(),
            zone: "Asia/Shanghai".to_owned(),
            number: String::new(),
            unique: None,
            maxlen: None,
            with: Vec::new(),
        };
        for pair in given.split(' ') {
            match pair.split_once('=').unwrap() {
                ("key", _) => return None,
                ("n", number) => number.clone_into(&mut example.number),
                ("at", at) => at.clone_into(&mut example.at),
                ("zone", zone) => zone.clone_into(&mut example.zone),
                ("unique", unique) => example.unique = Some(unique.to_owned()),
                ("maxlen", maxlen) => example.maxlen = Some(maxlen.to_owned()),
                _ => example.with.push(pair.to_owned()),
            }
        }
        Some(example)
    }

    fn all() -> Vec<Self> {
        let all: Vec<Self> = PAGE.lines().filter_map(Self::read).collect();
        assert_eq!(all.len(), 22, "23 rows without the one whose key is a sample");
        all
    }

    fn around(&self) -> Vec<&str> {
        let mut args = vec!["--zone", &self.zone];
        args.extend(self.unique.iter().flat_map(|unique| ["--unique", unique]));
        args.extend(self.maxlen.iter().flat_map(|maxlen| ["--maxlen", maxlen]));
        args
    }

    fn request(&self) -> Vec<&str> {
        let mut args = vec!["--at", self.at.as_str()];
        args.extend(self.with.iter().flat_map(|pair| ["--with", pair]));
        args
    }

    /// A definition whose first number is the example's.
    fn definition(&self) -> String {
        let mut text =
            format!("[[sequence]]\nname = \"row{}\"\ntemplate = '''{}'''\n", self.row, self.template);
        // In row 19 the number has begun again: the first one of the round has its text, too.
        let start = if self.row == 19 { "1" } else { &self.number };
        write!(text, "zone = \"{}\"\nstart = {start}\nwindow_s = 10000000000\n", self.zone).unwrap();
        text.extend(self.unique.iter().map(|unique| format!("unique = \"{unique}\"\n")));
        text.extend(self.maxlen.iter().map(|maxlen| format!("maxlen = {maxlen}\n")));
        text
    }
}

#[test]
fn every_example_is_previewed_and_parsed_back_without_a_cluster() {
    let place = Place::new();
    for example in Example::all() {
        let number = ["preview", &example.template, "--number", &example.number];
        let text = place.text(&[&number[..], &example.around(), &example.request()].concat());
        assert_eq!(text.trim_end(), example.text, "row {}", example.row);
        let parsed = place
            .json(&[&["parse", &example.template, &example.text, "--json"][..], &example.around()].concat());
        // In row 19 the number has begun again: a text tells its first round.
        let number = if example.row == 19 { "1" } else { &example.number };
        assert_eq!(parsed["number"], number, "row {}: {parsed}", example.row);
    }
    assert!(!place.path("sequent-data").exists(), "nothing was touched");
}

#[test]
fn every_example_comes_out_of_a_live_server_with_its_date() {
    let place = Place::new();
    let examples = Example::all();
    let text: String = examples.iter().map(Example::definition).collect();
    place.write("texts.toml", &text);
    let server = Running::start(&place, &[&["serve", "--config", "texts.toml"], &FREE[..]].concat());
    let url = format!("http://{}", server.grpc);
    for example in &examples {
        let name = format!("row{}", example.row);
        let ran = place.text(&[&["next", name.as_str(), "--server", &url][..], &example.request()].concat());
        assert_eq!(ran.trim_end(), example.text, "row {}", example.row);
    }
    let body = json!({"count": 2, "values": {}, "at": "2017-03-04T09:00:00+08:00"});
    let answer = post(&server.http, "/v1/sequences/row1/next", &body);
    let expected = json!({
        "sequence": "row1", "numbers": ["2", "3"], "texts": ["2017030400002", "2017030400003"],
        "period": "20170304", "at": "2017-03-04T09:00:00+08:00", "version": 1
    });
    assert_eq!(answer, expected);
    let (code, err) = server.end();
    assert_eq!(code, Some(0), "{err}");
}

#[test]
fn every_example_can_be_tried_on_a_dev_server_and_so_can_dense_ones() {
    let place = Place::new();
    let examples = Example::all();
    let text: String = examples.iter().map(Example::definition).collect();
    let dense = "[[sequence]]\nname = \"few\"\ntemplate = 'F@{seq,w=4,over=error}'\n\
                 [[sequence]]\nname = \"gapless\"\nplacement = \"dense\"\n";
    place.write("texts.toml", &(text + dense));
    let args = ["dev", "--json", "--config", "texts.toml", "--set", "limits.define=true"];
    let server = Running::start(&place, &args);
    for example in &examples {
        let with: serde_json::Map<String, serde_json::Value> = example
            .with
            .iter()
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (name.to_owned(), json!(value)))
            .collect();
        let path = format!("/v1/sequences/row{}/next", example.row);
        let answer = post(&server.http, &path, &json!({"values": with, "at": example.at}));
        assert_eq!(answer["texts"], json!([example.text]), "row {}", example.row);
    }
    every_rule_refuses_its_line(&server.http);
    assert_eq!(post(&server.http, "/v1/sequences/few/next", &json!({}))["texts"], json!(["F0001"]));
    assert_eq!(post(&server.http, "/v1/sequences/gapless/next", &json!({}))["numbers"], json!(["1"]));
    let (code, err) = server.end();
    assert_eq!(code, Some(0), "{err}");
}

/// What the page says is refused, by a server: but for S7, whose key stands in no configuration.
fn every_rule_refuses_its_line(http: &str) {
    put(http, "/v1/sequences/rule9", &json!({"template": "INV-@{seq,w=3}"}));
    let lines: Vec<&str> = PAGE.lines().filter(|line| line.starts_with("| S")).collect();
    assert_eq!(lines.len(), 9);
    for (line, rule) in lines.into_iter().zip(1..).filter(|(_, rule)| *rule != 7) {
        let code: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
        let placement = if rule == 8 { "book" } else { "spread" };
        let body = match rule {
            9 => json!({"template": code[0]}),
            _ => json!({"template": code[0], "placement": placement}),
        };
        let answer = put(http, &format!("/v1/sequences/rule{rule}"), &body);
        let said = answer.to_string().replace("\\\"", "\"").replace("\\\"", "\"");
        assert!(said.contains(code[1]), "{line}: {said}");
    }
}

#[test]
fn next_prints_one_text_a_line_or_all_as_json() {
    let place = Place::new();
    place.write(
        "t.toml",
        "[[sequence]]\nname = \"repair\"\ntemplate = \"@{date,yyyy}-@{ctx,area,len=3}-@{seq,w=5}\"\n",
    );
    let next = |more: &[&str]| {
        place.run(&[&["next", "repair", "--config", "t.toml", "--at", "2026-04-01"], more].concat())
    };
    assert_eq!(next(&["--with", "area=010", "-n", "2"]).out, "2026-010-00001\n2026-010-00002\n");
    let ran = next(&["--with", "area=011", "--json"]);
    let expected = "{\"sequence\":\"repair\",\"numbers\":[\"1\"],\"texts\":[\"2026-011-00001\"],\"period\":\"2026\",\
                    \"at\":\"2026-04-01T00:00:00+00:00\",\"version\":1}\n";
    assert_eq!(ran.out, expected);
    next(&[]).refused(2, &["values.area is missing: the template needs it"]);
    next(&["--with", "area"]).refused(2, &["--with is \"area\": NAME=VALUE is expected"]);
    next(&["--with", "area=1", "--with", "area=2"]).refused(2, &["say it once"]);
    assert_eq!(next(&["--with", "area=010"]).out, "2026-010-00003\n", "nothing was consumed");
    assert!(place.text(&["parse", "repair", "2026-010-00003"]).contains("with    area=010"));
    let explained = place.json(&["explain", "repair", "2026-010-00003", "--json"]);
    assert_eq!(
        (&explained["number"], &explained["epoch"]["seen"]),
        (&json!("3"), &json!(true)),
        "{explained}"
    );
    assert!(place.text(&["explain", "repair", "2026-012-00003"]).contains("has not begun: not given"));
    place.run(&["explain", "repair", "3"]).refused(2, &["text is \"3\": column 1"]);
    place.run(&["parse", "repair", "2026-01-00003"]).refused(2, &["text is \"2026-01-00003\": column "]);
    let wrong = place.run(&["parse", "repair", "2026-01-00003", "--json"]);
    assert!(
        wrong.err.contains(r#""reason":"INVALID_ARGUMENT""#) && wrong.err.contains(r#""field":"text""#),
        "{wrong:?}"
    );
}

#[test]
fn a_template_that_could_render_two_numbers_alike_is_refused_with_both() {
    let place = Place::new();
    let words = ["S1, column 1: ", "both give \"1111111111\"", "give store a len="];
    place.run(&["preview", "@{ctx,store}@{seq,w=8}"]).refused(2, &words);
    let book = ["define", "book", "--placement", "book", "--template"];
    let wraps = [&book[..], &["BK@{seq,w=3,over=wrap,reuse_after=1d}"]].concat();
    place
        .run(&wraps)
        .refused(2, &["S8, column 3: a book keeps one entry for each number for ever", "over=error"]);
    place
        .run(&[&book[..], &["BK@{seq,w=3,over=error}"]].concat())
        .refused(2, &["book is not built into this version"]);
    let beyond = place.run(&["preview", "W@{seq,w=6}", "--number", "9007199254740992"]);
    assert!(
        beyond.out == "W9007199254740992\n" && beyond.err.contains("9007199254740991 is the last one"),
        "{}",
        beyond.err
    );
    let year = ["preview", "@{date,yyMM}@{seq,w=3}", "--zone", "Asia/Tokyo", "--at", "1999-12-31"];
    place.run(&year).refused(2, &["--at is \"1999-12-31\": year 1999 cannot be shown with two digits"]);
    let ended = place.run(&["preview", "W@{seq,w=3,over=error}", "--number", "1000"]);
    ended.refused(2, &["--number is \"1000\": the template has texts up to 999"]);
    let ran = place.run(&["preview", "@{sqe,w=8}", "--json"]);
    assert_eq!((ran.code, ran.error()["errors"][0]["field"].as_str()), (Some(2), Some("template")));
    place.write("t.toml", "[[sequence]]\nname = \"a\"\ntemplate = \"@{date,yyyy}@{seq,reset=month}\"\n");
    let words = ["sequence[0].template is ", "S3, column "];
    place.run(&["next", "a", "--config", "t.toml"]).refused(3, &words);
    let long =
        place.run(&["preview", &format!("{}@{{sqe}}", "A".repeat(65_000))]).refused(2, &["template is"]);
    assert!(long.err.chars().count() < 600, "{}", long.err);
    assert!(!place.path("sequent-data").exists(), "nothing was touched");
}

#[test]
fn capacity_prints_the_sum() {
    let place = Place::new();
    let sum = |template: &str| place.json(&["preview", template, "--capacity", "--json"]);
    let expected = json!({"numbers": "999999", "skipped": "2998", "reserve": "999", "ceilings": "1000", "lease": "999",
               "servers": 1, "is_bounded": true, "may_be_spread": true});
    assert_eq!(sum("S@{seq,w=6,over=error}"), expected);
    let of =
        |more: &[&str]| place.text(&[&["preview", "S@{seq,w=6,over=error}", "--capacity"], more].concat());
    let told = "numbers    999999 a key\n\
                skipped    at most 10990: reserve 999 and lease 999 for each of 5 servers, ceilings 1000\n\
                spread     refused: more than 1 %\nplacement  dense unless the definition names one\n";
    assert_eq!(of(&["--servers", "5"]), told);
    assert_eq!(of(&["--set", "reservoir.servers=5", "--servers", "2"]), told, "no fewer than there are");
    place.run(&["preview", "S@{seq}", "--capacity", "--servers", "0"]).refused(2, &["1..=1000"]);
    place.run(&["preview", "S@{seq}", "--servers", "2"]).refused(2, &["--capacity"]);
    let refused = ["define", "few", "--template", "S@{seq,w=6,over=error}", "--placement", "spread"];
    place
        .run(&[&refused[..], &["--set", "reservoir.servers=5"]].concat())
        .refused(3, &["for each of 5 servers", "more digits, fewer servers"]);
    let free = sum("S@{seq,w=6}");
    assert_eq!(place.json(&["preview", "S@{seq,w=6}", "--json"])["capacity"], free, "beside a text, too");
    let expected = (json!(false), json!("9007199254740991"), json!("100000"));
    assert_eq!((free["is_bounded"].clone(), free["numbers"].clone(), free["lease"].clone()), expected);
    let defined = place.json(&["define", "free", "--template", "S@{seq,w=6}", "--json"]);
    assert_eq!(defined["capacity"], free, "one sum");
}

#[test]
fn define_makes_versions_that_servers_and_processes_take_up() {
    let place = Place::new();
    let define = |more: &[&str]| place.run(&[&["define", "order"], more].concat());
    let first =
        define(&["--template", "@{date,yyyy}A@{seq,w=5}", "--zone", "Asia/Shanghai", "--json"]).as_json();
    assert_eq!((&first["version"], &first["already"]), (&json!(1), &json!(false)), "{first}");
    let again =
        define(&["--template", "@{date,yyyy}A@{seq,w=5}", "--zone", "Asia/Shanghai", "--json"]).as_json();
    assert_eq!((&again["version"], &again["already"]), (&json!(1), &json!(true)), "{again}");
    let server = Running::start(&place, &[&["serve"], &FREE[..]].concat());
    let at = ["next", "order", "--at", "2026-04-01"];
    assert_eq!(place.text(&at), "2026A00001\n");
    let words = [
        "could give texts of a version before again",
        "; give the new one a prefix that the one before never shows, or another fixed length (version 1 is in force",
    ];
    let met = define(&["--template", "@{date,yyyy}@{ctx,x,len=1}@{seq,w=5}"]);
    assert!(!met.err.contains("another name") && !met.err.contains("another sequence"), "one mend: {met:?}");
    met.refused(3, &words);
    let moved = ["changes placement from spread to dense", ": keep placement spread, or"];
    define(&["--template", "@{date,yyyy}B@{seq,w=5}", "--placement", "dense"]).refused(3, &moved);
    let from = [
        "changes start or step",
        ": keep start 1 and step 1, or define another sequence (version 1 is in force",
    ];
    define(&["--template", "@{date,yyyy}B@{seq,w=5}", "--start", "7"]).refused(3, &from);
    define(&["--template", "@{date,yyyy}B@{seq,w=5}", "--version", "1"]).refused(3, &["higher version"]);
    define(&["--template", "@{sqe}"]).refused(2, &["template is \"@{sqe}\""]);
    define(&["--zone", "UTC"]).refused(2, &["--template is \"missing\""]);
    assert_eq!(define(&["--template", "@{date,yyyy}B@{seq,w=5}", "--json"]).as_json()["version"], 2);
    let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
    let mut texts = vec![place.text(&at)];
    while !texts.last().unwrap().starts_with("2026B") {
        assert!(std::time::Instant::now() < until, "the server has not taken it up: {texts:?}");
        std::thread::sleep(std::time::Duration::from_millis(100));
        texts.push(place.text(&at));
    }
    assert!(place.text(&["parse", "order", "2026A00001"]).starts_with("number  1\n"), "older texts are read");
    assert!(place.text(&["list"]).contains("@{date,yyyy}B@{seq,w=5}"));
    let (code, err) = server.end();
    assert_eq!(code, Some(0), "{err}");
}

#[test]
fn preview_holds_a_next_version_against_the_one_before() {
    let place = Place::new();
    let after = |template: &str, before: &str| place.run(&["preview", template, "--after", before]);
    let met = [
        "as the next version, it could give texts of a version before again",
        "can both render \"INV-1111\"",
    ];
    after("INV-@{seq,w=4}", "INV-@{seq,w=3}").refused(2, &met);
    let start = ["as the next version, it changes start or step", "keep start 7 and step 1"];
    after("A@{seq,w=4}", "B@{seq,w=4,start=7}").refused(2, &start);
    after("A@{seq}", "B@{ctx,a}@{seq}").refused(2, &["template is \"B@{ctx,a}@{seq}\"", "S1, column 2"]);
    assert_eq!(after("INV4-@{seq,w=4}", "INV-@{seq,w=3}").out, "INV4-0001\n");
}

#[test]
fn define_says_from_when_on_a_version_is_in_effect() {
    let place = Place::new();
    let define = |template: &str, more: &[&str]| {
        place.run(
            &[
                &[
                    "define",
                    "order",
                    "--template",
                    template,
                    "--zone",
                    "Asia/Shanghai",
                    "--window-s",
                    "10000000000",
                ],
                more,
            ]
            .concat(),
        )
    };
    define("@{date,yyyy}A@{seq,w=5}", &["--json"]).as_json();
    let midnight = "2199-01-01T00:00:00+08:00";
    let waits = define("@{date,yyyy}B@{seq,w=5}", &["--effective", "2199-01-01", "--json"]).as_json();
    assert_eq!((&waits["version"], &waits["effective"]), (&json!(2), &json!(midnight)), "{waits}");
    let next = |at: &str| place.json(&["next", "order", "--at", at, "--json"]);
    for (at, version, text) in
        [("2198-12-31", 1, "2198A00001"), ("2199-01-01", 2, "2199B00001"), ("2199-01-02", 2, "2199B00002")]
    {
        let said = next(at);
        assert_eq!((&said["version"], &said["texts"]), (&json!(version), &json!([text])), "{at}: {said}");
    }
    assert!(place.text(&["show", "order"]).contains(midnight), "it tells what waits");
    let words = ["effective is \"soon\"", "now, next-period, or an instant such as"];
    define("@{date,yyyy}C@{seq,w=5}", &["--effective", "soon"]).refused(2, &words);
    let words = ["an instant at least 10 s from now"];
    define("@{date,yyyy}C@{seq,w=5}", &["--effective", "2020-01-01"]).refused(3, &words);
    let again = define("@{date,yyyy}A@{seq,w=5}", &["--json"]).as_json();
    assert_eq!((&again["version"], &again["already"]), (&json!(1), &json!(true)), "{again}");
    let warned = again["warnings"][0].as_str().unwrap();
    assert!(
        warned.contains("version 2 waits") && warned.contains(midnight),
        "nothing is called off: {warned}"
    );
    let waits = define("@{date,yyyy}B@{seq,w=5}", &["--version", "2", "--json"]).as_json();
    assert_eq!(
        (&waits["version"], &waits["effective"]),
        (&json!(2), &json!(midnight)),
        "a version stays as it is"
    );
    let now = define("@{date,yyyy}B@{seq,w=5}", &["--json"]).as_json();
    assert_eq!((&now["version"], &now["effective"]), (&json!(3), &json!(null)), "the default is now: {now}");
    assert!(!place.text(&["show", "order"]).contains(midnight), "nothing waits any more");
    let lower = place.run(&["define", "order", "--template", "D@{seq,w=5}", "--version", "1", "--json"]);
    assert!(lower.err.contains("version 1 is ignored: version 3 is there"), "{}", lower.err);
    let lower = lower.as_json();
    assert_eq!((&lower["version"], &lower["already"]), (&json!(3), &json!(true)), "{lower}");
    assert_eq!(next("2026-04-01")["texts"], json!(["2026B00001"]));
    let again = define("@{date,yyyy}B@{seq,w=5}", &["--json"]).as_json();
    assert_eq!((&again["version"], &again["already"]), (&json!(3), &json!(true)), "{again}");
}

#[test]
fn what_is_in_effect_defined_once_more_calls_nothing_off() {
    let place = Place::new();
    let define = |template: &str, more: &[&str]| {
        place.run(&[&["define", "order", "--template", template, "--json"], more].concat()).as_json()
    };
    let (first, second) = ("2199-01-01T00:00:00+00:00", "2199-02-01T00:00:00+00:00");
    define("A@{seq,w=5}", &[]);
    define("B@{seq,w=5}", &["--effective", "2199-01-01"]);
    // The last that waits says the same as the first.
    assert_eq!(define("A@{seq,w=5}", &["--effective", "2199-02-01"])["version"], 3);
    let again = define("A@{seq,w=5}", &[]);
    assert_eq!((&again["version"], &again["already"]), (&json!(1), &json!(true)), "{again}");
    let told = again["warnings"][0].as_str().unwrap();
    assert!(told.contains("version 2 waits") && told.contains(first), "what comes first: {told}");
    let shown = place.text(&["show", "order"]);
    assert!(shown.contains(first) && shown.contains(second), "{shown}");
}

#[test]
fn the_sdk_renders_what_the_server_would_and_repeats_nothing() {
    let place = Place::new();
    place.write(
        "t.toml",
        "[[sequence]]\nname = \"repair\"\ntemplate = '@{date,yyyyMMdd}-@{ctx,area,len=3}-@{seq,w=5}-@{check,damm}'\n\
         zone = \"Asia/Shanghai\"\n[[sequence]]\nname = \"few\"\ntemplate = 'F@{seq,w=4,over=error}'\n",
    );
    let server = Running::start(&place, &[&["serve", "--config", "t.toml"], &FREE[..]].concat());
    let url = format!("http://{}", server.grpc);
    let client = sequent_client::blocking::Client::connect(&url).unwrap();
    let repair = client.sequence("repair").unwrap().with("area", "010");
    let mut texts = std::collections::BTreeSet::new();
    let mut last = String::new();
    for round in 0..300 {
        let issued = repair.next_text().unwrap();
        assert_eq!(issued.period, issued.text[..8], "{issued:?}");
        last.clone_from(&issued.text);
        assert!(texts.insert(issued.text), "twice");
        if round % 100 == 0 {
            let text = place.text(&["next", "repair", "--with", "area=010", "--server", &url]);
            assert!(texts.insert(text.trim_end().to_owned()), "{text}: twice");
        }
    }
    let asked = server.metric("sequent_requests_total", "method=\"lease\"");
    assert!((1.0..60.0).contains(&asked), "{asked} leases for 300 texts");
    let parsed = place.text(&["parse", "repair", &last]);
    assert!(parsed.contains("with    area=010"), "{parsed}");
    let few = client.sequence("few").unwrap();
    let few: Vec<String> = (0..3).map(|_| few.next_text().unwrap().text).collect();
    assert_eq!(few, ["F0001", "F0002", "F0003"], "dense: no lease, and in order");
    let error = client.sequence("repair").unwrap().next_text().unwrap_err();
    assert_eq!(error.fields()[0].field, "values.area", "{error}");
}

#[test]
fn the_counter_of_one_period_and_area_is_advanced_and_no_other() {
    let place = Place::new();
    let template = "@{date,yyyyMMdd}@{ctx,area,len=3}@{seq,w=8}";
    place.run(&["define", "repair", "--template", template]);
    let advance = |more: &[&str]| place.run(&[&["advance", "repair", "400"], more].concat());
    let one = ["--with", "area=010", "--at", "2026-04-01", "--json"];
    let done = advance(&one).as_json();
    assert_eq!((&done["key"], &done["next"]), (&json!("repair|8:20260401|3:010"), &json!("401")), "{done}");
    assert_eq!(advance(&one).as_json()["already"], true);
    let next =
        |area: &str, at: &str| place.text(&["next", "repair", "--with", &format!("area={area}"), "--at", at]);
    assert_eq!(next("010", "2026-04-01"), "2026040101000000401\n");
    assert_eq!(next("010", "2026-04-02"), "2026040201000000001\n", "another day");
    assert_eq!(next("020", "2026-04-01"), "2026040102000000001\n", "another area");
    advance(&["--at", "2026-04-01"])
        .refused(2, &["INVALID_ARGUMENT", "values.area", "the template needs it"]);
    advance(&["--with", "area=010", "--at", "soon"])
        .refused(2, &["INVALID_ARGUMENT", "at", "an instant such as"]);
    // Nothing is no instant, and not now either: no server is asked.
    let nothing = ["INVALID_ARGUMENT", "at is \"\"", "an instant such as"];
    advance(&["--with", "area=010", "--at", ""]).refused(2, &nothing);
    place.run(&["next", "repair", "--at", "", "--server", "http://127.0.0.1:1"]).refused(2, &nothing);
    let by = ["--with", "area=010", "--period", "20260403", "--json"];
    assert_eq!(advance(&by).as_json()["key"], "repair|8:20260403|3:010");
    assert_eq!(next("010", "2026-04-03"), "2026040301000000401\n");
    let words = ["INVALID_ARGUMENT", "period", "2026-04", "such as 20260403"];
    advance(&["--with", "area=010", "--period", "2026-04"]).refused(2, &words[..3]);
}
