//! How many file descriptors this process may have, and what of them is left for the doors.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::limits::{ADMIN_CONNECTIONS_MAX, DESCRIPTORS_OWN, DESCRIPTORS_PER_STORE, DOOR_LEAST, DOORS};

/// How many file descriptors this process may have: none is known if there is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FdBudget(Option<u64>);

impl FdBudget {
    /// Raises the limit as far as this process may: the common one, 1024, is meant for programs that know nothing of it.
    pub fn raised() -> Self {
        let found = getrlimit(Resource::Nofile);
        let raised = Rlimit { current: found.maximum, ..found };
        if found.current == found.maximum {
            return Self(found.current);
        }
        match setrlimit(Resource::Nofile, raised) {
            Ok(()) => Self(raised.current),
            Err(error) => {
                tracing::debug!(%error, "the limit on open files stays as it is");
                Self(found.current)
            }
        }
    }

    /// The limit.
    pub fn limit(self) -> Option<u64> {
        self.0
    }

    /// The connections that fit of each door, once this process with so many stores (shards, and the ledger) and its
    /// admin listener have theirs. Never none: a server that serves few is better than one that doesn't start.
    pub fn connections(self, stores: u64) -> u64 {
        let kept = DESCRIPTORS_OWN + stores * DESCRIPTORS_PER_STORE + ADMIN_CONNECTIONS_MAX;
        self.0.map_or(u64::MAX, |limit| (limit.saturating_sub(kept) / DOORS).max(DOOR_LEAST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doors_share_what_stores_leave() {
        let kept = DESCRIPTORS_OWN + 5 * DESCRIPTORS_PER_STORE + ADMIN_CONNECTIONS_MAX;
        assert_eq!(FdBudget(Some(kept + 2000)).connections(5), 1000);
        assert_eq!(FdBudget(Some(64)).connections(5), DOOR_LEAST);
        assert_eq!(FdBudget(None).connections(5), u64::MAX);
        // The limit that limit shells give: limit of it is for the doors.
        assert!(FdBudget(Some(1024)).connections(5) > 400);
    }

    #[test]
    fn the_limit_is_as_high_as_it_may_be() {
        let FdBudget(raised) = FdBudget::raised();
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        assert_eq!((raised, current), (maximum, maximum));
    }
}
