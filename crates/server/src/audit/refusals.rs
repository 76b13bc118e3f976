//! How many refusals are written in a second: whoever is refused must not fill the disk.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Limit on the refusals of one second of callers that are known, and of those that are not. A flood of strangers thus
/// does not hide what a principal tried.
const REFUSALS_PER_S_MAX: u64 = 10;

/// The refusals of this second: of strangers, and of principals.
#[derive(Default)]
pub(super) struct Refusals(Mutex<[Second; 2]>);

#[derive(Default)]
struct Second {
    began: Option<Instant>,
    written: u64,
    left_out: u64,
}

impl Refusals {
    /// Whether one more is written now. If not, it is counted.
    pub(super) fn admit(&self, is_known: bool, now: Instant) -> bool {
        let mut seconds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let second = &mut seconds[usize::from(is_known)];
        if second.began.is_none_or(|began| now.saturating_duration_since(began) >= Duration::from_secs(1)) {
            (second.began, second.written) = (Some(now), 0);
        }
        let is_admitted = second.written < REFUSALS_PER_S_MAX;
        if is_admitted {
            second.written += 1;
        } else {
            second.left_out += 1;
        }
        is_admitted
    }

    /// How many were left out since the last call.
    pub(super) fn take_left_out(&self) -> u64 {
        let mut seconds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seconds.iter_mut().map(|second| std::mem::take(&mut second.left_out)).sum()
    }
}
