//! Budget of file descriptors: the limit of the process, and how many connections fit into it.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::limits::{
    ADMIN_CONNECTIONS_MAX, API_LISTENERS, FDS_OF_PROCESS, FDS_PER_STORE, LISTENER_CONNECTIONS_MIN,
};

/// Limit on open files of this process. `None` if there is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FdBudget(Option<u64>);

impl FdBudget {
    /// Raises the soft limit to the hard limit. The common soft limit, 1024, is meant for programs that use `select`.
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

    /// How many connections fit per listener, after this process, its stores (shards and ledger) and the admin
    /// listener have theirs. Never zero: a server with few connections is better than one that does not start.
    pub fn connections(self, stores: u64) -> u64 {
        let kept = FDS_OF_PROCESS + stores * FDS_PER_STORE + ADMIN_CONNECTIONS_MAX;
        self.0.map_or(u64::MAX, |limit| {
            (limit.saturating_sub(kept) / API_LISTENERS).max(LISTENER_CONNECTIONS_MIN)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apis_share_what_stores_leave() {
        let kept = FDS_OF_PROCESS + 5 * FDS_PER_STORE + ADMIN_CONNECTIONS_MAX;
        assert_eq!(FdBudget(Some(kept + 2000)).connections(5), 666);
        assert_eq!(FdBudget(Some(64)).connections(5), LISTENER_CONNECTIONS_MIN);
        assert_eq!(FdBudget(None).connections(5), u64::MAX);
        // Most of the usual soft limit is left for connections.
        assert!(FdBudget(Some(1024)).connections(5) * API_LISTENERS > 800);
    }

    #[test]
    fn the_limit_is_as_high_as_it_may_be() {
        let FdBudget(raised) = FdBudget::raised();
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        assert_eq!((raised, current), (maximum, maximum));
    }
}
