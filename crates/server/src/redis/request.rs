//! Parser of requests: `*n` with n bulk strings, or one inline line. It copies nothing.
//!
//! A request that arrives in pieces is parsed from where the last call stopped, so the cost does not grow with the number
//! of pieces.

use std::ops::Range;

use crate::{
    limits::{REDIS_ARGUMENTS_MAX, REDIS_COMMAND_MAX},
    redis::inline,
};

/// The longest line with a number: sign, nineteen digits, and room for none of them to be cut.
const NUMBER_LINE_MAX: usize = 24;

/// The first byte of a client of TLS.
const TLS_HANDSHAKE: u8 = 0x16;

/// Parser of one connection's requests.
#[derive(Debug, Default)]
pub(crate) struct RequestParser {
    /// Where each argument is.
    arguments: Vec<Range<usize>>,
    /// Everything before it is parsed.
    at: usize,
    /// Bulk strings that have not arrived.
    missing: usize,
    is_complete: bool,
}

/// Input that is no request. The connection can't go on: where the next request begins is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ProtocolError {
    /// The number after `*` is none, or too large.
    ArgumentCount,
    /// The length after `$` is none, or too large.
    BulkLength,
    /// A bulk string was expected, and this byte was found.
    NoBulk(u8),
    /// A bulk string is longer than its length.
    BulkEnd,
    /// A quote of an inline request is not closed.
    Quotes,
    /// The line of an inline request is too long.
    InlineLength,
    /// The first byte begins a handshake of TLS.
    Tls,
    /// The first byte begins no request.
    NoRequest,
}

impl ProtocolError {
    /// The text of the error's reply.
    pub(crate) fn text(&self) -> String {
        let text = match self {
            Self::ArgumentCount => {
                format!("invalid multibulk length: at most {REDIS_ARGUMENTS_MAX} are allowed")
            }
            Self::BulkLength => {
                format!("invalid bulk length: a command has at most {REDIS_COMMAND_MAX} bytes")
            }
            Self::NoBulk(found) => format!("expected '$', got '{}'", found.escape_ascii()),
            Self::BulkEnd => "a bulk string is longer than its length".to_owned(),
            Self::Quotes => "unbalanced quotes in request".to_owned(),
            Self::InlineLength => {
                format!("too big inline request: at most {REDIS_COMMAND_MAX} bytes are allowed")
            }
            Self::Tls => "this is the protocol of Redis, without TLS".to_owned(),
            Self::NoRequest => "the first byte begins no request".to_owned(),
        };
        format!("ERR Protocol error: {text}")
    }
}

impl RequestParser {
    /// The length of the first request in `input`, or `None` if it is not complete. Its arguments are then
    /// [`arguments`](Self::arguments); an empty request has none. The quotes of an inline request are removed in place.
    pub(crate) fn parse(&mut self, input: &mut [u8]) -> Result<Option<usize>, ProtocolError> {
        if self.is_complete {
            self.arguments.clear();
            (self.at, self.missing, self.is_complete) = (0, 0, false);
        }
        let length = match input.first() {
            None => return Ok(None),
            Some(b'*') => self.multibulk(input)?,
            Some(first) if first.is_ascii_graphic() || first.is_ascii_whitespace() => self.inline(input)?,
            Some(&TLS_HANDSHAKE) => return Err(ProtocolError::Tls),
            Some(_) => return Err(ProtocolError::NoRequest),
        };
        self.is_complete = length.is_some();
        Ok(length)
    }

    /// The arguments of the request that was parsed, its name first.
    pub(crate) fn arguments<'a>(&'a self, input: &'a [u8]) -> Arguments<'a> {
        Arguments { input, ranges: &self.arguments }
    }

    fn multibulk(&mut self, input: &[u8]) -> Result<Option<usize>, ProtocolError> {
        if self.at == 0 {
            let Some((count, next)) = number(input, 1, ProtocolError::ArgumentCount)? else {
                return Ok(None);
            };
            let count = usize::try_from(count).unwrap_or(0);
            if count > REDIS_ARGUMENTS_MAX {
                return Err(ProtocolError::ArgumentCount);
            }
            (self.at, self.missing) = (next, count);
        }
        while self.missing > 0 {
            match input.get(self.at) {
                None => return Ok(None),
                Some(b'$') => {}
                Some(other) => return Err(ProtocolError::NoBulk(*other)),
            }
            let Some((length, begin)) = number(input, self.at + 1, ProtocolError::BulkLength)? else {
                return Ok(None);
            };
            let end = usize::try_from(length).ok().and_then(|length| begin.checked_add(length));
            let end = end.filter(|end| *end <= REDIS_COMMAND_MAX).ok_or(ProtocolError::BulkLength)?;
            match input.get(end..end + 2) {
                None => return Ok(None),
                Some(b"\r\n") => {}
                Some(_) => return Err(ProtocolError::BulkEnd),
            }
            self.arguments.push(begin..end);
            self.at = end + 2;
            self.missing -= 1;
        }
        Ok(Some(self.at))
    }

    fn inline(&mut self, input: &mut [u8]) -> Result<Option<usize>, ProtocolError> {
        let end = input[self.at..].iter().position(|byte| *byte == b'\n').map(|end| self.at + end);
        if end.unwrap_or(input.len()) > REDIS_COMMAND_MAX {
            return Err(ProtocolError::InlineLength);
        }
        let Some(end) = end else {
            self.at = input.len();
            return Ok(None);
        };
        inline::split(&mut input[..end], &mut self.arguments)?;
        Ok(Some(end + 1))
    }
}

