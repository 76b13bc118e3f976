//! Ledger faults: why a ledger is not trusted.

use sequent_core::{
    Condition, Durability, Era, ErrorKind, InstanceId, Layout, LedgerId, SourceError,
    ledger::LedgerInspection,
};

/// Start of the reason if the ring has another layout, or is about to get one.
pub const LAYOUT_CHANGED: &str = "layout changed: ";

/// Advice for a ledger that went back.
const BACK_AGAIN: &str = "bring the newest ledger back, or say how much was lost: `sequent recover --bump N` (`sequent \
     recover` prints the least N, its help says what N must be)";

/// The ledger's durability and its settings, as text.
pub fn forgets(durability: &Durability) -> String {
    let settings: Vec<String> =
        durability.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let shown = if settings.is_empty() { String::new() } else { format!(" ({})", settings.join(", ")) };
    format!("the ledger is {}{shown}", durability.class.as_str())
}

/// Why a ledger with these settings gives no dense numbers, with advice.
pub fn lossy(durability: &Durability) -> String {
    format!(
        "{}: after a crash it may give dense numbers again; change the settings that `sequent doctor` names, or allow it: \
         ledger.allow_lossy = true",
        forgets(durability)
    )
}

/// Why a volatile ledger is not trusted if every shard is volatile too, with advice.
pub fn all_forget(durability: &Durability) -> String {
    format!(
        "{}, and so is every shard: nothing would tell which numbers were given; ring.allow_volatile = true is demanded for \
         what is lost with its process",
        forgets(durability)
    )
}

/// Why a ledger that accepts writes from another master is unfit, with advice.
pub(crate) fn other_master(found: &str) -> String {
    format!(
        "the ledger takes writes from another master ({found}): several writable masters can't be a ledger, since each would \
         give the same numbers; stop the replication into it, or configure the one writable node"
    )
}

/// Fault of a ledger: nothing may be opened or raised until an operator has acted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LedgerFault {
    /// The ledger's version is below a mark: it went back.
    Behind {
        /// The version it has.
        version: u64,
        /// The highest mark found.
        mark: u64,
    },
    /// The ledger lacks what this server wrote to it or gave from it: it went back.
    Accused {
        /// The ledger's version when this server last heard it.
        version: u64,
    },
    /// The ledger was below a mark when that mark's layout ended: it had gone back, and was resized all the same.
    BehindAtEnd {
        /// The generation of that layout.
        generation: u64,
        /// The ledger's version at that time.
        version: u64,
        /// The mark.
        mark: u64,
    },
    /// The ledger has an earlier layout than this server, or than the data directory's mark: a backup from before a resize.
    Outrun {
        /// The ledger's generation.
        generation: u64,
        /// The ledger's layout.
        layout: Layout,
        /// The later layout.
        mark: Era,
    },
    /// Ledger and all shards changed instance at once, or the data directory says so: it was copied or restored.
    Moved,
    /// Neither the ledger, as its settings say since a restart, nor any shard keeps what it acknowledges.
    Forgets {
        /// The ledger's settings.
        durability: Durability,
    },
    /// Another ledger has replaced this cluster's.
    Another {
        /// The ledger that answers.
        found: LedgerId,
        /// The ledger of the shards.
        expected: LedgerId,
    },
    /// Another ledger has replaced this one, and the stores have its stamp: the cluster was recovered after the loss of this
    /// one.
    TakenUp {
        /// The ledger that answers.
        found: LedgerId,
        /// The former ledger of the shards.
        expected: LedgerId,
    },
    /// The ledger also accepts writes from another master.
    OtherMaster {
        /// The evidence.
        found: String,
    },
    /// This server recorded its instance of the ledger, and another one is on record now: another server reaches other data.
    Superseded {
        /// The instance on record.
        found: InstanceId,
        /// This server's instance.
        speaks: InstanceId,
    },
    /// The ledger has another layout than this server.
    Relaid {
        /// Whether the ring was resized, or is about to be.
        is_resized: bool,
        /// Which field differs, what was found, and what to do.
        reason: String,
    },
}

impl LedgerFault {
    /// The fault of a ledger that accepts writes from another master, if an inspection shows that.
    pub(super) fn of_masters(found: &LedgerInspection) -> Option<Self> {
        found.other_master.clone().map(|found| Self::OtherMaster { found })
    }

    /// Whether another instance of the ledger may have granted what this server's grants permit. Then nothing leaves, even
    /// below a ceiling.
    pub(crate) fn is_outdone(&self) -> bool {
        matches!(self, Self::Superseded { .. } | Self::OtherMaster { .. })
    }

