//! etcd cluster: its members, and the order in which they are asked.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use super::{connection::Connection, reach};
use crate::net::{Fault, Purpose, Server, ServerOptions};

/// The longest wait for one member before the next is asked too: many times the answer time of a healthy member.
const HEAD_START_MAX: Duration = Duration::from_millis(150);

/// A ledger's cluster. The member that answered last is asked first; at the start, the one named first.
pub struct EtcdCluster {
    pub(super) options: ServerOptions,
    /// The index of the member that answered last.
    first: AtomicUsize,
}

impl EtcdCluster {
    pub(super) fn new(options: ServerOptions) -> Self {
        Self { options, first: AtomicUsize::new(0) }
    }

    /// The indexes of the members, in the order in which they are asked now.
    pub(super) fn members(&self) -> impl Iterator<Item = usize> + use<> {
        let (count, first) = (self.count(), self.first.load(Ordering::Relaxed));
        (0..count).map(move |step| (first + step) % count)
    }

    /// The number of named members.
    pub(super) fn count(&self) -> usize {
        self.options.url.hosts().len()
    }

    /// Records that a quorum answered through this member.
    pub(super) fn note_answer(&self, at: usize) {
        self.first.store(at, Ordering::Relaxed);
    }

    /// The wait for a member before the next one is asked too. All waits together leave the last member half of the
    /// time.
    pub(super) fn head_start(&self) -> Duration {
        let count = u32::try_from(self.count()).unwrap_or(1).max(1);
        HEAD_START_MAX.min(self.options.connect_timeout / (2 * count))
    }
}

impl Server for Arc<EtcdCluster> {
    type Connection = Connection;

    async fn connect(&self, purpose: Purpose) -> Result<Connection, Fault> {
        reach::any(self, purpose).await
    }

    fn options(&self) -> &ServerOptions {
        &self.options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_answered_last_is_asked_first_and_each_has_its_time() {
        let cluster = |members: &str| EtcdCluster::new(ServerOptions::from_url(members).unwrap());
        let three = cluster("http://a,http://b,http://c");
        let order = || three.members().collect::<Vec<_>>();
        assert_eq!([order(), order()], [[0, 1, 2], [0, 1, 2]]);
        three.note_answer(1);
        assert_eq!(order(), [1, 2, 0]);
        let nine = cluster(&["http://a"; 9].join(","));
        assert_eq!([&three, &nine].map(|cluster| cluster.head_start().as_millis()), [133, 44]);
    }
}
