//! The console in a real browser: a slot that a person puts out is seen, with its cause.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    browser::Browser,
    place::Place,
    running::{FREE, Running, say},
};

/// How long a page may run by its own clock: three looks at the server.
const PAGE_MS: &str = "--virtual-time-budget=7000";

/// Both sizes: a phone's, and a desk's.
const SIZES: [(u32, u32); 2] = [(390, 844), (1280, 900)];

/// What is found out about the page's looks.
const LOOK: &str = include_str!("console_look.js");

/// The least size of letters, in pixels.
const LETTERS_MIN: f64 = 12.0;

fn serve(place: &Place) -> Running {
    let args = ["serve", "--set", "limits.drain_delay_s=0"];
    let server = Running::start(place, &[&args[..], &FREE].concat());
    server.next();
    server
}

fn evict(place: &Place, server: &Running, why: &str) {
    place.run(&["evict", "2", "--why", why]);
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

/// What a browser makes of the page: its document. Whatever the page has to complain about is a fault.
fn browse(profile: &Path, server: &Running) -> String {
    let browser = Command::new("chromium")
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--enable-logging=stderr",
            PAGE_MS,
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("http://{}/", server.admin))
        .stderr(Stdio::piped())
        .output()
        .unwrap_or_else(|error| panic!("chromium is needed, the package of that name: {error}"));
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
    let page = browse(&profile, &server);
    assert_eq!((arcs(&page, "live"), arcs(&page, "evicted")), (4, 0), "{page}");
    assert!(page.contains("4 of 4 shards live") && page.contains("<td>order</td>"), "{page}");
    evict(&place, &server, "disk replaced");
    let page = browse(&profile, &server);
    assert_eq!((arcs(&page, "live"), arcs(&page, "evicted")), (3, 1), "{page}");
    assert!(page.contains("3 of 4 shards live") && page.contains("slot 2 evicted"), "{page}");
    // In the list of slots, and among the events.
    assert!(page.matches("disk replaced").count() >= 2, "{page}");
    let (code, err) = server.end();
    assert_eq!(code, Some(0), "{err}");
}

/// At this size, light or dark: nothing sticks out, and all of it can be read.
fn looks_well(browser: &mut Browser, size: (u32, u32), scheme: &str) {
    browser.screen(size, scheme);
    browser.until(&format!("document.documentElement.clientWidth == {}", size.0));
    let look = browser.find(LOOK);
    let number = |field: &str| look[field].as_f64().unwrap();
    assert!(number("scrolls") <= number("width"), "{size:?}, {scheme}: it scrolls sideways: {look}");
    assert_eq!(look["sticks_out"].as_array().unwrap().len(), 0, "{size:?}, {scheme}: {look}");
    assert_eq!(look["unreadable"].as_array().unwrap().len(), 0, "{size:?}, {scheme}: {look}");
    let is_dark = number("ground") < 0.2;
    assert_eq!(is_dark, scheme == "dark", "{size:?}, {scheme}: {look}");
    assert!(number("smallest") >= LETTERS_MIN && number("texts") > 40.0, "{size:?}, {scheme}: {look}");
}

#[test]
fn the_console_can_be_read_on_a_phone_and_at_a_desk_by_day_and_by_night() {
    let place = Place::new();
    let server = serve(&place);
    // Words that a line can't hold, where somebody may write them: a sequence's name, and a reason.
    let (name, why) = ("order-".repeat(16), "disk_replaced_".repeat(12));
    let said = say(&server.http, &format!("POST /v1/sequences/{name}x/next HTTP/1.1"));
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
    evict(&place, &server, &why);
    let mut browser = Browser::start(&place);
    browser.screen(SIZES[0], "light");
    browser.show(&format!("http://{}/", server.admin));
    let shown = "document.body.innerText.includes('slot 2 evicted') && document.body.innerText.includes('order-order-')";
    browser.until(shown);
    for size in SIZES {
        for scheme in ["light", "dark"] {
            looks_well(&mut browser, size, scheme);
        }
    }
    assert_eq!(browser.complaints(), [""; 0]);
    drop(browser);
    let (code, err) = server.end();
    assert_eq!(code, Some(0), "{err}");
}
