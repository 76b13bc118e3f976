//! A ledger that was restored from before a resize, or from amid one. It takes over the layout of its stores.

use std::{collections::BTreeSet, sync::Arc};

use sequent_core::{
    Era, SlotIndex, SourceError, Stamp, Store,
    ledger::{LayoutPage, LayoutRecord, Ledger, Loss},
};
use sequent_engine::{
    OpenError, Options,
    bootstrap::{FIRST_CALL_FACTOR, check_slots, other_layout},
    config::{Config, Place},
    data::{self, Found, Unjudged, VersionFile},
    foreign_stores::widest,
    ledger_timeout::within,
    stores::{self, Files},
};
use sequent_guard::CatchUp;

use super::{
    adopt::{Look, check_seen, look},
    unreadable_witnesses::MarksReport,
};
use crate::admin::Admin;

/// The ledger at hand, and what its stores say.
struct Sight {
    ledger: Arc<dyn Ledger>,
    page: LayoutPage,
    looks: Vec<Look>,
    /// The layout of the highest generation that stores, or the data directory's mark, tell of.
    newest: LayoutRecord,
}

impl Admin {
    /// Refuses where the ledger at hand is of another layout than its stores, or amid a resize: how much was lost is worked out
    /// in raw ids, which are others in each.
    ///
    /// # Errors
    ///
    /// `Refused`, saying what to do instead; those of ledger and stores.
    pub async fn check_caught_up(config: &Config, options: &Options) -> Result<(), OpenError> {
        let mut files = Files::default();
        let sight = seen(config, options, &mut files).await;
        files.leave().await;
        let Some(Sight { page, newest, .. }) = sight? else { return Ok(()) };
        if newest.generation <= page.generation && !page.is_fenced {
            return Ok(());
        }
        let before = page.generation - u64::from(page.is_fenced);
        Err(OpenError::Refused(format!(
            "the ledger is a copy from before a resize, or amid one (generation {before}; its stores, or the data directory, know of \
             generation {}): how much was lost can't be worked out across layouts; `sequent recover --bump N`, N at least how far the \
             numbers of any sequence have come since the copy (`sequent recover --help` says how to tell)",
            newest.generation.max(page.generation)
        )))
    }

    /// Where the stores have gone through a resize that the ledger at hand has not: names the loss, and takes up their layout.
    /// Returns what was done; `None` where it is of their layout, and nothing was done.
    ///
    /// # Errors
    ///
    /// `Refused` where a slot's store can't be seen that is not in `without`, where nothing but a bump can be true, where more than
    /// one resize lies between, or where nothing at hand proves the loss and it is not confirmed; those of ledger and stores.
    pub async fn catch_up(
        config: &Config,
        options: &Options,
        (loss, is_confirmed): (Loss, bool),
        without: &BTreeSet<SlotIndex>,
    ) -> Result<Option<String>, OpenError> {
        let mut files = Files::default();
        let done = match seen(config, options, &mut files).await {
            Ok(Some(sight)) => sight.go_on(config, options, (loss, is_confirmed), without).await,
            other => other.map(|_| None),
        };
        files.leave().await;
        done
    }
}

async fn seen(config: &Config, options: &Options, files: &mut Files) -> Result<Option<Sight>, OpenError> {
    let is_there = matches!(data::look(config).await, Ok(Found::Cluster | Found::Elsewhere));
    if !is_there || config.ledger.place == Place::Memory {
        return Ok(None);
    }
    let limit = config.ring.health.attempt_timeout * FIRST_CALL_FACTOR;
    let unusable = |error: SourceError| OpenError::of_source(&error);
    let ledger = stores::ledger(&config.ledger.place, false, &options.env, files)?;
    // What keeps it from being read at all is told by whoever opens it next.
    let Ok(Some(page)) = within(limit, "read the layout", ledger.page()).await else { return Ok(None) };
    let id = within(limit, "open the ledger", ledger.inspect()).await.map_err(unusable)?.id;
    let looks = look(config, options, widest(config)?, files).await?;
    let stamps = looks.iter().filter_map(|(_, found)| found.as_ref().ok()?.stamp.clone());
    let own = stamps.filter(|stamp| stamp.ledger == id && stamp.cluster == page.cluster);
    let stamped = own
        .max_by_key(|stamp| stamp.generation)
        .map(|Stamp { layout, generation, .. }| Era { generation, layout });
    let marked = home(config, options).mark().await.map_err(unusable)?.era;
    let newest = newest(&page, stamped, marked).map(|Era { generation, layout }| {
        let cluster = page.cluster.clone();
        LayoutRecord { cluster, layout, generation }
    });
    Ok(newest.map(|newest| Sight { ledger, page, looks, newest }))
}

/// The latest layout that is known of. The mark in the data directory tells where no store does: those that forget bear no stamp
/// once they were restarted. It is written from the fence on, stamps just before the end: where some store tells that the change
/// on the page has not ended, it has not.
fn newest(page: &LayoutPage, stamped: Option<Era>, marked: Option<Era>) -> Option<Era> {
    match (stamped, marked) {
        (Some(stamped), Some(marked)) if marked.generation > page.generation.max(stamped.generation) => {
            Some(marked)
        }
        (Some(stamped), _) => Some(stamped),
        (None, marked) => marked,
    }
}

fn home(config: &Config, options: &Options) -> VersionFile {
    VersionFile::new(&config.data, config.ring.health.attempt_timeout, Arc::clone(&options.env.entropy))
}

