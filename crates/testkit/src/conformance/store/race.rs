//! The race that every store's statements were chosen by: takers against closers.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use sequent_core::{Block, Epoch, ErrorKind, Key, SourceError};
use tokio::{sync::watch, task::JoinSet};

use super::{super::Checked, Hand, StoreFixture, crowd::TAKERS, identity::fresh_epoch, key};
use crate::{Oracle, SeededEntropy, seeded};

/// How many closers there are.
const CLOSERS: usize = 3;
/// How many takes there are for each taker, times the fixture's effort, if all are answered.
const ATTEMPTS: u64 = 60;
/// The most takes, over all takers, between two closes of one closer.
const PACE: u64 = 200;
/// How many refused takes count as one that was answered: a cell that nobody opened refuses faster than closers come.
const REFUSALS: u64 = 5;
/// How many of 100 takes name a dead epoch.
const DEAD_PERCENT: u64 = 5;
/// How many of 100 takes name the epoch that was closed last, which may be installed at that moment: refused or answered, it is not
/// at its end.
const EARLY_PERCENT: u64 = 20;
/// How many of 100 closes are never installed.
const FORGOTTEN_PERCENT: u64 = 15;
/// How many of 100 closes are installed late.
const LATE_PERCENT: u64 = 20;
/// How often others run before a late install.
const LATE_YIELDS: u64 = 40;

/// What all of them know, as the ledger would.
#[derive(Default)]
struct Epochs {
    /// Each epoch with the value that its close returned, in the order in which the closes were answered.
    closed: Vec<(Epoch, u64)>,
    /// So many of them are dead for certain: a later close began after theirs was answered, and was answered.
    dead: usize,
    /// The epoch that was installed last.
    current: Option<Epoch>,
    /// The highest id that was answered.
    answered: u64,
    /// The blocks of each epoch.
    given: BTreeMap<Epoch, Vec<Block>>,
}

struct Race {
    order: Key,
    epochs: Mutex<Epochs>,
    oracle: Oracle,
    /// How far the takers are: each answered take counts [`REFUSALS`], each refused one 1.
    gone: watch::Sender<u64>,
}

impl Race {
    fn epochs(&self) -> MutexGuard<'_, Epochs> {
        self.epochs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_dead(&self, epoch: Epoch) -> bool {
        let epochs = self.epochs();
        epochs.closed[..epochs.dead].iter().any(|(dead, _)| *dead == epoch)
    }

