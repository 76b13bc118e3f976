//! The table of events: what is told of each. A row has the event's name, severity and sentence, the fields of its log
//! line, the metrics that it changes, and whether a status shows it.

use std::time::Duration;

use sequent_core::{Durability, DurabilityClass, ErrorKind, Event, Key, whole_ms};

use super::telling::{InStatus, Telling};
use crate::{
    status::key_display::shown,
    telemetry::{
        discard_reason,
        metric_labels::{COMMAND, FAILED, OK},
        metric_table::{
            BURN_LIMITED, CLUSTER_BEHIND, DROPPED, EPOCHS, EVICTIONS, FORGOTTEN, INSTANCE_CHANGES,
            LEDGER_AWAY, LEDGER_UP, NEAR_END, PROBES, PROBES_FAILED, QUARANTINES, REGRESSIONS, RESCUES,
            RETIRED, SKIPPED, STAMPED_AGAIN, UNMARKED, UNREPORTED,
        },
    },
};

/// What is told of an event.
pub(crate) fn tell(event: &Event) -> Telling {
    of_slot(event)
        .or_else(|| of_store(event))
        .or_else(|| of_ledger(event))
        .or_else(|| of_counter(event))
        .or_else(|| of_numbers(event))
        .unwrap_or_else(|| Telling::info("other", format!("{event:?}")).uncounted("it has no row"))
}

/// Slots in the ring.
fn of_slot(event: &Event) -> Option<Telling> {
    Some(match event {
        Event::Evicted { slot, kind, detail, retry_after } => {
            // A slot that a command keeps out is not retried, and its store is not at fault.
            let kind = if retry_after.is_some() { kind.as_str() } else { COMMAND };
            let told = Telling::warning("evicted", format!("slot evicted: {detail}")).slot(*slot).kind(kind);
            let told = told.adds_in_slot(1, EVICTIONS, &[("kind", kind)]);
            match retry_after {
                Some(delay) => told.number("retry_ms", whole_ms(*delay)),
                None => told,
            }
        }
        Event::ProbeFailed { slot, kind, retry_after } => {
            let next = span(*retry_after);
            Telling::debug(
                "probe_failed",
                format!("slot is still out: a probe failed, the next is in {next}"),
            )
            .slot(*slot)
            .kind(kind.as_str())
            .number("retry_ms", whole_ms(*retry_after))
            .adds_in_slot(1, PROBES_FAILED, &[("kind", kind.as_str())])
            .adds_in_slot(1, PROBES, &[("outcome", FAILED)])
            .in_status(InStatus::Collapsed)
        }
        Event::Rescued { slot, out } => {
            Telling::info("rescued", format!("slot rescued: it was out for {}", span(*out)))
                .slot(*slot)
                .number("after_ms", whole_ms(*out))
                .adds_in_slot(1, RESCUES, &[])
                .adds_in_slot(1, PROBES, &[("outcome", OK)])
        }
        Event::SlotCommandDone { slot, verb, who, why } => {
            Telling::info("slot_command", format!("slot command carried out: {verb} by {who}: {why}"))
                .slot(*slot)
                .field("verb", verb)
                .field("who", who)
                .field("why", why)
                .uncounted("`sequent_slot_state` has its effect")
        }
        Event::Drained { slot, after } => {
            let text = "slot drained: no request of this server is in flight there; once all servers say so, its store \
                        can be removed";
            Telling::info("drained", text)
                .slot(*slot)
                .number("after_ms", whole_ms(*after))
                .uncounted("`sequent_slot_state` has it")
        }
        Event::Quarantined { slot, key, kind, detail, .. } => {
            let text = match key {
                Some(key) => {
                    format!("counter quarantined: slot {slot} gives no number of {}: {detail}", shown(key))
                }
                None => format!("slot quarantined: it gives no number: {detail}"),
            };
            let told = Telling { key: key.clone(), ..Telling::error("quarantined", text) };
            told.slot(*slot)
                .kind(kind.as_str())
                .adds_in_slot(1, QUARANTINES, &[("kind", kind.as_str())])
                .violation("quarantine")
        }
        _ => return None,
    })
}

