//! The table of commands.

use crate::redis::request::Arguments;

/// What a command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Auth,
    Client,
    Cluster,
    Command,
    Config,
    Discard,
    Echo,
    Exec,
    Exists,
    Get,
    Hello,
    Incr,
    IncrBy,
    Info,
    MGet,
    Multi,
    /// `EXPIRE` and its like: answers 0, since no sequence expires.
    NoExpiry,
    Ping,
    Quit,
    Reset,
    Select,
    SeqDefine,
    SeqLease,
    SeqNext,
    SeqShow,
    Time,
    Ttl,
    Type,
    /// Nothing is ever watched.
    Unwatch,
    /// Answers with what to do instead.
    Refused(&'static str),
    /// A word of HTTP.
    OtherProtocol,
}

impl Verb {
    /// Whether the service admits it, with its numbers or its name.
    pub(crate) fn is_admitted_later(self) -> bool {
        matches!(self, Self::IncrBy | Self::SeqNext | Self::SeqLease | Self::SeqDefine | Self::SeqShow)
    }
}

/// A command.
#[derive(Debug)]
pub(crate) struct Command {
    /// In lower case.
    pub(crate) name: &'static str,
    pub(crate) verb: Verb,
    /// How many arguments it has, the name included; if negative, at least so many.
    pub(crate) arity: i64,
    /// What `COMMAND DOCS` says of it. Empty for those that it does not list.
    pub(crate) summary: &'static str,
}

const fn command(name: &'static str, verb: Verb, arity: i64, summary: &'static str) -> Command {
    Command { name, verb, arity, summary }
}

const fn refused(name: &'static str, instead: &'static str) -> Command {
    command(name, Verb::Refused(instead), -1, "")
}

const NEVER_SET: &str = "a sequence only goes up: SEQ.DEFINE gives it a start, `sequent advance` raises it";
const NEVER_DOWN: &str = "a number that was given is never given again: leave it as a gap";
const NEVER_GONE: &str = "a sequence is never deleted, since its numbers could come again: use another name, or a template \
                          with a period";
const NO_SCRIPT: &str = "there are no scripts: INCR alone is atomic, and a template makes texts (SEQ.DEFINE)";
const NO_WATCH: &str = "there is nothing to watch: INCR alone is atomic, also outside of MULTI";
const NO_MESSAGES: &str = "there are no channels";
const NO_FRACTION: &str = "numbers are integers: INCR";

