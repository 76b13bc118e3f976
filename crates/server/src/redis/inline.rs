//! Arguments of an inline request: words between spaces, in quotes or not.

use std::ops::Range;

use crate::{limits::REDIS_ARGUMENTS_MAX, redis::request::ProtocolError};

/// Splits a line. Quotes and escapes are removed in place: no argument gets longer by that.
pub(crate) fn split(line: &mut [u8], arguments: &mut Vec<Range<usize>>) -> Result<(), ProtocolError> {
    let mut at = 0;
    loop {
        at += line[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if at == line.len() {
            return Ok(());
        }
        if arguments.len() == REDIS_ARGUMENTS_MAX {
            return Err(ProtocolError::ArgumentCount);
        }
        let (begin, mut end) = (at, at);
        while at < line.len() && !line[at].is_ascii_whitespace() {
            match line[at] {
                quote @ (b'"' | b'\'') => (at, end) = unquote(line, (at + 1, end), quote)?,
                byte => {
                    line[end] = byte;
                    (at, end) = (at + 1, end + 1);
                }
            }
        }
        arguments.push(begin..end);
    }
}

/// Copies what is quoted from `at` on to `end`. Returns both behind it. A space, or the end, must follow the quote.
fn unquote(
    line: &mut [u8],
    (mut at, mut end): (usize, usize),
    quote: u8,
) -> Result<(usize, usize), ProtocolError> {
    loop {
        let byte = *line.get(at).ok_or(ProtocolError::Quotes)?;
        at += 1;
        if byte == quote {
            let is_closed = line.get(at).is_none_or(u8::is_ascii_whitespace);
            return if is_closed { Ok((at, end)) } else { Err(ProtocolError::Quotes) };
        }
        let copied = match (byte, line.get(at)) {
            (b'\\', Some(escaped)) if quote == b'"' || *escaped == b'\'' => {
                let (byte, length) = unescape(&line[at..], *escaped);
                at += length;
                byte
            }
            _ => byte,
        };
        line[end] = copied;
        end += 1;
    }
}

/// The byte that an escape means, and the length of the escape behind its backslash.
fn unescape(rest: &[u8], escaped: u8) -> (u8, usize) {
    let digit = |at: usize| char::from(*rest.get(at)?).to_digit(16);
    if escaped == b'x'
        && let Some((high, low)) = digit(1).zip(digit(2))
    {
        return (u8::try_from(high * 16 + low).unwrap_or(b'?'), 3);
    }
    let byte = match escaped {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 8,
        b'a' => 7,
        other => other,
    };
    (byte, 1)
}
