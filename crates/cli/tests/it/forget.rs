//! `sequent forget`: what it refuses, what it tells, and that nobody uses the name again.

use crate::{
    operate::{Site, principal},
    place::Place,
    running::{FREE, Running, say},
};

#[test]
fn a_forgotten_name_is_refused_everywhere_and_for_good() {
    let place = Place::with_cluster();
    let before = place.run(&["forget", "order"]);
    assert_eq!(before.code, Some(3), "{before:?}");
    assert!(before.out.contains("order would be forgotten"), "{before:?}");
    assert!(before.err.contains("CONFIRMATION_REQUIRED"), "{before:?}");
    assert_eq!(place.numbers_patiently(&["next", "order"]), [6], "nothing was done");
    place.run(&["forget", "ordre", "--yes"]).refused(1, &["SEQUENCE_NOT_FOUND"]);
    let said = place.json(&["forget", "order", "--yes", "--json"]);
    assert_eq!((&said["done"]["version"], &said["done"]["already"]), (&2.into(), &false.into()), "{said}");
    for command in
        [&["next", "order"][..], &["advance", "order", "50"], &["advance", "order", "50", "--create"]]
    {
        place.run(command).refused(1, &["order was forgotten"]);
    }
    let refused = place.run(&["define", "order", "--template", "A@{seq,w=6}"]);
    assert_eq!(refused.code, Some(3), "{refused:?}");
    assert!(refused.err.contains("order was forgotten"), "{refused:?}");
    assert!(!place.text(&["list"]).contains("order"), "a list shows what may be used");
    assert_eq!(place.json(&["forget", "order", "--yes", "--json"])["done"]["already"], true);
    assert_eq!(place.numbers_patiently(&["next", "other"]), [1], "others go on");
}

#[test]
fn what_is_in_use_or_named_by_the_configuration_is_not_forgotten() {
    let place = Place::new();
    place.write("sequent.toml", "auto_create = [\"*\"]\n[[sequence]]\nname = \"named\"\n");
    let args = [&["serve", "--config", "sequent.toml"], &FREE[..]].concat();
    let server = Running::start(&place, &args);
    server.next();
    let forget = |name: &str| place.run(&["forget", name, "--config", "sequent.toml", "--yes"]);
    forget("named").refused(2, &["the configuration does not name"]);
    forget("order").refused(2, &["nobody uses", "order"]);
    // A sequence that the server does not use is forgotten under it, and it follows.
    let defined = place.run(&["next", "unused", "--config", "sequent.toml", "--in-process"]);
    assert_eq!(defined.code, Some(0), "{defined:?}");
    assert_eq!(forget("unused").code, Some(0));
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        let answer = say(&server.http, "POST /v1/sequences/unused/next HTTP/1.1");
        if answer.starts_with("HTTP/1.1 404") && answer.contains("unused was forgotten") {
            break;
        }
        assert!(std::time::Instant::now() < until, "{answer}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!(server.end().0, Some(0));
}

#[test]
fn a_server_that_does_not_say_what_it_uses_is_no_server_that_uses_nothing() {
    let place = Place::new();
    let ann = principal(&place, "ann", &["status", "next:*"]);
    let site = Site::serve(place, &format!("auto_create = [\"*\"]\n[auth]\nmode = \"required\"\n{ann}"));
    let token = site.token_file("ann");
    let config = ["--config", "sequent.toml"];
    let forget = |args: &[&str]| site.place.run(&[&["forget", "newer", "--yes"], args, &config[..]].concat());
    site.next("newer");
    forget(&[]).refused(2, &["did not say whether it does", "--token-file"]);
    forget(&["--token-file", token.to_str().unwrap()]).refused(2, &["has newer in use"]);
}
