//! Stamp checks: which field of a store's stamp differs from the expected one, and advice for the operator.

use std::{sync::Arc, time::Duration};

use sequent_core::{Inspection, LedgerId, SlotIndex, SourceError, Stamp, Store, ledger::Ledger};
use tokio::task::JoinSet;

use crate::{LedgerFault, timeouts::limited};

/// Advice that always applies: an empty store is stamped and continues above the ceilings.
const INSTEAD: &str = "or give the slot an empty one, which continues above its ceilings";

/// Why a store cannot be the one with the stamp `expected`: each field that differs, and what to do. `None` for that store, or
/// for an empty one that may become it.
pub fn misfit(found: &Inspection, expected: &Stamp) -> Option<String> {
    let Stamp { slot, cluster, .. } = expected;
    match &found.stamp {
        Some(stamp) if stamp == expected => None,
        Some(stamp) => Some(differs(stamp, expected)),
        None if !found.has_cells => None,
        None => Some(format!(
            "the store bears stamp none, and holds counters, expected slot={slot} of cluster={cluster}: it belongs to somebody \
             else, or was modified: put this slot's own store back, {INSTEAD}{}",
            rescue_advice(*slot),
        )),
    }
}

/// Checks that the stores' stamps name this ledger. All stores are inspected at once, each within `limit`. A store that is too
/// slow is ignored; it does not make the ledger unavailable.
///
/// # Errors
///
/// `LedgerBehind`, naming both, if every reachable store has the stamp of one other ledger. Those of the ledger's own
/// inspection.
pub async fn belongs(
    ledger: &dyn Ledger,
    stores: &[Arc<dyn Store>],
    limit: Duration,
) -> Result<(), SourceError> {
    let found = inspect_all(stores, limit).await;
    let id = limited(limit, "inspect", ledger.inspect()).await?.id;
    another(found.iter(), id).map_or(Ok(()), |another| Err(another.error()))
}

/// Inspects all stores at once, each within `limit`, and returns the answers of those in time.
async fn inspect_all(stores: &[Arc<dyn Store>], limit: Duration) -> Vec<Inspection> {
    let mut looks = JoinSet::new();
    for store in stores {
        let store = Arc::clone(store);
        looks.spawn(async move { tokio::time::timeout(limit, store.inspect()).await.ok()?.ok() });
    }
    looks.join_all().await.into_iter().flatten().collect()
}

/// The fault if `found` has replaced the ledger `expected`: the cluster was recovered onto `found` if every reachable store has
/// its stamp.
pub(crate) async fn instead(
    stores: &[Arc<dyn Store>],
    found: LedgerId,
    expected: LedgerId,
    limit: Duration,
) -> LedgerFault {
    let seen = inspect_all(stores, limit).await;
    let mut stamps = seen.iter().filter_map(|seen| seen.stamp.as_ref()).peekable();
    if stamps.peek().is_some() && stamps.all(|stamp| stamp.ledger == found) {
        return LedgerFault::TakenUp { found, expected };
    }
    LedgerFault::Another { found, expected }
}

/// The fault if every reachable stamp names one other ledger. This one is then another cluster's, or another ledger of this
/// cluster.
pub(crate) fn another<'a>(found: impl Iterator<Item = &'a Inspection>, id: LedgerId) -> Option<LedgerFault> {
    let mut named = found.filter_map(|found| Some(found.stamp.as_ref()?.ledger));
    let expected = named.next().filter(|ledger| *ledger != id)?;
    named.all(|ledger| ledger == expected).then_some(LedgerFault::Another { found: id, expected })
}

/// Why an empty store is not used for a slot if its database holds the slot `found`. Applies to stores that keep each slot
/// under its own names.
pub(crate) fn displaced(found: SlotIndex, expected: SlotIndex) -> String {
    format!(
        "the database holds the store of slot {found}, and nothing of slot {expected}: put each slot's own store back in its \
         place; a store that is to serve slot {expected} from now on is moved by `sequent resize --leaving FILE`, FILE the \
         configuration that names it in slot {found}; and a new slot {expected} is given a database of its own{}",
        rescue_advice(expected)
    )
}

/// Advice for running processes: they have evicted the slot, and wait for an operator's command.
fn rescue_advice(slot: SlotIndex) -> String {
    format!("; then, for running processes: `sequent rescue {slot} --why TEXT`")
}

