//! First touch, and whenever a grant is lost: join the row's epoch; or close, open, install.

use std::time::{Duration, Instant};

use sequent_core::{
    Cell, Condition, Epoch, ErrorKind, InstanceId, Rule, SourceError,
    ledger::{Counter, Opened, Opening, Over, Reading, Row},
};

use super::{Guarded, ceiling::report::Adds, first_value::Begins, grant::Grant};
use crate::{guard::Ask, jump_limit};

/// A first touch begins again at most so often, when others open, restore or restart meanwhile.
/// More often than it waits for a claim.
pub(super) const TOUCHES_MAX: usize = 12;

/// A row is read at most so often, when others move it meanwhile.
const READS_MAX: usize = 4;

/// A row read when the key came alive is good for so long: at a first touch hours later it says little about how far the
/// counter is.
pub(super) const PREREAD_MAX: Duration = Duration::from_secs(5);

/// How it is said that a counter far on has no row, or one that was never given from: a ledger that was lost, or a hand that set
/// the cell.
pub const UNKNOWN_COUNTER: &str = "the ledger knows of no number of this counter";

/// How it is said that the ledger's row permits far more than its counter can have come to.
pub const FAR_CEILING: &str = "the ledger's row has a ceiling of";

/// The row of a counter as it was read with the others of its key.
pub(super) struct PrefetchedRow {
    pub(super) row: Row,
    /// The ledger's clock.
    pub(super) clock_ms: u64,
    pub(super) at: Instant,
}

impl Guarded {
    pub(super) async fn first_touch(&self, want: u64) -> Result<Grant, SourceError> {
        let mut last = None;
        for _ in 0..TOUCHES_MAX {
            self.shared.client.trusted()?;
            let under = self.shared.client.instance();
            let (store, mark) = self.shard.admit(&under).await?;
            if let Some(mark) = mark {
                self.shared.client.meet_mark(mark).await?;
            }
            let (ledger, row, clock_ms) =
                if self.is_absent() { (under, None, 0) } else { self.row().await? };
            if let Some(row) = &row {
                self.believe(row, &store, clock_ms).await?;
            }
            let is_announced = row.as_ref().is_some_and(Row::is_announced);
            let mut over = Over::read(row.as_ref());
            if row.is_none() || is_announced {
                match self.claim(is_announced).await? {
                    Begins::Own(claim) => over = Over::Epoch(claim),
                    Begins::Other => continue,
                }
            }
            if let Some(claim) = row.as_ref().filter(|row| row.is_claim())
                && self.waits_for_another(claim, clock_ms).await
            {
                continue;
            }
            // What the ledger has permitted above all that was reported.
            let permitted = row.as_ref().map_or(0, |row| jump_limit::left_ahead(row.reached(), row.ceiling));
            let (is_known, given) = (
                row.as_ref().is_some_and(|row| !row.is_unbegun()),
                row.as_ref().map_or(0, |row| self.given(row)),
            );
            if let Some(row) = row.filter(|row| self.names(row, &store, &ledger)) {
                let refused = self.state().refused == Some(row.epoch);
                if !refused {
                    // Under the instances in force: equal to the row's own, unless a mutation has waived that.
                    return Ok(self.take_up(Row { store, ledger, ..row }));
                }
                if self.waits_for_another(&row, clock_ms).await {
                    continue;
                }
            }
            match self.open((&store, over), want, (permitted, given), is_known).await {
                Ok(grant) => return Ok(grant),
                Err(error) if matches!(error.kind(), ErrorKind::Reborn | ErrorKind::Regressed) => {
                    last = Some(overtaken(&error));
                }
                Err(error) if error.kind() == ErrorKind::Leapt && !is_known => {
                    return Err(self.unknown(&error));
                }
                Err(error) => return Err(error),
            }
        }
        Err(last
            .unwrap_or_else(|| SourceError::new(ErrorKind::Contended, "a first touch began again too often")))
    }

