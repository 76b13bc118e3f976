//! What memory bits buy: numbers a second and how long callers wait, for m = 0, 3 and 8, on tables that count and on rows.

use std::time::Duration;

use sequent_core::SequenceName;
use sequent_engine::Engine;

use crate::{
    callers::{Load, load},
    fleet::{Fleet, Site},
    note::{Note, median},
    plan::{Found, Plan},
};

const STORES: [(&str, &str); 2] = [("mysql-auto-increment", "auto"), ("mysql-row", "row")];

const BITS: [u8; 3] = [0, 3, 8];

/// One store and m.
struct Case {
    about: String,
    engine: Engine,
    rates: Vec<f64>,
    all: Load,
}

pub(crate) async fn run(plan: &Plan, fleet: &Fleet, found: &mut Found) -> Result<(), String> {
    let name: SequenceName = "order".parse().map_err(|error| format!("{error}"))?;
    let how = (plan.tasks, Duration::from_secs(plan.seconds));
    let mut cases = Vec::new();
    for (store, short) in STORES {
        for bits in BITS {
            let database = format!("m{bits}{short}");
            let site = Site { name: &database, store, memory_bits: bits, keys: &[] };
            let engine = fleet.open(&site).await?;
            // The refill policy adapts to what the callers can take.
            load(&engine, &name, how, async {}).await?;
            let all = load(&engine, &name, (1, Duration::ZERO), async {}).await?;
            cases.push(Case { about: format!("{store} m={bits}"), engine, rates: Vec::new(), all });
        }
    }
    for round in 0..plan.rounds {
        if round % 2 == 1 {
            cases.reverse();
        }
        for case in &mut cases {
            let done = load(&case.engine, &name, how, async {}).await?;
            case.rates.push(done.rate());
            case.all.add(&done)?;
        }
        if round % 2 == 1 {
            cases.reverse();
        }
    }
    for case in cases {
        found.notes.push(case.told());
        case.engine.shutdown().await;
    }
    Ok(())
}

impl Case {
    fn told(&self) -> Note {
        if let Some(why) = &self.all.why {
            eprintln!("shards: {}: {} failed: {why}", self.about, self.all.failed);
        }
        let low = self.rates.iter().copied().fold(f64::INFINITY, f64::min);
        let high = self.rates.iter().copied().fold(0.0, f64::max);
        #[allow(clippy::cast_precision_loss, reason = "counts of a bench")]
        let count = |count: u64| count as f64;
        let figures = vec![
            ("numbers a second", median(&self.rates)),
            ("from", low),
            ("to", high),
            ("p50 ms", self.all.wait_ms(0.5)),
            ("p99 ms", self.all.wait_ms(0.99)),
            ("p99.9 ms", self.all.wait_ms(0.999)),
            ("longest ms", self.all.wait_ms(1.0)),
            ("failed", count(self.all.failed)),
            ("evictions", count(self.engine.slots().iter().map(|slot| slot.evictions).sum())),
        ];
        Note::new(self.about.clone(), figures)
    }
}