/// Stores, and the data directory.
fn of_store(event: &Event) -> Option<Telling> {
    Some(match event {
        Event::StoreInstanceChanged { slot, was, is } => {
            let was = was.as_ref().map(ToString::to_string).unwrap_or_default();
            let text = "store has another instance id: it was restarted, failed over or restored";
            Telling::info("store_instance_changed", text)
                .slot(*slot)
                .field("was", was)
                .field("is", is)
                .adds_in_slot(1, INSTANCE_CHANGES, &[("of", "store")])
        }
        Event::StampedAgain { slot } => {
            let text = "known store came back empty: it was stamped again, and its counters continue above their ceilings";
            Telling::error("store_stamped_again", text)
                .slot(*slot)
                .adds_in_slot(1, STAMPED_AGAIN, &[])
                .violation("store_back")
        }
        Event::DurabilityChanged { slot, was, is } => durability(*was, is).slot(*slot),
        Event::Unmarked { version, elsewhere, home } => {
            let told = match (elsewhere, home) {
                (false, true) => Telling::warning("unmarked", "no other shard took the ledger's mark"),
                (false, false) => Telling::error(
                    "unmarked",
                    "neither another shard nor the data directory took the ledger's mark: a ledger that goes back now goes \
                     unnoticed",
                ),
                (true, _) => Telling::error("unmarked", "the data directory did not take the ledger's mark"),
            };
            let told = told.number("version", *version);
            if *elsewhere {
                told.uncounted("another shard has the mark, so a ledger that goes back is noticed")
            } else {
                told.adds(1, UNMARKED, &[])
            }
        }
        _ => return None,
    })
}

/// A store's durability, after its settings changed. A lower class needs an operator's attention.
fn durability(was: DurabilityClass, is: &Durability) -> Telling {
    let (was, class) = (was.as_str(), is.class.as_str());
    let text = format!("store's settings were changed: it was {was}, and is {class} now");
    let told = if is.class == DurabilityClass::Durable {
        Telling::info("durability_changed", text)
    } else {
        Telling::error("durability_changed", text)
    };
    let settings: Vec<String> =
        is.settings.iter().map(|(setting, value)| format!("{setting} = {value}")).collect();
    told.field("was", was)
        .field("is", class)
        .field("settings", settings.join(", "))
        .uncounted("`sequent_slot_durability_info` has it")
}

/// The ledger.
fn of_ledger(event: &Event) -> Option<Telling> {
    Some(match event {
        Event::ClusterCreated => {
            Telling::info("cluster_created", "cluster created: the layout is in the new ledger")
                .uncounted("it happens once")
        }
        Event::LedgerLost { refused, detail, .. } => {
            let (kind, what) = if *refused {
                (ErrorKind::Refused, "ledger refuses this server")
            } else {
                (ErrorKind::Unavailable, "ledger can't be reached")
            };
            Telling::error("ledger_lost", format!("{what}: {detail}"))
                .kind(kind.as_str())
                .sets(LEDGER_UP, 0.0)
                .sets(LEDGER_AWAY, 1.0)
        }
        Event::LedgerBack { away } => {
            Telling::warning("ledger_back", format!("ledger answers again: it was away for {}", span(*away)))
                .number("after_ms", whole_ms(*away))
                .sets(LEDGER_UP, 1.0)
                .sets(LEDGER_AWAY, 0.0)
        }
        Event::LedgerInstanceChanged { was, is } => {
            let text = "ledger has another instance id: it was restarted, failed over or restored";
            Telling::info("ledger_instance_changed", text).field("was", was).field("is", is).adds(
                1,
                INSTANCE_CHANGES,
                &[("of", "ledger"), ("slot", "")],
            )
        }
        Event::LedgerBehind { detail } => {
            let text = format!(
                "ledger is older than its marks, nothing is opened before `sequent recover`: {detail}"
            );
            Telling::error("ledger_behind", text).violation("ledger_back")
        }
        Event::Unreported { counters } => {
            let text = format!(
                "{counters} counters were not reported to the ledger at the end of this process: leave the files of shards as \
                 they are until a server has used them again"
            );
            let counters = *counters as u64;
            Telling::error("unreported", text).number("count", counters).adds(counters, UNREPORTED, &[])
        }
        _ => return None,
    })
}

