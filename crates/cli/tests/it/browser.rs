//! A real browser without a window, told over its pipe what to show, and asked what became of it.

use std::{
    fs::{File, OpenOptions},
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::place::Place;

/// How long the browser may take for an answer, and a page to show something: far longer than it should.
const PATIENCE: Duration = Duration::from_secs(120);

/// The browser reads requests from descriptor 3 and answers on 4. It opens them in this order, and so do we.
const START: &str = "exec chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --remote-debugging-pipe \
                     --user-data-dir=\"$1/profile\" about:blank 3<\"$1/asked\" 4>\"$1/said\" 2>/dev/null >/dev/null";

/// A browser with one page.
pub(crate) struct Browser {
    child: Child,
    asked: File,
    said: mpsc::Receiver<Value>,
    session: String,
    sent: u64,
    loaded: u64,
    /// What the page complained about.
    complaints: Vec<String>,
}

impl Browser {
    pub(crate) fn start(place: &Place) -> Self {
        let folder = place.path("browser");
        std::fs::create_dir_all(&folder).unwrap();
        let [asked, said] = ["asked", "said"].map(|name| folder.join(name));
        assert!(Command::new("mkfifo").args([&asked, &said]).status().unwrap().success());
        let mut shell = Command::new("sh");
        shell.args(["-c", START, "sh"]).arg(&folder).stdin(Stdio::null());
        let child = shell.spawn().unwrap();
        let mut browser = Self {
            child,
            asked: OpenOptions::new().write(true).open(asked).unwrap(),
            said: heard(&said),
            session: String::new(),
            sent: 0,
            loaded: 0,
            complaints: Vec::new(),
        };
        let page = browser.ask("Target.createTarget", json!({ "url": "about:blank" }));
        let page = json!({ "targetId": page["targetId"], "flatten": true });
        let attached = browser.ask("Target.attachToTarget", page);
        attached["sessionId"].as_str().unwrap().clone_into(&mut browser.session);
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            browser.ask(domain, json!({}));
        }
        browser
    }

    /// Has a screen so wide, as a phone has or as a desk has, and a wish for `light` or `dark`.
    pub(crate) fn screen(&mut self, (width, height): (u32, u32), scheme: &str) {
        let is_phone = width < 600;
        let screen = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone });
        self.ask("Emulation.setDeviceMetricsOverride", screen);
        let wish = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.ask("Emulation.setEmulatedMedia", wish);
    }

    /// Goes to a page, and waits until it is there: on the way there is no page that could be asked.
    pub(crate) fn show(&mut self, url: &str) {
        let before = self.loaded;
        self.ask("Page.navigate", json!({ "url": url }));
        while self.loaded == before {
            self.hear(url);
        }
    }

    /// What an expression comes to on the page.
    pub(crate) fn find(&mut self, expression: &str) -> Value {
        let found = self.ask("Runtime.evaluate", json!({ "expression": expression, "returnByValue": true }));
        assert!(found["exceptionDetails"].is_null(), "{expression}: {found}");
        found["result"]["value"].clone()
    }

    /// Waits until it is true on the page.
    pub(crate) fn until(&mut self, expression: &str) {
        let until = Instant::now() + PATIENCE;
        while self.find(expression) != true {
            assert!(
                Instant::now() < until,
                "not so: {expression}; the page says {}",
                self.find("document.body.innerText")
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// What the page complained about, so far.
    pub(crate) fn complaints(&self) -> &[String] {
        &self.complaints
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.sent += 1;
        let mut question = json!({ "id": self.sent, "method": method });
        question["params"] = params;
        if !self.session.is_empty() {
            question["sessionId"] = self.session.as_str().into();
        }
        write!(self.asked, "{question}\0").unwrap();
        loop {
            let said = self.hear(method);
            if said["id"] == self.sent {
                assert!(said["error"].is_null(), "{method}: {said}");
                return said["result"].clone();
            }
        }
    }

    /// Its next message.
    fn hear(&mut self, what: &str) -> Value {
        let said = self.said.recv_timeout(PATIENCE);
        let said =
            said.unwrap_or_else(|why| panic!("{what}: {why}; chromium is needed, the package of that name"));
        self.note(&said);
        said
    }

    fn note(&mut self, said: &Value) {
        self.loaded += u64::from(said["method"] == "Page.loadEventFired");
        let is_complaint = match said["method"].as_str() {
            Some("Runtime.exceptionThrown" | "Runtime.consoleAPICalled") => true,
            Some("Log.entryAdded") => said["params"]["entry"]["level"] == "error",
            _ => false,
        };
        if is_complaint {
            self.complaints.push(said["params"].to_string());
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Its other processes end with it once their pipes break.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Its messages, each ended by a zero; until it is gone.
fn heard(path: &Path) -> mpsc::Receiver<Value> {
    let (told, said) = mpsc::channel();
    let said_at = File::open(path).unwrap();
    std::thread::spawn(move || {
        let messages = BufReader::new(said_at).split(0).map_while(Result::ok);
        let mut messages = messages.map_while(|message| serde_json::from_slice(&message).ok());
        messages.try_for_each(|message: Value| told.send(message))
    });
    said
}
