//! etcd's JSON gateway: requests and answers of transactions. Whole numbers are text in it, and bytes are base64.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sequent_core::SourceError;
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::{Value, json};

use crate::ledger::documents::unreadable;

/// A range of names: one name, or all from one up to another.
#[derive(Debug, Clone)]
pub(super) struct Span {
    first: String,
    /// The first name after the range; `None`: a single name.
    end: Option<String>,
    /// The most names returned; 0: all.
    most: u64,
    last_first: bool,
    /// The revision to read; 0: the current one.
    at: u64,
}

impl Span {
    pub(super) fn one(name: String) -> Self {
        Self { first: name, end: None, most: 0, last_first: false, at: 0 }
    }

    /// All names with this prefix, which must end with an ASCII character.
    pub(super) fn under(prefix: String) -> Self {
        let end = behind(&prefix);
        Self { end: Some(end), ..Self::one(prefix) }
    }

    /// The same range, beginning at this name.
    pub(super) fn from(self, first: String) -> Self {
        Self { first, ..self }
    }

    /// Its first name.
    pub(super) fn first(&self) -> &str {
        &self.first
    }

    /// The same range, ending before this name.
    pub(super) fn to(self, end: String) -> Self {
        Self { end: Some(end), ..self }
    }

    pub(super) fn most(self, most: u64) -> Self {
        Self { most, ..self }
    }

    pub(super) fn last_first(self) -> Self {
        Self { last_first: true, ..self }
    }

    pub(super) fn at(self, revision: u64) -> Self {
        Self { at: revision, ..self }
    }

    fn names(&self) -> Value {
        let mut json = json!({"key": STANDARD.encode(&self.first)});
        if let Some(end) = &self.end {
            json["range_end"] = STANDARD.encode(end).into();
        }
        json
    }

    /// Without "serializable", a read is linearizable: it returns what a quorum has.
    fn range(&self) -> Value {
        let mut json = self.names();
        for (name, number) in [("limit", self.most), ("revision", self.at)] {
            if number > 0 {
                json[name] = number.to_string().into();
            }
        }
        if self.last_first {
            json["sort_order"] = "DESCEND".into();
            json["sort_target"] = "KEY".into();
        }
        json
    }
}

/// The first text after all that begin with `prefix`, whose last character is ASCII.
fn behind(prefix: &str) -> String {
    let mut end = prefix.to_owned();
    let last = end.pop().unwrap_or('/');
    end.push(char::from_u32(u32::from(last) + 1).unwrap_or(last));
    end
}

/// An operation of a transaction.
#[derive(Debug, Clone)]
pub(super) enum Op {
    /// Reads a range.
    Read(Span),
    /// Writes a value under a name.
    Put(String, String),
    /// Deletes a range.
    Delete(Span),
}

impl Op {
    fn json(&self) -> Value {
        match self {
            Self::Read(span) => json!({"request_range": span.range()}),
            Self::Put(name, value) => {
                let (key, value) = (STANDARD.encode(name), STANDARD.encode(value));
                json!({"request_put": {"key": key, "value": value}})
            }
            Self::Delete(span) => json!({"request_delete_range": span.names()}),
        }
    }
}

/// A comparison: a name, and the revision that wrote it last; 0 if it must not exist.
pub(super) type Unchanged = (String, u64);

/// A transaction: if all comparisons hold, `then` is done, otherwise `otherwise`, which only reads.
#[derive(Debug, Clone, Default)]
pub(super) struct Txn {
    pub(super) unchanged: Vec<Unchanged>,
    pub(super) then: Vec<Op>,
    pub(super) otherwise: Vec<Op>,
}

impl Txn {
    /// Whether it writes nothing in either case.
    pub(super) fn only_reads(&self) -> bool {
        self.then.iter().chain(&self.otherwise).all(|op| matches!(op, Op::Read(_)))
    }

    /// A transaction that only reads.
    pub(super) fn read(ops: Vec<Op>) -> Self {
        Self { then: ops, ..Self::default() }
    }

    pub(super) fn json(&self) -> Value {
        let compare = |(name, revision): &Unchanged| {
            let (key, revision) = (STANDARD.encode(name), revision.to_string());
            json!({"key": key, "target": "MOD", "result": "EQUAL", "mod_revision": revision})
        };
        let ops = |ops: &[Op]| Value::from(ops.iter().map(Op::json).collect::<Vec<_>>());
        let compares: Vec<Value> = self.unchanged.iter().map(compare).collect();
        json!({"compare": compares, "success": ops(&self.then), "failure": ops(&self.otherwise)})
    }
}

