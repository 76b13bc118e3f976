//! The labels of the engine's metrics, with their values. A test compares them with what a server shows.

use sequent_core::{DurabilityClass, ErrorKind, Label, Scope};

use super::discard_reason;

/// The slot's number.
pub(super) const SLOT: Label = Label::open("slot");

/// A sequence that the configuration names.
pub(super) const SEQUENCE: Label = Label::open("sequence");

/// The address of a slot's store, without its login.
pub(super) const STORE: Label = Label::open("store");

pub(super) const SHARD_BITS: Label = Label::open("shard_bits");
pub(super) const MEMORY_BITS: Label = Label::open("memory_bits");
pub(super) const GENERATION: Label = Label::open("generation");

pub(super) const WHY: Label = Label::of("why", || discard_reason::every().collect());
pub(super) const OUTCOME: Label = Label::of("outcome", || vec![OK, FAILED]);
pub(super) const TAKE_OUTCOME: Label = Label::of("outcome", || outcomes(&take_faults()));
pub(super) const CALL: Label = Label::of("call", || CALLS.to_vec());
pub(super) const CALL_OUTCOME: Label = Label::of("outcome", || outcomes(&CALL_FAULTS));
pub(super) const CLASS: Label =
    Label::of("class", || DurabilityClass::ALL.map(DurabilityClass::as_str).to_vec());
pub(super) const OF: Label = Label::of("of", || vec!["store", "ledger"]);

/// A store's faults, and a slot command.
pub(super) const EVICTION_KIND: Label = Label::of("kind", || {
    let mut kinds = kinds(|scope| scope == Scope::Slot);
    kinds.push(COMMAND);
    kinds
});
pub(super) const PROBE_KIND: Label = Label::of("kind", || kinds(|scope| scope == Scope::Slot));

/// A quarantine may be of one counter.
pub(super) const QUARANTINE_KIND: Label = Label::of("kind", || kinds(|scope| scope != Scope::Nobody));

pub(super) const VIOLATION: Label = Label::of("kind", || {
    vec![
        "quarantine",
        "counter_back",
        "store_back",
        "ledger_back",
        "dense_back",
        "cluster_back",
        "given_above",
    ]
});

/// The calls of the ledger with series of their own: those that numbers wait for. The others share one.
pub(crate) const CALLS: [&str; 6] = ["read", "open", "raise", "heartbeat", "count", OTHER];

/// The faults of such a call with a series of their own; any other counts as [`OTHER`].
pub(crate) const CALL_FAULTS: [ErrorKind; 4] =
    [ErrorKind::Timeout, ErrorKind::Unavailable, ErrorKind::Refused, ErrorKind::InstanceChanged];

pub(crate) const OK: &str = "ok";
pub(crate) const FAILED: &str = "failed";
pub(crate) const OTHER: &str = "other";

/// The kind of an eviction by a slot command, which is no fault of the store.
pub(crate) const COMMAND: &str = "command";

/// The faults of a take with a series of their own.
pub(crate) fn take_faults() -> Vec<ErrorKind> {
    faults(|scope| scope != Scope::Nobody)
}

fn faults(of: impl Fn(Scope) -> bool) -> Vec<ErrorKind> {
    ErrorKind::ALL.into_iter().filter(|kind| of(kind.verdict().scope)).collect()
}

fn kinds(of: impl Fn(Scope) -> bool) -> Vec<&'static str> {
    faults(of).into_iter().map(ErrorKind::as_str).collect()
}

fn outcomes(faults: &[ErrorKind]) -> Vec<&'static str> {
    let faults = faults.iter().map(|kind| kind.as_str());
    [OK].into_iter().chain(faults).chain([OTHER]).collect()
}
