//! A ledger that speaks as another instance: which one it is, and whether it can be trusted.

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
    /// The ledger is another instance than `was`, or went back while it ran: finds out which, and whether it can be
    /// trusted. Callers hold `writing`.
    pub(super) async fn renew(&self, was: &InstanceId) -> Result<(), SourceError> {
        if !self.speaks_as(was) {
            return Ok(());
        }
        let inspection = self.limited("inspect", self.ledger.inspect()).await;
        let mut inspection = self.outcome(inspection)?;
        if inspection.id != self.id {
            // Another ledger in this one's place: nothing is written to it, and nothing rests on it.
            let stores: Vec<_> = self.shards.iter().map(|shard| Arc::clone(shard.store())).collect();
            let another = stamps::instead(&stores, inspection.id, self.id, self.config.attempt_timeout).await;
            self.state().another = Some(another);
            return self.trusted();
        }
        if inspection.instance == *was {
            let reborn = self.limited("rebear", self.ledger.rebear(was)).await;
            inspection.instance = self.outcome(reborn)?;
        }
        let is = inspection.instance.clone();
        // Before this server's nonce is laid anew: the one that it wrote last tells whether all that it wrote is there.
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
            None => self.lay_out_again().await?,
            trouble => trouble,
        };
        let trouble = trouble.or_else(|| self.forgets_with_all(&inspection));
        let is_lost = trouble.is_none() && self.lacks_own(&is, &known, held).await?;
        // Of several masters none goes on record: the others would stop for it.
        let is_trusted = trouble.is_none() && inspection.other_master.is_none();
        self.accept(inspection, (nonce, known.ledger), trouble);
        self.env.events.emit(Event::LedgerReborn { was: was.clone(), is: is.clone() });
        match (is_trusted, is_lost) {
            (_, true) => self.accuse_as(&is).await,
            (true, false) => {
                // Otherwise the next heartbeat tries it again, and whoever asks for a dense number.
                drop(self.put_on_record(&is).await);
                self.trusted()
            }
            (false, false) => Ok(()),
        }
    }

    /// The ledger answers as `is`, the instance in force. Where another one was in its place, it was put back: that
    /// trouble is over once its id and its marks have been looked at. Callers hold `writing`.
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

    /// A trusted ledger may have lost its layout, or got another one, with the copy that it was set back to: a running
    /// server does what one that opens would.
    async fn lay_out_again(&self) -> Result<Option<LedgerFault>, SourceError> {
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

    /// The ledger refuses this server's passes: because the ring is another one by now?
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

    /// Another generation: whoever counts by the layout before would repeat numbers, and is refused everywhere. Where the ledger's is
    /// the one before, it was put back.
    fn resized(&self, held: &LayoutRecord) -> Option<LedgerFault> {
        let LayoutRecord { layout, generation, .. } = &self.layout;
        if held.generation < *generation {
            let (generation, layout) = (held.generation, held.layout);
            return Some(LedgerFault::Outrun { generation, layout, mark: self.layout.era() });
        }
        (held.generation != *generation).then(|| LedgerFault::Relaid {
            is_resized: true,
            reason: format!(
                "{LAYOUT_CHANGED}the ring was resized to {} (generation {}), and this server counts by {layout} (generation {generation}): \
                 restart it with the new configuration",
                held.layout, held.generation
            ),
        })
    }

    /// The ledger as it is once this server's nonce lies in it, and whether it went back. Set back before the nonce was
    /// laid, its version tells; set back afterwards, it lacks the nonce, and the next call tells.
    pub(crate) async fn appraise(
        &self,
        is: &InstanceId,
    ) -> Result<(LedgerInspection, Option<LedgerFault>), SourceError> {
        let found = self.limited("inspect", self.ledger.inspect()).await;
        let found = self.outcome(found)?;
        let trouble = self.judge(is, &found).await?;
        Ok((found, trouble))
    }

    /// The same of what an inspection found just now.
    pub(crate) async fn judge(
        &self,
        is: &InstanceId,
        found: &LedgerInspection,
    ) -> Result<Option<LedgerFault>, SourceError> {
        if found.instance != *is {
            let context = format!("the ledger was {is} a moment ago, and is {}", found.instance);
            return Err(SourceError::new(ErrorKind::Reborn, context));
        }
        self.take_up_settings(found);
        self.compare_with_marks(found).await
    }

    /// Whether this instance of the ledger went back, as far as marks can tell, and what this server heard itself: marks
    /// may have gone back with it, or be out of reach.
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
            // Others must know, too: whoever recovers puts the version above every mark, and could not above this one.
            return Ok(Some(LedgerFault::Moved));
        }
        Ok(trouble)
    }

    /// Whether home says that the ledger went back, by the layout that its mark was left under.
    async fn other_era(&self, home: Mark) -> Result<Option<LedgerFault>, SourceError> {
        let is_of_this = home.era.is_none_or(|era| era.generation == self.layout.generation);
        if is_of_this || !self.rules.keep(Rule::Marks) {
            return Ok(None);
        }
        let other = old_layout_marks::other_era(&*self.ledger, home, self.config.attempt_timeout).await;
        self.outcome(other)
    }

    /// A shard that was out of reach when the ledger was judged has come back, and bears this mark.
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
        // Others may have raised, and marked, since the ledger was looked at: what it says after the marks were read counts.
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

    /// Tells that the ledger went back, and by what that is known. Who accuses it has told, and finds the mark that it left.
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
        // Whoever restarts a ledger may have changed its settings.
        state.durability = found.durability;
        // Of one that went back it is still known how far it was, until an operator has named the loss: that puts it above.
        state.version = state.version.max(found.version);
        // Permits of this instance rest on rows that will be read from now on.
        state.heard = found.version;
        state.nonces = VecDeque::from([nonce]);
        state.some_dropped = false;
        state.trouble = trouble;
        state.another = None;
        // Now, not at the next call: no grant of before counts any more, so nobody goes on without the ledger.
        self.is_back(state);
    }
}