/// Counters of a slot.
fn of_counter(event: &Event) -> Option<Telling> {
    Some(match event {
        Event::EpochOpened { slot, key, epoch, base, skipped } => {
            let name = shown(key);
            let text =
                format!("counter of {name} began a new epoch above {base}: {skipped} raw ids are skipped");
            Telling::debug("epoch_opened", text)
                .slot(*slot)
                .key(key)
                .field("epoch", epoch)
                .number("base", *base)
                .number("skipped", *skipped)
                .adds_in_slot(1, EPOCHS, &[])
                .adds_in_slot(*skipped, SKIPPED, &[])
                .in_status(InStatus::Hidden)
        }
        Event::Lifted { slot, key, to, skipped } => {
            let name = shown(key);
            let text = format!(
                "counter of {name} was raised to {to}, as far as other slots: {skipped} raw ids are skipped"
            );
            Telling::debug("counter_raised", text)
                .slot(*slot)
                .key(key)
                .number("base", *to)
                .number("skipped", *skipped)
                .adds_in_slot(*skipped, SKIPPED, &[])
                .in_status(InStatus::Hidden)
        }
        Event::Retired { slot, key } => {
            let text =
                format!("counter is at the end of its range: slot {slot} gives no more of {}", shown(key));
            Telling::warning("retired", text).slot(*slot).key(key).adds_in_slot(1, RETIRED, &[])
        }
        Event::Regressed { slot, key, detail } => {
            Telling::error("counter_went_back", format!("counter went back: {}: {detail}", shown(key)))
                .slot(*slot)
                .key(key)
                .adds_in_slot(1, REGRESSIONS, &[])
                .violation("counter_back")
        }
        Event::GivenAbove { slot, key, given, begun_at } => {
            let text = format!(
                "raw ids were given above the base of the counter's next epoch: {given} of {} was, the base is {begun_at}; \
                 numbers between them may have been given twice, and the counter continues above them",
                shown(key)
            );
            Telling::error("given_above_base", text)
                .slot(*slot)
                .key(key)
                .number("given", *given)
                .number("base", *begun_at)
                .violation("given_above")
        }
        _ => return None,
    })
}

/// Numbers and dense counters.
fn of_numbers(event: &Event) -> Option<Telling> {
    Some(match event {
        Event::Dropped { slot, count, why } => {
            let told =
                Telling { slot: *slot, ..Telling::info("discarded", format!("numbers discarded: {why}")) };
            told.number("count", *count)
                .field("why", why)
                .adds(*count, DROPPED, &[("why", discard_reason::label(why))])
                .in_status(InStatus::Collapsed)
        }
        Event::Forgotten { sequence, counters, period } => {
            let text =
                format!("{counters} counters of {sequence} removed: their periods, to {period}, are over");
            let counters = *counters as u64;
            Telling::info("counters_removed", text)
                .number("count", counters)
                .adds(counters, FORGOTTEN, &[])
                .in_status(InStatus::Hidden)
        }
        Event::DenseBehind { key, given, found } => {
            let text = format!(
                "dense counter went back: {found} numbers of {} are given by the ledger's count, {given} by this server's; none \
                 is given before `sequent recover`",
                shown(key)
            );
            let told = Telling::error("dense_behind", text).key(key);
            told.number("given", *given).number("found", *found).violation("dense_back")
        }
        Event::BurnLimited { key, left, limit } => {
            let text = format!(
                "burn limit reached: {} gives {limit}, and requests beyond that are refused; {left} numbers are left of it",
                shown(key)
            );
            let told = Telling::error("burn_limited", text).key(key).number("left", *left);
            told.adds(1, BURN_LIMITED, &[]).in_status(InStatus::Collapsed).throttled()
        }
        Event::ClusterBehind { key, above, permitted } => cluster_behind(key, *above, *permitted),
        Event::NearEnd { key, number, last } => {
            let text = format!(
                "numbers run out: {} is at {number} of {last}; give its definition room, or a new period",
                shown(key)
            );
            let told =
                Telling::warning("near_end", text).key(key).number("number", *number).number("last", *last);
            told.adds(1, NEAR_END, &[]).in_status(InStatus::Collapsed)
        }
        _ => return None,
    })
}

fn cluster_behind(key: &Key, above: u64, permitted: u64) -> Telling {
    let text = format!(
        "a caller was given a number that this cluster can't have given: {above} of {}, and {permitted} is the highest; the \
         cluster lost data, or is another one",
        shown(key)
    );
    Telling::error("cluster_behind", text)
        .key(key)
        .number("above", above)
        .number("permitted", permitted)
        .adds(1, CLUSTER_BEHIND, &[])
        .violation("cluster_back")
        .throttled()
}

/// A duration for people: whole seconds above one.
fn span(duration: Duration) -> String {
    let rounded = match whole_ms(duration) {
        short @ ..1000 => Duration::from_millis(short),
        _ => Duration::from_secs(duration.as_secs()),
    };
    humantime::format_duration(rounded).to_string()
}
