//! Rule of recovery after a loss whose size an operator stated.

use sequent_core::{InstanceId, ledger::Loss};

use crate::ledger::Records;

/// Adds the loss to every counter, sets the version above `version_floor`, and takes the new token, whose instance goes
/// on record.
pub(crate) fn recover(records: &mut Records, loss: Loss, version_floor: u64) -> InstanceId {
    let Some(token) = records.token.take() else { return records.instance.clone() };
    let instance = token.instance.clone();
    if let Loss::Bump(most) = loss {
        records.changes.lost = most;
    }
    records.changes.version = Some(records.version.max(version_floor).saturating_add(1));
    records.changes.accepted = Some(instance.clone());
    records.changes.token = Some(token);
    records.changes.forgets_stores = true;
    instance
}
