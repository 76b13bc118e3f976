//! Why an operation did not come to its end: one enum for every engine. Each variant says what is known of the outcome.

use std::{fmt, io};

use sequent_core::{Condition, ErrorKind, InstanceId, SourceError, Why};

/// Why an operation did not come to its end.
#[derive(Debug)]
pub(crate) enum Fault {
    /// Another client holds the lock, or two transactions met. Nothing was done: it is tried again within a bound.
    Busy(Cause),
    /// Another instance, or other tables, than those that the connection was opened on. Nothing was done: the connection
    /// is given up, and a new one learns who answers now.
    Stale(Cause),
    /// The connection, or what it says, failed: it is given up. What it was asked last may have been done.
    Broken(ErrorKind, Cause),
    /// The server does not let this user in, or nobody can say what proves who it is. Nothing was done.
    Login(Cause),
    /// The server refused a statement with this code. Nothing was done. The connection is given up, unless the operation
    /// knows better.
    Server(i32, ErrorKind, Cause),
    /// The user lacks a privilege. Nothing was done.
    Denied(Cause),
    /// The contents of a file make no sense: it is damaged, or a copy is being put over it just now. The connection is
    /// given up.
    Damaged(Cause),
    /// A file can't be written any more: the connection is kept, neither used nor closed, because even closing it writes.
    Frozen(Cause),
    /// A disk does not answer: the connection is kept as it is, because nobody can tell what a close would do.
    Mute(Cause),
    /// The operation's own answer. The connection is sound.
    Answer(SourceError),
}

/// What was said, for people; what callers are told of it; and what was found, for whoever decides by it.
#[derive(Debug)]
pub(crate) struct Cause {
    text: String,
    told: Option<Why>,
    condition: Option<Condition>,
}

impl Cause {
    /// The same, and callers are told this of it.
    pub(crate) fn told(self, told: impl Into<Option<Why>>) -> Self {
        Self { told: told.into(), ..self }
    }

    /// The same, and this was found.
    pub(crate) fn with(self, condition: impl Into<Option<Condition>>) -> Self {
        Self { condition: condition.into(), ..self }
    }

    /// The same, with a hint behind it.
    pub(crate) fn hinted(self, hint: &str) -> Self {
        Self { text: format!("{}{hint}", self.text), ..self }
    }

    /// What the system said of a connection or a file.
    pub(crate) fn of_io(error: &io::Error) -> Self {
        Self::from(error.to_string()).told(cause_of(error))
    }
}

/// What callers are told of a failure of the system's.
pub(crate) fn cause_of(error: &io::Error) -> Option<Why> {
    use io::ErrorKind as Io;
    match error.kind() {
        Io::ConnectionRefused => Some(Why::ConnectionRefused),
        Io::ConnectionReset
        | Io::ConnectionAborted
        | Io::BrokenPipe
        | Io::NotConnected
        | Io::UnexpectedEof => Some(Why::ConnectionLost),
        Io::HostUnreachable | Io::NetworkUnreachable => Some(Why::HostUnreachable),
        Io::TimedOut => Some(Why::TimedOut),
        Io::StorageFull => Some(Why::DiskFull),
        Io::ReadOnlyFilesystem => Some(Why::ReadOnly),
        // The standard library has no kind for a name without an address.
        _ if error.to_string().contains("failed to lookup address") => Some(Why::HostUnreachable),
        _ => None,
    }
}

impl From<String> for Cause {
    fn from(text: String) -> Self {
        Self { text, told: None, condition: None }
    }
}

impl From<&str> for Cause {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Cause {}

impl Fault {
    /// A failure that comes and goes with the server.
    pub(crate) fn away(cause: impl Into<Cause>) -> Self {
        Self::Broken(ErrorKind::Unavailable, cause.into())
    }

    /// The connection has ended.
    pub(crate) fn lost(cause: impl Into<Cause>) -> Self {
        Self::away(cause.into().told(Why::ConnectionLost))
    }

    /// A setting, a table or a certificate that a person has to mend.
    pub(crate) fn refused(cause: impl Into<Cause>) -> Self {
        Self::Broken(ErrorKind::Refused, cause.into())
    }

    /// No login, for this cause.
    pub(crate) fn login(cause: impl Into<Cause>) -> Self {
        Self::Login(cause.into())
    }

