//! S9: callers of an engine over four shards, one of which is killed as the round begins, beside the same with all alive.

use std::time::Duration;

use sequent_benches::Row;
use sequent_core::SequenceName;
use sequent_engine::Engine;

use crate::{
    callers::{Load, load},
    fleet::{Fleet, SLOTS, Site},
    note::Note,
    plan::{Found, Plan},
};

/// One attempt limit, as by default: what p99.9 may be while a shard dies.
const ATTEMPT_LIMIT_MS: f64 = 1000.0;

/// Between two looks whether a shard is back, and how often it is looked at: half a minute.
const LOOK_EVERY: Duration = Duration::from_millis(50);
const LOOKS_MAX: usize = 600;

/// What differs between the two rows: how much is held ready.
struct Variant {
    row: &'static str,
    site: &'static str,
    /// A small reserve has the shards asked about a thousand times a second; the default lasts for longer than a shard
    /// takes to be missed.
    at_risk_max: u64,
}

const VARIANTS: [Variant; 2] = [
    Variant { row: "S9", site: "s9", at_risk_max: 1_000_000 },
    Variant { row: "S9-thin", site: "s9thin", at_risk_max: 1000 },
];

pub(crate) async fn run(plan: &Plan, fleet: &Fleet, found: &mut Found) -> Result<(), String> {
    for variant in VARIANTS {
        let keys = [
            ("reservoir.at_risk_max", variant.at_risk_max.to_string()),
            ("ring.rescue_after_max_s", "2".to_owned()),
        ];
        let site = Site { name: variant.site, store: "mysql-row", memory_bits: 0, keys: &keys };
        let engine = fleet.open(&site).await?;
        let done = rounds(plan, fleet, &engine, &variant, found).await;
        engine.shutdown().await;
        done?;
    }
    Ok(())
}

async fn rounds(
    plan: &Plan,
    fleet: &Fleet,
    engine: &Engine,
    variant: &Variant,
    found: &mut Found,
) -> Result<(), String> {
    let name: SequenceName = "order".parse().map_err(|error| format!("{error}"))?;
    let how = (plan.tasks, Duration::from_secs(plan.seconds));
    let mut row = Row::new(variant.row, 0.9);
    // Connections, first touches, and the refill policy.
    let (mut alive, mut killed) = (load(engine, &name, how, async {}).await?, None);
    for round in 0..usize::try_from(plan.rounds).unwrap_or(1) {
        let slot = round % SLOTS;
        let mut rates = [0.0; 2];
        for turn in 0..2 {
            let side = usize::from(turn != round % 2);
            let done = if side == 0 {
                let done = load(engine, &name, how, fleet.shards[slot].kill()).await?;
                fleet.shards[slot].restart().await;
                back(engine, &name, slot).await?;
                done
            } else {
                load(engine, &name, how, async {}).await?
            };
            rates[side] = done.rate();
            match (side, &mut killed) {
                (0, None) => killed = Some(done),
                (0, Some(killed)) => killed.add(&done)?,
                _ => alive.add(&done)?,
            }
        }
        row.add_rates(rates[0], rates[1]);
    }
    found.rows.push(row);
    found.notes.push(told(&format!("{}, all alive", variant.row), &alive, engine));
    found.notes.extend(killed.map(|killed| told(&format!("{}, one killed", variant.row), &killed, engine)));
    Ok(())
}

/// Waits until a slot serves again, as somebody who takes a number now and then.
async fn back(engine: &Engine, name: &SequenceName, slot: usize) -> Result<(), String> {
    for _ in 0..LOOKS_MAX {
        if engine.slots().get(slot).is_some_and(|slot| slot.state == "live") {
            return Ok(());
        }
        load(engine, name, (1, LOOK_EVERY), async {}).await?;
    }
    Err(format!("slot {slot} does not come back: {:?}", engine.slots().get(slot)))
}

fn told(about: &str, load: &Load, engine: &Engine) -> Note {
    if let Some(why) = &load.why {
        eprintln!("shards: {about}: {} failed: {why}", load.failed);
    }
    #[allow(clippy::cast_precision_loss, reason = "counts of a bench")]
    let count = |count: u64| count as f64;
    let figures = vec![
        ("numbers", count(load.numbers)),
        ("failed", count(load.failed)),
        ("p50 ms", load.wait_ms(0.5)),
        ("p99 ms", load.wait_ms(0.99)),
        ("p99.9 ms", load.wait_ms(0.999)),
        ("longest ms", load.wait_ms(1.0)),
        ("allowed ms", ATTEMPT_LIMIT_MS),
        ("evictions so far", count(engine.slots().iter().map(|slot| slot.evictions).sum())),
    ];
    Note::new(about, figures)
}
