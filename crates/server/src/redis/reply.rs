//! Writer of replies, in RESP2 or RESP3.

use bytes::{BufMut, BytesMut};
use serde_json::Value;

use crate::error::ApiError;

/// The first byte of an error.
pub(crate) const ERROR: u8 = b'-';

/// The version of the protocol that a connection speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Protocol {
    /// What a connection speaks before `HELLO 3`.
    #[default]
    Resp2,
    /// With maps and a null of its own.
    Resp3,
}

/// Writer of replies into the output of a connection.
pub(crate) struct Reply<'a> {
    output: &'a mut BytesMut,
    protocol: Protocol,
}

impl<'a> Reply<'a> {
    pub(crate) fn new(output: &'a mut BytesMut, protocol: Protocol) -> Self {
        Self { output, protocol }
    }

    /// `+OK`.
    pub(crate) fn ok(&mut self) {
        self.simple("OK");
    }

    /// A status, which is one line.
    pub(crate) fn simple(&mut self, text: &str) {
        self.line(b'+', text.as_bytes());
    }

    /// An error whose first word is its code. Line ends in it would begin another reply: they become spaces.
    pub(crate) fn error(&mut self, text: &str) {
        self.output.put_u8(ERROR);
        let one_line = |byte| if matches!(byte, b'\r' | b'\n') { b' ' } else { byte };
        self.output.extend(text.bytes().map(one_line));
        self.end();
    }

    /// An error of the table.
    pub(crate) fn fail(&mut self, error: &ApiError) {
        self.error(&error.resp());
    }

    /// The same error as the reply to each of `count` commands. Its text is made once.
    pub(crate) fn fail_each(&mut self, error: &ApiError, count: u64) {
        if count == 0 {
            return;
        }
        let begin = self.output.len();
        self.fail(error);
        let line = begin..self.output.len();
        (1..count).for_each(|_| self.output.extend_from_within(line.clone()));
    }

    /// An integer. Numbers are at most `i64::MAX`.
    pub(crate) fn integer(&mut self, number: u64) {
        self.line(b':', itoa::Buffer::new().format(number).as_bytes());
    }

    /// An integer that may be negative.
    pub(crate) fn signed(&mut self, number: i64) {
        self.line(b':', itoa::Buffer::new().format(number).as_bytes());
    }

    /// Bytes of any kind.
    pub(crate) fn bulk(&mut self, bytes: &[u8]) {
        self.line(b'$', itoa::Buffer::new().format(bytes.len()).as_bytes());
        self.output.extend_from_slice(bytes);
        self.end();
    }

    /// A text as bytes.
    pub(crate) fn text(&mut self, text: &str) {
        self.bulk(text.as_bytes());
    }

    /// No value.
    pub(crate) fn null(&mut self) {
        let null: &[u8] = if self.protocol == Protocol::Resp3 { b"_\r\n" } else { b"$-1\r\n" };
        self.output.extend_from_slice(null);
    }

    /// The head of an array: `count` replies follow.
    pub(crate) fn array(&mut self, count: usize) {
        self.line(b'*', itoa::Buffer::new().format(count).as_bytes());
    }

    /// The head of a map: `count` pairs of replies follow. In RESP2 it is an array.
    pub(crate) fn map(&mut self, count: usize) {
        match self.protocol {
            Protocol::Resp2 => self.array(2 * count),
            Protocol::Resp3 => self.line(b'%', itoa::Buffer::new().format(count).as_bytes()),
        }
    }

    /// A JSON value. An integer above `i64::MAX`, and a fraction, is a text.
    pub(crate) fn json(&mut self, value: &Value) {
        match value {
            Value::Null => self.null(),
            Value::Bool(value) => self.integer(u64::from(*value)),
            Value::Number(number) => match number.as_i64() {
                Some(number) => self.signed(number),
                None => self.text(&number.to_string()),
            },
            Value::String(text) => self.text(text),
            Value::Array(values) => {
                self.array(values.len());
                for value in values {
                    self.json(value);
                }
            }
            Value::Object(fields) => {
                self.map(fields.len());
                for (name, value) in fields {
                    self.text(name);
                    self.json(value);
                }
            }
        }
    }

    fn line(&mut self, kind: u8, bytes: &[u8]) {
        self.output.put_u8(kind);
        self.output.extend_from_slice(bytes);
        self.end();
    }

    fn end(&mut self) {
        self.output.extend_from_slice(b"\r\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(protocol: Protocol, write: impl FnOnce(&mut Reply<'_>)) -> String {
        let mut output = BytesMut::new();
        write(&mut Reply::new(&mut output, protocol));
        String::from_utf8(output.to_vec()).unwrap()
    }

    #[test]
    fn an_error_is_one_line_whatever_is_in_it() {
        let said = written(Protocol::Resp2, |reply| reply.error("ERR a\r\n+OK\r\nb"));
        assert_eq!(said, "-ERR a  +OK  b\r\n");
    }

    #[test]
    fn maps_and_nulls_are_those_of_the_protocol() {
        let value = serde_json::json!({ "a": [1, null, "x", true], "b": u64::MAX });
        let write = |reply: &mut Reply<'_>| reply.json(&value);
        assert_eq!(
            written(Protocol::Resp2, write),
            "*4\r\n$1\r\na\r\n*4\r\n:1\r\n$-1\r\n$1\r\nx\r\n:1\r\n$1\r\nb\r\n$20\r\n18446744073709551615\r\n"
        );
        assert!(written(Protocol::Resp3, write).starts_with("%2\r\n$1\r\na\r\n*4\r\n:1\r\n_\r\n"));
    }
}
