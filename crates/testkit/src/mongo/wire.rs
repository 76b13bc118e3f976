//! Messages: `OP_MSG` with one document, and nothing else.

use std::io::{self, Read, Write};

use bson::Document;

const OP_MSG: i32 = 2013;
const HEADER_BYTES: usize = 16;
/// As servers have it.
const MESSAGE_BYTES_MAX: usize = 48_000_000;
/// `exhaustAllowed`, which a server may ignore; other flags change what follows.
const EXHAUST_ALLOWED: u32 = 1 << 16;

/// A request.
pub(super) struct Request {
    pub(super) id: i32,
    pub(super) body: Document,
}

/// Reads a request; none where the connection ended between two.
pub(super) fn read(stream: &mut impl Read) -> io::Result<Option<Request>> {
    let mut header = [0; HEADER_BYTES];
    match stream.read_exact(&mut header) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        done => done?,
    }
    let length = usize::try_from(number(&header, 0)).unwrap_or(0);
    if number(&header, 12) != OP_MSG || !(HEADER_BYTES + 5..=MESSAGE_BYTES_MAX).contains(&length) {
        return Err(io::Error::other(format!(
            "a message of kind {} and length {length}",
            number(&header, 12)
        )));
    }
    let mut body = vec![0; length - HEADER_BYTES];
    stream.read_exact(&mut body)?;
    let flags = number(&body, 0).cast_unsigned();
    if flags & !EXHAUST_ALLOWED != 0 || body[4] != 0 {
        return Err(io::Error::other(format!("a message with flags {flags:x} and a section {}", body[4])));
    }
    let mut rest = &body[5..];
    let body = Document::from_reader(&mut rest).map_err(io::Error::other)?;
    if !rest.is_empty() {
        return Err(io::Error::other("a message of several sections"));
    }
    Ok(Some(Request { id: number(&header, 4), body }))
}

/// Writes the answer to a request.
pub(super) fn write(stream: &mut impl Write, to: i32, reply: &Document) -> io::Result<()> {
    let body = reply.to_vec().map_err(io::Error::other)?;
    let length = i32::try_from(HEADER_BYTES + 5 + body.len()).map_err(io::Error::other)?;
    let mut message = Vec::new();
    for part in [length, to, to, OP_MSG, 0] {
        message.extend(part.to_le_bytes());
    }
    message.push(0);
    message.extend(body);
    stream.write_all(&message)
}

fn number(bytes: &[u8], at: usize) -> i32 {
    i32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