    /// The server said that it does not let this user in.
    pub(crate) fn login_refused(cause: impl fmt::Display) -> Self {
        Self::Login(Cause::from(format!("login refused: {cause}")).told(Why::LoginRefused))
    }

    /// Another instance, or other tables, than before.
    pub(crate) fn stale(cause: impl Into<Cause>) -> Self {
        Self::Stale(cause.into())
    }

    /// The answer of an operation.
    pub(crate) fn answer(kind: ErrorKind, context: impl Into<String>) -> Self {
        Self::Answer(SourceError::new(kind, context))
    }

    /// `under` names another instance than the one that answers. Nothing was done.
    pub(crate) fn reborn(under: &InstanceId, now: &InstanceId) -> Self {
        Self::answer(ErrorKind::Reborn, format!("expected {under}, found {now}"))
    }

    /// The same of a server that has let this process in before: it may again, as while a password is being changed in two
    /// places, or once it is started with its users. What comes and goes evicts, and is looked at again; at a start it is
    /// for a person to mend.
    pub(crate) fn of_known_server(self) -> Self {
        match self {
            Self::Login(cause) => Self::Broken(ErrorKind::Unavailable, cause),
            other => other,
        }
    }

    /// Whether the server refused a statement with this code.
    pub(crate) fn is(&self, code: i32) -> bool {
        matches!(self, Self::Server(found, ..) if *found == code)
    }

    /// Whether the connection is as good as before.
    pub(crate) fn leaves_connection_sound(&self) -> bool {
        matches!(self, Self::Answer(_) | Self::Busy(_))
    }

    /// The failure as the layers above know it, said to have happened while doing `context`.
    pub(crate) fn into_error(self, context: &str) -> SourceError {
        let (kind, cause) = match self {
            Self::Answer(error) => return error.during(context),
            Self::Busy(cause) => (ErrorKind::Contended, cause),
            Self::Stale(cause) | Self::Frozen(cause) => (ErrorKind::Unavailable, cause),
            Self::Broken(kind, cause) | Self::Server(_, kind, cause) => (kind, cause),
            Self::Login(cause) | Self::Denied(cause) | Self::Damaged(cause) => (ErrorKind::Refused, cause),
            Self::Mute(cause) => (ErrorKind::Timeout, cause),
        };
        let (told, condition) = (cause.told, cause.condition);
        SourceError::new(kind, context).because(cause).told(told).with(condition)
    }
}

impl From<SourceError> for Fault {
    fn from(error: SourceError) -> Self {
        Self::Answer(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_are_told_what_the_system_said_by_its_kind() {
        let kinds = [
            (io::ErrorKind::ConnectionRefused, Some(Why::ConnectionRefused)),
            (io::ErrorKind::UnexpectedEof, Some(Why::ConnectionLost)),
            (io::ErrorKind::TimedOut, Some(Why::TimedOut)),
            (io::ErrorKind::StorageFull, Some(Why::DiskFull)),
            (io::ErrorKind::InvalidData, None),
        ];
        for (kind, why) in kinds {
            assert_eq!(cause_of(&io::Error::from(kind)), why, "{kind:?}");
            let error = Fault::away(Cause::of_io(&io::Error::from(kind))).into_error("take");
            assert_eq!((error.kind(), error.why()), (ErrorKind::Unavailable, why));
        }
    }

    #[test]
    fn what_was_found_goes_with_the_failure_whatever_is_said_of_it() {
        let found = || Cause::from("in words of its own").hinted(": mend it").with(Condition::NeverMade);
        for fault in [Fault::refused(found()), Fault::away(found()), Fault::Denied(found())] {
            assert_eq!(fault.into_error("inspect").condition(), Some(Condition::NeverMade));
        }
        let words = Fault::refused("no tables are there, and none may be made here");
        assert_eq!(words.into_error("inspect").condition(), None);
    }

    #[test]
    fn a_server_that_let_us_in_before_is_away_and_not_wrong() {
        let refused = || Fault::login_refused("no such user");
        assert_eq!(refused().into_error("inspect").kind(), ErrorKind::Refused);
        let error = refused().of_known_server().into_error("inspect");
        assert_eq!((error.kind(), error.why()), (ErrorKind::Unavailable, Some(Why::LoginRefused)));
    }
}
