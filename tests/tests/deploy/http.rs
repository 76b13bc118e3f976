//! A page read, and a page served: enough of HTTP/1 for tools on this machine.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::Arc,
    thread,
    time::Duration,
};

/// How long a read may take: beyond it, somebody hangs.
const PATIENCE: Duration = Duration::from_secs(10);

/// The most of a body that is read.
const BODY_MAX: usize = 1 << 20;

/// What a server answers to a path and a body.
type Answer = dyn Fn(&str, &str) -> String + Send + Sync;

/// The body of an answer, if it says that all is well; or all that was said.
pub(crate) fn ask(address: SocketAddr, method: &str, path: &str) -> Result<String, String> {
    say(address, method, path, "")
}

/// The same of a question with a body of JSON.
pub(crate) fn post(address: SocketAddr, path: &str, json: &str) -> Result<String, String> {
    let length = json.len();
    let body = format!("Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{json}");
    say(address, "POST", path, &body)
}

/// `rest` are headers, and a body behind an empty line.
fn say(address: SocketAddr, method: &str, path: &str, rest: &str) -> Result<String, String> {
    let rest = if rest.is_empty() { "\r\n" } else { rest };
    let told = |error: std::io::Error| format!("{method} {address}{path}: {error}");
    let mut stream = TcpStream::connect(address).map_err(told)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(told)?;
    // HTTP/1.0: the answer ends with the connection, and comes in one piece.
    write!(stream, "{method} {path} HTTP/1.0\r\nHost: {address}\r\n{rest}").map_err(told)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map_err(told)?;
    let is_well = answer.split(' ').nth(1) == Some("200");
    match answer.split_once("\r\n\r\n") {
        Some((_, body)) if is_well => Ok(body.to_owned()),
        _ => Err(format!("{method} {address}{path}: {answer:?}")),
    }
}

/// A value as a part of a query.
pub(crate) fn encoded(text: &str) -> String {
    text.bytes()
        .map(
            |byte| {
                if byte.is_ascii_alphanumeric() {
                    char::from(byte).to_string()
                } else {
                    format!("%{byte:02X}")
                }
            },
        )
        .collect()
}

/// Serves on a free port for as long as the process runs.
pub(crate) fn serve(answer: impl Fn(&str, &str) -> String + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answer: Arc<Answer> = Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            thread::spawn(move || drop(converse(&stream, &*answer)));
        }
    });
    address
}

/// One request a connection: whoever asks again connects again.
fn converse(stream: &TcpStream, answer: &Answer) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut reader = BufReader::new(stream);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim().to_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse::<usize>().unwrap_or(0).min(BODY_MAX);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let said = answer(first.split(' ').nth(1).unwrap_or("/"), &String::from_utf8_lossy(&body));
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        said.len()
    );
    (&*stream).write_all((head + &said).as_bytes())
}
