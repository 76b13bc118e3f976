//! S10: one id a take from a ring of `AUTO_INCREMENT` shards, beside a bare `INSERT` loop over the same servers with as many
//! tasks and connections; and blocks of eight rows.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use sequent_benches::Row;
use sequent_core::{Clock, Source, SystemClock};
use tokio::task::JoinSet;

use crate::{
    bare::Bare,
    fleet::{Fleet, SLOTS},
    guarded_ring::GuardedRing,
    note::Note,
    plan::{Found, Plan},
    waits::Waits,
};

/// Rows of a block.
const ROWS: u64 = 8;

/// A take that gives every slot a block of so many rows.
const BLOCKS: u64 = ROWS * SLOTS as u64;

/// The sides of a round.
const SIDES: [&str; 3] = ["S10, one id a take", "S10, bare INSERT", "S10, blocks of 8 rows"];

/// What a side came to, over all rounds.
struct Side {
    about: &'static str,
    ids: u64,
    own: f64,
    servers: f64,
    waits: Waits,
}

pub(crate) async fn run(plan: &Plan, fleet: &Fleet, found: &mut Found) -> Result<(), String> {
    let guarded_ring = GuardedRing::open(fleet, "s10", plan.tasks).await?;
    let bare = Bare::open(fleet, "s10bare", plan.tasks).await?;
    let (mut one, mut eight) = (Row::new("S10", 0.75), Row::new("S10-8", 4.0));
    let length = Duration::from_secs(plan.seconds);
    let mut sides = Vec::new();
    for (at, about) in SIDES.into_iter().enumerate() {
        let waits = Waits::new()?;
        let mut side = Side { about, ids: 0, own: 0.0, servers: 0.0, waits };
        // First touches, connections, prepared statements.
        side.round(at, (&guarded_ring, &bare), (fleet, Duration::from_secs(1))).await?;
        sides.push(Side { ids: 0, own: 0.0, servers: 0.0, waits: Waits::new()?, ..side });
    }
    for round in 0..usize::try_from(plan.rounds).unwrap_or(1) {
        let mut rates = [0.0; SIDES.len()];
        for turn in 0..SIDES.len() {
            let at = if round % 2 == 0 { turn } else { SIDES.len() - 1 - turn };
            rates[at] = sides[at].round(at, (&guarded_ring, &bare), (fleet, length)).await?;
        }
        one.add_rates(rates[0], rates[1]);
        eight.add_rates(rates[2], rates[1]);
    }
    found.rows.extend([one, eight]);
    found.notes.extend(sides.iter().map(Side::told));
    #[allow(clippy::cast_precision_loss, reason = "a few")]
    found.notes.push(Note::new("S10", vec![("evictions", guarded_ring.evictions() as f64)]));
    guarded_ring.close().await;
    bare.close().await;
    Ok(())
}

impl Side {
    /// Ids a second.
    #[allow(clippy::cast_precision_loss, reason = "ids of a bench")]
    async fn round(
        &mut self,
        at: usize,
        (guarded_ring, bare): (&GuardedRing, &Bare),
        (fleet, length): (&Fleet, Duration),
    ) -> Result<f64, String> {
        let spent = fleet.cpu().await?;
        let begun = SystemClock.now();
        let until = begun + length;
        let mut tasks = JoinSet::new();
        for (task, key) in (0..).zip(&guarded_ring.keys) {
            tasks.spawn(caller(at, task, (Arc::clone(key), bare.clone()), until));
        }
        let mut ids = 0;
        while let Some(done) = tasks.join_next().await {
            let (given, waits) = done.map_err(|error| format!("a task: {error}"))??;
            ids += given;
            self.waits.add(&waits)?;
        }
        let took = SystemClock.now().saturating_duration_since(begun).as_secs_f64();
        let now = fleet.cpu().await?;
        self.ids += ids;
        self.own += now.0 - spent.0;
        self.servers += now.1 - spent.1;
        Ok(ids as f64 / took)
    }

    #[allow(clippy::cast_precision_loss, reason = "ids of a bench")]
    fn told(&self) -> Note {
        let ids = self.ids as f64;
        let figures = vec![
            ("ids", ids),
            ("us of the servers' processor time an id", self.servers / ids * 1e6),
            ("us of this process's", self.own / ids * 1e6),
            ("p50 ms a take", self.waits.ms(0.5)),
            ("p99 ms a take", self.waits.ms(0.99)),
            ("longest ms", self.waits.ms(1.0)),
        ];
        Note::new(self.about, figures)
    }
}

/// Ids until the end, and how long each take lasted, in nanoseconds.
async fn caller(
    side: usize,
    task: u64,
    (key, bare): (Arc<dyn Source>, Bare),
    until: Instant,
) -> Result<(u64, Waits), String> {
    let mut waits = Waits::new()?;
    let (mut ids, mut turn, mut now) = (0, task, SystemClock.now());
    while now < until {
        ids += match side {
            0 => take(&*key, 1).await?,
            1 => bare.one(task, turn).await.map(|_| 1)?,
            _ => take(&*key, BLOCKS).await?,
        };
        turn += 1;
        let begun = std::mem::replace(&mut now, SystemClock.now());
        waits.note(now.saturating_duration_since(begun));
    }
    Ok((ids, waits))
}

async fn take(key: &dyn Source, want: u64) -> Result<u64, String> {
    key.take(want).await.map(|blocks| blocks.count()).map_err(|error| error.to_string())
}
