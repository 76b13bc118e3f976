//! `advance`: moves a key forward for an import. No number up to the named one is given any more.

use std::fmt;

use sequent_core::{Key, Layout, SequenceName, Span, ledger::DenseAsk};
use sequent_engine::{Body, Engine, EngineError, NextRequest, Placement, Reason, dense_number};
use sequent_guard::{Headroom, JumpBound};
use serde::{Deserialize, Serialize};

use crate::{admin::Admin, suspect_rows::Suspect};

/// The widest jump of a dense counter without `jump`, if the range is large enough: the same as for a counter
/// on a ring.
const DENSE_JUMP_MAX: u64 = 1 << 36;

/// The widest jump without `jump` in a small range: so much is always allowed.
const DENSE_JUMP_MIN: u64 = 4;

/// The share of the remaining numbers that such a jump may be.
const DENSE_JUMP_SHARE: u64 = 1000;

/// How often a dense counter is read again if others took from it meanwhile.
const DENSE_TRIES_MAX: u32 = 16;

/// An advance, as an operator asks for it.
#[derive(Debug, Clone)]
pub struct AdvanceAsk {
    /// The key.
    pub request: NextRequest,
    /// No number up to this one may be given any more.
    pub to: u64,
    /// The operator has confirmed the jump, whatever its width.
    pub jump: bool,
    /// The sequence is new: it is defined as a first use would.
    pub create: bool,
    /// The period of the key, instead of an instant.
    pub period: Option<String>,
}

/// The result of an advance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdvanceReport {
    /// The sequence.
    pub sequence: String,
    /// The key.
    pub key: String,
    /// No number up to this one is given any more.
    pub to: u64,
    /// The highest number that was given before, as far as servers had reported; 0: none.
    pub before: u64,
    /// The lowest number that may be given now. Absent if none is left.
    pub next: Option<u64>,
    /// Whether the key had been advanced so far already.
    pub already: bool,
    /// Counters whose rows are not trusted, so that `before` leaves them out: which ones, why, and what to
    /// do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aside: Vec<String>,
}

/// The result of moving a key.
#[derive(Default)]
struct Moved {
    before: u64,
    next: Option<u64>,
    aside: Vec<String>,
}

/// The checked target of an advance.
struct AdvanceTarget<'a> {
    engine: &'a Engine,
    name: &'a SequenceName,
    key: Key,
    span: Span,
    to: u64,
    jump: bool,
}

impl AdvanceAsk {
    /// Carries it out, as [`advance`] does.
    ///
    /// # Errors
    ///
    /// Those of [`advance`], and of a period that the sequence does not have.
    pub async fn run(mut self, engine: &Engine) -> Result<AdvanceReport, EngineError> {
        if self.create {
            engine.first_use(&self.request.name).await?;
        }
        if let Some(period) = &self.period {
            self.request.at = Some(engine.beginning(&self.request.name, period).await?);
        }
        advance(engine, &self.request, self.to, self.jump).await
    }
}

/// Moves the key of a request forward, so that no server gives a number up to `to` any more. Every server
/// follows within two seconds. Leases that clients hold go on until they end. A repeated call changes
/// nothing. `jump`: the operator has confirmed the jump, whatever its width.
///
/// # Errors
///
/// `SEQUENCE_NOT_FOUND` for a name that nobody has defined or used. This holds even if a first use may define
/// it, because it may be misspelt ([`first_use`](Engine::first_use) defines it). `INVALID_ARGUMENT` for a
/// target that is lower than now or beyond the sequence's end, or for an unconfirmed jump.
pub async fn advance(
    engine: &Engine,
    request: &NextRequest,
    to: u64,
    jump: bool,
) -> Result<AdvanceReport, EngineError> {
    let (key, body) = engine.key_of(request).await?;
    let target = AdvanceTarget { engine, name: &request.name, key, span: body.span(), to, jump };
    target.advance(body.placement()).await
}

