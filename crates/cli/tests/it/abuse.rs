//! Callers who mean harm: the others are served as ever, memory stays bounded, and no number is consumed.

use std::{
    io::{Read, Write},
    net::TcpStream,
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::{Duration, Instant},
};

use crate::{
    frames::{self, CONTINUATION, END_HEADERS, END_STREAM, GO_AWAY, HEADERS, RESET, frame},
    place::Place,
    running::{FREE, Running, say},
};

/// What an attack may add to a server's memory: bodies of 10 MB, headers by the thousand and a thousand connections
/// would take several times as much if they were kept.
const MEMORY_MAX: u64 = 64 << 20;

/// How long any other caller may wait meanwhile. On a quiet machine it is milliseconds; an API that is held up by an
/// attack makes the others wait for as long as its limits are, 5 seconds and more.
const WAIT_MAX: Duration = Duration::from_secs(3);

/// How often it is looked whether all was counted: for five seconds at least.
const COUNTED_LOOKS_MAX: usize = 500;

/// How many numbers are taken one by one before an attack, to compare with.
const ALONE: u64 = 300;

/// Takes numbers one by one while `go_on` says so; how long each took.
fn waits(server: &Server, mut go_on: impl FnMut(u64) -> bool) -> Vec<Duration> {
    let (mut taken, mut waits) = (0, Vec::new());
    while go_on(taken) {
        let began = Instant::now();
        let number = server.running.next()["numbers"][0].as_str().unwrap().parse::<u64>().unwrap();
        waits.push(began.elapsed());
        let before = server.given.swap(number, Ordering::Relaxed);
        assert_eq!(number, before + 1, "the next number: nothing was consumed");
        taken += 1;
    }
    waits.sort();
    waits
}

/// A server, and the highest number that it gave.
struct Server {
    running: Running,
    given: AtomicU64,
}

/// An attack, beside a caller that goes on taking numbers one by one.
fn under(attack: impl FnOnce(&Running)) {
    let place = Place::new();
    let running = Running::start(&place, &["dev", "--json"]);
    let server = Server { running, given: AtomicU64::new(0) };
    let alone = waits(&server, |taken| taken < ALONE);
    let before = server.running.memory("VmRSS");
    let over = AtomicBool::new(false);
    let beside = std::thread::scope(|scope| {
        let caller = scope.spawn(|| waits(&server, |taken| !over.load(Ordering::Relaxed) || taken < 20));
        // However the attack ends, the caller does too.
        let attacked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| attack(&server.running)));
        over.store(true, Ordering::Relaxed);
        let beside = caller.join().unwrap();
        attacked.unwrap();
        beside
    });
    let most = server.running.memory("VmHWM").saturating_sub(before);
    let at = |waits: &[Duration], percent: usize| waits[(waits.len() - 1) * percent / 100];
    for (when, waits) in [("alone", &alone), ("beside it", &beside)] {
        let [p50, p99, longest] = [50, 99, 100].map(|percent| at(waits, percent));
        println!("{when}: {} numbers, p50 {p50:?}, p99 {p99:?}, longest {longest:?}", waits.len());
    }
    println!("memory: {most} bytes more at most");
    assert!(at(&beside, 100) < WAIT_MAX, "somebody else waited");
    assert!(most < MEMORY_MAX, "{most} bytes");
    assert_eq!(server.running.end().0, Some(0));
}

/// Whether the peer has hung up, read to the end.
fn ends(socket: &mut TcpStream, within: Duration) -> bool {
    socket.set_read_timeout(Some(within)).unwrap();
    let mut bytes = [0; 1024];
    loop {
        match socket.read(&mut bytes) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }
}

#[test]
fn a_thousand_connections_that_never_finish_a_head() {
    under(|server| {
        let head = b"POST /v1/sequences/order/next HTTP/1.1\r\nhost: ";
        let open = |api: &str, bytes: &[u8]| -> Vec<TcpStream> {
            let one = |_| {
                let mut socket = TcpStream::connect(api).unwrap();
                socket.write_all(bytes).unwrap();
                socket
            };
            (0..500).map(one).collect()
        };
        let mut slow = open(&server.http, head);
        // Half of HTTP/2's greeting.
        let mut silent = open(&server.grpc, b"PRI * HTTP/2");
        for socket in &mut silent {
            assert!(ends(socket, Duration::from_secs(30)), "it did not greet");
        }
        for socket in &mut slow {
            // More of the head, too late to count as progress: the head as a whole has its time.
            let _gone = socket.write_all(b"x").is_err();
        }
        for socket in &mut slow {
            assert!(ends(socket, Duration::from_secs(30)), "it did not finish its head");
        }
        assert!(server.metric("sequent_connections", "http") < 10.0);
    });
}

