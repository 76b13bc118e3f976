//! What MongoDB and the driver say, and who must react.

use std::fmt;

use mongodb::error::{Error, ErrorKind as Said};
use sequent_core::{ErrorKind, SourceError};

use crate::why;

/// Why a verb did not come to its end.
#[derive(Debug)]
pub(super) enum Fault {
    /// Two writes met, and this one was not done: it is tried again within a bound.
    Busy(Cause),
    /// The connection, or the collection behind it, is not the one that was known. Nothing was touched: the connection is
    /// given up, and another one learns who speaks now.
    Stale(Cause),
    /// The connection, or what it says, failed: it is given up.
    Broken(ErrorKind, Cause),
    /// The server does not let this user in, or nobody can say what proves who it is.
    Login(Cause),
    /// The server refused a command, with this code. The connection is given up, unless the verb knows better.
    Server(i32, Cause),
    /// The verb's own answer: the connection is sound.
    Answer(SourceError),
}

/// The server's code and text, or what else was found.
#[derive(Debug)]
pub(super) struct Cause(String);

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Cause {}

/// The collection is there already.
pub(super) const NAMESPACE_EXISTS: i32 = 48;
/// The collection bears another identity.
pub(super) const COLLECTION_UUID_MISMATCH: i32 = 361;
/// The user may not.
pub(super) const UNAUTHORIZED: i32 = 13;
/// The login is refused.
const AUTHENTICATION_FAILED: i32 = 18;
/// A unique key is there already.
pub(super) const DUPLICATE_KEY: i32 = 11_000;
/// Two writes met.
const WRITE_CONFLICT: i32 = 112;

impl Fault {
    /// A failure that the server did not report itself.
    pub(super) fn broken(kind: ErrorKind, cause: impl Into<String>) -> Self {
        Self::Broken(kind, Cause(cause.into()))
    }

    /// A setting or a collection that a person has to mend.
    pub(super) fn refused(cause: impl Into<String>) -> Self {
        Self::broken(ErrorKind::Refused, cause)
    }

    /// No login, for this cause.
    pub(super) fn login(cause: impl Into<String>) -> Self {
        Self::Login(Cause(cause.into()))
    }

    /// The same of a server that has let this process in before: it may again, as while a password is being changed in two
    /// places. What comes and goes evicts, and is looked at again; at a start it is for a person to mend.
    pub(super) fn of_one_known(self) -> Self {
        match self {
            Self::Login(cause) => Self::Broken(ErrorKind::Unavailable, cause),
            other => other,
        }
    }

    /// Another connection or collection than before.
    pub(super) fn stale(cause: impl Into<String>) -> Self {
        Self::Stale(Cause(cause.into()))
    }

    /// What the server says of a command that it did not do.
    pub(super) fn said(code: i32, name: &str, message: &str) -> Self {
        let cause = Cause(format!("{code} {name}: {message}{}", hint(code, message)));
        match code {
            WRITE_CONFLICT => Self::Busy(cause),
            COLLECTION_UUID_MISMATCH => Self::Stale(cause),
            AUTHENTICATION_FAILED => Self::login(format!("login refused: {cause}")),
            code => Self::Server(code, cause),
        }
    }

    /// Whether the server refused with this code.
    pub(super) fn is(&self, code: i32) -> bool {
        matches!(self, Self::Server(found, _) if *found == code)
    }

    /// The failure as the rooms above know it, said to have happened while doing `context`.
    pub(super) fn into_error(self, context: &str) -> SourceError {
        match self {
            Self::Busy(cause) => why::error(ErrorKind::Contended, context, cause),
            Self::Stale(cause) => why::error(ErrorKind::Unavailable, context, cause),
            Self::Broken(kind, cause) => why::error(kind, context, cause),
            Self::Login(cause) => why::error(ErrorKind::Refused, context, cause),
            Self::Server(code, cause) => why::error(meaning(code), context, cause),
            Self::Answer(error) => error.during(context),
        }
    }
}

impl From<SourceError> for Fault {
    fn from(error: SourceError) -> Self {
        Self::Answer(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        let kind = match &*error.kind {
            Said::Command(said) => return Self::said(said.code, &said.code_name, &said.message),
            Said::Authentication { message, .. } => {
                return Self::login(format!("login refused: {message}"));
            }
            // Papers, versions, and what only we can have said wrongly: none of it mends itself.
            Said::InvalidTlsConfig { .. }
            | Said::IncompatibleServer { .. }
            | Said::InvalidArgument { .. }
            | Said::Bson(_) => ErrorKind::Refused,
            Said::Io(below) if is_tls(below) => ErrorKind::Refused,
            _ => ErrorKind::Unavailable,
        };
        Self::broken(kind, error.kind.to_string())
    }
}

fn is_tls(error: &std::io::Error) -> bool {
    error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()).is_some()
}

/// What the server's codes mean. What comes and goes with the server evicts, so that timed rescue brings it back; what a
/// person must mend is refused.
fn meaning(code: i32) -> ErrorKind {
    match code {
        // BadValue, FailedToParse, Unauthorized, TypeMismatch, InvalidLength, IllegalOperation, NamespaceNotFound,
        // CannotCreateIndex, InvalidOptions, InvalidNamespace, CommandNotFound, IDL's unknown fields,
        // DocumentValidationFailure.
        2 | 9 | UNAUTHORIZED | 14 | 16 | 20 | 26 | 67 | 72 | 73 | 59 | 121 | 40415 => ErrorKind::Refused,
        _ => ErrorKind::Unavailable,
    }
}

fn hint(code: i32, message: &str) -> &'static str {
    match code {
        UNAUTHORIZED => "; the user needs the role readWrite on this database",
        2 if message.contains("journal") => {
            "; its storage keeps no journal, so what it acknowledges may be lost"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_become_kinds() {
        for (code, kind) in [
            (2, ErrorKind::Refused),
            (13, ErrorKind::Refused),
            (18, ErrorKind::Refused),
            (26, ErrorKind::Refused),
            (40415, ErrorKind::Refused),
            (112, ErrorKind::Contended),
            (361, ErrorKind::Unavailable),
            (6, ErrorKind::Unavailable),
            (64, ErrorKind::Unavailable),
            (91, ErrorKind::Unavailable),
            (100, ErrorKind::Unavailable),
            (189, ErrorKind::Unavailable),
            (10107, ErrorKind::Unavailable),
            (11602, ErrorKind::Unavailable),
            (14031, ErrorKind::Unavailable),
        ] {
            assert_eq!(Fault::said(code, "Name", "said").into_error("take").kind(), kind, "{code}");
        }
    }
}