    /// A leap of a counter without a row: where the ledger was lost, it is the cell that is right.
    fn unknown(&self, error: &SourceError) -> SourceError {
        let Counter { slot, key } = &self.counter;
        let context = format!(
            "{}; {UNKNOWN_COUNTER}: where the ledger was lost, the value is right, and its cell must stay: `sequent advance {} \
             TO --leap`, TO at least the highest number of it that was given, then `sequent rescue {slot} --why TEXT`",
            error.context(),
            key.sequence(),
        );
        SourceError::new(ErrorKind::Leapt, context).with(Condition::FarWithoutRow)
    }

    /// The counter's row, the instance of the ledger that holds it, and the ledger's clock.
    pub(super) async fn row(&self) -> Result<(InstanceId, Option<Row>, u64), SourceError> {
        let (preread, now) = (self.state().preread.take(), self.shared.env.clock.now());
        let fresh = |preread: &PrefetchedRow| now.saturating_duration_since(preread.at) <= PREREAD_MAX;
        if let Some(PrefetchedRow { row, clock_ms, .. }) = preread.filter(fresh) {
            return Ok((self.shared.client.instance(), Some(row), clock_ms));
        }
        let asked = std::slice::from_ref(&self.counter);
        for _ in 0..READS_MAX {
            let was_ended = {
                let mut state = self.state();
                state.told = None;
                state.refused.is_some()
            };
            let client = &self.shared.client;
            let read = if was_ended { client.read_anyway(asked).await } else { client.read(asked).await };
            let (ledger, Reading { rows, clock_ms }) = read?;
            self.shared.client.trusted()?;
            let (mut row, told) = (rows.into_iter().next().flatten(), self.state().told.take());
            if !told.zip(row.as_mut()).is_some_and(|(told, row)| told.adds_to(row) == Adds::Doubt) {
                return Ok((ledger, row, clock_ms));
            }
        }
        Err(SourceError::new(ErrorKind::Contended, "the row was moved again and again while it was read"))
    }

    fn names(&self, row: &Row, store: &InstanceId, ledger: &InstanceId) -> bool {
        let rules = self.shared.rules;
        // R2, R3
        (row.store == *store || !rules.keep(Rule::RowNamesStore))
            && (row.ledger == *ledger || !rules.keep(Rule::RowNamesLedger))
    }

    /// Close, open, install; of a counter that has permitted so much above what was reported, and given so many.
    async fn open(
        &self,
        (store, over): (&InstanceId, Over),
        want: u64,
        (permitted, given): (u64, u64),
        is_known: bool,
    ) -> Result<Grant, SourceError> {
        let (shared, rules) = (&self.shared, self.shared.rules);
        let epoch = Epoch::random(&*shared.env.entropy);
        let cell = Cell { key: &self.cell, under: store };
        // A close that no open can follow would only take the counter from servers that still hold grants.
        shared.client.in_reach()?;
        self.drop_permit();
        let value = self.shard.store().close(cell, epoch).await.map_err(|error| self.reborn(store, error))?;
        self.compare_with_taken(value);
        // R9
        let counts = if rules.keep(Rule::OpenCountsValue) { value } else { 0 };
        // Of a cell that says nothing, the key's other slots say how far it may have been; of a counter that never began, its claim has.
        let beside = if value == 0 && is_known { self.beside().await? } else { 0 };
        let opening = Opening { beside, over, ..self.opening(epoch, store, counts, want, permitted) };
        self.begin(store, opening, (value, given)).await
    }

    /// Open and install, of a cell that was closed for this epoch and found at `value`; its counter has `given` so many.
    pub(super) async fn begin(
        &self,
        store: &InstanceId,
        opening: Opening,
        (value, given): (u64, u64),
    ) -> Result<Grant, SourceError> {
        let (shared, epoch) = (&self.shared, opening.epoch);
        let (cell, known) = (Cell { key: &self.cell, under: store }, opening.value.max(value));
        let row = match shared.ask(Ask::Open(opening)).await?.opened()? {
            Opened::Row(row) => row,
            // Nothing is installed: the cell may be of the epoch that is there by now, and that is joined.
            Opened::Known(_) | Opened::Overtaken => {
                let context = "the counter was begun by another";
                return Err(SourceError::new(ErrorKind::Reborn, context));
            }
            Opened::Leapt { found, bound } if found > known => return Err(self.far_ceiling(found, bound)),
            Opened::Leapt { found, bound } => return Err(self.leapt(found, bound)),
        };
        // Who opened an epoch knows best when it is dead; the others wait for this server as long as it is young.
        self.waits_no_more(epoch);
        let installed = self.shard.store().install(cell, epoch, row.base).await;
        if installed.as_ref().is_err_and(|error| error.kind() == ErrorKind::Regressed) {
            // Somebody closed the cell after us, and can't open over this epoch, which it has not read.
            self.state().refused = Some(epoch);
        }
        installed.map_err(|error| self.reborn(store, error))?;
        self.tell_opened(epoch, row.base, value, given);
        Ok(self.take_up(row))
    }

