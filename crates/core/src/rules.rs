//! Rules of the guard's protocol as switches, so that the simulation can show what each rule prevents.

use crate::word_enum;

word_enum! {
    /// A rule of the guard's protocol that a mutation test may switch off.
    ///
    /// Only builds with the feature `mutation` can switch a rule off. In all others [`Rules::keep`] is always true.
    #[allow(missing_docs, reason = "each variant has its sentence, which the table of mutations prints")]
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[repr(u8)]
    pub enum Rule {
        SameConnection = "take, close and install run on a connection of the grant's instance of the store",
        RowNamesStore = "a row is joined only if it names this instance of the store",
        RowNamesLedger = "a row is joined only if it names this instance of the ledger",
        SameLedger = "a raise is valid only under the instance of the ledger that its grant names",
        EpochInTake = "the statement that takes checks epoch and openness",
        TakeNeverCreates = "a take on a missing cell is refused",
        LiftNeverCreates = "lifting a counter is refused on a missing cell",
        InstallOnOwnClose = "an install replaces nothing but the closed cell that its own server left",
        OpenCountsValue = "the new base is not below the value found at the close",
        OpenAtomic = "one ledger statement reads the ceiling and switches the epoch",
        RaiseNeedsEpoch = "a raise permits something only if the row still holds the grant's epoch",
        BlockKeepsEpoch = "a block leaves under the epoch it was taken in, or is dropped",
        WitnessFirst = "an id leaves after the ledger acknowledged a ceiling at or above it",
        LedgerForward = "a ceiling is never lowered",
        Marks = "an epoch is opened only if no other shard bears a higher mark than the ledger's version",
        MarkRaises = "a raise too is marked before an id leaves on its strength",
        Order = "an id not above all that this process had seen when the take began is a regression",
        OrderAtFirstTouch = "a process that joins an epoch counts the row's seen as seen",
        OrderDisjoint = "an id that overlaps ids completed since the take began is a regression",
        ResizeFence = "resize: every cell of the layout before is closed",
        ResizeValues =
            "resize: the next counters are above the values found at the close, not the ceilings alone",
        ResizeNumbers = "resize: what was given counts as a number, turned into raw ids of the next layout",
        ResizeCut = "resize: a key that is half done is done again, above what its new rows say too",
        OverStaysOver =
            "the fence of a period is read after an epoch of it is in the ledger, and before its cell counts",
        RecordCompared =
            "a call that writes to the ledger is refused where another run is on record than its caller has seen there",
        DenseWitnessed =
            "a dense number leaves after the version of the write that gave it was left on another store",
    }
}

impl Rule {
    /// The rule's number in the table of `crates/guard/guard.md`, R1 being the first: R13 is 13. A comment at the code that
    /// enforces the rule has the same number.
    ///
    /// ```
    /// use sequent_core::Rule;
    /// assert_eq!(Rule::WitnessFirst.number(), 13);
    /// assert!((1..).zip(Rule::ALL).all(|(number, rule)| rule.number() == number));
    /// ```
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8 + 1
    }
}

/// Which rules are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    #[cfg(feature = "mutation")]
    kept: u32,
}

impl Rules {
    /// All rules: the value in every build except the simulation's.
    pub const ALL: Self = Self {
        #[cfg(feature = "mutation")]
        kept: u32::MAX,
    };

    /// All but one.
    #[cfg(feature = "mutation")]
    #[must_use]
    pub const fn without(self, rule: Rule) -> Self {
        Self { kept: self.kept & !(1 << rule as u8) }
    }

    /// Whether `rule` is kept.
    #[cfg(feature = "mutation")]
    pub const fn keep(self, rule: Rule) -> bool {
        self.kept & (1 << rule as u8) != 0
    }

    /// Always true: this build cannot switch rules off.
    #[cfg(not(feature = "mutation"))]
    pub const fn keep(self, _: Rule) -> bool {
        true
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self::ALL
    }
}
