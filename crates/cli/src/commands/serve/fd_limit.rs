//! Limit of file descriptors: how many connections a server can open.

use sequent_engine::{Engine, config::LimitsSection};
use sequent_server::{FdBudget, RuntimeLimits};

/// The limits that a server starts with, its connections within the descriptors that the stores of `engine` leave. Warns if
/// fewer connections are allowed than configured.
pub(super) fn runtime_limits(
    engine: &Engine,
    descriptors: FdBudget,
    limits: &LimitsSection,
) -> RuntimeLimits {
    let shards = engine.slots().into_iter().filter(|slot| slot.state != "empty");
    // One more for the ledger.
    let stores = shards.fold(1, |stores, _| stores + 1);
    let runtime = RuntimeLimits::new(limits).within(descriptors.connections(stores));
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
    runtime
}
