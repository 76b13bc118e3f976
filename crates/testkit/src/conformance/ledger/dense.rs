//! Dense counters: in order, none twice, no gap among what was answered.

use std::sync::{Arc, Mutex, PoisonError};

use sequent_core::{
    Block, ErrorKind, InstanceId, Key, SourceError,
    ledger::{DenseAsk, DenseRow, DenseTaken, Loss, Pass, ServerId},
};
use tokio::task::JoinSet;

use super::{
    super::{Checked, odd_keys::odd_keys, skipped},
    LedgerFixture,
    desk::{Desk, refused},
};
use crate::{cut_short, seeded};

/// The most polls that a call may need: far more than any has awaits.
const POLLS_MAX: usize = 200;

/// How many servers count at once, and how often each asks, times the fixture's effort.
const SERVERS: u64 = 4;
const ROUNDS: usize = 25;

/// An ask of so many, which may have all there are.
pub(super) fn ask(key: &str, count: u64) -> DenseAsk {
    DenseAsk { key: Key::from_stored(key), count, limit: u64::MAX, above: 0 }
}

impl Desk {
    pub(super) async fn count(&mut self, asks: &[DenseAsk]) -> Result<Vec<DenseTaken>, SourceError> {
        self.count_and_move(asks).await.map(|(taken, _)| taken)
    }

    /// The same, with the version that it left.
    async fn count_and_move(&mut self, asks: &[DenseAsk]) -> Result<(Vec<DenseTaken>, u64), SourceError> {
        let next = self.draw();
        let answer = self.ledger.count(self.pass(next), asks).await?;
        self.nonces = vec![next];
        Ok((answer.value, answer.version))
    }

    pub(super) async fn given(&self, key: &str) -> Result<Option<u64>, SourceError> {
        let rows = self.ledger.dense(None, usize::MAX).await?;
        Ok(rows.into_iter().find(|row| row.key.as_str() == key).map(|row| row.value))
    }
}

/// A counter begins at 1 and leaves nothing out, one ask a call or many, of one key or of several.
pub async fn a_dense_counter_counts_from_one_without_gaps(fixture: &dyn LedgerFixture) -> Checked {
    let mut desk = Desk::of(fixture, 1).await?;
    for last in 1..=3 {
        assert_eq!(desk.count(&[ask("a", 1)]).await?, [DenseTaken::Last(last)]);
    }
    let taken = desk.count(&[ask("a", 2), ask("b", 1), ask("a", 5), ask("b", 10)]).await?;
    assert_eq!(taken, [5, 1, 10, 11].map(DenseTaken::Last), "in the order of the asks");
    assert_eq!(desk.count(&[ask("a", 3), ask("a", 1)]).await?, [13, 14].map(DenseTaken::Last));
    assert_eq!(desk.count(&[]).await?, []);
    let mut other = Desk::of(fixture, 2).await?;
    assert_eq!(other.count(&[ask("a", 1)]).await?, [DenseTaken::Last(15)], "another server goes on");
    assert_eq!((desk.given("a").await?, desk.given("b").await?), (Some(15), Some(11)));
    Ok(())
}

