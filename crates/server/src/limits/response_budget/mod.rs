//! What all connections of a door leave unread together, and who goes when it is too much.

pub(crate) mod counted_response;
pub(crate) mod unread;

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::limits::{
    UNREAD_MAX, UNREAD_MOST,
    response_budget::unread::{Tally, Unread},
};

/// What all connections of a door have that was not taken, as far as it is beyond their own share. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct AllUnread(Arc<All>);

#[derive(Debug, Default)]
struct All {
    sum: AtomicUsize,
    lines: Mutex<Lines>,
}

/// The connections, and the one of them that was told to go and has not gone: one at a time, since its end may be enough.
#[derive(Debug, Default)]
struct Lines {
    /// By their addresses in memory.
    all: HashMap<usize, Arc<Tally>>,
    going: Option<Arc<Tally>>,
}

impl AllUnread {
    /// A new connection's.
    pub(crate) fn line(&self) -> Unread {
        let tally = Arc::new(Tally::default());
        self.lines(|lines| drop(lines.all.insert(address(&tally), Arc::clone(&tally))));
        Unread::new(tally, self.clone())
    }

    /// A connection of this tally leaves more. Beyond [`UNREAD_MAX`], whoever has read nothing for longest has to go, of
    /// these who leaves most: one who reads, and only happened to be the next, stays. Beyond [`UNREAD_MOST`], whoever
    /// leaves more.
    pub(crate) fn add(&self, more: usize, tally: &Tally) {
        let sum = self.0.sum.fetch_add(more, Ordering::Relaxed) + more;
        if sum <= UNREAD_MAX {
            return;
        }
        if sum > UNREAD_MOST {
            tally.choose();
        }
        self.lines(|lines| {
            if lines.going.is_some() {
                return;
            }
            let stay = lines.all.values().filter(|tally| !tally.is_chosen());
            lines.going = stay.max_by_key(|tally| tally.burden()).cloned();
            if let Some(going) = &lines.going {
                going.choose();
            }
        });
    }

    /// Less of it is left.
    pub(crate) fn sub(&self, less: usize) {
        self.0.sum.fetch_sub(less, Ordering::Relaxed);
    }

    /// A connection has gone, with all that it left.
    pub(crate) fn leave(&self, tally: &Arc<Tally>) {
        self.lines(|lines| {
            lines.all.remove(&address(tally));
            lines.going.take_if(|going| Arc::ptr_eq(going, tally));
        });
    }

    fn lines(&self, change: impl FnOnce(&mut Lines)) {
        change(&mut self.0.lines.lock().unwrap_or_else(PoisonError::into_inner));
    }

    #[cfg(test)]
    pub(crate) fn sum(&self) -> usize {
        self.0.sum.load(Ordering::Relaxed)
    }
}

fn address(tally: &Arc<Tally>) -> usize {
    Arc::as_ptr(tally).addr()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{UNREAD_FREE, UNREAD_TURN};
    use bytes::Bytes;
    use tokio::{
        task::JoinHandle,
        time::{sleep, timeout},
    };

    fn hold(line: &Unread, count: usize) -> Vec<impl Sized + use<>> {
        (0..count).map(|_| line.hold(Bytes::from_static(b"1"))).collect()
    }

    fn watched(all: &AllUnread) -> (Unread, JoinHandle<()>) {
        let line = all.line();
        let watch = tokio::spawn(line.clone().overdue());
        (line, watch)
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_not_read_for_longest_goes_and_a_reader_with_a_burst_stays() {
        let all = AllUnread::default();
        let mut crowd: Vec<_> = (0..UNREAD_MAX / 16).map(|_| watched(&all)).collect();
        let (reader, reads) = watched(&all);
        let mut held: Vec<_> = crowd.iter().map(|(line, _)| hold(line, 16)).collect();
        // Since the turn before, and one of them leaves a little more.
        sleep(UNREAD_TURN + UNREAD_TURN / 10).await;
        let first = crowd.pop().unwrap();
        let more = hold(&first.0, UNREAD_FREE);
        timeout(UNREAD_TURN / 10, first.1).await.expect("at once").unwrap();
        assert!(!crowd.iter().any(|(_, watch)| watch.is_finished()), "one is enough");
        drop((first.0, more, held.pop()));
        for _ in 0..100 {
            drop(hold(&reader, 64));
            tokio::task::yield_now().await;
        }
        assert!(!reads.is_finished(), "somebody else has read nothing for a turn");
        assert_eq!(
            crowd.iter().filter(|(_, watch)| watch.is_finished()).count(),
            1,
            "who is told goes first"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn of_those_who_leave_much_at_once_it_is_who_leaves_most_and_each_beyond_twice_the_bound() {
        let all = AllUnread::default();
        let ((most, watch), (other, stays), (late, goes)) = (watched(&all), watched(&all), watched(&all));
        let _held = hold(&most, UNREAD_MAX);
        let _few = hold(&other, 64);
        timeout(UNREAD_TURN / 10, watch).await.expect("at once").unwrap();
        let _many = hold(&late, UNREAD_MOST - UNREAD_MAX);
        timeout(UNREAD_TURN / 10, goes).await.expect("at once").unwrap();
        assert!(!stays.is_finished());
    }

    #[test]
    fn connections_that_ended_are_forgotten() {
        let all = AllUnread::default();
        let kept = all.line();
        drop((all.line(), all.line()));
        all.lines(|lines| assert_eq!(lines.all.len(), 1));
        drop(kept);
        all.lines(|lines| assert!(lines.all.is_empty() && lines.going.is_none()));
    }
}
