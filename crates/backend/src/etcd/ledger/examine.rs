//! A look into a ledger that changes nothing.

use sequent_core::{BoxFuture, ExamineLedger, Fact, FactClass, LedgerExamination, SourceError};

use super::{EtcdLedger, identity::Inspect, layout_book::Read, rows::List};
use crate::{
    etcd::{link::Link, run::metric},
    wire::{Fault, Work},
};

impl ExamineLedger for EtcdLedger {
    fn examine(&self, most: usize) -> BoxFuture<'_, Result<LedgerExamination, SourceError>> {
        Box::pin(self.pool.look(Look { most }))
    }
}

struct Look {
    most: usize,
}

impl Work<Link> for Look {
    type Out = LedgerExamination;
    const VERB: &'static str = "examine";

    async fn run(&self, link: &mut Link) -> Result<LedgerExamination, Fault> {
        let inspection = Inspect.run(link).await?;
        let (layout, refused) = match Read.run(link).await {
            // As while the ring is being resized.
            Err(Fault::Answer(error)) => (None, Some(Fact::refused("layout", &error))),
            layout => (layout?, None),
        };
        let rows = List { sequence: None, most: self.most }.run(link).await?;
        let mut facts = facts(link.metrics().await?.as_deref());
        facts.extend(refused);
        Ok(LedgerExamination { inspection, layout, rows, facts })
    }
}

/// What a member's metrics tell.
fn facts(page: Option<&str>) -> Vec<Fact> {
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