/// The limit on open files of a process.
fn files_max(server: &Running) -> Vec<String> {
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", server.child.id())).unwrap();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    line.split_whitespace().map(str::to_owned).collect()
}

/// A server under another limit on open files, as `ulimit` is told it.
fn limited(place: &Place, limit: &str) -> Running {
    let args = [&["serve", "--set", "limits.drain_delay_s=0"][..], &FREE].concat();
    let plain = place.command(&args);
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit {limit} && exec \"$0\" \"$@\"")]).arg(plain.get_program());
    shell.args(plain.get_args()).current_dir(plain.get_current_dir().unwrap());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Running::of(shell.spawn().unwrap())
}

/// What a caller from this address is told, within [`WAIT_MAX`].
fn told_from(address: [u8; 4], api: &str, line: &str) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let connecting = async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind((address, 0).into()).unwrap();
        socket.connect(api.parse().unwrap()).await.unwrap().into_std().unwrap()
    };
    let mut socket = runtime.block_on(connecting);
    socket.set_nonblocking(false).unwrap();
    socket.set_read_timeout(Some(WAIT_MAX)).unwrap();
    write!(socket, "{line} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn more_connections_than_a_process_may_have_files() {
    let place = Place::new();
    let server = limited(&place, "-n 256");
    // They stay as long as they are let: heads that don't end, and greetings that nothing follows.
    let http: Vec<_> = (0..400)
        .map(|_| {
            let mut socket = TcpStream::connect(&server.http).unwrap();
            let _refused = socket.write_all(b"POST /v1/sequences/order/next HTTP/1.1\r\nhost: ").is_err();
            socket
        })
        .collect();
    let grpc: Vec<_> = (0..400)
        .map(|_| {
            let mut socket = TcpStream::connect(&server.grpc).unwrap();
            let greeting = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", &frame(frames::SETTINGS, 0, 0, &[])[..]];
            let _refused = socket.write_all(&greeting.concat()).is_err();
            socket
        })
        .collect();
    // The crowd's own address still reaches the admin listener, and another one the APIs.
    let live = told_from([127, 0, 0, 1], &server.admin, "GET /livez");
    assert!(live.starts_with("HTTP/1.1 200 "), "{live}");
    let answer = told_from([127, 0, 0, 2], &server.http, "POST /v1/sequences/order/next");
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    // Every store is at work, and a file more can be opened.
    assert!((server.metric("sequent_slot_state", "state=\"live\"") - 4.0).abs() < 0.5);
    assert!(server.metric("sequent_connections_refused_total", "accept_failed") < 0.5);
    // A half head makes room for the next one. None that has a request in work does.
    assert!(server.metric("sequent_connections_refused_total", "listener=\"http\"") < 0.5);
    assert!(server.metric("sequent_connections_ended_total", "listener=\"http\",why=\"made_room\"") > 300.0);
    drop((http, grpc));
    let (code, err) = server.end();
    assert_eq!(code, Some(0), "{err}");
    let said: Vec<_> = err.lines().filter(|line| line.contains("limits.connections_max")).collect();
    let both = |text: &str| text.contains("10000") && text.contains("256");
    assert!(matches!(said[..], [once] if both(once)), "said once, with both numbers: {err}");
}

#[test]
fn the_limit_on_open_files_is_raised_as_far_as_may_be() {
    let place = Place::new();
    let server = limited(&place, "-S -n 100");
    let limits = files_max(&server);
    assert_eq!(limits[0], limits[1], "{limits:?}");
    assert_ne!(limits[0], "100", "nothing to raise here");
    assert_eq!(server.end().0, Some(0));
}

/// How many connections bring a flood of resets.
const FLOODS: u32 = 20;