    /// The evidence that a ledger went back, without advice. `None` for other faults.
    pub fn found_behind(&self) -> Option<String> {
        match self {
            Self::Behind { version, mark } => {
                Some(format!("it is at version {version}, and a mark says {mark}"))
            }
            Self::Accused { version } => Some(format!(
                "it lacks what this server, which has seen its version {version}, wrote to it or was given"
            )),
            Self::BehindAtEnd { generation, version, mark } => Some(format!(
                "the layout of generation {generation} ended at its version {version}, and a mark of that layout says {mark}"
            )),
            Self::Outrun { generation, layout, mark: Era { generation: was, layout: of } } => Some(format!(
                "it is of generation {generation} ({layout}), and the ring was resized to {of} (generation {was})"
            )),
            Self::Moved
            | Self::Forgets { .. }
            | Self::Another { .. }
            | Self::TakenUp { .. }
            | Self::OtherMaster { .. }
            | Self::Superseded { .. }
            | Self::Relaid { .. } => None,
        }
    }

    /// The error for callers.
    pub fn error(&self) -> SourceError {
        let context = match self {
            Self::Behind { version, mark } => format!(
                "the ledger is at version {version}, but a mark says {mark}: it went back (an old copy?), or a server found \
                 its writes missing in it; {BACK_AGAIN}; or a copy of it is in use over the same shards: first stop the \
                 servers of one of the two"
            ),
            Self::Accused { version } => format!(
                "the ledger lacks what this server, which has seen its version {version}, wrote to it or was given from it: it \
                 went back (an old copy?); {BACK_AGAIN}"
            ),
            Self::BehindAtEnd { generation, version, mark } => format!(
                "the layout of generation {generation} ended when the ledger was at version {version}, but a mark says that it \
                 had been at {mark} under that layout: it had gone back (an old copy?) when the ring was resized; stop every \
                 process, and say how much was lost: `sequent recover --bump N` (its help says what N must be)"
            ),
            Self::Outrun { generation, layout, mark } => format!(
                "the ledger is of generation {generation} ({layout}), but the ring was resized to {} (generation {}), as this \
                 server or its data directory knows: the ledger is a copy from before; put the newest one back; if there is \
                 none, stop every process, put an empty ledger in its place, and `sequent recover --bump N` with the \
                 configuration of that layout (shard_bits = {}, memory_bits = {}), N at least the highest raw id that any one \
                 counter has reached",
                mark.layout,
                mark.generation,
                mark.layout.shard_bits(),
                mark.layout.memory_bits()
            ),
            Self::Moved => "ledger and all shards are other files than those on record: a directory was copied or \
                 restored; `sequent recover` says which number each answer would give next, and changes nothing; the safe one is \
                 `sequent recover --bump N`, N at least how far the numbers have come since, not how many were given (`sequent \
                 recover --help` says how to tell); only if nothing was given since it was copied, and no other copy is in use: \
                 `sequent recover --moved`"
                .to_owned(),
            Self::Another { found, expected } => {
                format!(
                    "another ledger is in the place of this cluster's: found {found}, expected {expected}; name the right one \
                     in the configuration, or put that one back, from its newest copy if need be; or, if it was lost and the \
                     cluster recovered meanwhile: restart this server; if it is lost, and no copy is left: stop every process, \
                     and `sequent recover --bump N`, N at least the highest raw id that any one counter has reached"
                )
            }
            Self::TakenUp { found, expected } => format!(
                "the cluster was recovered while this server ran (`sequent recover`): its stores have the stamp of the present \
                 ledger, {found}, and this server knows {expected}: restart this server; nothing else has to be done, and no \
                 loss has to be named again"
            ),
            Self::Forgets { durability } => all_forget(durability),
            Self::OtherMaster { found } => other_master(found),
            Self::Superseded { found, speaks } => format!(
                "another server uses another instance of this ledger: found {found} on record, and this server is connected to \
                 {speaks}: the ledger failed over and this server did not follow, or it is one of several writable masters; \
                 connect every server to the one writable node: this server continues once it is connected to the instance on \
                 record; several writable masters can't be a ledger"
            ),
            Self::Relaid { reason, .. } => reason.clone(),
        };
        let is_resized = matches!(self, Self::Relaid { is_resized: true, .. });
        SourceError::new(ErrorKind::LedgerBehind, context)
            .with(is_resized.then_some(Condition::LayoutChanged))
    }
}