/// The arguments of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arguments<'a> {
    input: &'a [u8],
    ranges: &'a [Range<usize>],
}

impl<'a> Arguments<'a> {
    /// How many there are, the name included.
    pub(crate) fn len(&self) -> usize {
        self.ranges.len()
    }

    /// One of them; 0 is the name.
    pub(crate) fn get(&self, at: usize) -> Option<&'a [u8]> {
        self.input.get(self.ranges.get(at)?.clone())
    }

    /// Those from one on.
    pub(crate) fn from(&self, at: usize) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let arguments = *self;
        (at..self.len()).filter_map(move |at| arguments.get(at))
    }
}

/// The number of a line that begins at `from`, and where the next line begins. `None` if the line is not complete.
fn number(input: &[u8], from: usize, error: ProtocolError) -> Result<Option<(i64, usize)>, ProtocolError> {
    let line = &input[from..input.len().min(from + NUMBER_LINE_MAX)];
    let Some(end) = line.iter().position(|byte| *byte == b'\r') else {
        let may_go_on =
            line.len() < NUMBER_LINE_MAX && line.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-');
        return if may_go_on { Ok(None) } else { Err(error) };
    };
    let Some(number) = integer(&line[..end]) else { return Err(error) };
    match input.get(from + end + 1) {
        None => Ok(None),
        Some(b'\n') => Ok(Some((number, from + end + 2))),
        Some(_) => Err(error),
    }
}

/// An integer as Redis writes it: no sign but `-`, no leading zero.
pub(crate) fn integer(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let is_plain = digits.iter().all(u8::is_ascii_digit) && !(digits[..].starts_with(b"0") && text.len() > 1);
    std::str::from_utf8(text).ok().filter(|_| is_plain)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The arguments of each request in `input`, which arrives in pieces of `piece` bytes.
    fn requests(input: &[u8], piece: usize) -> Result<Vec<Vec<Vec<u8>>>, ProtocolError> {
        let (mut parser, mut buffer, mut found) = (RequestParser::default(), Vec::new(), Vec::new());
        for piece in input.chunks(piece) {
            buffer.extend_from_slice(piece);
            while let Some(length) = parser.parse(&mut buffer)? {
                found.push(parser.arguments(&buffer).from(0).map(<[u8]>::to_vec).collect());
                buffer.drain(..length);
            }
        }
        Ok(found)
    }

    #[test]
    fn requests_are_the_same_in_whatever_pieces_they_arrive() {
        let input = b"*2\r\n$4\r\nINCR\r\n$5\r\norder\r\n\r\n*0\r\n*-1\r\nPING\nGET  'a b' \"\\x41\\n\"\r\n*1\r\n$0\r\n\r\n";
        let expected: Vec<Vec<&[u8]>> = vec![
            vec![b"INCR", b"order"],
            vec![],
            vec![],
            vec![],
            vec![b"PING"],
            vec![b"GET", b"a b", b"A\n"],
            vec![b""],
        ];
        for piece in 1..=input.len() {
            assert_eq!(requests(input, piece).unwrap(), expected, "pieces of {piece}");
        }
    }

    #[test]
    fn what_is_no_request_ends_with_an_error_within_bounds() {
        let rows: &[(&[u8], ProtocolError)] = &[
            (b"*1025\r\n", ProtocolError::ArgumentCount),
            (b"*x\r\n", ProtocolError::ArgumentCount),
            (b"*01\r\n", ProtocolError::ArgumentCount),
            (b"*1\n$1\n", ProtocolError::ArgumentCount),
            (b"*99999999999999999999\r\n", ProtocolError::ArgumentCount),
            (b"*1\r\n:1\r\n", ProtocolError::NoBulk(b':')),
            (b"*1\r\n*1\r\n$1\r\nx\r\n", ProtocolError::NoBulk(b'*')),
            (b"*1\r\n$65536\r\n", ProtocolError::BulkLength),
            (b"*1\r\n$-1\r\n", ProtocolError::BulkLength),
            (b"*1\r\n$9223372036854775807\r\n", ProtocolError::BulkLength),
            (b"*1\r\n$1\r\nxyz", ProtocolError::BulkEnd),
            (b"GET \"a\r\n", ProtocolError::Quotes),
            (b"GET \"a\"b\r\n", ProtocolError::Quotes),
            (b"\x16\x03\x01\x02\x00\x01", ProtocolError::Tls),
            (b"\x00", ProtocolError::NoRequest),
        ];
        for (input, expected) in rows {
            assert_eq!(requests(input, 1).unwrap_err(), *expected, "{}", input.escape_ascii());
            assert_eq!(requests(input, 99).unwrap_err(), *expected, "{}", input.escape_ascii());
        }
        let long = vec![b'x'; REDIS_COMMAND_MAX + 1];
        assert_eq!(requests(&long, 999).unwrap_err(), ProtocolError::InlineLength);
        let many = "a ".repeat(REDIS_ARGUMENTS_MAX + 1) + "\n";
        assert_eq!(requests(many.as_bytes(), 99).unwrap_err(), ProtocolError::ArgumentCount);
        let endless = b"*".iter().chain(std::iter::repeat_n(&b'1', 99)).copied().collect::<Vec<_>>();
        assert_eq!(requests(&endless, 1).unwrap_err(), ProtocolError::ArgumentCount);
    }
}