/// A key that an import moves forward. The plan has shown the number, so that even a wide jump is meant, and a counter that is
/// above it stays there. The definition need not be there yet.
#[derive(Debug, Clone)]
pub(crate) struct Raise {
    pub(crate) name: SequenceName,
    pub(crate) key: Key,
    pub(crate) body: Body,
    pub(crate) to: u64,
}

impl Raise {
    fn target<'a>(&'a self, engine: &'a Engine) -> AdvanceTarget<'a> {
        let (name, key) = (&self.name, self.key.clone());
        AdvanceTarget { engine, name, key, span: self.body.span(), to: self.to, jump: true }
    }

    /// The key, and the raw id up to which its counters move.
    fn floor(&self, engine: &Engine) -> Option<(Key, u64)> {
        let floors = self.target(engine).floors(engine.cluster().layout());
        let highest = floors.into_iter().max().filter(|highest| *highest > 0)?;
        (self.body.placement() == Placement::Spread).then(|| (self.key.clone(), highest))
    }

    /// Moves the counters of the key forward. What it did is recorded by
    /// [`record_advanced`](Engine::record_advanced).
    pub(crate) async fn run(&self, engine: &Engine) -> Result<(), EngineError> {
        let target = self.target(engine);
        target.check_range()?;
        match self.body.placement() {
            Placement::Spread => {
                let (guard, layout) = (engine.guard(), engine.cluster().layout());
                let moved =
                    guard.advance(&target.key, target.span.raw_max(layout), &target.floors(layout)).await;
                moved.map_err(|error| EngineError::of_source(target.name, error))
            }
            Placement::Dense => target.advance_dense(true).await.map(drop),
        }
    }
}

/// Notes in one call how far these keys will be, rather than one after the other.
pub(crate) async fn announce(engine: &Engine, raises: &[Raise]) -> Result<(), EngineError> {
    let floors: Vec<(Key, u64)> = raises.iter().filter_map(|raise| raise.floor(engine)).collect();
    let Some(first) = raises.first().filter(|_| !floors.is_empty()) else { return Ok(()) };
    let announced = engine.guard().announce(&floors).await;
    announced.map_err(|error| EngineError::of_source(&first.name, error))
}

/// How far a key has given numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Given {
    /// Up to this number at least, as servers had reported; `None`: none was reported.
    at_least: Option<u64>,
    /// Up to this number at most: servers report later than they give, and not at all if they are killed.
    pub(crate) at_most: u64,
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at_least, at_most } = self;
        match at_least {
            Some(given) if given == at_most => write!(f, "it gave numbers up to {given}"),
            Some(given) => write!(f, "it gave numbers up to {given} at least and {at_most} at most"),
            None => write!(f, "it may have given numbers up to {at_most}"),
        }
    }
}

/// How far the key of a request has given numbers; `None`: it has given none.
pub(crate) async fn given(engine: &Engine, request: &NextRequest) -> Result<Option<Given>, EngineError> {
    let (key, body) = engine.key_of(request).await?;
    let target = AdvanceTarget { engine, name: &request.name, key, span: body.span(), to: 0, jump: false };
    target.given(body.placement()).await
}

