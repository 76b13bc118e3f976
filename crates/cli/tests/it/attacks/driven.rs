//! The attacks that load a server: each goes on until an instant, checks what it was answered, and tells it.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use super::{
    flood::{demand, flood},
    scene::Scene,
};
use crate::{
    frames::{self, frame},
    running::say,
};

const LEDGER_CALLS: &str = "sequent_ledger_calls_total";
const ENDED: &str = "sequent_connections_ended_total";

/// Names and keys that an attack may bring into being, and no more: see the settings of its row.
const NEW_MAX: usize = 50;

/// Commands of one pipeline.
const COMMANDS: usize = 500;

/// Calls of the ledger beside those that numbers wait for, while `attack` goes on: few, whatever is asked.
fn with_few_looks(scene: &Scene, attack: impl FnOnce() -> String) -> String {
    let looks = || scene.metric(LEDGER_CALLS, "call=\"other\"");
    let (before, began) = (looks(), Instant::now());
    let told = attack();
    let made = looks() - before;
    // Twenty looks a second, and a little more for what else calls the ledger.
    let most = 100.0 + 20.0 * began.elapsed().as_secs_f64();
    assert!(made < most, "{made} calls of the ledger within {:?}: {told}", began.elapsed());
    format!("{told}, {made} calls of the ledger")
}

/// A template whose proof takes long: several parts of many values.
fn slow_template(number: usize) -> String {
    let entries = |part: usize| (0..85).map(move |at| format!("{part}key{at}:{part}x{at}"));
    let map = |part| entries(part).collect::<Vec<_>>().join(";");
    let parts: Vec<String> = (0..3).map(|part| format!("@{{ctx,c{part},map={}}}-", map(part))).collect();
    format!("N{number}-{}@{{seq,w=9}}", parts.concat())
}

pub(super) fn previews(scene: &Scene, until: Instant) -> String {
    let preview = |number| {
        let template = slow_template(number);
        let values = (0..3).map(|part| format!("\"c{part}\": \"{part}key0\"")).collect::<Vec<_>>().join(", ");
        let body = format!("{{\"definition\": {{\"template\": \"{template}\"}}, \"values\": {{{values}}}}}");
        ("POST /v1/preview".to_owned(), body)
    };
    let statuses = flood(scene, 100, until, preview);
    demand(&statuses, &[200, 429], &[504]);
    format!("{statuses:?}")
}

pub(super) fn lists(scene: &Scene, until: Instant) -> String {
    with_few_looks(scene, || {
        let paths = ["GET /v1/sequences", "GET /v1/sequences/s7", "GET /v1/sequences/few"];
        let statuses = flood(scene, 24, until, |number| (paths[number % 3].to_owned(), String::new()));
        demand(&statuses, &[200], &[]);
        format!("{statuses:?}")
    })
}

pub(super) fn hidden_texts(scene: &Scene, until: Instant) -> String {
    let take = |_| ("POST /v1/sequences/hidden/next?count=10000".to_owned(), String::new());
    let statuses = flood(scene, 4, until, take);
    demand(&statuses, &[200], &[429]);
    format!("{statuses:?}")
}

pub(super) fn first_uses(scene: &Scene, until: Instant) -> String {
    let use_one = |number| (format!("POST /v1/sequences/new-{number}/next"), String::new());
    let statuses = flood(scene, 24, until, use_one);
    demand(&statuses, &[200, 429], &[]);
    assert!(statuses[&200] <= NEW_MAX, "{statuses:?}");
    format!("{statuses:?}")
}

pub(super) fn partitions(scene: &Scene, until: Instant) -> String {
    let take = |number| {
        let body = format!("{{\"values\": {{\"shop\": \"{number:06}\"}}}}");
        ("POST /v1/sequences/shop/next".to_owned(), body)
    };
    let statuses = flood(scene, 24, until, take);
    demand(&statuses, &[200, 429], &[]);
    assert!(statuses[&200] <= NEW_MAX, "{statuses:?}");
    format!("{statuses:?}")
}

pub(super) fn reports(scene: &Scene, until: Instant) -> String {
    let path = "POST /v1/sequences/order/next?above=9000000000000000000";
    let statuses = flood(scene, 24, until, |_| (path.to_owned(), String::new()));
    demand(&statuses, &[409], &[]);
    format!("{statuses:?}")
}

pub(super) fn unknown_names(scene: &Scene, until: Instant) -> String {
    with_few_looks(scene, || {
        let ask = |number| (format!("POST /v1/sequences/unknown-{number}/next"), String::new());
        let statuses = flood(scene, 48, until, ask);
        demand(&statuses, &[404, 429], &[504]);
        format!("{statuses:?}")
    })
}

