//! Examination of a store or ledger for an operator: facts only, without a judgement about the ring.
//!
//! An examination may run beside working servers. It uses a connection of its own, writes and creates nothing (if the engine
//! offers a read-only mode), and takes no numbers. Conditions that other calls would refuse are reported as facts.

use crate::{
    Durability, Epoch, Inspection, Key, Reply, SourceError,
    ledger::{Counter, LayoutRecord, LedgerInspection, Row},
};

/// Class of a fact. A caller who knows the ring judges by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FactClass {
    /// A crash loses acknowledged writes.
    Loses,
    /// Data may vanish while the server runs: evicted, or expired at the end of its time to live.
    Forgets,
    /// Numbers may repeat, or never be given.
    Repeats,
    /// The store or ledger is refused in its present state.
    Unusable,
    /// The user has more rights than needed.
    Excess,
    /// The user lacks rights that are needed.
    Lacks,
    /// The fact could not be determined.
    Untold,
    /// Worth knowing, but no fault.
    Note,
}

/// Fact found in a store or ledger, or about its server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Its class.
    pub class: FactClass,
    /// The setting, right or object that it is about.
    pub name: String,
    /// What was found.
    pub found: String,
    /// The expected value; empty if there is none.
    pub expected: String,
    /// What it can cause, in the engine's own terms.
    pub causes: String,
    /// What an operator can do about it.
    pub mend: String,
}

/// Fact: the ledger accepts writes from another master. `found` is the evidence.
pub fn other_master(found: &str) -> Fact {
    Fact::new(FactClass::Repeats, "writable masters", found)
        .expected("one")
        .causes(
            "several writable masters give the same numbers, and conflicting commits are lost",
        )
        .mend("stop the replication into it (STOP REPLICA; DROP SUBSCRIPTION), or configure the one writable node")
}

impl Fact {
    /// A fact about `name`, found to be `found`.
    ///
    /// ```
    /// use sequent_core::{Fact, FactClass};
    /// let fact = Fact::new(FactClass::Loses, "fsync", "off")
    ///     .expected("on")
    ///     .causes("a crash of the machine may leave nothing that makes sense")
    ///     .mend("fsync = on, and restart the server");
    /// assert_eq!(fact.expected, "on");
    /// ```
    pub fn new(class: FactClass, name: impl Into<String>, found: impl Into<String>) -> Self {
        let [expected, causes, mend] = [(); 3].map(|()| String::new());
        Self { class, name: name.into(), found: found.into(), expected, causes, mend }
    }

    /// Fact: the store or ledger cannot be read because it is refused in its present state.
    pub fn refused(name: impl Into<String>, error: &SourceError) -> Self {
        Self::new(FactClass::Unusable, name, error.context())
            .causes("no number is given before it is corrected")
    }

    /// Sets the expected value.
    #[must_use]
    pub fn expected(self, expected: impl Into<String>) -> Self {
        Self { expected: expected.into(), ..self }
    }

    /// Sets what the fact can cause.
    #[must_use]
    pub fn causes(self, causes: impl Into<String>) -> Self {
        Self { causes: causes.into(), ..self }
    }

    /// Sets what can be done about it.
    #[must_use]
    pub fn mend(self, mend: impl Into<String>) -> Self {
        Self { mend: mend.into(), ..self }
    }
}

/// State of a cell as an examination saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sight {
    /// There is no cell.
    Missing,
    /// The place of the cell holds something that no call of ours wrote.
    Odd(String),
    /// The cell.
    Held {
        /// The epoch that it counts for or was closed for.
        epoch: Epoch,
        /// Whether it is open, so that ids can be taken.
        open: bool,
        /// The highest id given, or the base.
        value: u64,
        /// Time to live, in milliseconds. A cell should have none.
        expires_ms: Option<u64>,
    },
}

/// Result of examining a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examination {
    /// The store's description of itself. If no server has connected to this instance yet, its instance id is one that nobody
    /// knows.
    pub inspection: Inspection,
    /// The highest ledger version marked there.
    pub mark: u64,
    /// The cells of the requested keys, in the same order.
    pub cells: Vec<Sight>,
    /// Further facts.
    pub facts: Vec<Fact>,
}

/// Result of examining a ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerExamination {
    /// The ledger's description of itself.
    pub inspection: LedgerInspection,
    /// The layout in force, if any is.
    pub layout: Option<LayoutRecord>,
    /// Its rows, ascending; at most as many as requested.
    pub rows: Vec<(Counter, Row)>,
    /// Further facts.
    pub facts: Vec<Fact>,
}

impl LedgerExamination {
    /// How much of what the ledger acknowledged survives a crash.
    pub fn durability(&self) -> &Durability {
        &self.inspection.durability
    }
}

/// Page of a store's cells, whatever their keys.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CellPage {
    /// Keys as the store holds them, with the suffix of their generation, and each cell's value: the highest id given, or the
    /// base.
    pub cells: Vec<(Key, u64)>,
    /// Where the next page starts; `None` after the last.
    pub next: Option<String>,
    /// Whether the store may have cells that no page lists.
    pub is_partial: bool,
}

/// Store that can be examined.
pub trait Examine: Send + Sync {
    /// Examines the store once, including the cells of `keys`. No time limit. Dropping the future closes its connection.
    fn examine<'a>(&'a self, keys: &'a [Key]) -> Reply<'a, Examination>;

    /// Lists the value of every counter, a few thousand a page: from the start, or from the `next` of the page before.
    ///
    /// For callers without ledger rows that would name the keys. Anything that is no cell of ours is left out. No time limit.
    /// By default the page is empty and marked as partial.
    fn cells<'a>(&'a self, from: Option<&'a str>) -> Reply<'a, CellPage> {
        let _ = from;
        Box::pin(std::future::ready(Ok(CellPage { is_partial: true, ..CellPage::default() })))
    }
}

/// Ledger that can be examined.
pub trait ExamineLedger: Send + Sync {
    /// Examines the ledger once, including its first `most` rows. No time limit. Dropping the future closes its connection.
    fn examine(&self, most: usize) -> Reply<'_, LedgerExamination>;
}
