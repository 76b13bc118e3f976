//! HTTP/2 by hand, so that a test can send what no library would.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

/// Kinds of frames.
pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RESET: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const GO_AWAY: u8 = 7;
pub(crate) const CONTINUATION: u8 = 9;

/// Flags.
pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;

/// A frame as it came.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) stream: u32,
    pub(crate) payload: Vec<u8>,
}

impl Frame {
    /// Whether its block has this status, as it is or in HPACK's Huffman code.
    pub(crate) fn has_status(&self, status: &str) -> bool {
        let coded: [u8; 3] = match status {
            "405" => [0x68, 0x0d, 0xff],
            "431" => [0x69, 0x90, 0xff],
            _ => panic!("no code for {status}"),
        };
        self.payload.windows(3).any(|window| window == status.as_bytes() || window == coded)
    }
}

/// A frame's bytes.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut bytes = vec![length[1], length[2], length[3], kind, flags];
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// The header block of a call of `Next`, in literals that need no table.
pub(crate) fn call(method: &str) -> Vec<u8> {
    let mut block = Vec::new();
    let headers = [
        (":method", method),
        (":scheme", "http"),
        (":path", "/sequent.v1.Sequences/Next"),
        (":authority", "x"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
    ];
    for (name, value) in headers {
        header(&mut block, name, value);
    }
    block
}

/// One more header of a block.
pub(crate) fn header(block: &mut Vec<u8>, name: &str, value: &str) {
    block.push(0);
    for text in [name, value] {
        assert!(text.len() < 127, "one byte of length");
        block.push(u8::try_from(text.len()).unwrap());
        block.extend(text.as_bytes());
    }
}

/// A connection that has greeted.
pub(crate) fn connect(to: &str) -> TcpStream {
    let mut socket = TcpStream::connect(to).unwrap();
    socket.set_nodelay(true).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    socket.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
    socket.write_all(&frame(SETTINGS, 0, 0, &[])).unwrap();
    socket
}

/// The next frame; `None` where the peer has hung up.
pub(crate) fn read(socket: &mut TcpStream) -> Option<Frame> {
    let mut head = [0; 9];
    socket.read_exact(&mut head).ok()?;
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
    let mut payload = vec![0; usize::try_from(length).unwrap()];
    socket.read_exact(&mut payload).ok()?;
    let stream = u32::from_be_bytes([head[5] & 0x7f, head[6], head[7], head[8]]);
    Some(Frame { kind: head[3], stream, payload })
}