impl Sight {
    async fn go_on(
        &self,
        config: &Config,
        options: &Options,
        (loss, is_confirmed): (Loss, bool),
        without: &BTreeSet<SlotIndex>,
    ) -> Result<Option<String>, OpenError> {
        let Self { page, newest, .. } = self;
        if newest.generation < page.generation && page.is_fenced {
            return self.amid(config, options, (loss, is_confirmed), without).await.map(Some);
        }
        if newest.generation <= page.generation && !page.is_fenced {
            return Ok(None);
        }
        let before = page.generation - u64::from(page.is_fenced);
        if newest.generation != before + 1 {
            return Err(OpenError::Refused(self.too_old(before)));
        }
        let Loss::Bump(bump) = loss else {
            return Err(OpenError::Refused(format!(
                "the ledger is of generation {before}, and its stores have gone through a resize to {} (generation {}): it is not the \
                 newest state; put that back, or `sequent recover --bump N`, N at least how far the numbers of any sequence \
                 have come since the copy (`sequent recover --help` says how to tell)",
                newest.layout, newest.generation
            )));
        };
        if !without.is_empty() && !is_confirmed {
            return Err(OpenError::Refused(unconfirmed("not every store is seen")));
        }
        self.catch_up(config, options, bump, without).await.map(Some)
    }

    /// No store is stamped for the next layout yet: once the loss is named, the resize itself finishes what it began.
    async fn amid(
        &self,
        config: &Config,
        options: &Options,
        (loss, is_confirmed): (Loss, bool),
        without: &BTreeSet<SlotIndex>,
    ) -> Result<String, OpenError> {
        let limit = config.ring.health.attempt_timeout;
        let shards = self.shards(usize::from(SlotIndex::MAX));
        let read = sequent_guard::read_marks(&shards, limit).await;
        MarksReport::of(config, read, &self.looks, self.page.layout.slots()).check(loss, without)?;
        if !is_confirmed {
            return Err(OpenError::Refused(unconfirmed(
                "the ledger is amid a resize, and no cell is held against it",
            )));
        }
        let home = home(config, options);
        let unusable = |error: SourceError| OpenError::of_source(&error);
        home.prepare().await.map_err(unusable)?;
        sequent_guard::recover(&*self.ledger, &shards, Some(&Unjudged(&home)), loss, limit)
            .await
            .map_err(unusable)?;
        home.renew(None).await.map_err(unusable)?;
        Ok("the loss is named; the ledger is a copy from amid a resize, and no numbers are given before that is finished: \
            `sequent resize --go`"
            .to_owned())
    }

    async fn catch_up(
        &self,
        config: &Config,
        options: &Options,
        bump: u64,
        without: &BTreeSet<SlotIndex>,
    ) -> Result<String, OpenError> {
        let next = self.newest.clone();
        let (layout, generation) = (next.layout, next.generation);
        let before = self.page.generation - u64::from(self.page.is_fenced);
        let other = other_layout(config, &next);
        let same = if other.is_empty() { Ok(()) } else { Err(OpenError::Refused(other.join("\n"))) };
        same.and_then(|()| check_slots(config, &next)).map_err(|error| {
            OpenError::Refused(format!(
                "the ledger is of generation {before}, and its stores have gone through a resize to {layout} (generation {generation}): give \
                 the configuration of that layout; with this one: {error}"
            ))
        })?;
        let why = "the ledger is from before a resize that its stores have gone through, and not every store can be seen";
        check_seen(config, &next, &self.looks, without, why)?.iter().for_each(|line| (options.say)(line));
        let limit = config.ring.health.attempt_timeout;
        let (home, era) = (home(config, options), next.era());
        let shards = self.shards(usize::from(layout.slots()));
        let unjudged = Unjudged(&home);
        let catch_up = CatchUp {
            ledger: &*self.ledger,
            shards: &shards,
            home: Some(&unjudged),
            next,
            bump,
            limit,
            env: options.env.clone(),
        };
        let unusable = |error: SourceError| OpenError::of_source(&error);
        home.prepare().await.map_err(unusable)?;
        catch_up.run().await.map_err(unusable)?;
        home.renew(Some(era)).await.map_err(unusable)?;
        Ok(format!(
            "the ledger was of generation {before}, and takes up the layout of its stores, {layout} (generation {generation}); each counter \
             goes on above what its store has, and {bump} raw ids of each layout above its ceiling, all of them skipped"
        ))
    }

    /// The stores that were seen, of slots below `slots`.
    fn shards(&self, slots: usize) -> Vec<(SlotIndex, Arc<dyn Store>)> {
        let seen =
            self.looks.iter().filter(|(shard, found)| found.is_ok() && usize::from(shard.part.slot) < slots);
        seen.map(|(shard, _)| (shard.part.slot, Arc::clone(&shard.store))).collect()
    }

    fn too_old(&self, before: u64) -> String {
        format!(
            "the ledger is of generation {before}, and its stores have gone through more than one resize since (to {}, generation {}): \
             what numbers the raw ids in between were nobody can tell; put a newer copy in its place; or, where there is \
             none, stop every process, put an empty ledger in its place, and `sequent recover --bump N`, N at least the \
             highest raw id that any one counter has reached (the highest number of any sequence, divided by 2^(n+m)); then \
             define each sequence again",
            self.newest.layout, self.newest.generation
        )
    }
}

/// What is said where nothing proves a loss that a person has not confirmed.
fn unconfirmed(why: &str) -> String {
    format!(
        "{why}, so that nothing here shows how far the numbers had come: if they had come further than is named, they are given again; \
         nothing was done; where it is sure, give the same command with --yes"
    )
}
