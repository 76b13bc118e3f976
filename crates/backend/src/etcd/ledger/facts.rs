//! Durability of etcd members, from their metrics.

use sequent_core::{Durability, DurabilityClass, Fact, FactClass};

use crate::etcd::instance::metric;

/// The durability class of a member by its count of fsyncs. Every member that answers has agreed on entries since its
/// start. A count of 0 therefore means that fsync is switched off.
pub(super) fn durability(page: Option<&str>) -> Durability {
    let synced = page.and_then(|page| metric(page, "etcd_disk_wal_fsync_duration_seconds_count"));
    let (class, fsync) = match synced {
        Some("0") => (DurabilityClass::Lossy, "off"),
        Some(_) => (DurabilityClass::Durable, "on"),
        None => (DurabilityClass::Durable, "not told"),
    };
    Durability { class, settings: vec![("fsync".to_owned(), fsync.to_owned())] }
}

/// Facts from a member's metrics.
pub(super) fn facts(page: Option<&str>) -> Vec<Fact> {
    let Some(page) = page else {
        let fact = Fact::new(FactClass::Untold, "fsync", "this member shows no /metrics");
        return vec![fact.expected("on").mend("let this user's machine read /metrics of the client urls")];
    };
    let mut facts = Vec::new();
    if metric(page, "etcd_disk_wal_fsync_duration_seconds_count") == Some("0") {
        let fact = Fact::new(FactClass::Loses, "fsync", "off (--unsafe-no-fsync)").expected("on");
        let fact = fact.causes("where all members lose their power at once, acknowledged ceilings are gone");
        facts.push(fact.mend("start every member without --unsafe-no-fsync"));
    }
    let number = |name| metric(page, name)?.parse::<f64>().ok();
    let size = number("etcd_mvcc_db_total_size_in_bytes");
    if let (Some(size), Some(quota)) = (size, number("etcd_server_quota_backend_bytes"))
        && size > quota * 0.8
    {
        let fact = Fact::new(FactClass::Note, "database size", format!("{size:.0} of {quota:.0} bytes"));
        let fact = fact.expected("at most 80 %").causes("out of space, etcd takes no writes");
        facts.push(fact.mend("compact and defragment it; see --auto-compaction-retention"));
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_that_does_not_sync_or_is_nearly_full_says_so() {
        let page = |synced: u64, size: &str| {
            format!(
                "etcd_disk_wal_fsync_duration_seconds_count {synced}\netcd_server_quota_backend_bytes 2e+09\n\
                 etcd_mvcc_db_total_size_in_bytes {size}\n"
            )
        };
        let names = |page: Option<String>| {
            let facts = facts(page.as_deref());
            facts.into_iter().map(|fact| (fact.class, fact.name)).collect::<Vec<_>>()
        };
        assert_eq!(names(Some(page(7, "1e+09"))), []);
        assert_eq!(names(Some(page(0, "1e+09"))), [(FactClass::Loses, "fsync".to_owned())]);
        assert_eq!(names(Some(page(7, "1.9e+09"))), [(FactClass::Note, "database size".to_owned())]);
        assert_eq!(names(None), [(FactClass::Untold, "fsync".to_owned())]);
    }
}