/// Streams that are reset, by [`FLOODS`] connections one after the other.
fn resets(server: &Running) {
    for _ in 0..FLOODS {
        let mut socket = frames::connect(&server.grpc);
        let block = frames::call("POST");
        let mut flood = Vec::new();
        for stream in (1..10_000).step_by(2) {
            flood.extend(frame(HEADERS, END_HEADERS, stream, &block));
            flood.extend(frame(RESET, 0, stream, &8_u32.to_be_bytes()));
        }
        let mut writer = socket.try_clone().unwrap();
        let writing = std::thread::spawn(move || drop(writer.write_all(&flood)));
        let mut gone = false;
        while let Some(frame) = frames::read(&mut socket) {
            gone |= frame.kind == GO_AWAY;
        }
        writing.join().unwrap();
        assert!(gone, "the connection ends, and its peer is told");
    }
}

#[test]
fn a_flood_of_streams_that_are_reset() {
    under(resets);
}

#[test]
fn connections_that_end_in_a_flood_are_counted_and_logged_once_a_minute() {
    let place = Place::new();
    let server = limited(&place, "-S -n 1024");
    resets(&server);
    let counted = || server.metric("sequent_connections_ended_total", "listener=\"grpc\",why=\"protocol\"");
    let all = f64::from(FLOODS) - 0.5;
    let is_counted = (0..COUNTED_LOOKS_MAX).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        counted() > all
    });
    assert!(is_counted, "{} of {FLOODS}", counted());
    let (code, err) = server.end();
    assert_eq!(code, Some(0), "{err}");
    let lines = |part: &str| err.lines().filter(|line| line.contains(part)).count();
    assert_eq!((lines("connections were ended"), lines("h2::")), (1, 0), "{err}");
}

/// What a server says that it allows, by its number in the protocol.
fn allowed(settings: &[u8], id: u8) -> Option<u32> {
    let of = |entry: &[u8]| u32::from_be_bytes([entry[2], entry[3], entry[4], entry[5]]);
    settings.chunks(6).find(|entry| entry[..2] == [0, id]).map(of)
}

#[test]
fn the_bounds_are_told_at_the_greeting() {
    under(|server| {
        let mut socket = frames::connect(&server.grpc);
        let greeting = frames::read(&mut socket).unwrap();
        assert_eq!(greeting.kind, frames::SETTINGS);
        // Concurrent streams, what one of them may send unread, and the headers of one. Stock servers say none of these.
        let told = [3, 4, 6].map(|id| allowed(&greeting.payload, id));
        assert_eq!(told, [Some(256), Some(64 << 10), Some(16 << 10)], "{greeting:?}");
    });
}

#[test]
fn ten_thousand_headers_by_either_door() {
    under(|server| {
        let lines = "x: y\r\n".repeat(10_000);
        let said = flood(
            &server.http,
            format!("POST /v1/sequences/order/next HTTP/1.1\r\nhost: localhost\r\n{lines}\r\n").as_bytes(),
        );
        assert!(said.starts_with("HTTP/1.1 431 "), "{said}");
        let mut block = frames::call("POST");
        (0..10_000).for_each(|_| frames::header(&mut block, "x", "y"));
        let mut socket = frames::connect(&server.grpc);
        let mut parts = block.chunks(16_384);
        socket.write_all(&frame(HEADERS, END_STREAM, 1, parts.next().unwrap())).unwrap();
        let count = parts.len();
        for (at, part) in parts.enumerate() {
            let last = if at + 1 == count { END_HEADERS } else { 0 };
            let _told_to_stop = socket.write_all(&frame(CONTINUATION, last, 1, part)).is_err();
        }
        let mut refused = false;
        while let Some(frame) = frames::read(&mut socket) {
            let too_large = frame.kind == HEADERS && frame.has_status("431");
            refused |= too_large || matches!(frame.kind, RESET | GO_AWAY);
            if refused {
                break;
            }
        }
        assert!(refused, "431, or the protocol's reset");
    });
}

