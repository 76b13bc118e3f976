//! Which run of which data answers: a token in the data itself, replaced whenever the data may have gone back.
//!
//! A cluster whose members all end, as they do for data to be put back, elects a leader when they are started again, and
//! that is another term than any in the copy. One made of a snapshot begins at the terms of a new cluster, which may be
//! the very one that the snapshot speaks of; but it begins at the first entry of its log too, whatever the revision. So
//! does a member tell who was started again since the token was left. Who meets anything of that leaves another token.

use serde::{Deserialize, Serialize};

/// So many entries may be agreed on, and not be revisions yet, as a member tells of both.
const UNDER_WAY_MAX: i64 = 256;

/// A token, and what was seen when it was left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Run {
    /// Random: nobody has had it.
    pub(super) token: String,
    #[serde(flatten)]
    pub(super) seen: MemberState,
}

/// What a member says of its cluster and of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MemberState {
    /// The term of the leader.
    pub(super) term: u64,
    /// By how much the log is ahead of the revision: in one history, never less than before, since each entry makes one
    /// revision at most.
    pub(super) lead: i64,
    /// Who says so, in hexadecimal, as etcd's own tools show it.
    pub(super) member: String,
    /// When its process began, as it tells; `None` where it does not.
    pub(super) started: Option<String>,
}

impl Run {
    /// Whether the run in which the token was left still goes on.
    pub(super) fn goes_on(&self, now: &MemberState) -> bool {
        let same_process = self.seen.member != now.member
            || self.seen.started.is_none()
            || now.started.is_none()
            || self.seen.started == now.started;
        self.seen.term == now.term && now.lead + UNDER_WAY_MAX >= self.seen.lead && same_process
    }
}

/// A number of a page of metrics, as it stands there.
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
            // Another leader; the same member, started again; a cluster made of a snapshot.
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
