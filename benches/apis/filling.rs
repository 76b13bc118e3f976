//! Makes keys live, a number of each: by hand, since no tool stops after each name has had its turn.

use std::{
    io::{IsTerminal, Read, Write},
    net::{SocketAddr, TcpStream},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread::{self, ScopedJoinHandle},
    time::Duration,
};

use sequent_core::{Clock, SystemClock};

use crate::{callers::key, child::Server, plan::Plan};

/// How many connections the takes share.
const CALLERS: u8 = 16;

/// How many takes of a connection may be made again.
const REFUSED_MAX: u32 = 1000;

/// How often the server's memory is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How often progress is said, to a terminal and to a file.
const SAY_EVERY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(10));

/// What callers and watcher share.
#[derive(Default)]
struct Filling {
    done: AtomicU64,
    stop: AtomicBool,
}

/// Takes one number of each key; gives up where the server holds more memory than it may.
pub(crate) fn fill(server: &Server, plan: &Plan, which: &str) -> Result<(), String> {
    let (to, keys, filling) = (server.addresses[1], plan.keys, Filling::default());
    let one = |caller: u8| {
        let outcome = call(to, (caller.into()..keys).step_by(CALLERS.into()), &filling);
        // Where one fails, the others need not go on.
        filling.stop.fetch_or(outcome.is_err(), Ordering::Relaxed);
        outcome
    };
    let one = &one;
    thread::scope(|scope| {
        let callers: Vec<_> = (0..CALLERS).map(|caller| scope.spawn(move || one(caller))).collect();
        let ended = || callers.iter().all(ScopedJoinHandle::is_finished);
        let watched = watch(server, plan, which, &filling, ended);
        filling.stop.fetch_or(watched.is_err(), Ordering::Relaxed);
        let outcomes = callers.into_iter().map(|caller| match caller.join() {
            Ok(outcome) => outcome,
            Err(_) => Err("a caller panicked".to_owned()),
        });
        let outcomes: Vec<_> = outcomes.collect();
        outcomes.into_iter().fold(watched, Result::and)
    })
}

/// Says how far it has come, and looks at the server's memory, until all callers have ended.
fn watch(
    server: &Server,
    plan: &Plan,
    which: &str,
    filling: &Filling,
    ended: impl Fn() -> bool,
) -> Result<(), String> {
    let every = if std::io::stderr().is_terminal() { SAY_EVERY.0 } else { SAY_EVERY.1 };
    let begun = SystemClock.now();
    let mut said = begun;
    while !ended() {
        thread::sleep(LOOK_EVERY);
        let (now, done, held) = (SystemClock.now(), filling.done.load(Ordering::Relaxed), server.rss()?);
        #[allow(clippy::cast_precision_loss, reason = "for people")]
        let (gb, rate) = (held as f64 / 1e9, done as f64 / (now - begun).as_secs_f64());
        if held > plan.memory_max_gb.saturating_mul(1_000_000_000) {
            let (keys, most) = (plan.keys, plan.memory_max_gb);
            return Err(format!(
                "S11: with {done} of {keys} keys the server holds {gb:.1} GB, and {most} are allowed: fewer --keys, or a \
                 higher --memory-max-gb"
            ));
        }
        if now - said >= every {
            said = now;
            eprintln!("S11: {which} numbers: {done} of {} keys, {rate:.0} a second, {gb:.1} GB", plan.keys);
        }
    }
    Ok(())
}

fn call(to: SocketAddr, keys: impl Iterator<Item = u64>, filling: &Filling) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("filling: {error}");
    let mut socket = TcpStream::connect(to).map_err(failed)?;
    socket.set_nodelay(true).map_err(failed)?;
    let mut answer = [0; 4096];
    let mut refused = 0;
    let mut keys = keys.peekable();
    while let Some(number) = keys.peek().copied() {
        if filling.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let head = format!("POST /v1/sequences/{}/next HTTP/1.1\r\nhost: localhost\r\n\r\n", key(number));
        socket.write_all(head.as_bytes()).map_err(failed)?;
        // Answers are small: one comes whole, and ends as its JSON does.
        let mut length = 0;
        while length == 0 || answer[length - 1] != b'}' {
            match socket.read(&mut answer[length..]).map_err(failed)? {
                0 => return Err("filling: the server hung up".to_owned()),
                read => length += read,
            }
        }
        if answer.starts_with(b"HTTP/1.1 200 ") {
            filling.done.fetch_add(1, Ordering::Relaxed);
            keys.next();
            continue;
        }
        // On a machine that is busy with something else, the first number of a key may miss its deadline.
        refused += 1;
        if !answer.starts_with(b"HTTP/1.1 50") || refused > REFUSED_MAX {
            return Err(format!("filling: {}", String::from_utf8_lossy(&answer[..length])));
        }
    }
    Ok(())
}
