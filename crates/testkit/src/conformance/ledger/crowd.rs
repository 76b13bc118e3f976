//! Many at once.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use sequent_core::ledger::{Counter, Opened, Raised};
use tokio::task::JoinSet;

use super::{
    super::Checked,
    LedgerFixture,
    desk::{Desk, counter, opening, raise},
};
use crate::{SeededEntropy, seeded};

/// How many servers call at once.
const SERVERS: u64 = 4;

/// How many rounds each makes, times the fixture's effort.
const ROUNDS: usize = 12;

/// What was granted to each epoch: its base, and the highest ceiling that anybody was told.
type Granted = BTreeMap<i64, (u64, u64)>;

/// What all servers were told.
#[derive(Default)]
struct Told(Mutex<Granted>);

impl Told {
    fn granted(&self) -> MutexGuard<'_, Granted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ceiling(&self, bits: i64, to: u64) {
        if let Some((_, ceiling)) = self.granted().get_mut(&bits) {
            *ceiling = to.max(*ceiling);
        }
    }

    fn latest(&self, entropy: &SeededEntropy) -> Option<(i64, u64)> {
        let granted = self.granted();
        // Often the newest epoch, sometimes one that has ended.
        let back = usize::try_from(entropy.below(3)).unwrap_or(0);
        let mut epochs: Vec<_> = granted.iter().map(|(bits, (base, to))| (*base, *bits, *to)).collect();
        epochs.sort_unstable();
        epochs.iter().rev().nth(back).map(|(_, bits, to)| (*bits, *to))
    }
}

/// One server: it opens an epoch, then raises one, over and over.
async fn serve(
    mut desk: Desk,
    told: Arc<Told>,
    order: Counter,
    rounds: usize,
    entropy: SeededEntropy,
) -> Checked {
    for round in 0..rounds {
        let bits = i64::try_from(desk.server.0 * 1_000_000)? + i64::try_from(round)?;
        let answer = desk.open(&[opening(&order, bits, 0)]).await?;
        let [Opened::Row(row)] = answer.value.as_slice() else { panic!("found {:?}", answer.value) };
        told.granted().insert(bits, (row.base, row.ceiling));
        for _ in 0..entropy.below(4) {
            let Some((bits, to)) = told.latest(&entropy) else { continue };
            let answer = desk.raise(&[raise(&order, bits, to + 1 + entropy.below(50))]).await?;
            match answer.value.as_slice() {
                [Raised::Held { ceiling, .. }] => told.ceiling(bits, *ceiling),
                [Raised::Ended { .. }] => {}
                found => panic!("found {found:?}"),
            }
        }
    }
    Ok(())
}

/// However many open and raise at once, each epoch begins at or above everything that was granted to those before it.
pub async fn openers_at_once_never_share_a_stretch(fixture: &dyn LedgerFixture) -> Checked {
    let (told, entropy, order) = (Arc::new(Told::default()), seeded(11), counter(0, "order"));
    let mut tasks = JoinSet::new();
    let rounds = ROUNDS * fixture.effort();
    for server in 1..=SERVERS {
        let desk = Desk::of(fixture, server).await?;
        tasks.spawn(serve(desk, Arc::clone(&told), order.clone(), rounds, entropy.fork()));
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    let mut stretches: Vec<(u64, u64)> = told.granted().values().copied().collect();
    stretches.sort_unstable();
    assert_eq!(stretches.len() as u64, SERVERS * rounds as u64);
    for pair in stretches.windows(2) {
        let ((base, ceiling), (next, _)) = (pair[0], pair[1]);
        assert!(next >= ceiling, "an epoch from {base} was granted {ceiling}, the next began at {next}");
    }
    let ended = Desk::of(fixture, 1).await?.ledger.history(&order).await?;
    assert_eq!(ended.len() as u64, SERVERS * rounds as u64 - 1, "every ended epoch is in the history");
    assert!(ended.windows(2).all(|pair| pair[1].base >= pair[0].ceiling), "{ended:?}");
    Ok(())
}

/// Raises of one epoch at once leave the greatest, and nobody is told less than he asked for.
pub async fn raises_at_once_leave_the_greatest(fixture: &dyn LedgerFixture) -> Checked {
    let (entropy, order) = (seeded(12), counter(0, "order"));
    Desk::of(fixture, 99).await?.open_one(opening(&order, 1, 0)).await?;
    let mut tasks = JoinSet::new();
    for server in 1..=SERVERS {
        let (mut desk, order, own) = (Desk::of(fixture, server).await?, order.clone(), entropy.fork());
        let rounds = ROUNDS * fixture.effort();
        tasks.spawn(async move {
            let mut highest = 0;
            for _ in 0..rounds {
                let asked = 200 + own.below(100_000);
                let ceiling = desk.raise_one(raise(&order, 1, asked)).await?.0;
                assert!(ceiling >= asked.max(highest), "told {ceiling} after {asked} and {highest}");
                highest = ceiling;
            }
            Ok::<u64, sequent_core::SourceError>(highest)
        });
    }
    let mut highest = 0;
    while let Some(done) = tasks.join_next().await {
        highest = highest.max(done??);
    }
    let row = Desk::of(fixture, 99).await?.row(&order).await?;
    assert_eq!(row.map(|row| row.ceiling), Some(highest));
    Ok(())
}
