//! Requests of HTTP by many connections that are kept, each as soon as the one before was answered.

use std::{
    collections::BTreeMap,
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use super::scene::Scene;

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many answers of each status there were; 0 stands for a connection that ended.
pub(super) type Statuses = BTreeMap<u16, usize>;

/// Sends requests until an instant. `make` has the line and the body of each, by its number.
pub(super) fn flood(
    scene: &Scene,
    connections: usize,
    until: Instant,
    make: impl Fn(usize) -> (String, String) + Sync,
) -> Statuses {
    let (next, statuses, token) = (AtomicUsize::new(0), Mutex::new(Statuses::new()), scene.token("other"));
    let connection = || {
        let mut socket = None;
        while Instant::now() < until {
            let (line, body) = make(next.fetch_add(1, Ordering::Relaxed));
            let json = if body.is_empty() { "" } else { "content-type: application/json\r\n" };
            let length = body.len();
            let head = format!(
                "{line} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n{json}content-length: {length}"
            );
            let status = asked(&mut socket, &scene.server.http, &format!("{head}\r\n\r\n{body}"));
            if status.is_err() {
                socket = None;
            }
            *statuses.lock().unwrap().entry(status.unwrap_or(0)).or_default() += 1;
        }
    };
    thread::scope(|scope| (0..connections).for_each(|_| drop(scope.spawn(connection))));
    statuses.into_inner().unwrap()
}

fn asked(socket: &mut Option<BufReader<TcpStream>>, to: &str, request: &str) -> io::Result<u16> {
    let kept = if let Some(kept) = socket {
        kept
    } else {
        let new = TcpStream::connect(to)?;
        new.set_read_timeout(Some(PATIENCE))?;
        socket.insert(BufReader::new(new))
    };
    kept.get_mut().write_all(request.as_bytes())?;
    let (mut status, mut length) = (0, 0);
    loop {
        let mut line = String::new();
        if kept.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let line = line.trim_end().to_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(found) = line.strip_prefix("http/1.1 ") {
            status = found[..3].parse().map_err(io::Error::other)?;
        }
        if let Some(found) = line.strip_prefix("content-length: ") {
            length = found.parse().map_err(io::Error::other)?;
        }
    }
    io::copy(&mut kept.take(length), &mut io::sink())?;
    Ok(status)
}

/// Checks that nothing but these statuses was answered, and each of them.
pub(super) fn demand(statuses: &Statuses, expected: &[u16], perhaps: &[u16]) {
    let is_known = |status: &u16| expected.contains(status) || perhaps.contains(status);
    assert!(statuses.keys().all(is_known), "{statuses:?}");
    assert!(expected.iter().all(|status| statuses.contains_key(status)), "{statuses:?}");
}