#[test]
fn bodies_of_ten_megabytes_and_thousands_of_braces() {
    under(|server| {
        let large = vec![b' '; 10 << 20];
        for _ in 0..20 {
            let head = format!(
                "POST /v1/sequences/order/next HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n",
                large.len()
            );
            let said = flood(&server.http, &[head.as_bytes(), &large].concat());
            assert!(said.starts_with("HTTP/1.1 413 ") && said.contains("\"body\""), "{said}");
        }
        for _ in 0..200 {
            let body = "{".repeat(5000);
            let head = format!(
                "POST /v1/sequences/order/next HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
                 content-type: application/json\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            let said = flood(&server.http, format!("{head}{body}").as_bytes());
            assert!(said.starts_with("HTTP/1.1 400 ") && said.contains("INVALID_ARGUMENT"), "{said}");
        }
        let mut told = 220.0;
        // A message that says it is 10 MB long, and one of 5000 groups in one another.
        for message in [vec![b'n'; 10 << 20], vec![b'{'; 5000]] {
            let mut socket = frames::connect(&server.grpc);
            socket.write_all(&frame(HEADERS, END_HEADERS, 1, &frames::call("POST"))).unwrap();
            let mut body = vec![0];
            body.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
            body.extend(&message);
            let mut writer = socket.try_clone().unwrap();
            let writing = std::thread::spawn(move || {
                for part in body.chunks(16_384) {
                    // A server may have answered before it has read everything.
                    if writer.write_all(&frame(frames::DATA, 0, 1, part)).is_err() {
                        return;
                    }
                }
                drop(writer.write_all(&frame(frames::DATA, END_STREAM, 1, &[])));
            });
            let (mut answered, mut seen) = (false, Vec::new());
            while let Some(frame) = frames::read(&mut socket) {
                seen.push((frame.kind, frame.stream));
                answered |=
                    frame.stream == 1 && matches!(frame.kind, HEADERS | RESET) || frame.kind == GO_AWAY;
                if answered {
                    // Who sends more than there is a window for may lose the connection before the call is read.
                    told += f64::from(u8::from(frame.kind == HEADERS));
                    break;
                }
            }
            drop(socket.shutdown(std::net::Shutdown::Both));
            writing.join().unwrap();
            assert!(answered, "{seen:?}");
        }
        // What is answered is counted a moment later.
        let refused = || server.metric("sequent_requests_total", "reason=\"INVALID_ARGUMENT\"");
        let counted = (0..COUNTED_LOOKS_MAX).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            refused() >= told
        });
        assert!(counted, "each is counted: {} of {told}", refused());
    });
}

/// Sends everything, reads everything.
fn flood(to: &str, bytes: &[u8]) -> String {
    let mut socket = TcpStream::connect(to).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut writer = socket.try_clone().unwrap();
    let bytes = bytes.to_vec();
    // A server may have answered, and left, before it has read everything.
    let writing = std::thread::spawn(move || drop(writer.write_all(&bytes)));
    let mut answer = Vec::new();
    let mut part = [0; 4096];
    while let Ok(read) = socket.read(&mut part)
        && read > 0
    {
        answer.extend(&part[..read]);
        if answer.windows(4).any(|window| window == b"\r\n\r\n") && answer.ends_with(b"}") {
            break;
        }
    }
    drop(socket.shutdown(std::net::Shutdown::Both));
    writing.join().unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn a_get_is_no_call_though_it_carries_a_whole_message() {
    under(|server| {
        let mut socket = frames::connect(&server.grpc);
        let message = b"\0\0\0\0\x07\x0a\x05order";
        socket.write_all(&frame(HEADERS, END_HEADERS, 1, &frames::call("GET"))).unwrap();
        socket.write_all(&frame(frames::DATA, END_STREAM, 1, message)).unwrap();
        let mut refused = false;
        while !refused && let Some(frame) = frames::read(&mut socket) {
            assert!(frame.kind != frames::DATA, "it gave something: {frame:?}");
            refused = frame.kind == HEADERS && frame.has_status("405");
        }
        assert!(refused);
    });
}

#[test]
fn a_health_probe_answers_beside_everything() {
    under(|server| {
        for _ in 0..200 {
            assert!(say(&server.admin, "GET /livez HTTP/1.1").starts_with("HTTP/1.1 200 "));
            assert!(say(&server.admin, "GET /v1/status HTTP/1.1").contains("\"phase\":\"serving\""));
        }
    });
}
