//! Codec of `Next` for one number: reads and writes the Protobuf bytes in place, without strings, lists or maps.

use bytes::{BufMut, Bytes};
use prost::encoding::{decode_varint, encode_varint, encoded_len_varint};
use sequent_engine::Ready;

use crate::grpc::message_framing::PREFIX;

/// Tags of `NextRequest`: field number and wire type.
const SEQUENCE: u8 = 1 << 3 | 2;
const COUNT: u8 = 2 << 3;

/// Tags of `NextResponse` and its `Block`.
const BLOCKS: u8 = 2 << 3 | 2;
const VERSION: u8 = 6 << 3;
const FIRST: u8 = 1 << 3;
const STEP: u8 = 2 << 3;
const BLOCK_COUNT: u8 = 3 << 3;

/// The sequence of a complete request body that asks for one number and has no other field. `None` for any other
/// body, invalid ones included: the slow path handles it.
pub(crate) fn parse_single(body: &[u8]) -> Option<&str> {
    let (prefix, message) = body.split_at_checked(PREFIX)?;
    let length = u32::from_be_bytes([prefix[1], prefix[2], prefix[3], prefix[4]]);
    if prefix[0] != 0 || usize::try_from(length).ok()? != message.len() {
        return None;
    }
    let [SEQUENCE, length, rest @ ..] = message else { return None };
    // The length of a longer name has a second byte. No sequence has a name that long.
    let (name, rest) = rest.split_at_checked(usize::from(*length)).filter(|_| *length < 0x80)?;
    if !matches!(rest, [] | [COUNT, 1]) {
        return None;
    }
    std::str::from_utf8(name).ok()
}

/// A count of a complete body that does not fit into its 32-bit field. The Protobuf library would keep the low 32
/// bits, so that 2^32 + 1 became 1. A body that can't be read yields `None`: the library reports it.
pub(crate) fn count_beyond_u32(body: &[u8]) -> Option<u64> {
    let mut rest = body.get(PREFIX..).filter(|_| body[0] == 0)?;
    while !rest.is_empty() {
        let tag = decode_varint(&mut rest).ok()?;
        let skipped = match tag & 7 {
            0 => {
                let value = decode_varint(&mut rest).ok()?;
                if tag == u64::from(COUNT) && value > u64::from(u32::MAX) {
                    return Some(value);
                }
                0
            }
            1 => 8,
            2 => usize::try_from(decode_varint(&mut rest).ok()?).ok()?,
            5 => 4,
            _ => return None,
        };
        rest = rest.get(skipped..)?;
    }
    None
}