/// Half heads from three addresses, more than the listener takes, opened again and again.
pub(super) fn half_heads(scene: &Scene, until: Instant) -> String {
    let admin = &scene.server.admin;
    let opened: usize = thread::scope(|scope| {
        let flood = move |host: u8| {
            let mut opened = 0;
            while Instant::now() < until {
                let mut held = Vec::new();
                for _ in 0..16 {
                    let mut socket = connect_from([127, 0, 0, host], admin);
                    // It may have made room for another one already.
                    drop(socket.write_all(b"GET /livez HTTP/1.1\r\nhost: "));
                    held.push(socket);
                    opened += 1;
                }
            }
            opened
        };
        let floods: Vec<_> = (2..5).map(|host| scope.spawn(move || flood(host))).collect();
        let mut looks = 0;
        while Instant::now() < until || looks == 0 {
            for (to, path) in [(admin, "/livez"), (admin, "/readyz"), (&scene.server.http, "/livez")] {
                let answer = say(to, &format!("GET {path} HTTP/1.1"));
                assert!(answer.starts_with("HTTP/1.1 200 "), "{path} after {looks} looks: {answer:?}");
            }
            looks += 1;
        }
        floods.into_iter().map(|flood| flood.join().unwrap()).sum()
    });
    assert!(scene.metric(ENDED, "listener=\"admin\",why=\"made_room\"") > 0.5);
    format!("{opened} half heads")
}

fn connect_from(address: [u8; 4], to: &str) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let socket = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind((address, 0).into()).unwrap();
        socket.connect(to.parse().unwrap()).await.unwrap().into_std().unwrap()
    });
    socket.set_nonblocking(false).unwrap();
    socket
}

/// Frames of HTTP/2 that ask for nothing.
pub(super) fn control_frames(scene: &Scene, until: Instant) -> String {
    let kinds = [
        frame(6, 0, 0, &[7; 8]),
        frame(frames::SETTINGS, 0, 0, &[]),
        frame(2, 0, 1, &[0, 0, 0, 0, 1]),
        frame(8, 0, 0, &1_u32.to_be_bytes()),
    ];
    let sent: usize = thread::scope(|scope| {
        let flood = move |kind: Vec<u8>| {
            let (chunk, mut sent) = (kind.repeat(4096 / kind.len()), 0);
            while Instant::now() < until {
                let mut socket = frames::connect(&scene.server.grpc);
                let mut reader = socket.try_clone().unwrap();
                let reads = scope.spawn(move || drop(std::io::copy(&mut reader, &mut std::io::sink())));
                while Instant::now() < until && !reads.is_finished() && socket.write_all(&chunk).is_ok() {
                    sent += chunk.len();
                }
                drop(socket.shutdown(std::net::Shutdown::Both));
            }
            sent
        };
        let floods: Vec<_> = kinds.map(|kind| scope.spawn(move || flood(kind))).into();
        floods.into_iter().map(|flood| flood.join().unwrap()).sum()
    });
    let ended = scene.metric(ENDED, "listener=\"grpc\",why=\"flood\"");
    assert!(ended > 0.5, "no connection was ended: {sent} bytes");
    format!("{} MiB, {ended} connections ended", sent >> 20)
}

/// Commands of Redis that are refused, each another one, by a hundred connections of few threads.
pub(super) fn refused_commands(scene: &Scene, until: Instant) -> String {
    let commands: Vec<String> = (0..COMMANDS).map(|number| format!("INCR nobody-{number}\r\n")).collect();
    let pipeline = commands.concat();
    let flood = || {
        let connect = |_| {
            let socket = TcpStream::connect(&scene.server.redis).unwrap();
            socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            socket
        };
        let mut sockets: Vec<TcpStream> = (0..25).map(connect).collect();
        let mut refused = 0;
        while Instant::now() < until {
            for socket in &mut sockets {
                socket.write_all(pipeline.as_bytes()).unwrap();
            }
            sockets.iter_mut().for_each(read_refusals);
            refused += sockets.len() * COMMANDS;
        }
        refused
    };
    let refused: usize = thread::scope(|scope| {
        let floods: Vec<_> = (0..4).map(|_| scope.spawn(flood)).collect();
        floods.into_iter().map(|flood| flood.join().unwrap()).sum()
    });
    let counted = scene.metric("sequent_auth_refused_total", "listener=\"redis\",why=\"missing\"");
    assert!(counted >= f64::from(u32::try_from(refused).unwrap()), "{counted} of {refused} were counted");
    format!("{refused} refused")
}

/// Reads the replies to a pipeline, all of which are refusals.
fn read_refusals(socket: &mut TcpStream) {
    let (mut replies, mut part) = (0, vec![0_u8; 64 << 10]);
    while replies < COMMANDS {
        let length = socket.read(&mut part).unwrap();
        assert!(length > 0, "closed");
        assert!(replies > 0 || part.starts_with(b"-NOAUTH "), "{}", String::from_utf8_lossy(&part[..length]));
        replies += part[..length].split(|byte| *byte == b'\n').count() - 1;
    }
}
