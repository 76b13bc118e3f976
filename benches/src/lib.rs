//! A plain harness: subject and baseline in turn, round by round, in one process; ratios by their median.
//!
//! Absolute figures of one machine say little; the ratio of two loops that ran next to each other says what is asked.

mod cpu;
mod options;
mod row;

pub use cpu::cpu_of;
pub use options::Options;
pub use row::{Row, print};

use std::time::Duration;

use sequent_core::{Clock, SystemClock};

/// Rounds that are thrown away: they pay for pages, caches and the first refills, until the refill policy has adapted.
const WARM_UP: usize = 4;

/// Runs `subject` and `baseline` in turn, `rounds` times, each round in the other order than the last.
/// Both return how long they took for `numbers` numbers.
pub fn side_by_side(
    name: &'static str,
    goal: f64,
    (numbers, rounds): (u64, usize),
    mut subject: impl FnMut() -> Duration,
    mut baseline: impl FnMut() -> Duration,
) -> Row {
    for _ in 0..WARM_UP {
        subject();
        baseline();
    }
    let mut row = Row::new(name, goal);
    for round in 0..rounds {
        let (subject_took, baseline_took) = if round % 2 == 0 {
            let took = subject();
            (took, baseline())
        } else {
            let took = baseline();
            (subject(), took)
        };
        row.add(numbers, subject_took, baseline_took);
    }
    row
}

/// How long `work` takes.
pub fn timed(work: impl FnOnce()) -> Duration {
    let begun = SystemClock.now();
    work();
    SystemClock.now().saturating_duration_since(begun)
}
