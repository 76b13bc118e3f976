//! The failure to open a cluster that exists: the error, and the condition that caused it.

use sequent_core::{Condition, SourceError};

use crate::error::OpenError;

/// A cluster that was not opened.
#[derive(Debug)]
pub(crate) struct Unopened {
    /// The error for the caller.
    pub(crate) error: OpenError,
    /// The condition where the failure arose, as far as it is known.
    pub(crate) condition: Option<Condition>,
}

impl From<SourceError> for Unopened {
    fn from(error: SourceError) -> Self {
        Self { condition: error.condition(), error: error.into() }
    }
}

impl From<OpenError> for Unopened {
    fn from(error: OpenError) -> Self {
        Self { error, condition: None }
    }
}

impl From<Unopened> for OpenError {
    fn from(unopened: Unopened) -> Self {
        unopened.error
    }
}

#[cfg(test)]
mod tests {
    use sequent_core::ErrorKind;

    use super::*;

    #[test]
    fn what_was_found_outlives_the_words() {
        let below = SourceError::new(ErrorKind::Refused, "in other words").with(Condition::Emptied);
        let unopened = Unopened::from(below.during("read the layout"));
        assert_eq!(unopened.condition, Some(Condition::Emptied));
        assert!(matches!(unopened.error, OpenError::Refused(_)), "{unopened:?}");
    }
}
