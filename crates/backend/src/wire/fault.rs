//! Why a verb did not come to its end, and who must react.

use sequent_core::{ErrorKind, Incarnation, SourceError};

use crate::why;

/// Why a verb did not come to its end.
#[derive(Debug)]
pub(crate) enum Fault {
    /// Somebody else speaks on this connection now. Nothing was touched: another connection learns who.
    Stale(String),
    /// The connection, or what it says, failed: it is given up.
    Broken(ErrorKind, String),
    /// The server does not let us in, or nobody can say what proves who we are.
    Login(String),
    /// The verb's own answer: the connection is sound.
    Answer(SourceError),
}

impl Fault {
    /// What comes and goes with the server.
    pub(crate) fn away(cause: impl Into<String>) -> Self {
        Self::Broken(ErrorKind::Unavailable, cause.into())
    }

    /// What a person has to mend.
    pub(crate) fn refused(cause: impl Into<String>) -> Self {
        Self::Broken(ErrorKind::Refused, cause.into())
    }

    /// The same of a server that has let this process in before: it may again, as while a password is being changed in two
    /// places, or once it is started with its users. At a start it is for a person to mend.
    pub(crate) fn of_one_known(self) -> Self {
        match self {
            Self::Login(cause) => Self::Broken(ErrorKind::Unavailable, cause),
            other => other,
        }
    }

    /// The answer of a verb.
    pub(crate) fn answer(kind: ErrorKind, context: impl Into<String>) -> Self {
        Self::Answer(SourceError::new(kind, context))
    }

    /// `under` names another incarnation than the one that speaks; nothing was touched.
    pub(crate) fn reborn(under: &Incarnation, now: &Incarnation) -> Self {
        Self::answer(ErrorKind::Reborn, format!("expected {under}, found {now}"))
    }

    /// The failure as the rooms above know it, said to have happened while doing `context`.
    pub(crate) fn into_error(self, context: &str) -> SourceError {
        match self {
            Self::Stale(cause) => why::error(ErrorKind::Unavailable, context, cause),
            Self::Broken(kind, cause) => why::error(kind, context, cause),
            Self::Login(cause) => why::error(ErrorKind::Refused, context, cause),
            Self::Answer(error) => error.during(context),
        }
    }
}

impl From<SourceError> for Fault {
    fn from(error: SourceError) -> Self {
        Self::Answer(error)
    }
}
