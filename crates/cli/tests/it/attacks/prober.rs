//! A legitimate client that asks on: for numbers in three ways, each time on a new connection.

use std::{
    fmt,
    io::{self, Read as _, Write as _},
    net::TcpStream,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{JoinHandle, sleep, spawn},
    time::{Duration, Instant},
};

use super::scene::Scene;

/// A number of a reservoir that must be asked, one that is ready, and a dense one.
const PROBES: [&str; 3] =
    ["/v1/sequences/legit/next?count=2", "/v1/sequences/legit/next", "/v1/sequences/few/next"];

/// 50 a second of each.
const PAUSE: Duration = Duration::from_millis(20);

/// How long it waits for an answer at most.
const PATIENCE: Duration = Duration::from_secs(10);

type Answers = Vec<(Duration, Result<u16, String>)>;

/// The client: a thread for each way.
pub(super) struct Prober {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Answers>>,
}

/// What it was answered.
pub(super) struct Probed {
    pub(super) count: usize,
    /// Answers that are no numbers, the first ones.
    pub(super) failed: Vec<String>,
    pub(super) p50: Duration,
    pub(super) p99: Duration,
    pub(super) longest: Duration,
}

impl Prober {
    pub(super) fn of(scene: &Scene) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let start = |path: &'static str| {
            let (over, http, token) = (Arc::clone(&is_over), scene.server.http.clone(), scene.token("legit"));
            spawn(move || {
                let mut answers = Answers::new();
                while !over.load(Ordering::Relaxed) || answers.is_empty() {
                    let began = Instant::now();
                    let status = ask(&http, path, &token).map_err(|error| error.to_string());
                    answers.push((began.elapsed(), status));
                    sleep(PAUSE);
                }
                answers
            })
        };
        let threads = PROBES.map(start).into();
        Self { is_over, threads }
    }

    pub(super) fn end(self) -> Probed {
        self.is_over.store(true, Ordering::Relaxed);
        let answers: Answers = self.threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        let mut waits: Vec<Duration> = answers.iter().map(|(wait, _)| *wait).collect();
        waits.sort();
        let at = |percent: usize| waits[(waits.len() - 1) * percent / 100];
        let failed = answers.iter().filter(|(_, status)| *status != Ok(200));
        let failed = failed.take(5).map(|(wait, status)| format!("{status:?} after {wait:?}")).collect();
        Probed { count: waits.len(), failed, p50: at(50), p99: at(99), longest: at(100) }
    }
}

impl fmt::Display for Probed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, failed, p50, p99, longest } = self;
        write!(f, "{count} requests, p50 {p50:.1?}, p99 {p99:.1?}, longest {longest:.1?}, failed {failed:?}")
    }
}

/// The status of an answer.
pub(super) fn ask(to: &str, path: &str, token: &str) -> io::Result<u16> {
    let mut socket = TcpStream::connect(to)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    let head = format!("POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}");
    write!(socket, "{head}\r\nconnection: close\r\n\r\n")?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer)?;
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    status.ok_or_else(|| io::Error::other(format!("no answer: {answer:?}")))
}