    async fn taker(self: Arc<Self>, hand: Hand, goal: u64, entropy: SeededEntropy) -> Checked {
        while *self.gone.borrow() < goal {
            let step = match self.pick(&entropy) {
                Some(epoch) if self.try_take(&hand, epoch, 1 + entropy.below(4)).await? => REFUSALS,
                _ => 1,
            };
            self.gone.send_modify(|gone| *gone += step);
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    fn pick(&self, entropy: &SeededEntropy) -> Option<Epoch> {
        let epochs = self.epochs();
        if entropy.chance(DEAD_PERCENT) && epochs.dead > 0 {
            let at = usize::try_from(entropy.below(epochs.dead as u64)).unwrap_or(0);
            return Some(epochs.closed[at].0);
        }
        if entropy.chance(EARLY_PERCENT) {
            return epochs.closed.last().map(|(epoch, _)| *epoch);
        }
        epochs.current
    }

    /// Whether it was answered.
    async fn try_take(
        &self,
        hand: &Hand,
        epoch: Epoch,
        want: u64,
    ) -> Result<bool, Box<dyn std::error::Error + Send + Sync>> {
        let dead = self.is_dead(epoch);
        match hand.take(&self.order, epoch, want).await {
            Ok(block) => {
                assert!(!dead, "a take of dead epoch {epoch} gave {block}");
                self.oracle.add_block(block, &format!("epoch {epoch}"))?;
                let mut epochs = self.epochs();
                epochs.answered = epochs.answered.max(block.last());
                epochs.given.entry(epoch).or_default().push(block);
                Ok(true)
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Regressed, "{error}");
                Ok(false)
            }
        }
    }

    async fn closer(self: Arc<Self>, hand: Hand, total: u64, entropy: SeededEntropy) -> Checked {
        let (mut gone, mut late) = (self.gone.subscribe(), JoinSet::new());
        let mut goal = entropy.below(PACE * REFUSALS);
        while goal < total {
            gone.wait_for(|gone| *gone >= goal).await?;
            goal += 1 + entropy.below(PACE * REFUSALS);
            let (epoch, value) = self.close(&hand, &entropy).await?;
            let base = value + entropy.below(5);
            if entropy.chance(FORGOTTEN_PERCENT) {
                continue;
            }
            if !entropy.chance(LATE_PERCENT) {
                self.install(&hand, epoch, base).await?;
                continue;
            }
            let (race, hand, yields) = (Arc::clone(&self), hand.clone(), entropy.below(LATE_YIELDS));
            late.spawn(async move {
                for _ in 0..yields {
                    tokio::task::yield_now().await;
                }
                race.install(&hand, epoch, base).await
            });
        }
        while let Some(done) = late.join_next().await {
            done??;
        }
        Ok(())
    }

    async fn close(&self, hand: &Hand, entropy: &SeededEntropy) -> Result<(Epoch, u64), SourceError> {
        let (next, before) = (fresh_epoch(entropy), self.epochs().closed.len());
        let answered = self.epochs().answered;
        let value = hand.close(&self.order, next).await?;
        assert!(value >= answered, "a close found {value}, but {answered} had been given before it began");
        let mut epochs = self.epochs();
        epochs.closed.push((next, value));
        epochs.dead = epochs.dead.max(before);
        Ok((next, value))
    }

    async fn install(&self, hand: &Hand, epoch: Epoch, base: u64) -> Result<(), SourceError> {
        let dead = self.is_dead(epoch);
        match hand.install(&self.order, epoch, base).await {
            Ok(()) => {
                assert!(!dead, "an install of dead epoch {epoch} was done");
                self.epochs().current = Some(epoch);
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::Regressed, "{error}"),
        }
        Ok(())
    }

    /// Each epoch's ids lie above the value that its close found, and below what every later close found.
    fn judge(&self) {
        let epochs = self.epochs();
        let mut stretches: Vec<(u64, u64, u64)> = Vec::new();
        for (epoch, value) in &epochs.closed {
            let given = epochs.given.get(epoch).map_or(&[][..], Vec::as_slice);
            let lowest = given.iter().map(Block::first).min();
            let highest = given.iter().map(Block::last).max();
            if let (Some(lowest), Some(highest)) = (lowest, highest) {
                stretches.push((*value, lowest, highest));
            }
        }
        stretches.sort_unstable();
        for (value, lowest, _) in &stretches {
            assert!(lowest > value, "an epoch gave {lowest}, but its close found {value}");
        }
        for pair in stretches.windows(2) {
            let ((_, _, highest), (value, ..)) = (pair[0], pair[1]);
            assert!(highest <= value, "a close found {value}, but the epoch before it gave {highest}");
        }
        println!(
            "{} ids, {} closes, {} epochs that gave",
            self.oracle.count(),
            epochs.closed.len(),
            stretches.len()
        );
        assert!(stretches.len() > 1, "the race was none: ids were given in {} epochs", stretches.len());
    }
}

/// Takers, of which some name a dead epoch, against closers, of whose closes some are never installed and some late:
/// no id twice, no id in a dead epoch, and every close covers every id given before it.
pub async fn takers_race_closers(fixture: &dyn StoreFixture) -> Checked {
    let entropy = seeded(8);
    let (gone, _) = watch::channel(0);
    let race = Race { order: key("order"), epochs: Mutex::default(), oracle: Oracle::new(), gone };
    let (race, mut tasks) = (Arc::new(race), JoinSet::new());
    let hands = [Hand::of(fixture).await?, Hand::of(fixture).await?, Hand::of(fixture).await?];
    let goal = ATTEMPTS * TAKERS as u64 * REFUSALS * fixture.effort() as u64;
    // An epoch to begin with: where a verb takes its time, the takers would be through before the first install.
    let (first, value) = race.close(&hands[0], &entropy).await?;
    race.install(&hands[0], first, value).await?;
    for taker in 0..TAKERS {
        let hand = hands[taker % hands.len()].clone();
        tasks.spawn(Arc::clone(&race).taker(hand, goal, entropy.fork()));
    }
    for closer in 0..CLOSERS {
        let hand = hands[closer % hands.len()].clone();
        tasks.spawn(Arc::clone(&race).closer(hand, goal, entropy.fork()));
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    race.judge();
    Ok(())
}
