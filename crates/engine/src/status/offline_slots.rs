//! The slots of a configuration whose ledger is unavailable. Each store is probed without it.

use super::probe::{Whose, look, of_all_slots};
use crate::{
    config::Config,
    error::OpenError,
    open::{bootstrap::ClusterHandle, options::Options},
    status::report::ShardReport,
    stores::{self, Files},
};

impl ClusterHandle {
    /// Probes each store that the configuration names, without its ledger: all in parallel, each within one attempt's
    /// time limit. The states are those of [`shards`](Self::shards). The right ledger of a stamp and the slot commands
    /// are unknown then: a stamp is compared by cluster and slot alone. The layout is the configuration's.
    ///
    /// # Errors
    ///
    /// `Refused` if the configuration can't be used at all. A store that can't be reached is not an error.
    pub async fn shards_without_ledger(
        config: &Config,
        options: &Options,
    ) -> Result<Vec<ShardReport>, OpenError> {
        let layout = config.first_layout();
        let mut files = Files::default();
        let parts = config.shards_of(layout);
        let shards = stores::shards(parts, &config.cluster, false, &options.env, &mut files)?;
        let looks = shards.into_iter().map(|shard| {
            let whose = Whose::Cluster(config.cluster.clone());
            look(shard, whose, config.ring.attempt_timeout)
        });
        let reports = of_all_slots(looks.collect(), layout).await;
        files.leave().await;
        Ok(reports)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{config::Sources, engine::Engine, issue::request_types::NextRequest};

    #[tokio::test]
    async fn each_slot_is_shown_though_the_ledger_is_gone() {
        let data = tempfile::tempdir().unwrap();
        let config = Config::load(&Sources::embedded(data.path().join("data"))).unwrap();
        let engine = Engine::open(config.clone(), Options::default()).await.unwrap();
        engine.next(&NextRequest::new("order").unwrap()).await.unwrap();
        engine.shutdown().await;
        let file = |name: &str| config.data.join(name);
        fs::rename(file("ledger.db"), file("aside.db")).unwrap();
        fs::remove_file(file("shard-1.db")).unwrap();
        fs::create_dir(file("shard-1.db")).unwrap();
        fs::copy(file("shard-0.db"), file("shard-3.db")).unwrap();
        let shards = ClusterHandle::shards_without_ledger(&config, &Options::default()).await.unwrap();
        let states: Vec<&str> = shards.iter().map(|shard| shard.state.as_str()).collect();
        assert_eq!(states, ["open", "unreachable", "open", "refused"]);
        let cause = shards[3].cause.as_ref().unwrap();
        assert!(cause.detail.contains("slot=0") && cause.detail.contains("slot=3"), "{cause:?}");
        assert!(!file("ledger.db").exists(), "a look makes nothing");
    }
}