#[rustfmt::skip]
static COMMANDS: [Command; 69] = [
    command("incr", Verb::Incr, 2, "Gives the next number of a sequence"),
    command("incrby", Verb::IncrBy, 3, "Gives as many consecutive numbers of a dense sequence, of which the reply is the last"),
    command("get", Verb::Get, 2, "The highest number that a dense sequence has given; nil for any other"),
    command("ping", Verb::Ping, -1, "Answers PONG, or the message"),
    command("mget", Verb::MGet, -2, "GET of several sequences"),
    command("exists", Verb::Exists, -2, "How many of these sequences are defined"),
    command("type", Verb::Type, 2, "string for a sequence that is defined, none for any other"),
    command("ttl", Verb::Ttl, 2, "-1 for a sequence that is defined, -2 for any other"),
    command("pttl", Verb::Ttl, 2, "-1 for a sequence that is defined, -2 for any other"),
    command("expire", Verb::NoExpiry, -3, "0: a sequence does not expire"),
    command("pexpire", Verb::NoExpiry, -3, "0: a sequence does not expire"),
    command("expireat", Verb::NoExpiry, -3, "0: a sequence does not expire"),
    command("pexpireat", Verb::NoExpiry, -3, "0: a sequence does not expire"),
    command("persist", Verb::NoExpiry, 2, "0: a sequence does not expire"),
    command("seq.next", Verb::SeqNext, -2, "Gives numbers of a sequence, or their texts: name [COUNT n] [WITH name value ...] [AT instant] [ABOVE number]"),
    command("seq.lease", Verb::SeqLease, -3, "Lends numbers: name count [WITH name value ...] [AT instant] [ABOVE number]"),
    command("seq.define", Verb::SeqDefine, -2, "Defines a sequence: name [field value ...]"),
    command("seq.show", Verb::SeqShow, 2, "Shows the definition of a sequence"),
    command("hello", Verb::Hello, -1, "Chooses the version of the protocol: [2|3] [AUTH user password] [SETNAME name]"),
    command("auth", Verb::Auth, -2, "Authenticates: [user] password"),
    command("echo", Verb::Echo, 2, "Answers the message"),
    command("select", Verb::Select, 2, "Accepts database 0"),
    command("client", Verb::Client, -2, "SETNAME, GETNAME, SETINFO, ID, INFO, LIST, NO-EVICT, NO-TOUCH, REPLY ON, TRACKING OFF"),
    command("info", Verb::Info, -1, "Describes this server"),
    command("config", Verb::Config, -2, "GET pattern ..."),
    command("command", Verb::Command, -1, "COUNT, INFO, DOCS, LIST"),
    command("time", Verb::Time, 1, "The time of this server"),
    command("quit", Verb::Quit, -1, "Closes the connection"),
    command("reset", Verb::Reset, 1, "Brings the connection into its first state"),
    command("multi", Verb::Multi, 1, "Queues the commands that follow"),
    command("exec", Verb::Exec, 1, "Runs the queued commands in order"),
    command("discard", Verb::Discard, 1, "Forgets the queued commands"),
    command("unwatch", Verb::Unwatch, 1, ""),
    command("cluster", Verb::Cluster, -1, ""),
    refused("watch", NO_WATCH),
    refused("decr", NEVER_DOWN),
    refused("decrby", NEVER_DOWN),
    refused("incrbyfloat", NO_FRACTION),
    refused("set", NEVER_SET),
    refused("setex", NEVER_SET),
    refused("setnx", NEVER_SET),
    refused("psetex", NEVER_SET),
    refused("mset", NEVER_SET),
    refused("msetnx", NEVER_SET),
    refused("getset", NEVER_SET),
    refused("getdel", NEVER_GONE),
    refused("append", NEVER_SET),
    refused("del", NEVER_GONE),
    refused("unlink", NEVER_GONE),
    refused("rename", NEVER_GONE),
    refused("renamenx", NEVER_GONE),
    refused("flushall", NEVER_GONE),
    refused("flushdb", NEVER_GONE),
    refused("restore", NEVER_SET),
    refused("hincrby", "a sequence has no fields: a key each (INCR orders:2026), or a template with values (SEQ.NEXT ... WITH)"),
    refused("eval", NO_SCRIPT),
    refused("evalsha", NO_SCRIPT),
    refused("eval_ro", NO_SCRIPT),
    refused("evalsha_ro", NO_SCRIPT),
    refused("fcall", NO_SCRIPT),
    refused("fcall_ro", NO_SCRIPT),
    refused("script", NO_SCRIPT),
    refused("subscribe", NO_MESSAGES),
    refused("psubscribe", NO_MESSAGES),
    refused("ssubscribe", NO_MESSAGES),
    refused("keys", "`sequent list`, or GET /v1/sequences, lists sequences"),
    refused("scan", "`sequent list`, or GET /v1/sequences, lists sequences"),
    command("post", Verb::OtherProtocol, -1, ""),
    command("host:", Verb::OtherProtocol, -1, ""),
];

/// The command of a name.
pub(crate) fn find(name: &[u8]) -> Option<&'static Command> {
    COMMANDS.iter().find(|command| name.eq_ignore_ascii_case(command.name.as_bytes()))
}

/// The commands that clients are told of.
pub(crate) fn listed() -> impl Iterator<Item = &'static Command> {
    COMMANDS.iter().filter(|command| !command.summary.is_empty())
}

impl Command {
    /// Checks how many arguments there are. The error is Redis's own sentence.
    pub(crate) fn check(&self, arguments: Arguments<'_>) -> Result<(), String> {
        let count = i64::try_from(arguments.len()).unwrap_or(i64::MAX);
        let fits = if self.arity < 0 { count >= -self.arity } else { count == self.arity };
        if fits { Ok(()) } else { Err(format!("ERR wrong number of arguments for '{}' command", self.name)) }
    }

    /// Whether `MULTI` queues it. A command that is always refused is queued, too: clients count the replies of `EXEC`.
    pub(crate) fn is_queued(&self) -> bool {
        let runs_at_once =
            [Verb::Exec, Verb::Discard, Verb::Multi, Verb::Reset, Verb::Quit].contains(&self.verb);
        // `WATCH` has no place among the replies of `EXEC`, in Redis either.
        !(runs_at_once || self.name == "watch")
    }

    /// What a client must know of it: flags, and where its keys are (first, last, step).
    pub(crate) fn keys(&self) -> (&'static str, [i64; 3]) {
        match self.verb {
            Verb::Incr | Verb::IncrBy | Verb::NoExpiry | Verb::SeqNext | Verb::SeqLease | Verb::SeqDefine => {
                ("write", [1, 1, 1])
            }
            Verb::Get | Verb::Type | Verb::Ttl | Verb::SeqShow => ("readonly", [1, 1, 1]),
            Verb::MGet | Verb::Exists => ("readonly", [1, -1, 1]),
            _ => ("fast", [0, 0, 0]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_has_one_row() {
        let mut names: Vec<_> = COMMANDS.iter().map(|command| command.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), COMMANDS.len());
        assert!(COMMANDS.iter().all(|command| command.name == command.name.to_ascii_lowercase()));
    }
}