/// An ask beyond the limit takes nothing, and those behind it get what is left.
pub async fn a_dense_ask_is_answered_whole_or_not_at_all(fixture: &dyn LedgerFixture) -> Checked {
    let mut desk = Desk::of(fixture, 1).await?;
    let bounded = |count, limit| DenseAsk { limit, ..ask("a", count) };
    let taken = desk.count(&[bounded(4, 5), bounded(2, 5), bounded(1, 5), bounded(1, 5)]).await?;
    let expected =
        [DenseTaken::Last(4), DenseTaken::Spent { at: 4 }, DenseTaken::Last(5), DenseTaken::Spent { at: 5 }];
    assert_eq!(taken, expected);
    assert_eq!(desk.count(&[bounded(1, 5)]).await?, [DenseTaken::Spent { at: 5 }]);
    assert_eq!(desk.count(&[bounded(1, 6)]).await?, [DenseTaken::Last(6)], "a raised limit");
    let edge = Block::NUMBER_MAX;
    assert_eq!(desk.count(&[ask("a", u64::MAX)]).await?, [DenseTaken::Spent { at: 6 }]);
    assert_eq!(desk.count(&[ask("a", edge - 6)]).await?, [DenseTaken::Last(edge)]);
    assert_eq!(desk.count(&[ask("a", 1)]).await?, [DenseTaken::Spent { at: edge }], "it never wraps");
    assert_eq!(desk.given("a").await?, Some(edge));
    // Who asks for nothing is told how far it is, whatever the limit; a counter that has not begun does not begin by it.
    let taken = desk.count(&[bounded(0, 0), ask("b", 2), ask("b", 0), ask("c", 0)]).await?;
    assert_eq!(taken[..2], [DenseTaken::Spent { at: edge }, DenseTaken::Last(2)]);
    assert_eq!(taken[2..], [2, 0].map(|at| DenseTaken::Spent { at }));
    let taken = desk.count(&[DenseAsk { above: 3, ..ask("b", 0) }]).await?;
    assert_eq!((taken, desk.given("c").await?), (vec![DenseTaken::Behind { at: 2 }], None));
    Ok(())
}

/// A caller that was given more than the counter has given gets nothing of it; others do.
pub async fn a_dense_counter_behind_its_caller_gives_nothing(fixture: &dyn LedgerFixture) -> Checked {
    let mut desk = Desk::of(fixture, 1).await?;
    let told = |above| DenseAsk { above, ..ask("a", 1) };
    assert_eq!(desk.count(&[told(1)]).await?, [DenseTaken::Behind { at: 0 }], "a counter that has not begun");
    assert_eq!(desk.count(&[ask("a", 5)]).await?, [DenseTaken::Last(5)]);
    assert_eq!(desk.count(&[told(5)]).await?, [DenseTaken::Last(6)]);
    let taken = desk.count(&[told(7), told(6), told(7)]).await?;
    assert_eq!(taken, [DenseTaken::Behind { at: 6 }, DenseTaken::Last(7), DenseTaken::Last(8)]);
    assert_eq!(desk.given("a").await?, Some(8));
    Ok(())
}

