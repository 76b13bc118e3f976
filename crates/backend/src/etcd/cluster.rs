//! A cluster: its members, and in which order they are asked.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use super::{
    connection::Connection,
    reach::{self, Purpose},
};
use crate::net::{Fault, Server, ServerOptions};

/// The longest time for which one member is waited for alone: many times what one that is well needs.
const HEAD_START_MAX: Duration = Duration::from_millis(150);

/// A ledger's cluster, whoever uses it in this process. Who answered last is asked first; at first, who is named first.
pub(super) struct EtcdCluster {
    pub(super) options: ServerOptions,
    /// Which member answered last.
    first: AtomicUsize,
}

impl EtcdCluster {
    pub(super) fn new(options: ServerOptions) -> Self {
        Self { options, first: AtomicUsize::new(0) }
    }

    /// The members in the order in which they are asked now, by their places.
    pub(super) fn members(&self) -> impl Iterator<Item = usize> + use<> {
        let (count, first) = (self.count(), self.first.load(Ordering::Relaxed));
        (0..count).map(move |step| (first + step) % count)
    }

    /// How many members are named.
    pub(super) fn count(&self) -> usize {
        self.options.url.hosts().len()
    }

    /// A quorum has answered through this member.
    pub(super) fn note_answer(&self, at: usize) {
        self.first.store(at, Ordering::Relaxed);
    }

    /// How long a member is waited for before the next one is asked as well: the last one has half of the time.
    pub(super) fn head_start(&self) -> Duration {
        let count = u32::try_from(self.count()).unwrap_or(1).max(1);
        HEAD_START_MAX.min(self.options.connect_timeout / (2 * count))
    }
}

impl Server for Arc<EtcdCluster> {
    type Connection = Connection;

    async fn connect(&self, is_known: bool) -> Result<Connection, Fault> {
        reach::any(self, Purpose::Use { is_known }).await
    }

    async fn connect_to_look(&self) -> Result<Connection, Fault> {
        reach::any(self, Purpose::Look).await
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
