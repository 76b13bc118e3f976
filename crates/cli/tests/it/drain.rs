//! SIGTERM under load: every number that left is told whole, none is told twice, and who heeds readiness fails never.

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    sync::atomic::{AtomicBool, Ordering},
    thread::scope,
    time::Duration,
};

use crate::{
    place::Place,
    running::{FREE, Running, say},
};

const CALLERS: usize = 4;

/// How a connection came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The caller wanted no more.
    Left,
    /// Between two answers: the server had closed, or answered that it does.
    Closed,
    /// Within an answer.
    Torn,
}

/// Takes numbers on one connection until `leave`, or until the server ends it.
fn take(http: &str, leave: &AtomicBool) -> (Vec<u64>, End) {
    let mut numbers = Vec::new();
    let Ok(socket) = TcpStream::connect(http) else { return (numbers, End::Closed) };
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let (mut writer, mut reader) = (socket.try_clone().unwrap(), BufReader::new(socket));
    loop {
        if leave.load(Ordering::Relaxed) {
            return (numbers, End::Left);
        }
        if writer.write_all(b"POST /v1/sequences/order/next HTTP/1.1\r\nhost: x\r\n\r\n").is_err() {
            return (numbers, End::Closed);
        }
        let (mut length, mut closes, mut line) = (0, false, String::new());
        loop {
            line.clear();
            match reader.read_line(&mut line) {
                Ok(0) | Err(_) if length == 0 && line.is_empty() => return (numbers, End::Closed),
                Ok(read) if read > 0 => {}
                _ => return (numbers, End::Torn),
            }
            let lower = line.to_ascii_lowercase();
            assert!(!lower.starts_with("http/1.1") || lower.contains(" 200 "), "{line}");
            closes |= lower.trim_end() == "connection: close";
            if let Some(found) = lower.strip_prefix("content-length: ") {
                length = found.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return (numbers, End::Torn);
        }
        let json: serde_json::Value = serde_json::from_slice(&body).unwrap();
        numbers.push(json["numbers"][0].as_str().unwrap().parse().unwrap());
        if closes {
            return (numbers, End::Closed);
        }
    }
}

#[test]
fn every_answer_is_whole_and_who_heeds_readiness_fails_never() {
    let place = Place::new();
    let args = [&["serve", "--set", "limits.drain_delay_s=1"][..], &FREE].concat();
    let mut all = BTreeSet::new();
    let mut count = 0;
    for _ in 0..3 {
        let server = Running::start(&place, &args);
        let (told, never) = (AtomicBool::new(false), AtomicBool::new(false));
        let (http, admin) = (server.http.clone(), server.admin.clone());
        let found = scope(|scope| {
            // Some leave when the server is no longer ready, as behind a balancer; the others go on to the end.
            let callers: Vec<_> = (0..CALLERS)
                .map(|at| (at, if at % 2 == 0 { &told } else { &never }))
                .map(|(at, leave)| (at, scope.spawn(|| take(&http, leave))))
                .collect();
            while say(&http, "POST /v1/sequences/order/next HTTP/1.1").len() < 20 {}
            server.signal("TERM");
            while say(&admin, "GET /readyz HTTP/1.1").starts_with("HTTP/1.1 200 ") {}
            told.store(true, Ordering::Relaxed);
            callers.into_iter().map(|(at, caller)| (at, caller.join().unwrap())).collect::<Vec<_>>()
        });
        for (at, (numbers, end)) in found {
            let expected = if at % 2 == 0 { End::Left } else { End::Closed };
            assert_eq!(end, expected, "caller {at}, after {} answers", numbers.len());
            assert!(!numbers.is_empty());
            count += numbers.len();
            all.extend(numbers);
        }
        let (code, err) = server.wait();
        assert_eq!(code, Some(0), "{err}");
    }
    println!("{count} numbers over three drains");
    assert_eq!(all.len(), count, "no number was told twice");
    let next = place.numbers(&["next", "order"])[0];
    assert!(next > *all.last().unwrap(), "{next}");
}
