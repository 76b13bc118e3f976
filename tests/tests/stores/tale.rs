//! What servers tell of what befell a slot: in status, log and metric alike, or it is not told.

use sequent_core::{Clock, SystemClock};
use serde_json::Value;

use crate::{load::until, server::Server};

/// An event: its name in the status, its line in the log, its series.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tale {
    name: &'static str,
    line: &'static str,
    metric: &'static str,
    labels: &'static str,
    /// Whether every server meets it; otherwise one does, and the others find what it left.
    by_all: bool,
}

/// A store has another instance id.
pub(crate) const INSTANCE_CHANGED: Tale = Tale {
    name: "store_instance_changed",
    line: "store has another instance id",
    metric: "sequent_instance_changes_total",
    labels: ",of=\"store\"",
    by_all: true,
};

/// A known store came back without its stamp.
pub(crate) const STAMPED: Tale = Tale {
    name: "store_stamped_again",
    line: "known store came back empty",
    metric: "sequent_stores_stamped_again_total",
    labels: "",
    by_all: false,
};

/// A counter is lower than what was taken of it.
pub(crate) const WENT_BACK: Tale = Tale {
    name: "counter_went_back",
    line: "counter went back",
    metric: "sequent_regressions_total",
    labels: "",
    by_all: false,
};

/// How often it was told before something happens.
pub(crate) struct Before {
    tale: Tale,
    slot: usize,
    counts: Vec<u64>,
    at_ms: u64,
}

impl Tale {
    /// As it is now.
    pub(crate) async fn of(self, servers: &[Server], slot: usize) -> Before {
        let mut counts = Vec::new();
        for server in servers {
            counts.push(self.counted(server, slot).await);
        }
        Before { tale: self, slot, counts, at_ms: SystemClock.wall_ms() }
    }

    /// Of servers that are about to be started, for the first slots of a ring: nothing was told.
    pub(crate) fn at_the_start<const SLOTS: usize>(self, servers: &[Server]) -> [Before; SLOTS] {
        let at_ms = SystemClock.wall_ms();
        std::array::from_fn(|slot| Before { tale: self, slot, counts: vec![0; servers.len()], at_ms })
    }

    async fn counted(self, server: &Server, slot: usize) -> u64 {
        let Self { metric, labels, .. } = self;
        server.look().await.at(&format!("{metric}{{slot=\"{slot}\"{labels}}}"))
    }

    /// How many lines of a log have it.
    fn logged(self, server: &Server, slot: usize) -> u64 {
        let own = format!(" slot={slot} ");
        let is_it = |line: &&str| line.contains(self.line) && format!("{line} ").contains(&own);
        server.log().lines().filter(is_it).count() as u64
    }

    /// Whether the status has it, from that time on.
    async fn shown(self, server: &Server, slot: usize, at_ms: u64) -> bool {
        let status: Value = serde_json::from_str(&server.ask("/v1/status").await).unwrap();
        let events = status["events"].as_array().unwrap_or_else(|| panic!("no events in {status}"));
        events.iter().any(|event| {
            event["name"] == self.name
                && event["slot"].as_u64() == u64::try_from(slot).ok()
                && event["at_ms"].as_u64() >= Some(at_ms)
        })
    }
}

impl Before {
    /// Waits until it was told once more, in all three places; by every server, or by one at least.
    pub(crate) async fn is_told(&self, servers: &[Server], after: &str) {
        self.is_told_by(if self.tale.by_all { servers.len() } else { 1 }, servers, after).await;
    }

    /// The same, where the first to start leaves nothing for the others to find.
    pub(crate) async fn is_told_by_one(&self, servers: &[Server], after: &str) {
        self.is_told_by(1, servers, after).await;
    }

    async fn is_told_by(&self, enough: usize, servers: &[Server], after: &str) {
        let Self { tale, slot, at_ms, .. } = *self;
        until(&format!("slot {slot} is told of as {:?}, after {after}", tale.name), async || {
            let mut tellers = 0;
            for (server, before) in servers.iter().zip(&self.counts) {
                let counted = tale.counted(server, slot).await;
                if counted > *before
                    && tale.logged(server, slot) >= counted
                    && tale.shown(server, slot, at_ms).await
                {
                    tellers += 1;
                }
            }
            tellers >= enough
        })
        .await;
    }
}
