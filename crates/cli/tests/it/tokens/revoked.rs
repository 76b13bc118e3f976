//! Tokens that are revoked while the server runs.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    time::Instant,
};

use super::site::{ALL, PATIENCE, SHARDS, Site, principal};
use crate::place::Place;

/// A connection that is kept: its fast path must hear of a reload.
#[test]
fn a_token_that_is_revoked_ends_on_the_connection_that_used_it() {
    let place = Place::new();
    let (stays, goes) =
        (principal(&place, "stays", &["--allow", ALL]), principal(&place, "goes", &["--allow", ALL]));
    let site = Site::serve(place, &format!("{stays}{goes}"));
    let mut connection = TcpStream::connect(&site.server.http).unwrap();
    let mut ask = |whose: &str| {
        let head = format!(
            "POST /v1/sequences/plain/next HTTP/1.1\r\nhost: localhost\r\nauthorization: bearer {}\r\n\r\n",
            site.token(whose)
        );
        connection.write_all(head.as_bytes()).unwrap();
        let mut bytes = [0; 4096];
        let count = connection.read(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..count]).split(' ').nth(1).unwrap().to_owned()
    };
    for _ in 0..5 {
        assert_eq!((ask("goes"), ask("stays")), ("200".to_owned(), "200".to_owned()));
    }
    site.configure(&stays);
    let until = Instant::now() + PATIENCE;
    while ask("goes") != "401" {
        assert!(Instant::now() < until, "the connection goes on");
    }
    assert_eq!(ask("stays"), "200");
    // A configuration with a fault changes nothing.
    site.configure(&stays.replace("allow", "alow"));
    let until = Instant::now() + PATIENCE;
    let refused = || site.metric("stays", "sequent_config_reloads_total", "outcome=\"refused\"");
    while refused() < 1.0 {
        assert!(Instant::now() < until, "the fault is not noticed");
    }
    assert_eq!((ask("stays"), ask("goes")), ("200".to_owned(), "401".to_owned()));
}

/// A file that is empty on a full disk, or cut while it is written.
#[test]
fn a_configuration_that_is_cut_opens_nothing() {
    let place = Place::new();
    let named = principal(&place, "named", &["--allow", ALL]);
    let site = Site::serve(place, &named);
    let refused = || site.metric("named", "sequent_config_reloads_total", "outcome=\"refused\"");
    let begin_of_auth = SHARDS.find("[auth]").unwrap();
    for (cut, least) in [("", 1.0), (&SHARDS[..begin_of_auth], 2.0)] {
        fs::write(site.place.path("sequent.toml"), cut).unwrap();
        site.server.signal("HUP");
        let until = Instant::now() + PATIENCE;
        while refused() < least {
            assert!(Instant::now() < until, "the cut file is not noticed: {cut}");
        }
        for (to, line) in
            [(&site.server.http, "POST /v1/sequences/plain/next"), (&site.server.admin, "GET /v1/status")]
        {
            assert_eq!(site.asked(to, "none", (line, "")).0, "UNAUTHENTICATED", "{line}: {cut}");
        }
    }
    let log = fs::read_to_string(site.place.path("log")).unwrap();
    assert!(log.contains("auth.mode is weaker in the file"), "{log}");
    site.configure(&named);
    assert_eq!(site.http("named", "POST /v1/sequences/plain/next", ""), "OK");
}

/// A definition that conflicts with the one in force, as one that the ledger is too far away for, must keep nobody in.
#[test]
fn a_token_is_revoked_though_the_rest_of_the_file_is_refused() {
    let place = Place::new();
    let (stays, goes) =
        (principal(&place, "stays", &["--allow", ALL]), principal(&place, "goes", &["--allow", ALL]));
    let site = Site::serve(place, &format!("{stays}{goes}"));
    let next = "POST /v1/sequences/plain/next";
    assert_eq!((site.http("goes", next, ""), site.http("stays", next, "")), ("OK".into(), "OK".into()));
    let conflict = SHARDS.replace("O@{seq,w=9}", "P@{seq,w=9}");
    fs::write(site.place.path("sequent.toml"), format!("{conflict}{stays}")).unwrap();
    site.server.signal("HUP");
    let until = Instant::now() + PATIENCE;
    while site.http("goes", next, "") != "UNAUTHENTICATED" {
        assert!(Instant::now() < until, "it is still let in");
    }
    assert_eq!(site.http("stays", next, ""), "OK");
    let reloads = |outcome: &str| site.metric("stays", "sequent_config_reloads_total", outcome);
    assert!(reloads("outcome=\"refused\"") > 0.0 && reloads("outcome=\"ok\"") < 0.5);
    fs::write(site.place.path("sequent.toml"), format!("{SHARDS}{stays}")).unwrap();
    let until = Instant::now() + PATIENCE;
    while reloads("outcome=\"ok\"") < 0.5 {
        assert!(Instant::now() < until, "the mended file is not put in force");
    }
}
