//! Acquiring a grant, at first touch or after one was lost: join the row's epoch; or close, open, install.

use std::time::{Duration, Instant};

use sequent_core::{
    Cell, Condition, Epoch, ErrorKind, InstanceId, Rule, SourceError,
    ledger::{Counter, Opened, Opening, Over, Reading, Row},
};

use super::{CounterState, Guarded, ceiling::report::Adds, first_value::Begins, grant::Grant};
use crate::{guard::Ask, jump_limit};

/// The most attempts of a first touch, if others open, restore or restart meanwhile. More than it waits for a claim.
pub(super) const TOUCHES_MAX: usize = 12;

/// The most reads of a row, if others move it meanwhile.
const READS_MAX: usize = 4;

/// How long a row read at the creation of its key may be used. Hours later it says little about how far the counter is.
pub(super) const PREREAD_MAX: Duration = Duration::from_secs(5);

/// Text for a counter that is far ahead without a row, or with one that never gave. The ledger was lost, or the cell was set by
/// hand.
pub const UNKNOWN_COUNTER: &str = "the ledger knows of no number of this counter";

/// Text for a row whose ceiling is far more than its counter can have reached.
const FAR_CEILING: &str = "the ledger's row has a ceiling of";

/// The row of a counter, read together with the others of its key.
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
            // The ids permitted above those reported.
            let permitted = row.as_ref().map_or(0, |row| jump_limit::left_ahead(row.reached(), row.ceiling));
            let (is_known, given) = (
                row.as_ref().is_some_and(|row| !row.is_unbegun()),
                row.as_ref().map_or(0, |row| self.given(row)),
            );
            if let Some(row) = row.filter(|row| self.names(row, &store, &ledger)) {
                if self.state().refused() != Some(row.epoch) {
                    // With the instances in force. They equal the row's own, unless a mutation switches that rule off.
                    return Ok(self.take_up(Row { store, ledger, ..row }));
                }
                if self.waits_for_another(&row, clock_ms).await {
                    continue;
                }
            }
            match self.open((&store, over), want, (permitted, given), is_known).await {
                Ok(grant) => return Ok(grant),
                Err(error) if matches!(error.kind(), ErrorKind::InstanceChanged | ErrorKind::Regressed) => {
                    last = Some(overtaken(&error));
                }
                Err(error) if error.kind() == ErrorKind::Jumped && !is_known => {
                    return Err(self.unknown(&error));
                }
                Err(error) => return Err(error),
            }
        }
        Err(last.unwrap_or_else(|| {
            SourceError::new(ErrorKind::Contended, "acquiring a grant was repeated too often")
        }))
    }

    /// The error of a jump without a row. If the ledger was lost, the cell is right.
    fn unknown(&self, error: &SourceError) -> SourceError {
        let Counter { slot, key } = &self.counter;
        let context = format!(
            "{}; {UNKNOWN_COUNTER}: if the ledger was lost, the value is right, and its cell must stay: `sequent advance {} \
             TO --jump`, TO at least the highest number of it that was given, then `sequent rescue {slot} --why TEXT`",
            error.context(),
            key.sequence(),
        );
        SourceError::new(ErrorKind::Jumped, context).with(Condition::FarWithoutRow)
    }

    /// Reads the counter's row, the ledger's instance, and its clock.
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
                state.refused().is_some()
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
        Err(SourceError::new(ErrorKind::Contended, "the row changed at each attempt to read it"))
    }

    fn names(&self, row: &Row, store: &InstanceId, ledger: &InstanceId) -> bool {
        let rules = self.shared.rules;
        // R2, R3
        (row.store == *store || !rules.keep(Rule::RowNamesStore))
            && (row.ledger == *ledger || !rules.keep(Rule::RowNamesLedger))
    }

    /// Closes, opens and installs. `permitted` is the number of ids permitted above those reported, `given` the highest id
    /// known to be given.
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
        // Without the ledger no open can follow. A close would only take the counter from servers that still hold grants.
        shared.client.in_reach()?;
        self.drop_grant();
        let value = self
            .shard
            .store()
            .close(cell, epoch)
            .await
            .map_err(|error| self.instance_changed(store, error))?;
        self.compare_with_taken(value);
        // R9
        let counts = if rules.keep(Rule::OpenCountsValue) { value } else { 0 };
        // If the cell says nothing, the key's other slots say how far it may have been. A counter that never began has asked
        // them at its claim.
        let beside = if value == 0 && is_known { self.beside().await? } else { 0 };
        let opening = Opening { beside, over, ..self.opening(epoch, store, counts, want, permitted) };
        self.begin(store, opening, (value, given)).await
    }

    /// Opens and installs, after the cell was closed for this epoch and found at `value`. `given` is the highest id known to be
    /// given.
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
            // Nothing is installed: the cell may have the epoch that is in the row by now, and that one is joined.
            Opened::Known(_) | Opened::Overtaken => {
                let context = "another server began the counter";
                return Err(SourceError::new(ErrorKind::InstanceChanged, context));
            }
            Opened::Jumped { found, bound } if found > known => return Err(self.far_ceiling(found, bound)),
            Opened::Jumped { found, bound } => return Err(self.jumped(found, bound)),
        };
        // The server that opened an epoch knows first that it failed; others wait for it while the epoch is young.
        self.waits_no_more(epoch);
        let installed = self.shard.store().install(cell, epoch, row.base).await;
        if installed.as_ref().is_err_and(|error| error.kind() == ErrorKind::Regressed) {
            // Another server closed the cell after us. It cannot open over this epoch, which it has not read.
            self.state().enter(CounterState::Refused(epoch));
        }
        installed.map_err(|error| self.instance_changed(store, error))?;
        self.tell_opened(epoch, row.base, value, given);
        Ok(self.take_up(row))
    }

    /// Reports a value below what was taken: the store forgot. The ceiling prevents repeats, but the operator should know.
    pub(super) fn compare_with_taken(&self, value: u64) {
        let (taken, refused) = {
            let state = self.state();
            (state.taken, state.refused())
        };
        if value < taken {
            self.regressed(refused, format!("the counter was at {taken}, and was found at {value}"));
        }
    }

    fn opening(&self, epoch: Epoch, store: &InstanceId, value: u64, want: u64, permitted: u64) -> Opening {
        let mut state = self.state();
        state.refused_no_more();
        let config = self.shared.config;
        let ahead = state.pace.wanted_room(config.outage, config.raise_within()).full;
        let cap = jump_limit::ahead_max(value, self.raw_max());
        let ahead = ahead.min(cap).max(want.min(self.raw_max().saturating_sub(value)));
        // An epoch that ended by a crash leaves its ceiling ahead of what was seen. That difference is no jump.
        let permitted = permitted.max(jump_limit::ahead_max(0, self.raw_max()));
        let jump_max = jump_limit::jump_max(value, self.raw_max(), want).saturating_add(permitted);
        let (counter, store) = (self.counter.clone(), store.clone());
        Opening { counter, epoch, over: Over::Any, store, value, beside: 0, ahead, jump_max }
    }

    pub(super) fn drop_grant(&self) {
        self.state().lay_down(CounterState::Closed);
    }

    /// Drops a store whose instance changed, so that it is inspected before it is used again.
    pub(super) fn instance_changed(&self, store: &InstanceId, error: SourceError) -> SourceError {
        if error.kind() == ErrorKind::InstanceChanged {
            self.shard.forget(store);
        }
        error
    }

    /// The error of a jump in the ledger's row that the cell does not show.
    fn far_ceiling(&self, found: u64, bound: u64) -> SourceError {
        let Counter { slot, key } = &self.counter;
        let context =
            format!("slot {slot} key {key}: {FAR_CEILING} {found}, a jump: at most {bound} is accepted");
        SourceError::new(ErrorKind::Jumped, context).with(Condition::FarCeiling)
    }

    pub(super) fn jumped(&self, found: u64, bound: u64) -> SourceError {
        let Counter { slot, key } = &self.counter;
        let context = format!("slot {slot} key {key}: raw id {found} is a jump: at most {bound} is accepted");
        SourceError::new(ErrorKind::Jumped, context)
    }

    /// Raises the store's counter for order's sake, under the grant and never by a jump.
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
            // This would burn what is left under the ceiling, and no id above it could leave.
            self.shared.client.in_reach()?;
        }
        match self.lift_cell(&grant, floor).await {
            Ok(()) => Ok(()),
            Err(error) => self.refused(&grant, error).map(drop),
        }
    }
}

/// Turns a regression into `InstanceChanged`: other servers were faster each time, and the counter is not at fault.
pub(super) fn overtaken(error: &SourceError) -> SourceError {
    match error.kind() {
        ErrorKind::Regressed => SourceError::new(ErrorKind::InstanceChanged, error.context().to_owned()),
        _ => error.clone(),
    }
}
