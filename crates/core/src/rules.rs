//! Rules of the guard's protocol as switches, so that the simulation can show what each rule prevents.

/// A rule of the guard's protocol that a mutation test may switch off.
///
/// Only builds with the feature `mutation` can switch a rule off. In all others [`Rules::keep`] is always true.
#[allow(missing_docs, reason = "each variant's sentence is its text(), which the table of mutations prints")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Rule {
    SameConnection,
    RowNamesStore,
    RowNamesLedger,
    SameLedger,
    EpochInTake,
    TakeNeverCreates,
    LiftNeverCreates,
    InstallOnOwnClose,
    OpenCountsValue,
    OpenAtomic,
    RaiseNeedsEpoch,
    BlockKeepsEpoch,
    WitnessFirst,
    LedgerForward,
    Marks,
    MarkRaises,
    Order,
    OrderAtFirstTouch,
    OrderDisjoint,
    ResizeFence,
    ResizeValues,
    ResizeNumbers,
    ResizeCut,
    OverStaysOver,
    RecordCompared,
    DenseWitnessed,
}

impl Rule {
    /// Every rule, in the order of their numbers in `guard.md`: R1 is the first.
    pub const ALL: [Self; 26] = [
        Self::SameConnection,
        Self::RowNamesStore,
        Self::RowNamesLedger,
        Self::SameLedger,
        Self::EpochInTake,
        Self::TakeNeverCreates,
        Self::LiftNeverCreates,
        Self::InstallOnOwnClose,
        Self::OpenCountsValue,
        Self::OpenAtomic,
        Self::RaiseNeedsEpoch,
        Self::BlockKeepsEpoch,
        Self::WitnessFirst,
        Self::LedgerForward,
        Self::Marks,
        Self::MarkRaises,
        Self::Order,
        Self::OrderAtFirstTouch,
        Self::OrderDisjoint,
        Self::ResizeFence,
        Self::ResizeValues,
        Self::ResizeNumbers,
        Self::ResizeCut,
        Self::OverStaysOver,
        Self::RecordCompared,
        Self::DenseWitnessed,
    ];

    /// The rule's number in the table of `crates/guard/guard.md`: R13 is 13. A comment at the code that enforces the rule has
    /// the same number.
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

    /// The rule as one sentence.
    pub const fn text(self) -> &'static str {
        match self {
            Self::SameConnection => {
                "take, close and install run on a connection of the grant's instance of the store"
            }
            Self::RowNamesStore => "a row is joined only if it names this instance of the store",
            Self::RowNamesLedger => "a row is joined only if it names this instance of the ledger",
            Self::SameLedger => "a raise is valid only under the instance of the ledger that its grant names",
            Self::EpochInTake => "the statement that takes checks epoch and openness",
            Self::TakeNeverCreates => "a take on a missing cell is refused",
            Self::LiftNeverCreates => "lifting a counter is refused on a missing cell",
            Self::InstallOnOwnClose => {
                "an install replaces nothing but the closed cell that its own server left"
            }
            Self::OpenCountsValue => "the new base is not below the value found at the close",
            Self::OpenAtomic => "one ledger statement reads the ceiling and switches the epoch",
            Self::RaiseNeedsEpoch => {
                "a raise permits something only if the row still holds the grant's epoch"
            }
            Self::BlockKeepsEpoch => "a block leaves under the epoch it was taken in, or is dropped",
            Self::WitnessFirst => "an id leaves after the ledger acknowledged a ceiling at or above it",
            Self::LedgerForward => "a ceiling is never lowered",
            Self::Marks => {
                "an epoch is opened only if no other shard bears a higher mark than the ledger's version"
            }
            Self::MarkRaises => "a raise too is marked before an id leaves on its strength",
            Self::Order => {
                "an id not above all that this process had seen when the take began is a regression"
            }
            Self::OrderAtFirstTouch => "a process that joins an epoch counts the row's seen as seen",
            Self::OrderDisjoint => "an id that overlaps ids completed since the take began is a regression",
            Self::ResizeFence => "resize: every cell of the layout before is closed",
            Self::ResizeValues => {
                "resize: the next counters are above the values found at the close, not the ceilings alone"
            }
            Self::ResizeNumbers => {
                "resize: what was given counts as a number, turned into raw ids of the next layout"
            }
            Self::ResizeCut => {
                "resize: a key that is half done is done again, above what its new rows say too"
            }
            Self::OverStaysOver => {
                "the fence of a period is read after an epoch of it is in the ledger, and before its cell counts"
            }
            Self::RecordCompared => {
                "a call that writes to the ledger is refused where another run is on record than its caller has seen there"
            }
            Self::DenseWitnessed => {
                "a dense number leaves after the version of the write that gave it was left on another store"
            }
        }
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
