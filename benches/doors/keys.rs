//! S11: uniform over many live keys, beside one key; and what a key costs in memory.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
};

use sequent_benches::Row;

use crate::{
    child::Server,
    load::wrk,
    plan::{Cost, Loading, Plan},
    serve::SEQUENT,
};

/// Paths of `keys` names, drawn uniformly; the same work for wrk whatever `keys` is.
fn uniform(keys: u64) -> String {
    format!(
        "wrk.method = \"POST\"\nmath.randomseed(os.time())\nlocal format, random = string.format, math.random\n\
         request = function()\n  \
         return format(\"POST /v1/sequences/key-%07d/next HTTP/1.1\\r\\nhost: x\\r\\n\\r\\n\", random(0, {last}))\nend\n",
        last = keys - 1
    )
}

pub(crate) fn run(
    plan: &Plan,
    (rows, costs, notes): (&mut Vec<Row>, &mut Vec<Cost>, &mut Vec<(&'static str, f64)>),
) -> Result<(), String> {
    let (many, one) = (Server::start(SEQUENT)?, Server::start(SEQUENT)?);
    let (empty, cpu) = (many.rss()?, many.cpu()?);
    fill(&many, plan.keys)?;
    let filled = (many.rss()?, many.cpu()?);
    // Of a key that has been asked twice, some numbers are kept ready: from here on it is in use.
    fill(&many, plan.keys)?;
    #[allow(clippy::cast_precision_loss, reason = "bytes and microseconds of a key")]
    let each = |total: u64| total as f64 / plan.keys as f64;
    let spent = u64::try_from(filled.1.saturating_sub(cpu).as_micros()).unwrap_or(u64::MAX);
    notes.push(("S11: us of processor time for the first number of a key", each(spent)));
    let spent = many.cpu()?.saturating_sub(filled.1).as_micros();
    notes.push(("S11: us of processor time for the second", each(u64::try_from(spent).unwrap_or(u64::MAX))));
    notes.push((
        "S11: bytes a live key, with its rows in the ledger and its cells in four stores, all in this process",
        each(many.rss()?.saturating_sub(empty)),
    ));
    let http = |keys: u64| {
        let script = uniform(keys);
        move |server: &Server| wrk(server.addresses[1], &script, plan.load)
    };
    let loads: (Loading<'_>, Loading<'_>) = (&http(plan.keys), &http(1));
    plan.pair(("S11", 0.8), (&many, &one), loads, (rows, costs))
}

/// Takes one number of each key, so that all are live: by hand, since no tool stops after each name has had its turn.
fn fill(server: &Server, keys: u64) -> Result<(), String> {
    let to = server.addresses[1];
    std::thread::scope(|scope| {
        let callers: Vec<_> = (0..CALLERS)
            .map(|caller| scope.spawn(move || call(to, (caller.into()..keys).step_by(CALLERS.into()))))
            .collect();
        callers
            .into_iter()
            .try_for_each(|caller| caller.join().map_err(|_| "a caller panicked".to_owned())?)
    })
}

/// How many connections the first takes share.
const CALLERS: u8 = 16;

/// How many first numbers of a connection may be asked for again.
const REFUSED_MAX: u32 = 1000;

fn call(to: SocketAddr, keys: impl Iterator<Item = u64>) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("first numbers: {error}");
    let mut socket = TcpStream::connect(to).map_err(failed)?;
    socket.set_nodelay(true).map_err(failed)?;
    let mut answer = [0; 4096];
    let mut refused = 0;
    let mut keys = keys.peekable();
    while let Some(key) = keys.peek().copied() {
        let head = format!("POST /v1/sequences/key-{key:07}/next HTTP/1.1\r\nhost: x\r\n\r\n");
        socket.write_all(head.as_bytes()).map_err(failed)?;
        // Answers are small: one comes whole, and ends as its JSON does.
        let mut length = 0;
        while length == 0 || answer[length - 1] != b'}' {
            match socket.read(&mut answer[length..]).map_err(failed)? {
                0 => return Err("first numbers: the server hung up".to_owned()),
                read => length += read,
            }
        }
        if answer.starts_with(b"HTTP/1.1 200 ") {
            keys.next();
            continue;
        }
        // On a machine that is busy with something else, the first number of a key may miss its deadline.
        refused += 1;
        if !answer.starts_with(b"HTTP/1.1 50") || refused > REFUSED_MAX {
            return Err(format!("first numbers: {}", String::from_utf8_lossy(&answer[..length])));
        }
    }
    Ok(())
}
