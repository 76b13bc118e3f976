//! A sliding window of slow events.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// The last slow events: at most `limit`, none older than `span`.
#[derive(Debug, Clone)]
pub(crate) struct Window {
    limit: usize,
    span: Duration,
    events: VecDeque<Instant>,
}

impl Window {
    pub(crate) fn new(limit: u32, span: Duration) -> Self {
        let limit = usize::try_from(limit.max(1)).unwrap_or(usize::MAX);
        Self { limit, span, events: VecDeque::new() }
    }

    /// Adds an event; returns whether `limit` of them now lie within `span`.
    pub(crate) fn push(&mut self, now: Instant) -> bool {
        while self.events.front().is_some_and(|at| now.saturating_duration_since(*at) >= self.span) {
            self.events.pop_front();
        }
        if self.events.len() == self.limit {
            self.events.pop_front();
        }
        self.events.push_back(now);
        self.events.len() == self.limit
    }

    /// How many slow events there were, and within which time, for people.
    pub(crate) fn describe(&self) -> String {
        let (Some(first), Some(last)) = (self.events.front(), self.events.back()) else {
            return "never slow".to_owned();
        };
        match self.events.len() {
            1 => "slow once".to_owned(),
            times => {
                let ms = last.saturating_duration_since(*first).as_millis().max(1);
                format!("slow {times} times within {ms} ms")
            }
        }
    }

    /// Whether `then` lies within the window.
    pub(crate) fn is_recent(&self, now: Instant, then: Instant) -> bool {
        now.saturating_duration_since(then) < self.span
    }

    pub(crate) fn clear(&mut self) {
        self.events.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_core::{Clock, SystemClock};

    #[test]
    fn fills_only_within_the_span() {
        let start = SystemClock.now();
        let at = |s: u64| start + Duration::from_secs(s);
        let mut window = Window::new(3, Duration::from_secs(60));
        assert!(!window.push(at(0)));
        assert!(!window.push(at(30)));
        assert!(!window.push(at(60)), "the first is just too old");
        assert!(window.push(at(89)));
        assert!(window.push(at(89)), "it stays full");
        assert!(!window.push(at(149)));
        window.clear();
        assert!(!window.push(at(149)));
    }

    #[test]
    fn the_description_covers_the_span() {
        let start = SystemClock.now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let mut window = Window::new(3, Duration::from_secs(1));
        let mut describe = |ms| {
            window.push(at(ms));
            window.describe()
        };
        assert_eq!(
            [0, 900, 1000].map(&mut describe),
            ["slow once", "slow 2 times within 900 ms", "slow 2 times within 100 ms"]
        );
        assert_eq!(
            [1700, 1800].map(&mut describe),
            ["slow 3 times within 800 ms", "slow 3 times within 800 ms"]
        );
    }

    #[test]
    fn a_limit_of_zero_counts_as_one() {
        assert!(Window::new(0, Duration::ZERO).push(SystemClock.now()));
    }
}
