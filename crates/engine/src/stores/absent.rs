//! What stands in for a driver that this build leaves out: the configuration refuses its words before.

use std::sync::Arc;

use sequent_core::{Env, SequenceName, SlotIndex, Store, ledger::Ledger};

use super::leaving::Leave;
use crate::{OpenError, config::ServerPlace};

pub(super) fn store(
    server: &ServerPlace,
    _: SlotIndex,
    _: bool,
    _: &Env,
) -> Result<(Arc<dyn Store>, Leave), OpenError> {
    Err(not_built_in(server))
}

pub(super) fn ledger(server: &ServerPlace, _: bool, _: &Env) -> Result<(Arc<dyn Ledger>, Leave), OpenError> {
    Err(not_built_in(server))
}

/// For stores whose names hold their cluster's.
pub(super) mod owned {
    use super::{Arc, Env, Leave, OpenError, SequenceName, ServerPlace, SlotIndex, Store, not_built_in};

    pub(in super::super) fn store(
        server: &ServerPlace,
        _: &SequenceName,
        _: SlotIndex,
        _: &Env,
    ) -> Result<(Arc<dyn Store>, Leave), OpenError> {
        Err(not_built_in(server))
    }
}

fn not_built_in(server: &ServerPlace) -> OpenError {
    OpenError::Refused(format!("{:?} is not built into this version", server.kind.as_str()))
}
