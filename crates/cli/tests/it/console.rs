//! The console in a real browser, and `shards --watch`: a slot that a person puts out is seen, with its cause.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    place::Place,
    running::{FREE, Running, say},
};

/// How long a page may run by its own clock: three looks at the server.
const PAGE_MS: &str = "--virtual-time-budget=7000";

/// Both sizes: a phone's, and a desk's.
const SIZES: [&str; 2] = ["390,844", "1280,900"];

fn serve(place: &Place) -> Running {
    let args = ["serve", "--set", "limits.drain_delay_s=0"];
    let server = Running::start(place, &[&args[..], &FREE].concat());
    server.next();
    server
}

fn evict(place: &Place, server: &Running) {
    place.run(&["evict", "2", "--why", "disk replaced"]);
    let until = Instant::now() + Duration::from_secs(20);
    while state(server, 2) != "evicted" {
        assert!(Instant::now() < until, "not obeyed");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn state(server: &Running, slot: usize) -> String {
    let said = say(&server.admin, "GET /v1/status HTTP/1.1");
    let status: Value = serde_json::from_str(said.split_once("\r\n\r\n").unwrap().1).unwrap();
    status["shards"][slot]["state"].as_str().unwrap().to_owned()
}

/// What a browser makes of the page: its document, or nothing where a picture was asked for. Whatever the page has to
/// complain about is a fault.
fn browse(profile: &Path, server: &Running, arguments: &[&str]) -> String {
    let browser = Command::new("chromium")
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--enable-logging=stderr",
            PAGE_MS,
        ])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(arguments)
        .arg(format!("http://{}/", server.admin))
        .stderr(Stdio::piped())
        .output()
        .expect("chromium is needed: the package of that name");
    let complaints = String::from_utf8_lossy(&browser.stderr);
    let complaints: Vec<&str> = complaints.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(browser.status.success() && complaints.is_empty(), "{complaints:?}");
    String::from_utf8(browser.stdout).unwrap()
}

/// How often each state is among the arcs of the ring.
fn arcs(page: &str, state: &str) -> usize {
    page.matches(&format!("class=\"arc {state}\"")).count()
}

#[test]
fn the_console_shows_the_ring_and_who_left_it_and_why() {
    let place = Place::new();
    let server = serve(&place);
    let profile = place.path("browser");
    let page = browse(&profile, &server, &["--dump-dom"]);
    assert_eq!((arcs(&page, "live"), arcs(&page, "evicted")), (4, 0), "{page}");
    assert!(page.contains("4 of 4 shards live") && page.contains("<td>order</td>"), "{page}");
    evict(&place, &server);
    let page = browse(&profile, &server, &["--dump-dom"]);
    assert_eq!((arcs(&page, "live"), arcs(&page, "evicted")), (3, 1), "{page}");
    assert!(page.contains("3 of 4 shards live") && page.contains("slot 2 evicted"), "{page}");
    // In the list of slots, and among the events.
    assert!(page.matches("disk replaced").count() >= 2, "{page}");
    // At either size it is drawn, without a complaint; whether it is good to look at, a person must say.
    for size in SIZES {
        let picture = place.path(&format!("{size}.png"));
        let arguments = [format!("--window-size={size}"), format!("--screenshot={}", picture.display())];
        browse(&profile, &server, &arguments.each_ref().map(String::as_str));
        let bytes = std::fs::read(&picture).unwrap();
        assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 20_000, "{size}: {} bytes", bytes.len());
    }
    let (code, err) = server.end();
    assert_eq!(code, Some(0), "{err}");
}

#[test]
fn a_watch_tells_each_change_as_the_server_sees_it() {
    let place = Place::new();
    let server = serve(&place);
    let mut plain = place.spawn(&["shards", "--watch"]);
    let mut lines = BufReader::new(plain.stdout.take().unwrap()).lines().map(Result::unwrap);
    for slot in 0..4 {
        let line = lines.next().unwrap();
        assert!(line.contains(&format!("slot {slot}  live  sqlite  evictions 0")), "{line}");
    }
    let admin = format!("http://{}", server.admin);
    let mut objects = place.spawn(&["shards", "--watch", "--json", "--admin", &admin]);
    let mut looks = BufReader::new(objects.stdout.take().unwrap()).lines();
    let mut look = || serde_json::from_str::<Value>(&looks.next().unwrap().unwrap()).unwrap();
    assert_eq!(look()["slots"][2]["state"], "live");
    evict(&place, &server);
    let line = lines.next().unwrap();
    assert!(line.contains("slot 2  evicted") && line.contains("evictions 1"), "{line}");
    assert!(line.contains("disk replaced"), "{line}");
    let until = Instant::now() + Duration::from_secs(20);
    let seen = loop {
        let look = look();
        if look["slots"][2]["state"] == "evicted" {
            break look;
        }
        assert!(Instant::now() < until, "{look}");
    };
    assert_eq!((&seen["slots"][2]["evictions"], &seen["phase"]), (&1.into(), &"serving".into()));
    for child in [&mut plain, &mut objects] {
        let sent = Command::new("kill").args(["-s", "INT", &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
    let (code, err) = server.end();
    assert_eq!(code, Some(0), "{err}");
}
