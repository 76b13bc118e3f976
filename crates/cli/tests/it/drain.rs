//! SIGTERM under load: every number that left is told whole, none is told twice, and who heeds readiness fails never.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    sync::atomic::{AtomicBool, Ordering},
    thread::scope,
    time::Duration,
};

use crate::{
    frames::{self, DATA, END_HEADERS, END_STREAM, HEADERS, RESET, frame},
    place::Place,
    running::{FREE, Running, say},
};

const CALLERS: usize = 4;

/// How a connection came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The caller wanted no more.
    Left,
    /// After an answer that said so.
    Bidden,
    /// Between two answers, without a word.
    Cut,
    /// Within an answer.
    Torn,
}

/// Takes numbers on one connection until `leave`, or until the server ends it.
fn take(http: &str, leave: &AtomicBool) -> (Vec<u64>, End) {
    let mut numbers = Vec::new();
    let Ok(socket) = TcpStream::connect(http) else { return (numbers, End::Cut) };
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let (mut writer, mut reader) = (socket.try_clone().unwrap(), BufReader::new(socket));
    loop {
        if leave.load(Ordering::Relaxed) {
            return (numbers, End::Left);
        }
        if writer.write_all(b"POST /v1/sequences/order/next HTTP/1.1\r\nhost: localhost\r\n\r\n").is_err() {
            return (numbers, End::Cut);
        }
        let (mut length, mut closes, mut line) = (0, false, String::new());
        loop {
            line.clear();
            match reader.read_line(&mut line) {
                Ok(0) | Err(_) if length == 0 && line.is_empty() => return (numbers, End::Cut),
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
            return (numbers, End::Bidden);
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
            let heeds = at % 2 == 0;
            let allowed = if heeds { [End::Left, End::Bidden] } else { [End::Cut, End::Bidden] };
            assert!(allowed.contains(&end), "caller {at}, after {} answers: {end:?}", numbers.len());
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

/// A call's head by gRPC, without its message.
fn head(stream: u32, path: &str) -> Vec<u8> {
    let mut block = Vec::new();
    let headers = [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", path),
        (":authority", "x"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
    ];
    for (name, value) in &headers {
        frames::header(&mut block, name, value);
    }
    frame(HEADERS, END_HEADERS, stream, &block)
}

/// The message of a call, and its end.
fn message(stream: u32, message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    frame(DATA, END_STREAM, stream, &[&[0], &length[..], message].concat())
}

/// The frames of each stream, read until so many of these kinds have come of each, or to the end of the connection.
/// Pings are answered only if `pongs`: whoever leaves one has its connection held open by a closing server.
fn until(socket: &mut TcpStream, streams: &[u32], kinds: &[u8], pongs: bool) -> BTreeMap<u32, Vec<u8>> {
    let mut seen: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
    while !streams.iter().all(|stream| seen.get(stream).is_some_and(|seen| seen == kinds)) {
        let Some(came) = frames::read(socket) else { break };
        if pongs && came.kind == PING {
            socket.write_all(&frame(PING, 1, 0, &came.payload)).unwrap();
        }
        if came.stream > 0 && matches!(came.kind, DATA | HEADERS | RESET) {
            seen.entry(came.stream).or_default().push(came.kind);
        }
    }
    seen
}

const PING: u8 = 6;
const CHECK: &str = "/grpc.health.v1.Health/Check";
const WATCH: &str = "/grpc.health.v1.Health/Watch";
const NEXT: &str = "/sequent.v1.Sequences/Next";

/// Streams of one connection that watch.
const WATCHERS: u32 = 50;

#[test]
fn a_closing_server_ends_its_watchers_with_a_status_and_answers_beside_them() {
    let place = Place::new();
    let server = Running::start(&place, &[&["serve", "--set", "limits.drain_delay_s=0"][..], &FREE].concat());
    // A crowd that watches.
    let streams: Vec<u32> = (0..WATCHERS).map(|at| 1 + 2 * at).collect();
    let mut crowd: Vec<TcpStream> = (0..4).map(|_| frames::connect(&server.grpc)).collect();
    let watch: Vec<u8> =
        streams.iter().flat_map(|at| [head(*at, WATCH), message(*at, b"")].concat()).collect();
    for socket in &mut crowd {
        socket.write_all(&watch).unwrap();
        // What health is now.
        assert_eq!(until(socket, &streams, &[HEADERS, DATA], true).len(), streams.len());
    }
    // Somebody watches, and has a request in work: its message has not come.
    let mut caller = frames::connect(&server.grpc);
    caller.write_all(&[head(1, NEXT), head(3, WATCH), message(3, b"")].concat()).unwrap();
    until(&mut caller, &[3], &[HEADERS, DATA], false);
    server.signal("TERM");
    // That it no longer serves, and trailers.
    let ended = [DATA, HEADERS];
    assert_eq!(until(&mut caller, &[3], &ended, false)[&3], ended);
    // The server closes. A check that comes now is answered, and so is what was in work.
    caller.write_all(&[head(5, CHECK), message(5, b"")].concat()).unwrap();
    let answered = [HEADERS, DATA, HEADERS];
    assert_eq!(until(&mut caller, &[5], &answered, false).get(&5).map(|seen| &seen[..]), Some(&answered[..]));
    caller.write_all(&message(1, b"\x0a\x05order")).unwrap();
    let said = until(&mut caller, &[1], &answered, false);
    assert_eq!(said.get(&1).map(|seen| &seen[..]), Some(&answered[..]), "the request in work");
    drop(caller);
    for socket in &mut crowd {
        let seen = until(socket, &streams, &ended, true);
        assert_eq!(seen.len(), streams.len());
        assert!(seen.values().all(|seen| *seen == ended), "{seen:?}");
    }
    drop(crowd);
    let (code, err) = server.wait();
    assert_eq!((code, err.contains("panic")), (Some(0), false), "{err}");
}

#[test]
fn dev_ends_within_seconds_though_peers_hold_on() {
    let place = Place::new();
    let server = Running::start(&place, &["dev", "--json"]);
    // One never answers a ping, the other never sends its body.
    let mut mute = frames::connect(&server.grpc);
    mute.write_all(&[head(1, WATCH), message(1, b"")].concat()).unwrap();
    until(&mut mute, &[1], &[HEADERS, DATA], false);
    let mut slow = TcpStream::connect(&server.http).unwrap();
    write!(slow, "POST /v1/sequences/order/next HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n").unwrap();
    server.signal("TERM");
    let (code, err) = server.wait_at_most(Duration::from_secs(4));
    assert_eq!(code, Some(0), "{err}");
}
