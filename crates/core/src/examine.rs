//! What a store or a ledger shows to somebody who only looks: facts, and no judgement of rings.
//!
//! An examination is for an operator, beside servers that run. It opens a connection of its own, writes nothing (where the
//! engine can promise that, by the engine's own word), makes nothing, and takes no number. What another verb would refuse,
//! it tells.

use crate::{
    BoxFuture, Durability, Epoch, Inspection, Key, SourceError,
    ledger::{Counter, LayoutRecord, LedgerInspection, Row},
};

/// What kind of thing a fact is: whoever knows the ring makes a judgement of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FactClass {
    /// A crash takes back what was acknowledged.
    Loses,
    /// What is kept may go while the server runs: evicted, or at the end of its time to live.
    Forgets,
    /// Numbers may come twice, or never.
    Repeats,
    /// It is refused as it stands.
    Unusable,
    /// The user may do more than it needs.
    Excess,
    /// The user may not do what it needs.
    Lacks,
    /// It could not be told.
    Untold,
    /// Worth knowing, and no fault.
    Note,
}

/// Something that was found in a store or ledger, or about its server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// What kind of thing it is.
    pub class: FactClass,
    /// The setting, right or thing that it is about.
    pub name: String,
    /// What was found.
    pub found: String,
    /// What it should be; empty where nothing is expected.
    pub expected: String,
    /// What it can cause, in the engine's own terms.
    pub causes: String,
    /// What a person can do about it.
    pub mend: String,
}

/// A ledger that takes writes from another master, as this tells.
pub fn other_master(found: &str) -> Fact {
    Fact::new(FactClass::Repeats, "writable masters", found)
        .expected("one")
        .causes(
            "numbers are given twice where each of several masters counts, and commits that meet are lost",
        )
        .mend("end the replication into it (STOP REPLICA; DROP SUBSCRIPTION), or name the one writable node")
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

    /// What could not be read, since it is refused as it stands.
    pub fn refused(name: impl Into<String>, error: &SourceError) -> Self {
        Self::new(FactClass::Unusable, name, error.context()).causes("nothing is given before it is mended")
    }

    /// The same fact, with what it should be.
    #[must_use]
    pub fn expected(self, expected: impl Into<String>) -> Self {
        Self { expected: expected.into(), ..self }
    }

    /// The same fact, with what it can cause.
    #[must_use]
    pub fn causes(self, causes: impl Into<String>) -> Self {
        Self { causes: causes.into(), ..self }
    }

    /// The same fact, with what can be done about it.
    #[must_use]
    pub fn mend(self, mend: impl Into<String>) -> Self {
        Self { mend: mend.into(), ..self }
    }
}

/// A cell, as it was seen in passing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sight {
    /// There is none.
    Missing,
    /// What stands in its place no verb has left there.
    Odd(String),
    /// The cell.
    Held {
        /// Whose it is, or for whom it was closed.
        epoch: Epoch,
        /// Whether it counts.
        open: bool,
        /// The highest id given, or the base.
        value: u64,
        /// After how long it goes by itself, in milliseconds; no cell should.
        expires_ms: Option<u64>,
    },
}

/// What a look into a store found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examination {
    /// What it says of itself. Where nobody has spoken with this run of it yet, its instance is none that anybody knows.
    pub inspection: Inspection,
    /// The highest version of a ledger that was left there.
    pub mark: u64,
    /// The cells of the keys asked for, in their order.
    pub cells: Vec<Sight>,
    /// What else was found.
    pub facts: Vec<Fact>,
}

/// What a look into a ledger found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerExamination {
    /// What it says of itself.
    pub inspection: LedgerInspection,
    /// The layout in force, if any is.
    pub layout: Option<LayoutRecord>,
    /// Its rows, ascending: as many as were asked for.
    pub rows: Vec<(Counter, Row)>,
    /// What else was found.
    pub facts: Vec<Fact>,
}

impl LedgerExamination {
    /// How much of what it acknowledged outlives a crash.
    pub fn durability(&self) -> &Durability {
        &self.inspection.durability
    }
}

/// Some of a store's cells, whatever key they are of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CellPage {
    /// Keys as the store holds them, with the generation behind them, and the highest id that each has given, or its base.
    pub cells: Vec<(Key, u64)>,
    /// From where to go on; `None` after the last of them.
    pub next: Option<String>,
    /// Whether there may be cells that no page tells of.
    pub is_partial: bool,
}

/// A store that can be looked into.
pub trait Examine: Send + Sync {
    /// Looks once, at the cells of `keys` among others. No time limit; dropped, it costs its own connection.
    fn examine<'a>(&'a self, keys: &'a [Key]) -> BoxFuture<'a, Result<Examination, SourceError>>;

    /// Tells how far every counter is, a few thousand at a time: from the start, or from where a page before says to go on. For
    /// who has no rows that would say which keys there are. What is no cell of ours is left out. No time limit. By default
    /// it tells of none, and says so.
    fn cells<'a>(&'a self, from: Option<&'a str>) -> BoxFuture<'a, Result<CellPage, SourceError>> {
        let _ = from;
        Box::pin(std::future::ready(Ok(CellPage { is_partial: true, ..CellPage::default() })))
    }
}

/// A ledger that can be looked into.
pub trait ExamineLedger: Send + Sync {
    /// Looks once, at the first `most` rows among others. No time limit; dropped, it costs its own connection.
    fn examine(&self, most: usize) -> BoxFuture<'_, Result<LedgerExamination, SourceError>>;
}
