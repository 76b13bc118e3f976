//! Rules of passes, instances, nonces and records of accepted instances.

use sequent_core::{
    ErrorKind, InstanceId, Rule, Rules, SlotIndex, SourceError,
    ledger::{Pass, ServerId, apart},
};

use crate::{
    ledger::{Records, Refusal},
    net::refused,
};

/// The shortest time for which the row of a silent server is kept: one day, in milliseconds.
const SERVER_KEPT_MS: u64 = 24 * 60 * 60 * 1000;

/// `InstanceChanged` unless the ledger's instance is `under`.
pub(crate) fn check_instance(records: &Records, under: &InstanceId) -> Result<(), SourceError> {
    if records.instance == *under {
        return Ok(());
    }
    Err(SourceError::new(ErrorKind::InstanceChanged, format!("expected {under}, found {}", records.instance)))
}

/// Checks a pass as `sequent_core::ledger` describes, and writes its next nonce.
pub(crate) fn check_session(records: &mut Records, pass: &Pass<'_>, rules: Rules) -> Result<(), Refusal> {
    check_instance(records, pass.under)?;
    check_nonce(records, pass)?;
    check_session_unfenced(records, pass, rules)
}

/// As [`check_session`], without the checks of instance and nonce: only a mutation uses it directly.
pub(crate) fn check_session_unfenced(
    records: &mut Records,
    pass: &Pass<'_>,
    rules: Rules,
) -> Result<(), Refusal> {
    let generation = records.layout.as_ref().map(|page| page.generation);
    if generation != Some(pass.generation) {
        let found = generation.map_or("none".to_owned(), |generation| generation.to_string());
        let context = format!("layout generation: found {found}, expected {}", pass.generation);
        return Err(refused(context).into());
    }
    // R25
    if rules.keep(Rule::RecordCompared) {
        let record = records.accepted.as_ref().map(InstanceId::as_str);
        pass.check_record(record).map_err(Refusal::OtherInstance)?;
    }
    records.changes.nonce = Some((pass.server, pass.next));
    Ok(())
}

fn check_nonce(records: &Records, pass: &Pass<'_>) -> Result<(), SourceError> {
    if records.nonce.is_some_and(|nonce| pass.nonces.contains(&nonce)) {
        return Ok(());
    }
    let found = if records.nonce.is_some() { "an older nonce" } else { "no row" };
    let context = format!("server {:?}: found {found}, so the ledger went back", pass.server);
    Err(SourceError::new(ErrorKind::InstanceChanged, context))
}

/// Writes a server's row with its first nonce.
pub(crate) fn enlist(
    records: &mut Records,
    under: &InstanceId,
    server: ServerId,
    nonce: u64,
) -> Result<(), SourceError> {
    check_instance(records, under)?;
    records.changes.servers_silent_since_ms = records.clock_ms.checked_sub(SERVER_KEPT_MS);
    records.changes.nonce = Some((server, nonce));
    Ok(())
}

/// Takes the new token if the instance is still `was`; returns the current instance.
pub(crate) fn rotate(records: &mut Records, was: &InstanceId) -> InstanceId {
    match records.token.take() {
        Some(token) if records.instance == *was => {
            let instance = token.instance.clone();
            records.changes.token = Some(token);
            instance
        }
        _ => records.instance.clone(),
    }
}

/// Records an instance of the ledger or of a store as accepted.
pub(crate) fn record(
    records: &mut Records,
    under: &InstanceId,
    slot: Option<SlotIndex>,
    instance: &InstanceId,
) -> Result<(), SourceError> {
    check_instance(records, under)?;
    if let Some(slot) = slot {
        records.changes.store = Some((slot, instance.clone()));
        return Ok(());
    }
    if records.accepted.as_ref().is_some_and(|accepted| accepted != instance) {
        records.changes.version = Some(records.version.saturating_add(apart(instance)));
    }
    records.changes.accepted = Some(instance.clone());
    Ok(())
}
