//! What Redis and the driver say, and who must react.

use redis::{ErrorKind as Said, RedisError};
use sequent_core::ErrorKind;

use crate::wire::Fault;

/// How a reply's code, or what its text holds, is taken. Servers before 7 put the cause of a script's failure into its
/// text alone. What comes and goes with the server evicts, so that timed rescue brings it back.
const MEANINGS: &[(&str, Reaction, &str)] = &[
    ("would overflow", Reaction::Exhaust, ""),
    ("WRONGTYPE", Reaction::Regress, ""),
    ("not an integer", Reaction::Regress, ""),
    ("OOM", Reaction::Evict, ": its memory is full; raise its maxmemory, or have it hold less"),
    ("READONLY", Reaction::Evict, ": it is a replica, and takes no writes; name the primary"),
    ("LOADING", Reaction::Evict, ": it is reading its data"),
    ("MISCONF", Reaction::Evict, ""),
    ("NOREPLICAS", Reaction::Evict, ""),
    ("MASTERDOWN", Reaction::Evict, ""),
    ("BUSY", Reaction::Evict, ": a script of somebody else runs"),
    ("max number of clients", Reaction::Evict, ""),
    ("NOAUTH", Reaction::Login, ": it asks for a login"),
    ("WRONGPASS", Reaction::Login, ""),
    ("NOPERM", Reaction::Refuse, ACL),
    ("ACL failure", Reaction::Refuse, ACL),
    ("permissions", Reaction::Refuse, ACL),
    ("can't run this command", Reaction::Refuse, ACL),
    ("MOVED", Reaction::Refuse, CLUSTER),
    ("ASK", Reaction::Refuse, CLUSTER),
    ("CROSSSLOT", Reaction::Refuse, CLUSTER),
    ("CLUSTERDOWN", Reaction::Refuse, CLUSTER),
    ("unknown command", Reaction::Refuse, ": Redis 5 or later, or Valkey, is needed"),
];

const ACL: &str = ": the user lacks a permission; the documentation lists what it needs";

/// What is said of a node of a Redis Cluster.
pub(super) const CLUSTER: &str =
    ": nodes of a Redis Cluster hand their keys to each other; connect to a server of its own";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reaction {
    Exhaust,
    Regress,
    Evict,
    Refuse,
    Login,
}

impl From<RedisError> for Fault {
    fn from(error: RedisError) -> Self {
        let text = error.to_string();
        match error.kind() {
            Said::Server(_) | Said::Extension => reported(&error, &text),
            Said::AuthenticationFailed => Self::Login(format!("login refused: {text}")),
            // A certificate that is not accepted, a reply of another shape than ours: none mends itself.
            Said::Parse | Said::UnexpectedReturnType | Said::InvalidClientConfig => Self::refused(text),
            _ if text.contains("certificate") => Self::refused(text),
            _ => Self::away(text),
        }
    }
}

fn reported(error: &RedisError, text: &str) -> Fault {
    let code = error.code().unwrap_or_default();
    let whole = format!("{code} {}", error.detail().unwrap_or_default());
    let known = MEANINGS.iter().find(|(word, ..)| code == *word);
    let known = known.or_else(|| MEANINGS.iter().find(|(word, ..)| whole.contains(word)));
    match known {
        Some((_, Reaction::Exhaust, _)) => Fault::answer(ErrorKind::Exhausted, whole),
        Some((_, Reaction::Regress, _)) => {
            Fault::answer(ErrorKind::Regressed, format!("found no cell: {whole}"))
        }
        Some((_, Reaction::Evict, hint)) => Fault::away(format!("{text}{hint}")),
        Some((_, Reaction::Login, hint)) => Fault::Login(format!("login refused: {text}{hint}")),
        Some((_, Reaction::Refuse, hint)) => Fault::refused(format!("{text}{hint}")),
        None => Fault::away(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use redis::make_extension_error;

    use super::*;

    #[test]
    fn what_comes_and_goes_evicts_and_what_a_person_must_mend_is_refused() {
        for (code, detail, kind) in [
            ("ERR", "increment or decrement would overflow script: 1", ErrorKind::Exhausted),
            ("WRONGTYPE", "Operation against a key", ErrorKind::Regressed),
            ("ERR", "Error running script: @user_script: 5: WRONGTYPE Operation", ErrorKind::Regressed),
            ("OOM", "command not allowed when used memory > 'maxmemory'", ErrorKind::Unavailable),
            ("READONLY", "You can't write against a read only replica", ErrorKind::Unavailable),
            ("LOADING", "Redis is loading the dataset in memory", ErrorKind::Unavailable),
            ("BUSY", "Redis is busy running a script", ErrorKind::Unavailable),
            ("NOAUTH", "Authentication required.", ErrorKind::Refused),
            ("NOPERM", "this user has no permissions to run the 'info' command", ErrorKind::Refused),
            ("ERR", "ACL failure in script: User sequent has no permissions", ErrorKind::Refused),
            ("ERR", "The user executing the script can't run this command or subcommand", ErrorKind::Refused),
            ("MOVED", "3999 127.0.0.1:6381", ErrorKind::Refused),
            ("ERR", "something new", ErrorKind::Unavailable),
        ] {
            let error = make_extension_error(code.to_owned(), Some(detail.to_owned()));
            assert_eq!(Fault::from(error).into_error("take").kind(), kind, "{code} {detail}");
        }
    }

    #[test]
    fn a_memory_that_is_full_says_nothing_of_a_policy_that_nobody_has_read() {
        let detail = "command not allowed when used memory > 'maxmemory'.";
        let error = Fault::from(make_extension_error("OOM".to_owned(), Some(detail.to_owned())));
        let text = error.into_error("take").to_string();
        assert!(
            text.contains("its memory is full; raise its maxmemory") && !text.contains("policy"),
            "{text}"
        );
    }
}