    /// A value below what was taken means that the store forgot: the ceiling makes up for it, and a person should know.
    pub(super) fn compare_with_taken(&self, value: u64) {
        let (taken, refused) = {
            let state = self.state();
            (state.taken, state.refused)
        };
        if value < taken {
            self.regressed(refused, format!("the counter was at {taken}, and was found at {value}"));
        }
    }

    fn opening(&self, epoch: Epoch, store: &InstanceId, value: u64, want: u64, permitted: u64) -> Opening {
        let mut state = self.state();
        state.refused = None;
        let config = self.shared.config;
        let ahead = state.pace.wanted_room(config.outage, config.raise_within()).full;
        let cap = jump_limit::ahead_max(value, self.raw_max());
        let ahead = ahead.min(cap).max(want.min(self.raw_max().saturating_sub(value)));
        // An epoch that ended by a crash leaves its ceiling ahead of what was seen: that much is no leap.
        let permitted = permitted.max(jump_limit::ahead_max(0, self.raw_max()));
        let leap_max = jump_limit::leap_max(value, self.raw_max(), want).saturating_add(permitted);
        let (counter, store) = (self.counter.clone(), store.clone());
        Opening { counter, epoch, over: Over::Any, store, value, beside: 0, ahead, leap_max }
    }

    pub(super) fn drop_permit(&self) {
        self.state().lay_down();
    }

    /// A store that is reborn is inspected before it is touched again.
    pub(super) fn reborn(&self, store: &InstanceId, error: SourceError) -> SourceError {
        if error.kind() == ErrorKind::Reborn {
            self.shard.forget(store);
        }
        error
    }

    /// A leap that the cell knows nothing of: it stands in the ledger's row.
    fn far_ceiling(&self, found: u64, bound: u64) -> SourceError {
        let Counter { slot, key } = &self.counter;
        let context =
            format!("slot {slot} key {key}: {FAR_CEILING} {found}, a leap: at most {bound} is followed");
        SourceError::new(ErrorKind::Leapt, context).with(Condition::FarCeiling)
    }

    pub(super) fn leapt(&self, found: u64, bound: u64) -> SourceError {
        let Counter { slot, key } = &self.counter;
        let context = format!("slot {slot} key {key}: raw id {found} is a leap: at most {bound} is followed");
        SourceError::new(ErrorKind::Leapt, context)
    }

    /// Moves the store's counter forward, for order's sake: under the grant, and never by a leap.
    pub(super) async fn lift_to(&self, floor: u64) -> Result<(), SourceError> {
        let grant = self.grant(1).await?;
        let seen = self.state().seen;
        let at = seen.saturating_add(jump_limit::left_ahead(seen, grant.ceiling));
        let bound = at.saturating_add(jump_limit::lift_max(at, self.raw_max(), self.state().pace.block()));
        let floor = floor.min(bound).min(self.raw_max().saturating_sub(1));
        if floor <= self.state().seen {
            return Ok(());
        }
        if floor >= grant.ceiling {
            // It would burn what is left under the ceiling, and nothing could leave from above it.
            self.shared.client.in_reach()?;
        }
        match self.lift_cell(&grant, floor).await {
            Ok(()) => Ok(()),
            Err(error) => self.refused(&grant, error).map(drop),
        }
    }
}

/// Others were faster, again and again: nobody is at fault, and the counter is not to be blamed.
pub(super) fn overtaken(error: &SourceError) -> SourceError {
    match error.kind() {
        ErrorKind::Regressed => SourceError::new(ErrorKind::Reborn, error.context().to_owned()),
        _ => error.clone(),
    }
}
