//! etcd errors as faults: which prove that nothing was done, and what follows.

use hyper::StatusCode;
use sequent_core::Why;

use super::client::Refusal;
use crate::net::{Cause, Fault};

/// The fault for a reply with an error status.
pub(super) fn of_reply(status: StatusCode, body: &[u8]) -> Fault {
    let refusal: Refusal = serde_json::from_slice(body).unwrap_or_default();
    let said = if refusal.message.is_empty() { refusal.error } else { refusal.message };
    if said.is_empty() {
        let cause = format!("it answers {status}, and not as etcd's JSON gateway does");
        return match status {
            // A proxy may be starting.
            StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT => {
                Fault::away(cause)
            }
            _ => Fault::refused(format!("{cause}: etcd 3.4 or later is needed, with --enable-grpc-gateway")),
        };
    }
    let (reaction, hint) = meaning(&said, refusal.code);
    let cause = Cause::from(said).hinted(hint);
    match reaction {
        Reaction::Again => Fault::Stale(cause),
        Reaction::Evict => Fault::away(cause),
        Reaction::Late => Fault::away(cause.told(Why::TimedOut)),
        Reaction::Login => Fault::login_refused(cause),
        Reaction::Refuse => Fault::refused(cause),
    }
}

/// Whether a login was refused because the cluster has authentication switched off.
pub(super) fn needs_no_login(body: &[u8]) -> bool {
    // FAILED_PRECONDITION: a login gets it for this reason alone.
    serde_json::from_slice(body).is_ok_and(|refusal: Refusal| refusal.code == 9)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reaction {
    /// Nothing was done; a new login is needed.
    Again,
    Evict,
    /// As `Evict`, because of a timeout.
    Late,
    Login,
    Refuse,
}

/// Reactions to error texts under ambiguous codes:
///
/// - `INVALID_ARGUMENT` (3): a refused login, an expired one, a transaction that is too large.
/// - `UNAVAILABLE` (14): a timeout, a change of leaders.
/// - `RESOURCE_EXHAUSTED` (8): a full database, too many requests at once.
/// - `UNKNOWN` (2): from an old etcd, the revision of the auth store.
///
/// The gateway's reply has no finer code.
const MEANINGS: &[(&str, Reaction, &str)] = &[
    ("revision of auth store is old", Reaction::Again, ""),
    ("user name is empty", Reaction::Login, ": etcd asks who calls: name a user in the url"),
    ("authentication failed", Reaction::Login, ": is it the right user in the url, and the right password?"),
    ("timed out", Reaction::Late, ""),
    (
        "database space exceeded",
        Reaction::Evict,
        ": compact and defragment it, disarm the alarm, and see --auto-compaction-retention",
    ),
    ("too many operations in txn", Reaction::Refuse, ": --max-txn-ops is below its default, 128"),
    ("request is too large", Reaction::Refuse, ": --max-request-bytes is below its default"),
];

/// The reaction to an error: by its code if that has a single meaning, else by its text. An ambiguous code covers both
/// temporary errors and those that an operator has to correct.
fn meaning(said: &str, code: u32) -> (Reaction, &'static str) {
    match (code, MEANINGS.iter().find(|(part, ..)| said.contains(part))) {
        // PERMISSION_DENIED.
        (7, _) => (Reaction::Refuse, ": the documentation lists what the user's role needs"),
        // DATA_LOSS.
        (15, _) => (Reaction::Refuse, ": the data is damaged: restore it from a copy"),
        // UNAUTHENTICATED: the token is not, or no longer, known. A wrong password is an INVALID_ARGUMENT.
        (16, _) => (Reaction::Again, ""),
        (_, Some((_, reaction, hint))) => (*reaction, *hint),
        // INVALID_ARGUMENT, UNIMPLEMENTED.
        (3 | 12, None) => (Reaction::Refuse, ""),
        // DEADLINE_EXCEEDED.
        (4, None) => (Reaction::Late, ""),
        (_, None) => (Reaction::Evict, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_has_its_reaction() {
        for (said, code, expected) in [
            ("etcdserver: invalid auth token", 16, Reaction::Again),
            ("etcdserver: revision of auth store is old", 3, Reaction::Again),
            ("etcdserver: user name is empty", 3, Reaction::Login),
            ("etcdserver: authentication failed, invalid user ID or password", 3, Reaction::Login),
            ("etcdserver: permission denied", 7, Reaction::Refuse),
            ("etcdserver: mvcc: database space exceeded", 8, Reaction::Evict),
            ("etcdserver: too many requests", 8, Reaction::Evict),
            ("etcdserver: too many operations in txn request", 3, Reaction::Refuse),
            ("etcdserver: corrupt cluster", 15, Reaction::Refuse),
            ("etcdserver: request timed out", 14, Reaction::Late),
            ("etcdserver: leader changed", 14, Reaction::Evict),
            ("etcdserver: mvcc: required revision has been compacted", 11, Reaction::Evict),
        ] {
            assert_eq!(meaning(said, code).0, expected, "{said}");
        }
    }

    #[test]
    fn a_code_that_tells_enough_is_read_whatever_is_said() {
        for (code, expected) in [(7, Reaction::Refuse), (15, Reaction::Refuse), (16, Reaction::Again)] {
            assert_eq!(meaning("in other words", code).0, expected, "{code}");
        }
    }
}
