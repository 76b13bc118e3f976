//! Faults of operations, one enum for all engines. Each variant states whether the operation may have been done.

use std::{fmt, io};

use sequent_core::{Condition, ErrorKind, InstanceId, SourceError, Why};

/// The reason why an operation failed.
#[derive(Debug)]
pub(crate) enum Fault {
    /// Another client holds the lock, or two transactions collided. Nothing was done; the operation is retried within a
    /// bound.
    Busy(Cause),
    /// The instance or the tables are not those on which the connection was opened. Nothing was done. The connection is
    /// closed, and a new one reads the current instance.
    Stale(Cause),
    /// The connection, or an answer on it, failed. It is closed. The last request may have been done.
    Broken(ErrorKind, Cause),
    /// The server rejects the login, or the credentials could not be read. Nothing was done.
    Login(Cause),
    /// The server refused a statement with this code. Nothing was done. The connection is closed unless the operation
    /// handles the code.
    Server(i32, ErrorKind, Cause),
    /// The user lacks a privilege. Nothing was done.
    Denied(Cause),
    /// The contents of a file are invalid: it is damaged, or a copy is being written over it. The connection is closed.
    Damaged(Cause),
    /// A file can no longer be written. The connection is kept unused and open, because closing it would write.
    Frozen(Cause),
    /// A disk does not answer. The connection is kept open, because the effect of a close would be unknown.
    Mute(Cause),
    /// The operation's own error. The connection stays usable.
    Answer(SourceError),
}

/// The cause of a fault: text for operators, a reason for callers, and a condition for code that decides by it.
#[derive(Debug)]
pub(crate) struct Cause {
    text: String,
    told: Option<Why>,
    condition: Option<Condition>,
}

impl Cause {
    /// Sets the reason that callers see.
    pub(crate) fn told(self, told: impl Into<Option<Why>>) -> Self {
        Self { told: told.into(), ..self }
    }

    /// Sets the condition.
    pub(crate) fn with(self, condition: impl Into<Option<Condition>>) -> Self {
        Self { condition: condition.into(), ..self }
    }

    /// Appends a hint.
    pub(crate) fn hinted(self, hint: &str) -> Self {
        Self { text: format!("{}{hint}", self.text), ..self }
    }

    /// The cause of an I/O error on a connection or a file.
    pub(crate) fn of_io(error: &io::Error) -> Self {
        Self::from(error.to_string()).told(cause_of(error))
    }
}

/// An error that an operator has to correct.
pub(crate) fn refused(context: impl Into<String>) -> SourceError {
    SourceError::new(ErrorKind::Refused, context)
}

/// The reason that callers see of an I/O error.
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
        // The standard library has no error kind for a host name without an address.
        _ if error.to_string().contains("failed to lookup address") => Some(Why::HostUnreachable),
        _ => None,
    }
}

/// Whether the TLS library made the I/O error.
#[cfg(any(feature = "mongodb", feature = "mysql"))]
pub(crate) fn is_tls(error: &io::Error) -> bool {
    error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()).is_some()
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
    /// A temporary failure of the server.
    pub(crate) fn away(cause: impl Into<Cause>) -> Self {
        Self::Broken(ErrorKind::Unavailable, cause.into())
    }

    /// The connection was lost.
    pub(crate) fn lost(cause: impl Into<Cause>) -> Self {
        Self::away(cause.into().told(Why::ConnectionLost))
    }

    /// A setting, table or certificate that an operator has to correct.
    pub(crate) fn refused(cause: impl Into<Cause>) -> Self {
        Self::Broken(ErrorKind::Refused, cause.into())
    }

    /// A row that is created with the tables is missing.
    pub(crate) fn emptied() -> Self {
        let cause = Cause::from("a row that is made with the tables is gone");
        Self::refused(cause.with(Condition::Emptied))
    }

    /// A failed login with this cause.
    pub(crate) fn login(cause: impl Into<Cause>) -> Self {
        Self::Login(cause.into())
    }

    /// The server rejected the login.
    pub(crate) fn login_refused(cause: impl fmt::Display) -> Self {
        Self::Login(Cause::from(format!("login refused: {cause}")).told(Why::LoginRefused))
    }

    /// Another instance, or other tables, than those the connection was opened on.
    pub(crate) fn stale(cause: impl Into<Cause>) -> Self {
        Self::Stale(cause.into())
    }

    /// The operation's own error.
    pub(crate) fn answer(kind: ErrorKind, context: impl Into<String>) -> Self {
        Self::Answer(SourceError::new(kind, context))
    }

    /// The answering instance is not `under`. Nothing was done.
    pub(crate) fn instance_changed(under: &InstanceId, now: &InstanceId) -> Self {
        Self::answer(ErrorKind::InstanceChanged, format!("expected {under}, found {now}"))
    }

    /// The same fault from a server that this process has logged in to before.
    ///
    /// A rejected login is then temporary: a password may be changing in two places, or the server may be starting
    /// without its users yet. A temporary fault evicts the shard, which is probed again. At startup an operator has to
    /// correct it.
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

    /// Whether the connection stays usable.
    pub(crate) fn leaves_connection_sound(&self) -> bool {
        matches!(self, Self::Answer(_) | Self::Busy(_))
    }

    /// The error for the layers above; `context` is what was being done.
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
