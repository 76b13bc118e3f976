//! The console in a real browser, and `shards --watch`: a slot that a person puts out is seen, with its cause.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc,
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

/// How long a watch may be silent where something has to be said.
const LINE_MAX: Duration = Duration::from_secs(20);

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

/// A watch under way, ended with the test.
struct Watch {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Watch {
    fn start(place: &Place, args: &[&str]) -> Self {
        let mut child = place.spawn(&[&["shards", "--watch"], args].concat());
        let (said, lines) = mpsc::channel();
        let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
        std::thread::spawn(move || out.by_ref().map_while(Result::ok).try_for_each(|line| said.send(line)));
        Self { child, lines }
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(LINE_MAX).unwrap_or_else(|_| panic!("nothing was said within {LINE_MAX:?}"))
    }

    /// The next about a slot.
    fn of_slot(&self) -> String {
        let until = Instant::now() + LINE_MAX;
        loop {
            let line = self.line();
            if line.contains("  slot ") {
                return line;
            }
            assert!(Instant::now() < until, "{line}");
        }
    }

    fn look(&self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    /// What ctrl-c does.
    fn interrupt(mut self) {
        let sent = Command::new("kill").args(["-s", "INT", &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
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

#[test]
fn a_watch_tells_each_change_as_the_server_sees_it() {
    let place = Place::new();
    let server = serve(&place);
    let plain = Watch::start(&place, &[]);
    let whole = plain.line();
    assert!(whole.contains("4 of 4 live") && whole.ends_with("numbers a second"), "{whole}");
    for slot in 0..4 {
        let line = plain.line();
        assert!(line.contains(&format!("slot {slot}  live  sqlite  evictions 0")), "{line}");
    }
    let admin = format!("http://{}", server.admin);
    let objects = Watch::start(&place, &["--json", "--admin", &admin]);
    assert_eq!(objects.look()["slots"][2]["state"], "live");
    evict(&place, &server, "disk replaced");
    let line = plain.of_slot();
    assert!(line.contains("slot 2  evicted") && line.contains("evictions 1"), "{line}");
    assert!(line.contains("disk replaced"), "{line}");
    let until = Instant::now() + LINE_MAX;
    let seen = loop {
        let look = objects.look();
        if look["slots"][2]["state"] == "evicted" {
            break look;
        }
        assert!(Instant::now() < until, "{look}");
    };
    assert_eq!((&seen["slots"][2]["evictions"], &seen["phase"]), (&1.into(), &"serving".into()));
    plain.interrupt();
    objects.interrupt();
    let (code, err) = server.end();
    assert_eq!(code, Some(0), "{err}");
}
