//! Answers that a peer does not take. A socket that is written to without trouble says nothing of them: HTTP/2 lets a
//! peer grant a stream no room, and keep the answer waiting in this server's memory while it answers every ping.

use std::{
    io::IoSlice,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use bytes::Buf;
use tokio::{sync::Notify, time::sleep};

use crate::limits::{UNREAD_FREE, UNREAD_PIECE, UNREAD_TURN, UNREAD_TURNS, response_budget::AllUnread};

/// A counter for the turn that runs, one for each that an answer may last, one for the turn that is looked at.
const COUNTERS: usize = UNREAD_TURNS + 2;

/// The answers of one connection that its peer has not taken, by the turn in which they were made: no list, no lock, no
/// instant an answer. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Unread(Arc<Line>);

#[derive(Debug)]
struct Line {
    tally: Arc<Tally>,
    all: AllUnread,
}

/// What a connection's peer has not taken.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    turn: AtomicUsize,
    made: [AtomicUsize; COUNTERS],
    /// The weight of all of them.
    weight: AtomicUsize,
    /// There is too much of it over all connections, and this one was chosen to go.
    chosen: AtomicBool,
    full: Notify,
}

impl Tally {
    /// For how many turns the oldest answer has been left, and how much is: by both, whom to hang up on first.
    pub(crate) fn burden(&self) -> (usize, usize) {
        let turn = self.turn.load(Ordering::Relaxed);
        let left =
            |turns: &usize| self.made[(turn + COUNTERS - turns) % COUNTERS].load(Ordering::Relaxed) > 0;
        let turns = (1..=UNREAD_TURNS).rev().find(left).unwrap_or(0);
        (turns, self.weight.load(Ordering::Relaxed))
    }

    /// Chooses it, unless it was: its connection ends.
    pub(crate) fn choose(&self) {
        if !self.chosen.swap(true, Ordering::Relaxed) {
            self.full.notify_one();
        }
    }

    /// Whether it is to go, or has gone.
    pub(crate) fn is_chosen(&self) -> bool {
        self.chosen.load(Ordering::Relaxed)
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.all.leave(&self.tally);
    }
}

impl Unread {
    /// The share of one connection among all.
    pub(crate) fn new(tally: Arc<Tally>, all: AllUnread) -> Self {
        Self(Arc::new(Line { tally, all }))
    }

    /// Ends when the peer has left an answer for [`UNREAD_TURNS`] whole turns, or when there is too much over all
    /// connections and nobody's burden is greater.
    pub(crate) async fn overdue(self) {
        let tally = &self.0.tally;
        loop {
            tokio::select! {
                () = sleep(UNREAD_TURN) => {}
                () = tally.full.notified() => return,
            }
            let turn = tally.turn.load(Ordering::Relaxed);
            // The turn of which none may be left, as (turn - UNREAD_TURNS) modulo the counters.
            let old = &tally.made[(turn + COUNTERS - UNREAD_TURNS) % COUNTERS];
            if old.load(Ordering::Relaxed) > 0 {
                return;
            }
            tally.turn.store((turn + 1) % COUNTERS, Ordering::Relaxed);
        }
    }

    /// Counts a piece of an answer until it is dropped.
    pub(crate) fn hold<D: Buf>(&self, data: D) -> Held<D> {
        let Line { tally, all } = &*self.0;
        let (turn, weight) = (tally.turn.load(Ordering::Relaxed), 1 + data.remaining() / UNREAD_PIECE);
        tally.made[turn].fetch_add(1, Ordering::Relaxed);
        let before = tally.weight.fetch_add(weight, Ordering::Relaxed);
        // In steps, so that connections seldom touch what they share: never, if their peers read.
        let more = steps(before + weight) - steps(before);
        if more > 0 {
            all.add(more, tally);
        }
        Held { data, turn, weight, of: self.clone() }
    }
}

/// What of a connection's weight counts for all.
fn steps(weight: usize) -> usize {
    weight - weight % UNREAD_FREE
}

/// A piece of an answer: whoever writes it drops it once it is written.
pub(crate) struct Held<D> {
    data: D,
    turn: usize,
    weight: usize,
    of: Unread,
}

impl<D> Drop for Held<D> {
    fn drop(&mut self) {
        let Line { tally, all } = &*self.of.0;
        tally.made[self.turn].fetch_sub(1, Ordering::Relaxed);
        let before = tally.weight.fetch_sub(self.weight, Ordering::Relaxed);
        let less = steps(before) - steps(before - self.weight);
        if less > 0 {
            all.sub(less);
        }
    }
}

impl<D: Buf> Buf for Held<D> {
    fn remaining(&self) -> usize {
        self.data.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.data.chunk()
    }

    fn chunks_vectored<'a>(&'a self, into: &mut [IoSlice<'a>]) -> usize {
        self.data.chunks_vectored(into)
    }

    fn advance(&mut self, count: usize) {
        self.data.advance(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::UNREAD_MAX;
    use bytes::Bytes;
    use tokio::time::Instant;

    #[allow(clippy::cast_possible_truncation, reason = "a few")]
    const TURNS: u32 = UNREAD_TURNS as u32;

    #[tokio::test(start_paused = true)]
    #[allow(clippy::disallowed_methods, reason = "paused time, in a test")]
    async fn an_answer_that_is_left_is_overdue_and_others_are_not() {
        let unread = AllUnread::default().line();
        let watch = tokio::spawn(unread.clone().overdue());
        // Many that are taken late, but in time.
        for _ in 0..50 {
            let held = unread.hold(Bytes::from_static(b"1"));
            sleep(UNREAD_TURN).await;
            drop(held);
        }
        // So that the turn is not about to end.
        sleep(UNREAD_TURN / 10).await;
        assert!(!watch.is_finished());
        let (left, began) = (unread.hold(Bytes::from_static(b"2")), Instant::now());
        watch.await.unwrap();
        let (least, most) = (UNREAD_TURN * TURNS, UNREAD_TURN * (TURNS + 1) + UNREAD_TURN / 10);
        let lasted = began.elapsed();
        assert!((least..most).contains(&lasted), "{lasted:?}");
        drop(left);
        assert!(unread.0.tally.made.iter().all(|made| made.load(Ordering::Relaxed) == 0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_crowd_of_unread_answers_ends_at_once_and_small_shares_do_not() {
        let all = AllUnread::default();
        let (crowd, other) = (all.line(), all.line());
        let watch = tokio::spawn(crowd.clone().overdue());
        let one = |unread: &Unread| unread.hold(Bytes::from_static(b"1"));
        let mut held: Vec<_> = (0..UNREAD_MAX).map(|_| one(&crowd)).collect();
        sleep(UNREAD_TURN / 2).await;
        assert!(!watch.is_finished());
        let small: Vec<_> = (1..UNREAD_FREE).map(|_| one(&other)).collect();
        let over = tokio::time::timeout(UNREAD_TURN / 2, other.clone().overdue()).await;
        assert!(over.is_err(), "a connection's own share");
        held.extend((0..UNREAD_FREE).map(|_| one(&crowd)));
        let watch = tokio::time::timeout(UNREAD_TURN / 10, watch).await;
        watch.expect("at once").unwrap();
        drop((held, small));
        assert_eq!(all.sum(), 0);
    }

    #[test]
    fn large_pieces_weigh_more() {
        let all = AllUnread::default();
        let held = all.line().hold(Bytes::from(vec![0; UNREAD_PIECE * UNREAD_FREE]));
        assert_eq!(all.sum(), UNREAD_FREE);
        drop(held);
        assert_eq!(all.sum(), 0);
    }
}
