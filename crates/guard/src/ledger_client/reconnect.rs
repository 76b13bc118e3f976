//! Reconnection to a ledger whose instance changed: which ledger it is, and whether it can be trusted.

use std::{collections::VecDeque, sync::Arc};

use sequent_core::{
    ErrorKind, Event, InstanceId, Mark, Rule, SourceError,
    ledger::{LayoutRecord, LedgerInspection},
};

use super::{LedgerClient, LedgerFault, ledger_fault::LAYOUT_CHANGED};
use crate::{
    admission::{self, Move},
    old_layout_marks, stamps,
};

impl LedgerClient {
    /// Handles a ledger whose instance is no longer `was`, or which went back while it ran: finds out which, and whether it can
    /// be trusted. Callers hold `writing`.
    pub(super) async fn renew(&self, was: &InstanceId) -> Result<(), SourceError> {
        if !self.speaks_as(was) {
            return Ok(());
        }
        let inspection = self.limited("inspect", self.ledger.inspect()).await;
        let mut inspection = self.outcome(inspection)?;
        if inspection.id != self.id {
            // Another ledger in this one's place: nothing is written to it, and its answers are not used.
            let stores: Vec<_> = self.shards.iter().map(|shard| Arc::clone(shard.store())).collect();
            let another = stamps::instead(&stores, inspection.id, self.id, self.config.attempt_timeout).await;
            self.state().another = Some(another);
            return self.trusted();
        }
        if inspection.instance == *was {
            let renewed = self.limited("rebear", self.ledger.rebear(was)).await;
            inspection.instance = self.outcome(renewed)?;
        }
        let is = inspection.instance.clone();
        // Before this server's nonce is replaced: the last one written tells whether all this server's writes are there.
        let known = self.limited("read of the instances on record", self.ledger.known()).await;
        let known = self.outcome(known)?;
        let (nonce, held) = self.look_for_own(&is, known.ledger.as_ref()).await?;
        let enlisted = self.limited("enlist", self.ledger.enlist(&is, self.server, nonce)).await;
        self.outcome(enlisted)?;
        let moved = if self.embedded {
            Move::of(&known, &is, &admission::look(&self.shards).await).told()?
        } else {
            Move::Not
        };
        let (inspection, behind) = self.appraise(&is).await?;
        let trouble = if moved == Move::All { Some(LedgerFault::Moved) } else { behind };
        let trouble = match trouble {
            None => self.restore_layout().await?,
            trouble => trouble,
        };
        let trouble = trouble.or_else(|| self.forgets_with_all(&inspection));
        let is_lost = trouble.is_none() && self.lacks_own(&is, &known, held).await?;
        // With several masters, none goes on record: servers of the others would stop because of it.
        let is_trusted = trouble.is_none() && inspection.other_master.is_none();
        self.accept(inspection, (nonce, known.ledger), trouble);
        self.env.events.emit(Event::LedgerInstanceChanged { was: was.clone(), is: is.clone() });
        match (is_trusted, is_lost) {
            (_, true) => self.accuse_as(&is).await,
            (true, false) => {
                // If this fails, the next heartbeat and the next dense request try again.
                drop(self.put_on_record(&is).await);
                self.trusted()
            }
            (false, false) => Ok(()),
        }
    }

    /// Handles the answer of `is`, the instance in force, after another ledger was in its place. That fault is over once the id
    /// and the marks have been checked. Callers hold `writing`.
    pub(super) async fn own_again(&self, is: &InstanceId) -> Result<(), SourceError> {
        if self.state().another.is_none() {
            return Ok(());
        }
        let (found, behind) = self.appraise(is).await?;
        let mut state = self.state();
        if found.id == self.id {
            state.another = None;
            state.trouble = state.trouble.take().or(behind);
        }
        Ok(())
    }

    /// Writes the layout again, or compares it. A trusted ledger may have lost its layout, or got another one, with the backup
    /// from which it was restored. A running server then does what an opening does.
    async fn restore_layout(&self) -> Result<Option<LedgerFault>, SourceError> {
        let held = self.limited("founding", self.ledger.found(&self.layout)).await;
        let held = self.outcome(held)?;
        if let Some(trouble) = self.resized(&held) {
            return Ok(Some(trouble));
        }
        let agreed = admission::agree(&held, &self.layout);
        Ok(agreed.err().map(|error| {
            let (is_resized, reason) = (false, error.context().to_owned());
            LedgerFault::Relaid { is_resized, reason }
        }))
    }

    /// Checks, after the ledger refused a call, whether the layout has changed.
    pub(super) async fn look_at_the_layout(&self) {
        let Ok(Some(page)) = self.limited("read of the layout", self.ledger.page()).await else { return };
        let trouble = match page.record() {
            Ok(held) => self.resized(&held),
            Err(error) => {
                let reason = format!("{LAYOUT_CHANGED}{}", error.context());
                Some(LedgerFault::Relaid { is_resized: true, reason })
            }
        };
        if trouble.is_some() {
            self.set_trouble(trouble);
        }
    }

