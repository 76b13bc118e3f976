//! The `hello` command of MongoDB: process, role and clock of the server.

use crate::net::Fault;
use mongodb::bson::Document;

/// The server's answer to `hello`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hello {
    /// The server's process, and the election that made it primary.
    pub(super) process: String,
    /// Its wall clock, in milliseconds since 1970.
    pub(super) clock_ms: u64,
}

impl Hello {
    /// Parses the answer; fails for a server that can't store counters.
    pub(super) fn read(reply: &Document) -> Result<Self, Fault> {
        if reply.get_str("msg").is_ok_and(|msg| msg == "isdbgrid") {
            return Err(Fault::refused(
                "a router of a sharded cluster answers (mongos): it does not say which server counts behind it, nor since \
                 when; name a server, or the primary of a replica set",
            ));
        }
        if reply.contains_key("serviceId") {
            return Err(Fault::refused("a load balancer answers: connect to the server itself"));
        }
        if !reply.get_bool("isWritablePrimary").unwrap_or(false) {
            // Roles change by election, so this is temporary.
            let primary = reply.get_str("primary").unwrap_or("none");
            let cause = format!("the server is not the primary of its replica set, which is {primary}");
            return Err(Fault::away(cause));
        }
        let process =
            reply.get_document("topologyVersion").and_then(|version| version.get_object_id("processId"));
        let process = process.map_err(|_| {
            Fault::refused(
                "it does not say which process it is (topologyVersion): expected MongoDB 4.4 or later; other servers that \
                 speak its protocol, such as FerretDB 1, change a document in two steps and would give ids twice",
            )
        })?;
        let clock = reply.get_datetime("localTime").map_or(0, |time| time.timestamp_millis());
        Ok(Self {
            process: format!("{process} {}", elected(reply)?),
            clock_ms: u64::try_from(clock).unwrap_or(0),
        })
    }
}

/// The replica set and the election that made the server its primary; `alone` without a set.
fn elected(reply: &Document) -> Result<String, Fault> {
    let Ok(set) = reply.get_str("setName") else { return Ok("alone".to_owned()) };
    let election = reply.get_object_id("electionId");
    let election = election.map_err(|_| Fault::refused("a primary without an electionId answers"))?;
    Ok(format!("{set:?} {election}"))
}

#[cfg(test)]
mod tests {
    use mongodb::bson::{DateTime, doc, oid::ObjectId};
    use sequent_core::ErrorKind;

    use super::*;

    fn alone() -> Document {
        let process = ObjectId::from_bytes([7; 12]);
        doc! {
            "isWritablePrimary": true, "topologyVersion": { "processId": process, "counter": 0_i64 },
            "localTime": DateTime::from_millis(1_600_000_000_000), "ok": 1,
        }
    }

    fn refused(reply: &Document) -> (ErrorKind, String) {
        let error = Hello::read(reply).unwrap_err().into_error("inspect");
        (error.kind(), error.to_string())
    }

    #[test]
    fn process_and_election_tell_which_instance_answers() {
        let one = Hello::read(&alone()).unwrap();
        assert_eq!(one.process, "070707070707070707070707 alone");
        assert_eq!(one.clock_ms, 1_600_000_000_000);
        let mut primary = alone();
        primary.extend(doc! { "setName": "rs 0", "electionId": ObjectId::from_bytes([9; 12]) });
        assert_eq!(
            Hello::read(&primary).unwrap().process,
            "070707070707070707070707 \"rs 0\" 090909090909090909090909"
        );
    }

    #[test]
    fn who_cannot_count_is_named() {
        let with = |change: Document| {
            let mut reply = alone();
            reply.extend(change);
            refused(&reply)
        };
        let (kind, text) = with(doc! { "msg": "isdbgrid" });
        assert!(kind == ErrorKind::Refused && text.contains("mongos"), "{text}");
        let (kind, text) = with(doc! { "serviceId": ObjectId::new() });
        assert!(kind == ErrorKind::Refused && text.contains("load balancer"), "{text}");
        let (kind, text) = with(doc! { "isWritablePrimary": false, "primary": "h:1" });
        assert!(kind == ErrorKind::Unavailable && text.contains("h:1"), "{text}");
        let (kind, text) = with(doc! { "topologyVersion": {} });
        assert!(kind == ErrorKind::Refused && text.contains("4.4"), "{text}");
        // What FerretDB 1.24 answers, whose two steps gave 1618 of 2000 ids again to eight callers.
        let ferret = doc! {
            "isWritablePrimary": true, "maxBsonObjectSize": 16_777_216, "maxWireVersion": 21, "minWireVersion": 0,
            "localTime": DateTime::from_millis(1_795_720_347_144), "connectionId": 42, "readOnly": false, "ok": 1,
        };
        let (kind, text) = refused(&ferret);
        assert!(kind == ErrorKind::Refused && text.contains("FerretDB"), "{text}");
        let (kind, text) = with(doc! { "setName": "rs0" });
        assert!(kind == ErrorKind::Refused && text.contains("electionId"), "{text}");
    }
}
