//! How many refusals are written in a second: whoever is refused must not fill the disk, nor hide what others tried.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Limit on the refusals of one second of one principal, and of all callers that are nobody.
const REFUSALS_PER_S_MAX: u64 = 10;

/// Limit on the refusals of one second of all principals together.
const PRINCIPALS_PER_S_MAX: u64 = 100;

/// The refusals of this second.
#[derive(Default)]
pub(super) struct Refusals(Mutex<Second>);

#[derive(Default)]
struct Second {
    began: Option<Instant>,
    strangers: u64,
    principals: u64,
    /// By principal. At most [`PRINCIPALS_PER_S_MAX`] are in it.
    of: BTreeMap<String, u64>,
    left_out: u64,
}

impl Refusals {
    /// Whether one more is written now. If not, it is counted.
    pub(super) fn admit(&self, principal: Option<&str>, now: Instant) -> bool {
        let mut second = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if second.began.is_none_or(|began| now.saturating_duration_since(began) >= Duration::from_secs(1)) {
            *second = Second { began: Some(now), left_out: second.left_out, ..Second::default() };
        }
        let is_admitted = second.admit(principal);
        second.left_out += u64::from(!is_admitted);
        is_admitted
    }

    /// How many were left out since the last call.
    pub(super) fn take_left_out(&self) -> u64 {
        let mut second = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut second.left_out)
    }
}

impl Second {
    fn admit(&mut self, principal: Option<&str>) -> bool {
        let Some(principal) = principal else {
            self.strangers += 1;
            return self.strangers <= REFUSALS_PER_S_MAX;
        };
        if self.principals >= PRINCIPALS_PER_S_MAX {
            return false;
        }
        match self.of.get_mut(principal) {
            Some(written) if *written >= REFUSALS_PER_S_MAX => return false,
            Some(written) => *written += 1,
            None => drop(self.of.insert(principal.to_owned(), 1)),
        }
        self.principals += 1;
        true
    }
}
