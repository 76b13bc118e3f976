//! What was found where a failure arose, as far as somebody decides by it.

/// What was found where a failure arose. Whoever must decide reads this; the text beside it is for people, and may change.
///
/// A backend, or the guard, sets it where it refuses; [`SourceError`](crate::SourceError) carries it up. Most failures have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Condition {
    /// No tables, no file or no page is there, and whoever asks makes none: nobody has used the place yet, or all of it is gone.
    NeverMade,
    /// The tables are there, and a row that is made with them is missing: they were emptied.
    Emptied,
    /// The page that tells the runs of a ledger apart is missing, and the rest of the ledger is there.
    RunMissing,
    /// A statement met no tables: they were dropped, or never made.
    TablesMissing,
    /// The database is not there: it was dropped, or never made.
    DatabaseMissing,
    /// The tables, the file or the page were there while this process used them, and are not any more.
    Removed,
    /// The ledger's layout is another one than that which the server counts by, or is being changed.
    LayoutChanged,
    /// A counter is far ahead, and the ledger has no row of it.
    FarWithoutRow,
    /// A counter's row is far ahead of all that is known of it; its cell is not.
    FarRow,
    /// A counter's row and its cell are both far ahead of all that is known of it.
    FarRowAndCell,
    /// The ceiling of a counter's row is far ahead; the rest of the row is not.
    FarCeiling,
}

impl Condition {
    /// Whether a ledger, its tables, or what was made with them, is missing.
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
