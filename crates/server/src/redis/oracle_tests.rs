//! Requests and replies beside another implementation of the protocol.

use bytes::BytesMut;
use proptest::prelude::*;
use redis_protocol::{
    resp2::{
        self,
        types::{OwnedFrame, Resp2Frame as _},
    },
    resp3,
};
use serde_json::{Value, json};

use crate::redis::{
    reply::{Protocol, Reply},
    request::{ProtocolError, RequestParser},
};

/// The requests of `input`, which arrives in pieces that end at `cuts`.
fn parsed(input: &[u8], cuts: &[usize]) -> Result<Vec<Vec<Vec<u8>>>, ProtocolError> {
    let (mut parser, mut buffer, mut found) = (RequestParser::default(), Vec::new(), Vec::new());
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut % (input.len() + 1)).chain([input.len()]).collect();
    ends.sort_unstable();
    let mut begin = 0;
    for end in ends {
        buffer.extend_from_slice(&input[begin..end]);
        begin = end;
        while let Some(length) = parser.parse(&mut buffer)? {
            found.push(parser.arguments(&buffer).from(0).map(<[u8]>::to_vec).collect());
            buffer.drain(..length);
        }
    }
    Ok(found)
}

/// Requests as a client of the other implementation writes them.
fn encoded(requests: &[Vec<Vec<u8>>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for request in requests {
        let frame = OwnedFrame::Array(request.iter().cloned().map(OwnedFrame::BulkString).collect());
        let mut buffer = vec![0; frame.encode_len(false)];
        resp2::encode::encode(&mut buffer, &frame, false).unwrap();
        bytes.extend_from_slice(&buffer);
    }
    bytes
}

/// Bytes of which many are those that the protocol is made of.
fn nearly() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"*2\r\n$4\r\nINCR\r\n$5\r\norder\r\n".to_vec()),
        Just(b"*1\r\n$4\r\nPING\r\n".to_vec()),
        Just(b"$1\r\nx\r\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"*3\r\n".to_vec()),
        Just(b"$-1\r\n".to_vec()),
        Just(b"INCR 'or\\'der' \"\\x41\\n\"\r\n".to_vec()),
        proptest::collection::vec(
            prop_oneof![Just(b'*'), Just(b'$'), Just(b'\r'), Just(b'\n'), Just(b'"'), b'0'..=b'9'],
            0..4
        ),
        proptest::collection::vec(any::<u8>(), 0..6),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        ".{0,9}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 30, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::btree_map("[a-z]{1,5}", inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// What a client of RESP2 sees of a value.
fn as_resp2(value: &Value) -> OwnedFrame {
    let text = |text: &str| OwnedFrame::BulkString(text.as_bytes().to_vec());
    match value {
        Value::Null => OwnedFrame::Null,
        Value::Bool(value) => OwnedFrame::Integer(i64::from(*value)),
        Value::Number(number) => {
            number.as_i64().map_or_else(|| text(&number.to_string()), OwnedFrame::Integer)
        }
        Value::String(value) => text(value),
        Value::Array(values) => OwnedFrame::Array(values.iter().map(as_resp2).collect()),
        Value::Object(fields) => {
            let pair = |(name, value): (&String, &Value)| [text(name), as_resp2(value)];
            OwnedFrame::Array(fields.iter().flat_map(pair).collect())
        }
    }
}

proptest! {
    #[test]
    fn requests_are_those_that_another_implementation_writes(
        requests in proptest::collection::vec(
            proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..20), 1..8), 0..8),
        cuts in proptest::collection::vec(any::<usize>(), 0..12),
    ) {
        prop_assert_eq!(parsed(&encoded(&requests), &cuts).unwrap(), requests);
    }

    #[test]
    fn how_bytes_are_cut_changes_nothing(
        input in nearly(),
        cuts in proptest::collection::vec(any::<usize>(), 0..12),
    ) {
        prop_assert_eq!(parsed(&input, &cuts), parsed(&input, &[]));
    }

    #[test]
    fn what_is_taken_for_a_request_is_one(input in nearly()) {
        let (mut parser, mut bytes) = (RequestParser::default(), input.clone());
        if let Ok(Some(length)) = parser.parse(&mut bytes) && input[0] == b'*' && parser.arguments(&bytes).len() > 0 {
            let (frame, read) = resp2::decode::decode(&input).unwrap().unwrap();
            prop_assert_eq!(read, length);
            let arguments: Vec<OwnedFrame> =
                parser.arguments(&bytes).from(0).map(|bytes| OwnedFrame::BulkString(bytes.to_vec())).collect();
            prop_assert_eq!(frame, OwnedFrame::Array(arguments));
        }
    }

    #[test]
    fn replies_are_read_by_another_implementation(value in json_value()) {
        let mut output = BytesMut::new();
        Reply::new(&mut output, Protocol::Resp2).json(&value);
        let (frame, read) = resp2::decode::decode(&output).unwrap().unwrap();
        prop_assert_eq!((frame, read), (as_resp2(&value), output.len()));
        output.clear();
        Reply::new(&mut output, Protocol::Resp3).json(&value);
        let (_, read) = resp3::decode::complete::decode(&output).unwrap().unwrap();
        prop_assert_eq!(read, output.len());
    }

    #[test]
    fn an_error_is_one_line(text in "(?s).{0,60}") {
        let mut output = BytesMut::new();
        Reply::new(&mut output, Protocol::Resp2).error(&text);
        let (_, read) = resp2::decode::decode(&output).unwrap().unwrap();
        prop_assert_eq!(read, output.len());
    }
}

#[test]
fn maps_are_maps_in_resp3() {
    let mut output = BytesMut::new();
    Reply::new(&mut output, Protocol::Resp3).json(&json!({ "a": 1 }));
    let (frame, _) = resp3::decode::complete::decode(&output).unwrap().unwrap();
    assert!(matches!(frame, resp3::types::OwnedFrame::Map { .. }), "{frame:?}");
}
