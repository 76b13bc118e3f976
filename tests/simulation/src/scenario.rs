//! Which faults may come together: what `guard.md` promises against, and no more.

use std::time::Duration;

use sequent_core::{DurabilityClass, Rules};

/// A fault, as the model names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A server is killed, and another takes its place.
    Crash,
    /// A server is stopped in order, and another takes its place.
    Stop,
    /// A store restarts with all its data.
    Restart,
    /// A store is copied.
    Backup,
    /// A store restarts from its copy.
    Restore,
    /// A store restarts empty.
    Empty,
    /// A cell is deleted under a running store.
    Delete,
    /// A cell is closed for an epoch that nobody has.
    StrayClose,
    /// Cells go back to the copy, under the same instance.
    Hot,
    /// A server loses the ledger for a while.
    Cut,
    /// One server and a store on one side for a while; the ledger, the others, and a promoted copy of the store on the other.
    Partition,
    /// The ledger is copied.
    LedgerBackup,
    /// The ledger restarts from its copy.
    LedgerRestore,
    /// The ledger goes back to its copy under the same instance.
    LedgerInPlace,
    /// The ledger restarts with all its data.
    LedgerRestart,
    /// The ledger and one store go back in one moment.
    Both,
    /// The wall clock steps either way.
    Step,
}

/// A world, and the faults that come to it.
#[derive(Debug, Clone, Copy)]
pub struct Scenario {
    /// Its name, for reports and for replay.
    pub name: &'static str,
    /// How many servers.
    pub servers: usize,
    /// n.
    pub shard_bits: u8,
    /// m.
    pub memory_bits: u8,
    /// What the stores are classed as.
    pub class: DurabilityClass,
    /// For how long servers go on without the ledger.
    pub outage: Duration,
    /// Of 1000 messages, how many are lost or very late.
    pub trouble: u64,
    /// The faults, each as likely as it stands here often.
    pub faults: &'static [Fault],
    /// The rules in force; all of them, but for mutations.
    pub rules: Rules,
}

impl Scenario {
    /// One of a name, with no faults of its own.
    pub(crate) const fn plain(name: &'static str, trouble: u64) -> Self {
        Self { name, trouble, ..CALM }
    }
}

const CALM: Scenario = Scenario {
    name: "",
    servers: 2,
    shard_bits: 1,
    memory_bits: 0,
    class: DurabilityClass::Durable,
    outage: Duration::from_secs(600),
    trouble: 10,
    faults: &[],
    rules: Rules::ALL,
};

use Fault::{
    Backup, Both, Crash, Cut, Delete, Empty, Hot, LedgerBackup, LedgerInPlace, LedgerRestart, LedgerRestore,
    Partition, Restart, Restore, Step, Stop, StrayClose,
};

/// Every scenario. A seed runs one of them.
pub const SCENARIOS: [Scenario; 9] = [
    Scenario {
        name: "stores-forget",
        faults: &[
            Crash, Stop, Restart, Backup, Backup, Restore, Restore, Empty, Delete, Delete, StrayClose, Step,
        ],
        ..CALM
    },
    Scenario {
        name: "one-store-forgets",
        shard_bits: 0,
        memory_bits: 2,
        faults: &[Crash, Backup, Backup, Restore, Restore, Empty, Delete, Delete, StrayClose],
        ..CALM
    },
    Scenario {
        name: "lossy-wires",
        trouble: 60,
        servers: 3,
        faults: &[Crash, Restart, Backup, Restore, Delete, Delete, StrayClose],
        ..CALM
    },
    Scenario {
        name: "ledger-goes-back",
        faults: &[
            Crash,
            Stop,
            LedgerBackup,
            LedgerBackup,
            LedgerRestore,
            LedgerInPlace,
            LedgerRestart,
            Backup,
            Restore,
            Delete,
            Step,
        ],
        ..CALM
    },
    Scenario {
        name: "both-at-once",
        shard_bits: 2,
        faults: &[Crash, Stop, LedgerBackup, Backup, Backup, Both, Both, Delete],
        ..CALM
    },
    Scenario {
        name: "partition",
        outage: Duration::from_secs(5),
        faults: &[Crash, Partition, Partition, Partition, Backup, Backup, Restart, Delete],
        ..CALM
    },
    Scenario {
        name: "cut-off",
        faults: &[Crash, Cut, Cut, Cut, Backup, Restore, Delete, Empty, Restart],
        ..CALM
    },
    Scenario {
        name: "volatile",
        class: DurabilityClass::Volatile,
        faults: &[Crash, Cut, Cut, Empty, Empty, Delete, Delete, Restart],
        ..CALM
    },
    Scenario {
        name: "same-instance",
        servers: 1,
        // What was seen must be exact at a stop, so no last heartbeat may be lost.
        trouble: 0,
        faults: &[Backup, Backup, Hot, Hot, Stop, Crash],
        ..CALM
    },
];