    /// The fault if the layout has another generation. Counting by an old layout would repeat numbers, and is refused
    /// everywhere. If the ledger has the older generation, it was restored from a backup.
    fn resized(&self, held: &LayoutRecord) -> Option<LedgerFault> {
        let LayoutRecord { layout, generation, .. } = &self.layout;
        if held.generation < *generation {
            let (generation, layout) = (held.generation, held.layout);
            return Some(LedgerFault::Outrun { generation, layout, mark: self.layout.era() });
        }
        (held.generation != *generation).then(|| LedgerFault::Relaid {
            is_resized: true,
            reason: format!(
                "{LAYOUT_CHANGED}the ring was resized to {} (generation {}), and this server counts by {layout} (generation \
                 {generation}): restart it with the new configuration",
                held.layout, held.generation
            ),
        })
    }

    /// Inspects and judges the ledger after this server's nonce was written to it. If it went back before that write, its
    /// version shows it. If it goes back later, it lacks the nonce, and the next call shows it.
    pub(crate) async fn appraise(
        &self,
        is: &InstanceId,
    ) -> Result<(LedgerInspection, Option<LedgerFault>), SourceError> {
        let found = self.limited("inspect", self.ledger.inspect()).await;
        let found = self.outcome(found)?;
        let trouble = self.judge(is, &found).await?;
        Ok((found, trouble))
    }

    /// Judges an inspection that was made just now.
    pub(crate) async fn judge(
        &self,
        is: &InstanceId,
        found: &LedgerInspection,
    ) -> Result<Option<LedgerFault>, SourceError> {
        if found.instance != *is {
            let context = format!("the ledger's instance was {is}, and is now {}", found.instance);
            return Err(SourceError::new(ErrorKind::InstanceChanged, context));
        }
        self.take_up_settings(found);
        self.compare_with_marks(found).await
    }

    /// Whether this instance of the ledger went back, judged by marks and by the highest version that this server was told. The
    /// marks may have gone back too, or be unreachable.
    pub(crate) async fn compare_with_marks(
        &self,
        found: &LedgerInspection,
    ) -> Result<Option<LedgerFault>, SourceError> {
        let Ok((mark, home)) = self.marks.read().await else { return Ok(Some(LedgerFault::Moved)) };
        if let Some(trouble) = self.other_era(home).await? {
            self.tell_behind(&trouble);
            return Ok(Some(trouble));
        }
        let heard = self.version();
        let trouble = self.compare_with(mark.max(heard), found.version).await?;
        if trouble.is_some() && heard > mark && self.marks.leave_anew(heard).await.is_err() {
            // Other servers must learn it. A recovery raises the version above every mark, but cannot know this version unless
            // it is marked.
            return Ok(Some(LedgerFault::Moved));
        }
        Ok(trouble)
    }

    /// The fault if the data directory's mark, left under another layout, proves that the ledger went back.
    async fn other_era(&self, home: Mark) -> Result<Option<LedgerFault>, SourceError> {
        let is_of_this = home.era.is_none_or(|era| era.generation == self.layout.generation);
        if is_of_this || !self.rules.keep(Rule::Marks) {
            return Ok(None);
        }
        let other = old_layout_marks::other_era(&*self.ledger, home, self.config.attempt_timeout).await;
        self.outcome(other)
    }

    /// Judges the mark of a shard that was unreachable when the ledger was judged.
    pub(crate) async fn meet_mark(&self, mark: u64) -> Result<(), SourceError> {
        let trouble = self.compare_with(mark, self.version()).await?;
        if trouble.is_some() {
            self.set_trouble(trouble);
        }
        self.trusted()
    }

    async fn compare_with(&self, mark: u64, version: u64) -> Result<Option<LedgerFault>, SourceError> {
        // R15
        if version >= mark || !self.rules.keep(Rule::Marks) {
            return Ok(None);
        }
        // Others may have raised and marked since the inspection, so the version read after the marks counts.
        let again = self.limited("inspect", self.ledger.inspect()).await;
        let again = self.outcome(again)?;
        self.take_up_settings(&again);
        let version = again.version;
        if version >= mark {
            return Ok(None);
        }
        let trouble = LedgerFault::Behind { version, mark };
        self.tell_behind(&trouble);
        Ok(Some(trouble))
    }

    /// Reports that the ledger went back, and the evidence. After an accusation by this server nothing is reported, since it
    /// would only find its own mark.
    pub(super) fn tell_behind(&self, trouble: &LedgerFault) {
        if matches!(self.trouble(), Some(LedgerFault::Accused { .. })) {
            return;
        }
        if let Some(detail) = trouble.found_behind() {
            self.env.events.emit(Event::LedgerBehind { detail });
        }
    }

    pub(super) fn accept(
        &self,
        found: LedgerInspection,
        (nonce, record): (u64, Option<InstanceId>),
        trouble: Option<LedgerFault>,
    ) {
        let mut state = self.state();
        state.other_master = LedgerFault::of_masters(&found);
        state.instance = found.instance;
        state.record = record;
        // A restart of the ledger may have changed its settings.
        state.durability = found.durability;
        // The highest version is kept even if the ledger went back. A named loss raises the ledger above it.
        state.version = state.version.max(found.version);
        // Grants of this instance are based on rows that are read from now on.
        state.heard = found.version;
        state.nonces = VecDeque::from([nonce]);
        state.some_dropped = false;
        state.trouble = trouble;
        state.another = None;
        // The outage ends now and not at the next call: no earlier grant is valid, so nothing can continue without the ledger.
        self.is_back(state);
    }
}
