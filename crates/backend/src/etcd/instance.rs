//! Instance of an etcd ledger: a run, whose token in the data is replaced whenever the data may have gone back.
//!
//! A restore requires all members to stop. Three signs of it are checked, and each begins a new run:
//!
//! - The term of the leader: a restarted cluster elects one in a new term, higher than any in the copy.
//! - The distance of log and revision: a cluster created from a snapshot may have the very term that the snapshot
//!   records, but its log begins at the first entry, whatever the revision.
//! - The start time of the member that wrote the token.

use serde::{Deserialize, Serialize};

/// The most entries that may be agreed on without a revision yet, at the moment a member reports both.
const UNDER_WAY_MAX: i64 = 256;

/// A token, and the member's state when it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Run {
    /// A random token, never used before.
    pub(super) token: String,
    #[serde(flatten)]
    pub(super) seen: MemberState,
}

/// The state of a member and its cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MemberState {
    /// The term of the leader.
    pub(super) term: u64,
    /// Log index minus revision. Within one history it never shrinks, since each entry makes at most one revision.
    pub(super) lead: i64,
    /// The member's id in hexadecimal, as etcd's own tools show it.
    pub(super) member: String,
    /// The start of its process; `None` if the member does not report it.
    pub(super) started: Option<String>,
}

impl Run {
    /// Whether the run in which the token was written continues.
    pub(super) fn goes_on(&self, now: &MemberState) -> bool {
        let same_process = self.seen.member != now.member
            || self.seen.started.is_none()
            || now.started.is_none()
            || self.seen.started == now.started;
        self.seen.term == now.term && now.lead + UNDER_WAY_MAX >= self.seen.lead && same_process
    }
}

/// The value of a metric, as text.
pub(super) fn metric<'a>(page: &'a str, name: &str) -> Option<&'a str> {
    page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(term: u64, lead: i64, member: &str, started: &str) -> MemberState {
        let started = Some(started.to_owned()).filter(|text| !text.is_empty());
        MemberState { term, lead, member: member.to_owned(), started }
    }

    #[test]
    fn a_run_ends_where_the_data_may_have_gone_back() {
        let run = Run { token: "t".to_owned(), seen: state(2, 400, "a", "1.5") };
        for (now, goes_on) in [
            (state(2, 400, "a", "1.5"), true),
            (state(2, 900, "b", "7.5"), true),
            (state(2, 399, "a", ""), true),
            // Another leader; the same member, restarted; a cluster created from a snapshot.
            (state(3, 900, "a", "1.5"), false),
            (state(1, 900, "a", "1.5"), false),
            (state(2, 900, "a", "1.6"), false),
            (state(2, -3000, "b", "7.5"), false),
        ] {
            assert_eq!(run.goes_on(&now), goes_on, "{now:?}");
        }
    }

    #[test]
    fn a_metric_is_found_by_its_whole_name() {
        let page = "# TYPE a gauge\na_b 1\na 2.5e+09\n";
        assert_eq!((metric(page, "a"), metric(page, "b")), (Some("2.5e+09"), None));
    }
}