impl AdvanceTarget<'_> {
    async fn given(&self, placement: Placement) -> Result<Option<Given>, EngineError> {
        if placement == Placement::Dense {
            let at = self.engine.dense_at(self.name, &self.key, self.span.capacity()).await?;
            let exact = |number| Given { at_least: Some(number), at_most: number };
            return Ok((at > 0).then(|| exact(dense_number(self.span, at))));
        }
        let (guard, layout) = (self.engine.guard(), self.engine.cluster().layout());
        let headroom = guard.headroom(&self.key, self.span.raw_max(layout)).await;
        let headroom = headroom.map_err(|error| EngineError::of_source(self.name, error))?;
        let of = |id: fn(&Headroom) -> u64| self.highest(layout, headroom.iter(), id);
        let (at_least, at_most) = (of(|slot| slot.at), of(|slot| slot.ceiling));
        let at_most = at_most.map(|at_most| at_most.min(self.span.limit())).max(at_least);
        Ok(at_most.map(|at_most| Given { at_least, at_most }))
    }

    async fn advance(self, placement: Placement) -> Result<AdvanceReport, EngineError> {
        self.check_range()?;
        let (held, to) = (self.engine.advanced_to(&self.key).await?, self.to);
        if held > to {
            let bound =
                format!("at least {held} is allowed: the key was advanced to it, and goes forward only");
            return Err(EngineError::invalid("to", to, bound));
        }
        let Moved { before, next, aside } = match placement {
            Placement::Spread => self.advance_spread(held == to).await?,
            Placement::Dense => self.advance_dense(held == to).await?,
        };
        self.engine.note_advanced(&self.key, to).await?;
        let (sequence, key) = (self.name.to_string(), self.key.to_string());
        Ok(AdvanceReport { sequence, key, to, before, next, already: held == to, aside })
    }

    async fn advance_spread(&self, again: bool) -> Result<Moved, EngineError> {
        let (guard, layout) = (self.engine.guard(), self.engine.cluster().layout());
        let Self { name, key, span, .. } = self;
        let raw_max = span.raw_max(layout);
        let of_guard = |error| EngineError::of_source(name, error);
        let headroom = guard.headroom(key, raw_max).await.map_err(of_guard)?;
        let floors = self.floors(layout);
        let suspects = Admin::of(self.engine).suspects_of(key).await?;
        let is_believed = |slot: &&Headroom| !suspects.iter().any(|row| row.counter.slot == slot.slot);
        let before = self.highest(layout, headroom.iter().filter(is_believed), |slot| slot.at).unwrap_or(0);
        if !again {
            self.check_forward(before)?;
            self.check_jump(layout, &headroom, &floors)?;
        }
        guard.advance(key, raw_max, &floors).await.map_err(of_guard)?;
        let after = guard.headroom(key, raw_max).await.map_err(of_guard)?;
        let aside = suspects.iter().map(Suspect::line).collect();
        Ok(Moved { before, next: self.lowest(layout, &after), aside })
    }

    /// Moves a dense counter by taking all numbers in between and discarding them.
    async fn advance_dense(&self, again: bool) -> Result<Moved, EngineError> {
        let (span, limit) = (self.span, self.span.capacity());
        let target = (self.to - span.start()) / span.step() + 1;
        let number = |ordinal: u64| dense_number(span, ordinal);
        let mut before = None;
        for _ in 0..DENSE_TRIES_MAX {
            let at = self.engine.dense_at(self.name, &self.key, limit).await?;
            let before = *before.get_or_insert(number(at));
            if at >= target {
                if !again && at > target {
                    self.check_forward(before)?;
                }
                let next = (at < limit).then(|| number(at + 1));
                return Ok(Moved { before, next, aside: Vec::new() });
            }
            let (jump, decided_by) = dense_jump(limit - at);
            if !self.jump && !again && target - at > jump {
                return Err(self.jumps(number(at.saturating_add(jump)), decided_by, 1));
            }
            // If others take meanwhile, this would move the counter further than asked for. The ledger then
            // answers that the request is behind, and the counter is read again.
            let ask = DenseAsk { key: self.key.clone(), count: target - at, limit: target, above: at };
            let counted = self.engine.guard().count(ask).await;
            counted.map_err(|error| EngineError::of_source(self.name, error))?;
        }
        let text =
            format!("numbers of {} were taken at each of {DENSE_TRIES_MAX} tries: try again", self.name);
        Err(EngineError::new(Reason::LedgerUnavailable, text))
    }
}

/// The widest jump of a dense counter with so many numbers left, and the rule that decides it.
fn dense_jump(left: u64) -> (u64, JumpBound) {
    match left / DENSE_JUMP_SHARE {
        share if share < DENSE_JUMP_MIN => (DENSE_JUMP_MIN, JumpBound::Blocks),
        share if share > DENSE_JUMP_MAX => (DENSE_JUMP_MAX, JumpBound::Cap),
        share => (share, JumpBound::Share),
    }
}

