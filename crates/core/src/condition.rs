//! Condition of a failure: what was found, in a form that code can decide by.

/// What was found when a failure arose. Code decides by this value; the text beside it is for people and may change.
///
/// A backend or the guard sets it when it refuses, and [`SourceError`](crate::SourceError) carries it to the caller. Most
/// failures have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Condition {
    /// Tables, file or layout page are missing, and this caller may not create them. Either the place was never used, or
    /// everything in it was deleted.
    NeverMade,
    /// The tables exist, but a row that is created with them is missing: they were emptied.
    Emptied,
    /// The record that distinguishes the ledger's instances is missing; the rest of the ledger exists.
    RunMissing,
    /// A statement found no tables: they were dropped or never created.
    TablesMissing,
    /// The database does not exist: it was dropped or never created.
    DatabaseMissing,
    /// Tables, file or layout page disappeared while this process used them.
    Removed,
    /// The ledger's layout differs from the server's, or a resize is under way.
    LayoutChanged,
    /// A counter is far ahead, and the ledger has no row for it.
    FarWithoutRow,
    /// A counter's row is far ahead of everything known of the counter; its cell is not.
    FarRow,
    /// A counter's row and cell are both far ahead of everything known of the counter.
    FarRowAndCell,
    /// The ceiling of a counter's row is far ahead; the rest of the row is not.
    FarCeiling,
    /// The key gave as many numbers as its burn limit allows by now; nothing is at fault.
    BurnLimited,
}

impl Condition {
    /// Whether the ledger, its tables or rows created with them are missing.
    pub const fn is_missing(self) -> bool {
        matches!(
            self,
            Self::NeverMade
                | Self::Emptied
                | Self::RunMissing
                | Self::TablesMissing
                | Self::DatabaseMissing
                | Self::Removed
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorKind, SourceError};

    #[test]
    fn the_condition_is_kept_whatever_is_said_around_it() {
        let met = SourceError::new(ErrorKind::Refused, "other words").with(Condition::Emptied);
        let passed_on = met.clone().during("open").because("yet others");
        let wrapped = SourceError::new(ErrorKind::NoWitness, "the ledger is away").because(met);
        let twice = SourceError::new(ErrorKind::LedgerBehind, "read").because(wrapped.clone());
        for error in [passed_on, wrapped, twice] {
            assert_eq!(error.condition(), Some(Condition::Emptied), "{error}");
        }
        let words = SourceError::new(ErrorKind::Refused, "no tables are there, and none may be made here");
        assert_eq!(words.condition(), None, "words alone decide nothing");
    }

    #[test]
    fn what_is_missing_is_told_from_what_is_only_another() {
        assert!(Condition::Removed.is_missing() && Condition::NeverMade.is_missing());
        assert!(!Condition::LayoutChanged.is_missing() && !Condition::FarRow.is_missing());
    }
}
