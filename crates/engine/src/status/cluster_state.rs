//! The state of the cluster as a whole: whether any server may issue numbers, found without a running engine.

use std::sync::Arc;

use sequent_core::{ErrorKind, LedgerId, Mark, MarkPlace, SourceError, Store};
use tokio::task::JoinSet;

use crate::{
    error::EngineError,
    ledger_timeout::within,
    open::{bootstrap::ClusterHandle, foreign_stores::emptied},
};

impl ClusterHandle {
    /// Why no number may be issued before an operator has acted: a copied version file, a ledger behind the available
    /// marks, or an unreadable ledger. `None` if nothing of that is found.
    pub async fn trouble(&self) -> Option<EngineError> {
        self.judge().await.err().map(|error| plainly(error).into())
    }

    async fn judge(&self) -> Result<(), SourceError> {
        let home = match &self.home {
            Some(home) => self.within("read the mark", home.bear(0, None)).await?,
            None => Mark::default(),
        };
        let of_another = sequent_guard::other_era(&*self.ledger, home, self.limit).await?;
        if let Some(trouble) = of_another {
            return Err(trouble.error());
        }
        let mut mark = home.version;
        let stores: Vec<_> = self.shards.iter().map(|shard| Arc::clone(&shard.store)).collect();
        let belongs = sequent_guard::belongs(&*self.ledger, &stores, self.limit);
        let (belongs, left) = tokio::join!(belongs, self.highest_mark());
        belongs.map_err(|error| error.during("look whose shards these are"))?;
        mark = mark.max(left);
        // Read after the marks: an intact ledger is then never behind those that were read.
        let version = self.inspected().await?.version;
        self.slot_commands().await?;
        if version < mark {
            let context = format!(
                "the ledger is at version {version}, and a mark names {mark}: an older copy was put in its place; put \
                 the newest one back, or run `sequent recover --bump N`, N at least how far the numbers have come since, \
                 not how many were given (`sequent recover` prints the least, its help says how to tell)"
            );
            return Err(SourceError::new(ErrorKind::LedgerBehind, context));
        }
        Ok(())
    }

    /// The highest mark of the available shards. They are read concurrently, each within the time limit.
    async fn highest_mark(&self) -> u64 {
        let marks = self.shards.iter().map(|shard| {
            let (store, limit, id) = (Arc::clone(&shard.store), self.limit, self.id);
            async move { within(limit, "read the mark", own_mark(&*store, id)).await.unwrap_or(0) }
        });
        marks.collect::<JoinSet<_>>().join_all().await.into_iter().max().unwrap_or(0)
    }
}

/// Distinguishes a ledger that was emptied or dropped from one that is merely unavailable.
fn plainly(error: SourceError) -> SourceError {
    match error.condition() {
        Some(condition) if condition.is_missing() => {
            SourceError::new(ErrorKind::Refused, emptied(&error.to_string())).with(condition)
        }
        _ => error,
    }
}

/// The mark of a store; 0 if its stamp names another ledger, to which the mark then belongs.
async fn own_mark(store: &dyn Store, id: LedgerId) -> Result<u64, SourceError> {
    let found = store.inspect().await?;
    match &found.stamp {
        Some(stamp) if stamp.ledger != id => Ok(0),
        _ => store.mark(&found.instance, 0).await,
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use sequent_core::{
        Block, Cell, Condition, Env, Epoch, Inspection, InstanceId, Reply, SourceError, Stamp, Store,
    };

    use super::*;
    use crate::{
        config::{Config, Sources},
        engine::Engine,
        issue::request_types::NextRequest,
        open::options::Options,
    };

    /// A store that never responds.
    struct Hung;

    impl Store for Hung {
        fn inspect(&self) -> Reply<'_, Inspection> {
            Box::pin(pending())
        }

        fn stamp<'a>(&'a self, _: &'a InstanceId, _: Option<&'a Stamp>, _: &'a Stamp) -> Reply<'a, ()> {
            Box::pin(pending())
        }

        fn mark<'a>(&'a self, _: &'a InstanceId, _: u64) -> Reply<'a, u64> {
            Box::pin(pending())
        }

        fn take<'a>(&'a self, _: Cell<'a>, _: Epoch, _: u64) -> Reply<'a, Block> {
            Box::pin(pending())
        }

        fn close<'a>(&'a self, _: Cell<'a>, _: Epoch) -> Reply<'a, u64> {
            Box::pin(pending())
        }

        fn install<'a>(&'a self, _: Cell<'a>, _: Epoch, _: u64) -> Reply<'a, ()> {
            Box::pin(pending())
        }

        fn lift<'a>(&'a self, _: Cell<'a>, _: Epoch, _: u64) -> Reply<'a, u64> {
            Box::pin(pending())
        }
    }

    #[test]
    fn a_ledger_is_gone_by_what_was_found_and_not_by_what_is_said() {
        let away = |said: &str| SourceError::new(ErrorKind::Unavailable, said);
        let gone = plainly(away("in other words").with(Condition::Removed));
        assert_eq!((gone.kind(), gone.condition()), (ErrorKind::Refused, Some(Condition::Removed)));
        assert!(gone.context().contains("in other words"), "{gone}");
        let kept = plainly(away("no file is there, and none may be made"));
        assert_eq!((kept.kind(), kept.condition()), (ErrorKind::Unavailable, None));
        assert_eq!(plainly(away("read").with(Condition::LayoutChanged)).kind(), ErrorKind::Unavailable);
    }

    #[tokio::test]
    async fn another_clusters_store_accuses_no_ledger() {
        let folder = tempfile::tempdir().unwrap();
        let config = |name: &str| Config::load(&Sources::embedded(folder.path().join(name))).unwrap();
        // The other ledger has advanced further: its marks are higher.
        for (name, turns) in [("own", 1), ("other", 5)] {
            for _ in 0..turns {
                let engine = Engine::open(config(name), Options::default()).await.unwrap();
                engine.next(&NextRequest::new("order").unwrap().count(100)).await.unwrap();
                engine.shutdown().await;
            }
        }
        let store = |name: &str| folder.path().join(name).join("shard-1.db");
        std::fs::copy(store("other"), store("own")).unwrap();
        let cluster = ClusterHandle::open(&config("own"), &Options::default()).await.unwrap();
        assert_eq!(cluster.trouble().await.map(|error| format!("{error:?}")), None);
        assert_eq!(cluster.shards().await[1].state, "refused", "the slot is told by itself");
        cluster.close().await;
    }

    #[tokio::test]
    async fn a_shard_that_does_not_answer_is_not_held_against_the_ledger() {
        let data = tempfile::tempdir().unwrap();
        let config = Config::load(&Sources::embedded(data.path().join("data"))).unwrap();
        let engine = Engine::open(config.clone(), Options::default()).await.unwrap();
        engine.next(&NextRequest::new("order").unwrap()).await.unwrap();
        engine.shutdown().await;
        let mut cluster = ClusterHandle::existing(&config, Env::default()).await.unwrap().unwrap();
        for slot in [0, 2] {
            cluster.shards[slot].store = Arc::new(Hung);
        }
        assert_eq!(cluster.trouble().await.map(|error| error.to_string()), None);
        let states: Vec<String> = cluster.shards().await.into_iter().map(|shard| shard.state).collect();
        assert_eq!(states, ["unreachable", "open", "unreachable", "open"]);
        cluster.close().await;
    }
}