fn differs(found: &Stamp, expected: &Stamp) -> String {
    let bits = |stamp: &Stamp| (stamp.layout.shard_bits(), stamp.layout.memory_bits());
    let ((n, m), (n_expected, m_expected)) = (bits(found), bits(expected));
    let fields = [
        ("ledger", found.ledger.to_string(), expected.ledger.to_string()),
        ("cluster", found.cluster.to_string(), expected.cluster.to_string()),
        ("shard_bits", n.to_string(), n_expected.to_string()),
        ("memory_bits", m.to_string(), m_expected.to_string()),
        ("slot", found.slot.to_string(), expected.slot.to_string()),
        ("generation", found.generation.to_string(), expected.generation.to_string()),
    ];
    let wrong: Vec<_> = fields.into_iter().filter(|(_, found, expected)| found != expected).collect();
    let shown =
        |of: fn(&(&str, String, String)) -> String| wrong.iter().map(of).collect::<Vec<_>>().join(" ");
    let is = shown(|(field, found, _)| format!("{field}={found}"));
    let should = shown(|(field, _, expected)| format!("{field}={expected}"));
    format!(
        "the store bears stamp {is}, expected {should}: {}{}",
        advice(found, expected),
        rescue_advice(expected.slot)
    )
}

fn advice(found: &Stamp, expected: &Stamp) -> String {
    let Stamp { slot, cluster, .. } = found;
    if found.ledger != expected.ledger && *cluster == expected.cluster {
        return format!(
            "its ceilings are in another ledger: if the cluster was recovered meanwhile, restart this process; otherwise put \
             back the ledger or the store that belongs here, {INSTEAD}"
        );
    }
    if found.ledger != expected.ledger {
        return format!("it is a store of cluster {cluster}: put this slot's own store back, {INSTEAD}");
    }
    if found.generation > expected.generation {
        return format!(
            "it has gone through a resize (generation {}) that the ledger knows nothing of, so the ledger is a copy from \
             before: put the newest one back, or stop every process, and `sequent recover --bump N` with the configuration of \
             that layout, {INSTEAD}",
            found.generation
        );
    }
    if found.layout != expected.layout || found.generation != expected.generation {
        return format!("it is of another layout of this cluster: put this slot's own store back, {INSTEAD}");
    }
    format!("it is the store of slot {slot}: put each slot's own store back in its place, {INSTEAD}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_core::{Durability, DurabilityClass, InstanceId, Layout};

    fn stamp(text: &str) -> Stamp {
        let [ledger, cluster, n, slot] = text.split(' ').collect::<Vec<_>>()[..] else {
            panic!("four words")
        };
        let layout = Layout::new(n.parse().unwrap(), 0).unwrap();
        let (ledger, cluster) = (ledger.parse().unwrap(), cluster.parse().unwrap());
        Stamp { ledger, cluster, layout, slot: slot.parse().unwrap(), generation: 1 }
    }

    fn said(stamp: Option<Stamp>, has_cells: bool) -> Option<String> {
        let durability = Durability { class: DurabilityClass::Durable, settings: Vec::new() };
        let (instance, version) = (InstanceId::new("i"), String::new());
        let found = Inspection { instance, stamp, has_cells, durability, clock_ms: 0, version };
        misfit(&found, &self::stamp("a shop 2 0"))
    }

    #[test]
    fn only_what_differs_is_named_with_what_to_do() {
        let of = |text: &str| said(Some(stamp(text)), true).unwrap();
        let swapped = of("a shop 2 3");
        assert!(swapped.starts_with("the store bears stamp slot=3, expected slot=0: "), "{swapped}");
        assert!(swapped.contains("it is the store of slot 3: put each slot's own store back"), "{swapped}");
        let foreign = of("b other 2 0");
        assert!(foreign.contains("=other, expected ledger=") && !foreign.contains("slot="), "{foreign}");
        assert!(foreign.contains("a store of cluster other"), "{foreign}");
        let ledger = of("b shop 2 0");
        assert!(ledger.contains("another ledger") && !ledger.contains("cluster="), "{ledger}");
        let layout = of("a shop 3 0");
        assert!(layout.contains("shard_bits=3, expected shard_bits=2: it is of another layout"), "{layout}");
        let ahead = said(Some(Stamp { generation: 2, ..stamp("a shop 3 0") }), true).unwrap();
        assert!(ahead.contains("the ledger is a copy from before: put the newest one back"), "{ahead}");
        let cells = said(None, true).unwrap();
        assert!(cells.contains("bears stamp none") && cells.contains("expected slot=0"), "{cells}");
        for text in [swapped, foreign, ledger, layout, cells] {
            assert!(text.ends_with("`sequent rescue 0 --why TEXT`"), "the slot that is out: {text}");
        }
        assert_eq!((said(None, false), said(Some(stamp("a shop 2 0")), true)), (None, None));
    }
}