/// The response body, in one allocation.
pub(crate) fn encode(sequence: &str, ready: Ready) -> Bytes {
    let (number, version) = (ready.number, u64::from(ready.version));
    // Protobuf leaves out a field that is 0.
    let first = if number == 0 { 0 } else { 1 + encoded_len_varint(number) };
    let block = first + 4;
    let name = sequence.len();
    let name = if name == 0 { 0 } else { 1 + encoded_len_varint(name as u64) + name };
    let version_length = if version == 0 { 0 } else { 1 + encoded_len_varint(version) };
    let length = name + 2 + block + version_length;
    let mut body = Vec::with_capacity(PREFIX + length);
    body.put_u8(0);
    body.put_u32(u32::try_from(length).unwrap_or(u32::MAX));
    if name > 0 {
        body.put_u8(SEQUENCE);
        encode_varint(sequence.len() as u64, &mut body);
        body.put_slice(sequence.as_bytes());
    }
    body.put_u8(BLOCKS);
    encode_varint(block as u64, &mut body);
    if number > 0 {
        body.put_u8(FIRST);
        encode_varint(number, &mut body);
    }
    body.put_slice(&[STEP, 1, BLOCK_COUNT, 1]);
    if version > 0 {
        body.put_u8(VERSION);
        encode_varint(version, &mut body);
    }
    debug_assert_eq!(body.len(), body.capacity(), "one piece, of the right size");
    Bytes::from(body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost::Message;
    use sequent_proto::v1;

    fn framed(message: &impl Message) -> Vec<u8> {
        let mut body = vec![0];
        body.extend(u32::try_from(message.encoded_len()).unwrap().to_be_bytes());
        body.extend(message.encode_to_vec());
        body
    }

    #[test]
    fn the_answer_is_byte_for_byte_what_the_library_writes() {
        for name in ["", "o", "order", &"n".repeat(128)] {
            for number in [0, 1, 127, 128, 1 << 40, i64::MAX as u64] {
                for version in [0, 1, 200, u32::MAX] {
                    let first = i64::try_from(number).unwrap();
                    let blocks = vec![v1::Block { first, step: 1, count: 1 }];
                    let (sequence, rest) = (name.to_owned(), v1::NextResponse::default());
                    let whole = v1::NextResponse { sequence, blocks, version, ..rest };
                    assert_eq!(encode(name, Ready { number, version }), framed(&whole), "{name} {number}");
                }
            }
        }
    }

    #[test]
    fn a_count_beyond_its_field_is_seen_wherever_it_stands() {
        let order = [SEQUENCE, 5, b'o', b'r', b'd', b'e', b'r'];
        let count = |count: u64| {
            let mut field = vec![COUNT];
            encode_varint(count, &mut field);
            field
        };
        // The fields `at` and `above`, and unknown fields of each wire type.
        let others = [&[4 << 3 | 2, 1, b'x', 5 << 3, 7, 9 << 3 | 1][..], &[0; 8], &[9 << 3 | 5, 0, 0, 0, 0]];
        let others = others.concat();
        let body = |parts: &[&[u8]]| [&[0; PREFIX], &parts.concat()[..]].concat();
        for beyond in [1 << 32, (1 << 32) + 1, u64::MAX] {
            let field = count(beyond);
            assert_eq!(count_beyond_u32(&body(&[&order, &field])), Some(beyond));
            assert_eq!(count_beyond_u32(&body(&[&field, &order])), Some(beyond));
            assert_eq!(
                count_beyond_u32(&body(&[&others, &field, &count(1)])),
                Some(beyond),
                "the last one counts"
            );
        }
        for within in [0, 1, u64::from(u32::MAX)] {
            assert_eq!(count_beyond_u32(&body(&[&order, &count(within), &others])), None);
        }
        let whole = body(&[&others, &count(1 << 32)]);
        for cut in 0..whole.len() {
            assert_eq!(count_beyond_u32(&whole[..cut]), None, "{cut} bytes");
        }
    }

    #[test]
    fn only_a_plain_ask_for_one_number_is_read_here() {
        let ask = |count| v1::NextRequest { sequence: "order".to_owned(), count, ..Default::default() };
        assert_eq!(parse_single(&framed(&ask(None))), Some("order"));
        assert_eq!(parse_single(&framed(&ask(Some(1)))), Some("order"));
        let values = [("area".to_owned(), "010".to_owned())].into();
        for other in [
            ask(Some(0)),
            ask(Some(2)),
            ask(Some(u32::MAX)),
            v1::NextRequest { at: "now".to_owned(), ..ask(None) },
            v1::NextRequest { above: 7, ..ask(None) },
            v1::NextRequest { values, ..ask(None) },
            v1::NextRequest { sequence: "n".repeat(300), ..ask(None) },
            v1::NextRequest::default(),
        ] {
            assert_eq!(parse_single(&framed(&other)), None, "{other:?}");
        }
        let whole = framed(&ask(Some(1)));
        for cut in 0..whole.len() {
            assert_eq!(parse_single(&whole[..cut]), None, "{cut} bytes");
        }
        assert_eq!(parse_single(&[&whole[..], &[0]].concat()), None, "something comes after it");
        let compressed: Vec<u8> = [&[1], &whole[1..]].concat();
        assert_eq!(parse_single(&compressed), None);
        assert_eq!(parse_single(&[0, 0, 0, 0, 4, SEQUENCE, 2, 0xff, 0xfe]), None, "no UTF-8");
    }
}