impl AdvanceTarget<'_> {
    fn check_range(&self) -> Result<(), EngineError> {
        let (start, limit) = (self.span.start(), self.span.limit());
        // In the ledger, 0 says that the key was not advanced.
        let (least, what) = if start == 0 { (1, "after 0, a number") } else { (start, "the first number") };
        if self.to < least {
            return Err(self.refused(format!("at least {least}, {what} of {}, is allowed", self.name)));
        }
        if self.to > limit {
            return Err(
                self.refused(format!("at most {limit}, the last number of {}, is allowed", self.name))
            );
        }
        Ok(())
    }

    /// The raw id that each counter must exceed; 0 where every number is above the target.
    fn floors(&self, layout: Layout) -> Vec<u64> {
        let place = self.span.place_up_to(layout, self.to);
        let floor = |slot| place.map_or(0, |place| layout.raw_behind(place, slot));
        (0..layout.slots()).map(floor).collect()
    }

    /// The highest number of these ids of the counters.
    fn highest<'h>(
        &self,
        layout: Layout,
        headroom: impl Iterator<Item = &'h Headroom>,
        id: fn(&Headroom) -> u64,
    ) -> Option<u64> {
        let place = headroom.filter_map(|slot| layout.place_of(id(slot), slot.slot)).max()?;
        Some(self.span.number_at(layout, place))
    }

    /// The lowest number that any counter can give.
    fn lowest(&self, layout: Layout, headroom: &[Headroom]) -> Option<u64> {
        let first = |slot: &Headroom| {
            let last = layout.place_of(slot.at.saturating_add(1), slot.slot)?;
            let above = self.span.place_up_to(layout, self.to).map_or(0, |place| place + 1);
            Some((last - (layout.numbers_per_id() - 1)).max(above))
        };
        let number = self.span.number_at(layout, headroom.iter().filter_map(first).min()?);
        (number <= self.span.limit()).then_some(number)
    }

    fn check_forward(&self, before: u64) -> Result<(), EngineError> {
        if self.to >= before {
            return Ok(());
        }
        Err(self.refused(format!(
            "at least {before} is allowed: numbers up to it were given, and it goes forward only"
        )))
    }

    fn check_jump(&self, layout: Layout, headroom: &[Headroom], floors: &[u64]) -> Result<(), EngineError> {
        let jumps = headroom.iter().zip(floors).any(|(slot, floor)| *floor > slot.bound);
        if self.jump || !jumps {
            return Ok(());
        }
        let bound = |slot: &Headroom| Some((layout.place_of(slot.bound, slot.slot)?, slot.decided_by));
        let least = headroom.iter().filter_map(bound).min_by_key(|(place, _)| *place);
        let (place, decided_by) = least.unwrap_or((0, JumpBound::Blocks));
        Err(self.jumps(self.span.number_at(layout, place), decided_by, layout.numbers_per_id()))
    }

    /// The refusal of an unconfirmed jump. A counter on a ring gives several numbers for each id, a dense
    /// counter one.
    fn jumps(&self, bound: u64, decided_by: JumpBound, numbers_per_id: u64) -> EngineError {
        let bound = bound.min(self.span.limit());
        let more = match decided_by {
            JumpBound::Blocks => {
                let least = DENSE_JUMP_MIN.saturating_mul(numbers_per_id);
                format!("more than {least} numbers of one counter, as little is left")
            }
            JumpBound::Share => "more than a thousandth of what is left".to_owned(),
            JumpBound::Cap => {
                let most = DENSE_JUMP_MAX.saturating_mul(numbers_per_id);
                format!("more than {most} numbers of one counter")
            }
        };
        self.refused(format!("at most {bound} is allowed without --jump, which confirms a jump ({more})"))
    }

    fn refused(&self, bound: String) -> EngineError {
        EngineError::invalid("to", self.to, bound)
    }
}
