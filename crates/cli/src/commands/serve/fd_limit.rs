//! Limit of file descriptors: how many connections a server can open.

use sequent_engine::{Engine, config::LimitsSection};
use sequent_server::{FdBudget, RuntimeLimits};

/// The descriptors of this process, and the stores that need some.
#[derive(Debug, Clone, Copy)]
pub(super) struct FdLimit {
    descriptors: FdBudget,
    stores: u64,
}

impl FdLimit {
    /// The descriptors left by the stores of `engine`.
    pub(super) fn beside(engine: &Engine, descriptors: FdBudget) -> Self {
        let shards = engine.slots().into_iter().filter(|slot| slot.state != "empty");
        // One more for the ledger.
        Self { descriptors, stores: shards.fold(1, |stores, _| stores + 1) }
    }

    /// The limits that a server starts with, its connections within these descriptors.
    pub(super) fn runtime_limits(self, limits: &LimitsSection) -> RuntimeLimits {
        let runtime = RuntimeLimits::new(limits).within(self.descriptors.connections(self.stores));
        say(&runtime, limits, self.descriptors);
        runtime
    }
}

/// Warns once if fewer connections are allowed than configured.
fn say(runtime: &RuntimeLimits, limits: &LimitsSection, descriptors: FdBudget) {
    let ((most, of_one), configured) = (runtime.connections_max(), limits.connections_max);
    if most < configured {
        let files = descriptors.limit();
        tracing::warn!(
            configured,
            in_force = most,
            of_one_address = of_one,
            files,
            "limits.connections_max is more than the limit on open files (ulimit -n) has room for: lowered at each api"
        );
    }
}