/// However many count at once, each number is one caller's, none is left out, and each caller's ascend.
pub async fn dense_counters_raced_have_no_gap_and_no_repeat(fixture: &dyn LedgerFixture) -> Checked {
    let (entropy, all) = (seeded(21), Arc::new(Mutex::new([Vec::new(), Vec::new()])));
    let mut tasks = JoinSet::new();
    // As servers count, which some engines do in one statement.
    Desk::of(fixture, SERVERS + 1).await?.put_on_record().await?;
    for server in 1..=SERVERS {
        let (mut desk, own, all) = (Desk::of(fixture, server).await?, entropy.fork(), Arc::clone(&all));
        let rounds = ROUNDS * fixture.effort();
        tasks.spawn(async move {
            let mut highest = [0, 0];
            for _ in 0..rounds {
                let of = |key: usize, count| (key, ask(["a", "b"][key], count));
                let mut asks = vec![of(0, 1 + own.below(3))];
                if own.below(4) == 0 {
                    asks.extend([of(1, 1 + own.below(5)), of(0, 1)]);
                }
                let sent: Vec<DenseAsk> = asks.iter().map(|(_, ask)| ask.clone()).collect();
                let taken = desk.count(&sent).await?;
                for ((key, ask), taken) in asks.iter().zip(taken) {
                    let DenseTaken::Last(last) = taken else { panic!("{taken:?}") };
                    assert!(last - ask.count >= highest[*key], "{last} after {}", highest[*key]);
                    highest[*key] = last;
                    let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
                    all[*key].extend(last - ask.count + 1..=last);
                }
            }
            Ok::<(), SourceError>(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
    for numbers in all.iter_mut() {
        numbers.sort_unstable();
        assert!((1..).zip(numbers.iter()).all(|(expected, found)| expected == *found), "{numbers:?}");
    }
    assert!(all[0].len() as u64 >= SERVERS * ROUNDS as u64);
    Ok(())
}

/// Nobody counts under another instance, nonce or layout than the ledger's, and what was refused has taken nothing.
pub async fn dense_counters_ask_for_a_pass(fixture: &dyn LedgerFixture) -> Checked {
    let mut desk = Desk::of(fixture, 1).await?;
    desk.count(&[ask("a", 1)]).await?;
    let next = desk.draw();
    let stranger = InstanceId::new("another");
    for (pass, kind) in [
        (Pass { under: &stranger, ..desk.pass(next) }, ErrorKind::InstanceChanged),
        (Pass { nonces: &[0, 77], ..desk.pass(next) }, ErrorKind::InstanceChanged),
        (Pass { nonces: &[], ..desk.pass(next) }, ErrorKind::InstanceChanged),
        (Pass { server: ServerId(99), ..desk.pass(next) }, ErrorKind::InstanceChanged),
        (Pass { generation: desk.generation + 1, ..desk.pass(next) }, ErrorKind::Refused),
    ] {
        refused(desk.ledger.count(pass, &[ask("a", 1)]).await, kind, &format!("{pass:?}"));
    }
    assert_eq!(desk.given("a").await?, Some(1));
    assert_eq!(desk.count(&[ask("a", 1)]).await?, [DenseTaken::Last(2)], "the nonce was not used up");
    let before = desk.clone();
    desk.count(&[ask("a", 1)]).await?;
    refused(
        before.clone().count(&[ask("a", 1)]).await,
        ErrorKind::InstanceChanged,
        "the nonce of the call before",
    );
    // Calls whose replies were lost: all their nonces are shown.
    let (done, never) = (desk.draw(), desk.draw());
    desk.ledger.count(desk.pass(done), &[ask("a", 1)]).await?;
    desk.nonces.extend([done, never]);
    assert_eq!(desk.count(&[ask("a", 1)]).await?, [DenseTaken::Last(5)]);
    Ok(())
}

/// Each call that gives makes the version one higher, and tells it; one that gives nothing leaves it. So it is whether the run is on
/// record or not, and however many keys are asked for.
pub async fn dense_counters_move_the_version(fixture: &dyn LedgerFixture) -> Checked {
    let mut desk = Desk::of(fixture, 1).await?;
    let spent = DenseAsk { limit: 1, ..ask("a", 1) };
    for round in 0..2 {
        let mut version = desk.version().await?;
        for asks in [vec![ask("a", 1)], vec![ask("a", 2), ask("a", 1)], vec![ask("b", 1), ask("a", 1)]] {
            version += 1;
            assert_eq!(desk.count_and_move(&asks).await?.1, version, "{asks:?} in round {round}");
        }
        for asks in
            [vec![], vec![spent.clone()], vec![ask("a", 0)], vec![DenseAsk { above: 99, ..ask("a", 1) }]]
        {
            assert_eq!(desk.count_and_move(&asks).await?.1, version, "{asks:?} in round {round}");
        }
        assert_eq!(desk.version().await?, version);
        desk.put_on_record().await?;
    }
    assert_eq!((desk.given("a").await?, desk.given("b").await?), (Some(10), Some(2)));
    Ok(())
}

/// What was answered outlives a restart, and a copy put back has another instance id.
pub async fn dense_counters_outlive_a_restart(fixture: &dyn LedgerFixture) -> Checked {
    let mut desk = Desk::of(fixture, 1).await?;
    desk.count(&[ask("a", 7)]).await?;
    drop(desk);
    if !fixture.restart().await {
        return skipped("restart");
    }
    let mut desk = Desk::of(fixture, 2).await?;
    assert_eq!(desk.count(&[ask("a", 1)]).await?, [DenseTaken::Last(8)]);
    if !fixture.copy().await {
        return skipped("take a copy");
    }
    let mut desk = Desk::of(fixture, 3).await?;
    desk.count(&[ask("a", 5)]).await?;
    if !fixture.restore().await {
        return skipped("put a copy back");
    }
    desk.ledger = fixture.open().await;
    refused(
        desk.count(&[ask("a", 1)]).await,
        ErrorKind::InstanceChanged,
        "a count under the instance before",
    );
    Ok(())
}

/// A call dropped at any of its awaits has taken its numbers or not, and its answer never reaches the next caller.
pub async fn a_dropped_count_disturbs_nobody(fixture: &dyn LedgerFixture) -> Checked {
    let (mut desk, mut other) = (Desk::of(fixture, 1).await?, Desk::of(fixture, 2).await?);
    other.ledger = desk.ledger.clone();
    let (mut last, mut own) = (0, 0);
    for polls in 1..POLLS_MAX {
        let (next, asks) = (desk.draw(), [ask("a", 1)]);
        let outcome = cut_short(polls, desk.ledger.count(desk.pass(next), &asks)).await;
        desk.nonces.push(next);
        own += 100;
        assert_eq!(other.count(&[ask("own", 100)]).await?, [DenseTaken::Last(own)], "after {polls} polls");
        let taken = desk.count(&[ask("a", 1)]).await?;
        let [DenseTaken::Last(found)] = taken[..] else { panic!("{taken:?}") };
        assert!((last + 1..=last + 2).contains(&found), "{found} after {last} and a call that was dropped");
        last = found;
        if let Some(answer) = outcome {
            assert_eq!(answer?.value, [DenseTaken::Last(found - 1)], "the call that came to its end");
            return Ok(());
        }
    }
    panic!("a count needs more than {POLLS_MAX} polls");
}

/// Keys that an engine may fold, trim, cut or take for syntax are different counters; a list is cut and ascending.
pub async fn dense_counters_of_odd_keys_are_kept_apart(fixture: &dyn LedgerFixture) -> Checked {
    let mut desk = Desk::of(fixture, 1).await?;
    let mut keys = odd_keys();
    for (at, key) in (1..).zip(&keys) {
        assert_eq!(desk.count(&[ask(key.as_str(), at)]).await?, [DenseTaken::Last(at)], "{key:?}");
    }
    let counted: Vec<(Key, u64)> = keys.iter().cloned().zip(1..).collect();
    keys.sort();
    let rows = desk.ledger.dense(None, 1000).await?;
    let names = |rows: Vec<DenseRow>| rows.into_iter().map(|row| row.key).collect::<Vec<_>>();
    for row in &rows {
        assert!(counted.contains(&(row.key.clone(), row.value)), "{row:?}");
        assert!(row.begun_at_ms > 0, "{row:?}");
    }
    assert_eq!(names(rows), keys);
    assert_eq!(names(desk.ledger.dense(None, 3).await?), keys[..3]);
    let own = ["order", "order|8:20170304", "order|8:20170304|1:0|2:10", "order|8:20170304|3:010"];
    assert_eq!(names(desk.ledger.dense(Some("order"), 1000).await?), own.map(Key::from_stored));
    assert_eq!(names(desk.ledger.dense(Some("none"), 1000).await?), []);
    for key in &own {
        assert_eq!(names(desk.ledger.dense(Some(key), 1).await?), [Key::from_stored(key)], "a whole key");
    }
    Ok(())
}

/// A bump holds for dense counters too, those without a row among them.
pub async fn a_bump_moves_dense_counters(fixture: &dyn LedgerFixture) -> Checked {
    let mut old = Desk::of(fixture, 1).await?;
    old.count(&[ask("a", 5), ask("edge", Block::NUMBER_MAX - 10)]).await?;
    old.ledger.recover(Loss::Moved, 0).await?;
    let mut desk = Desk::of(fixture, 2).await?;
    assert_eq!(desk.count(&[ask("a", 1)]).await?, [DenseTaken::Last(6)], "moved: nothing is skipped");
    desk.ledger.recover(Loss::Bump(1000), 0).await?;
    let mut desk = Desk::of(fixture, 3).await?;
    assert_eq!(desk.count(&[ask("a", 1), ask("young", 1)]).await?, [1007, 1001].map(DenseTaken::Last));
    assert_eq!(desk.count(&[ask("edge", 1)]).await?, [DenseTaken::Spent { at: Block::NUMBER_MAX }]);
    Ok(())
}
