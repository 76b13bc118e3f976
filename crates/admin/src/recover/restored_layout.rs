//! Ledgers restored from a copy that is older than a resize. Such a copy is refused, because its raw ids are
//! other numbers in the next layout. A copy from amid a resize goes on once the loss is named: the resize
//! itself finishes.

use std::{collections::BTreeSet, sync::Arc};

use sequent_core::{
    Era, SlotIndex, Stamp, Store,
    ledger::{LayoutPage, LayoutRecord, Ledger, Loss},
};

use sequent_engine::{
    OpenError, Options,
    bootstrap::FIRST_CALL_FACTOR,
    config::{Config, Place},
    data::{self, Found, Unjudged, VersionFile},
    ledger_timeout::within,
    stores::{self, Files},
};

use super::{
    adopt::{Look, look},
    unreadable_witnesses::MarksReport,
};
use crate::admin::Admin;

/// The ledger, and the stamps and marks of its stores.
struct Sight {
    ledger: Arc<dyn Ledger>,
    page: LayoutPage,
    looks: Vec<Look>,
    /// The layout of the highest generation in the stores' stamps or in the data directory's mark.
    newest: LayoutRecord,
}

impl Admin {
    /// Refuses if the ledger is a copy from before or amid a resize. The loss is computed in raw ids, which
    /// differ in each layout.
    ///
    /// # Errors
    ///
    /// `Refused`, with what to do instead; those of ledger and stores.
    pub async fn check_layout(config: &Config, options: &Options) -> Result<(), OpenError> {
        let mut files = Files::default();
        let sight = seen(config, options, &mut files).await;
        files.leave().await;
        match sight? {
            Some(sight) if sight.is_behind() => Err(OpenError::Refused(sight.too_old())),
            Some(Sight { page, .. }) if page.step.is_fenced() => Err(OpenError::Refused(
                "the ledger is a copy made during a resize: the loss can't be computed across layouts; `sequent recover --bump N`, N at \
                 least how far the numbers of any sequence have come since the copy, then `sequent resize --go`"
                    .to_owned(),
            )),
            _ => Ok(()),
        }
    }

    /// Names the loss of a ledger that was restored from a copy from amid a resize. Returns what was done.
    /// `None` if there is no resize in progress, and nothing was done.
    ///
    /// # Errors
    ///
    /// `Refused` if the ledger is from before a resize. `Refused` if a store can't be seen whose slot is not
    /// in `without`, or if the loss is not confirmed. Those of ledger and stores.
    pub async fn recover_amid_resize(
        config: &Config,
        options: &Options,
        (loss, is_confirmed): (Loss, bool),
        without: &BTreeSet<SlotIndex>,
    ) -> Result<Option<String>, OpenError> {
        let mut files = Files::default();
        let done = match seen(config, options, &mut files).await {
            Ok(Some(sight)) if sight.is_behind() => Err(OpenError::Refused(sight.too_old())),
            Ok(Some(sight)) if sight.is_amid() => {
                sight.amid(config, options, (loss, is_confirmed), without).await.map(Some)
            }
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
    let limit = config.ring.attempt_timeout * FIRST_CALL_FACTOR;
    let ledger = stores::ledger(&config.ledger.place, false, &options.env, files)?;
    // If the layout can't be read, the next one to open the ledger reports the cause.
    let Ok(Some(page)) = within(limit, "read the layout", ledger.page()).await else { return Ok(None) };
    let id = within(limit, "open the ledger", ledger.inspect()).await?.id;
    let looks = look(config, options, files).await?;
    let stamps = looks.iter().filter_map(|(_, found)| found.as_ref().ok()?.stamp.clone());
    let own = stamps.filter(|stamp| stamp.ledger == id && stamp.cluster == page.cluster);
    let stamped = own
        .max_by_key(|stamp| stamp.generation)
        .map(|Stamp { layout, generation, .. }| Era { generation, layout });
    let marked = home(config, options).mark().await?.era;
    let newest = newest(&page, stamped, marked).map(|Era { generation, layout }| {
        let cluster = page.cluster.clone();
        LayoutRecord { cluster, layout, generation }
    });
    Ok(newest.map(|newest| Sight { ledger, page, looks, newest }))
}

/// The latest known layout. If no store has a stamp, then the mark in the data directory decides: volatile
/// stores lose their stamps at a restart.
///
/// The mark is written from the fence on, stamps just before the end of the resize. Therefore a mark outranks
/// a stamp only if its generation is above the page's, too. Otherwise a store with an older stamp shows that
/// the page's resize has not ended.
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
    VersionFile::new(&config.data, config.ring.attempt_timeout, Arc::clone(&options.env.entropy))
}

impl Sight {
    /// Whether stores, or the data directory, have completed a resize that the ledger has not.
    fn is_behind(&self) -> bool {
        let Self { page, newest, .. } = self;
        newest.generation > page.generation || newest.generation == page.generation && page.step.is_fenced()
    }

    /// Whether the ledger is amid a resize that no store has completed.
    fn is_amid(&self) -> bool {
        self.page.step.is_fenced() && !self.is_behind()
    }

    /// Names the loss. No store is stamped for the next layout yet, so the resize itself then finishes.
    async fn amid(
        &self,
        config: &Config,
        options: &Options,
        (loss, is_confirmed): (Loss, bool),
        without: &BTreeSet<SlotIndex>,
    ) -> Result<String, OpenError> {
        let limit = config.ring.attempt_timeout;
        let shards = self.shards(usize::from(SlotIndex::MAX));
        let read = sequent_guard::read_marks(&shards, limit).await;
        MarksReport::of(config, read, &self.looks, self.page.layout.slots()).check(loss, without)?;
        if !is_confirmed {
            return Err(OpenError::Refused(UNCONFIRMED.to_owned()));
        }
        let home = home(config, options);
        home.prepare().await?;
        sequent_guard::recover(&*self.ledger, &shards, Some(&Unjudged(&home)), loss, limit).await?;
        home.renew(None).await?;
        Ok("the loss is named. The ledger is a copy made during a resize, and no numbers are given before the resize is finished: \
            `sequent resize --go`"
            .to_owned())
    }

    /// The stores that were seen, of slots below `slots`.
    fn shards(&self, slots: usize) -> Vec<(SlotIndex, Arc<dyn Store>)> {
        let seen =
            self.looks.iter().filter(|(shard, found)| found.is_ok() && usize::from(shard.part.slot) < slots);
        seen.map(|(shard, _)| (shard.part.slot, Arc::clone(&shard.store))).collect()
    }

    fn too_old(&self) -> String {
        let Self { page, newest, .. } = self;
        format!(
            "the ledger is a copy from before a resize (generation {}): its stores or the data directory have a later layout ({}, \
             generation {}). Put a newer copy in its place. If there is none: stop every process, put an empty ledger in its \
             place, and `sequent recover --bump N` with the configuration of that layout, N at least the highest raw id that any \
             counter has reached (the highest number of any sequence, divided by 2^(n+m)); then define each sequence again",
            page.generation - u64::from(page.step.is_fenced()),
            newest.layout,
            newest.generation
        )
    }
}

/// The refusal of an unconfirmed loss that nothing proves.
const UNCONFIRMED: &str = "the ledger is in the middle of a resize, so nothing shows how far the numbers had come. If they had come \
    further than is named, they are given again; nothing was done. If you are sure, repeat the command with --yes";