/// The answering member, and the revision of the data. Fields that are 0 are left out in JSON.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Header {
    #[serde(deserialize_with = "whole")]
    pub(super) cluster_id: u64,
    #[serde(deserialize_with = "whole")]
    pub(super) member_id: u64,
    #[serde(deserialize_with = "whole")]
    pub(super) revision: u64,
}

/// The answer of a transaction.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Answer {
    pub(super) header: Header,
    pub(super) succeeded: bool,
    responses: Vec<Response>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Response {
    response_range: Option<Found>,
}

/// The result of a range read.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Found {
    pub(super) kvs: Vec<Kv>,
    /// Whether the range has more than `most` names.
    pub(super) more: bool,
}

/// A name and its value.
#[derive(Debug, Deserialize)]
pub(super) struct Kv {
    #[serde(deserialize_with = "bytes")]
    pub(super) key: Vec<u8>,
    #[serde(default, deserialize_with = "bytes")]
    pub(super) value: Vec<u8>,
    /// The revision that wrote it last.
    #[serde(default, deserialize_with = "whole")]
    pub(super) mod_revision: u64,
}

impl Answer {
    /// The results of the reads, in their order.
    fn found(self) -> impl Iterator<Item = Found> {
        self.responses.into_iter().filter_map(|response| response.response_range)
    }
}

impl Kv {
    /// The name; all names are UTF-8.
    pub(super) fn name(&self) -> Result<&str, SourceError> {
        std::str::from_utf8(&self.key).map_err(|error| unreadable("name", error))
    }
}

/// The answers to reads, consumed in the order of the reads.
pub(super) struct Answers {
    found: std::vec::IntoIter<Found>,
    /// The revision of all answers.
    pub(super) revision: u64,
    /// Whether the transaction wrote.
    pub(super) succeeded: bool,
    /// The wall clock of the answering member.
    pub(super) clock_ms: u64,
}

impl Answers {
    pub(super) fn of(answer: Answer, clock_ms: u64) -> Self {
        let (revision, succeeded) = (answer.header.revision, answer.succeeded);
        let found: Vec<Found> = answer.found().collect();
        Self { found: found.into_iter(), revision, succeeded, clock_ms }
    }

    /// The answer to the next read, of a single name.
    pub(super) fn one(&mut self) -> Option<Kv> {
        self.found.next()?.kvs.pop()
    }

    /// All names of the next read.
    pub(super) fn all(&mut self) -> Found {
        self.found.next().unwrap_or_default()
    }
}

/// The status of a member.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Status {
    pub(super) header: Header,
    pub(super) version: String,
    #[serde(rename = "raftTerm", alias = "raft_term", deserialize_with = "whole")]
    pub(super) term: u64,
    #[serde(rename = "raftIndex", alias = "raft_index", deserialize_with = "whole")]
    pub(super) index: u64,
}

/// The answer to a login.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Ticket {
    pub(super) token: String,
}

/// An error reply.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Refusal {
    pub(super) message: String,
    /// The older field name of `message`.
    pub(super) error: String,
    pub(super) code: u32,
}

fn whole<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let value = Value::deserialize(from)?;
    let number = value.as_u64().or_else(|| value.as_str()?.parse().ok());
    number.ok_or_else(|| D::Error::custom(format!("{value} is no whole number")))
}

fn bytes<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(from)?;
    STANDARD.decode(&text).map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_zero_is_left_out_and_numbers_are_texts() {
        let text = r#"{"header":{"cluster_id":"14841639068965178418","revision":"7"},
            "responses":[{"response_put":{"header":{"revision":"7"}}},
            {"response_range":{"kvs":[{"key":"YQ==","mod_revision":"5","value":"Yg=="}],"count":"1"}}]}"#;
        let answer: Answer = serde_json::from_str(text).unwrap();
        assert!(!answer.succeeded);
        assert_eq!((answer.header.cluster_id, answer.header.member_id), (14_841_639_068_965_178_418, 0));
        let found: Vec<Found> = answer.found().collect();
        let kv = &found[0].kvs[0];
        assert_eq!((found.len(), &kv.key[..], &kv.value[..], kv.mod_revision), (1, &b"a"[..], &b"b"[..], 5));
    }

    #[test]
    fn a_prefix_ends_before_the_next_letter() {
        assert_eq!(behind("sequent/row/"), "sequent/row0");
        assert_eq!(behind("order|"), "order}");
    }
}
