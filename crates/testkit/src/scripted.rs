//! A source that does what the test says, take by take.

use std::{
    collections::VecDeque,
    future::pending,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use sequent_core::{Block, Blocks, BoxFuture, ErrorKind, Source, SourceError};

/// What one take does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// Gives what was asked for, in one block.
    Give,
    /// Gives at most so many.
    Short(u64),
    /// Fails at once.
    Err(ErrorKind),
    /// Never answers; its numbers are not taken.
    Hang,
    /// Takes its numbers now, and never answers.
    Swallow,
    /// Does the other act, and answers so much later: the numbers are those of the beginning.
    Late(Duration, Box<Act>),
    /// Is at the end of its range from now on.
    RunOut,
    /// Gives numbers that begin so far below where it was.
    Back(u64),
    /// Gives numbers that begin so far above where it was.
    Jump(u64),
}

impl Act {
    /// `Give`, so much later.
    pub fn late(after: Duration) -> Self {
        Self::Late(after, Box::new(Self::Give))
    }
}

/// Follows a script, then does its last act for ever. Counts 1, 2, 3, … unless told otherwise.
///
/// ```
/// use sequent_core::{ErrorKind, Source};
/// use sequent_testkit::{Act, ScriptedSource};
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let source = ScriptedSource::new([Act::Give, Act::Err(ErrorKind::Unavailable)], Act::Give);
/// assert_eq!(source.take(3).await.unwrap().highest(), Some(3));
/// assert_eq!(source.take(3).await.unwrap_err().kind(), ErrorKind::Unavailable);
/// assert_eq!(source.take(3).await.unwrap().highest(), Some(6));
/// assert_eq!((source.wants(), source.position()), (vec![3, 3, 3], Some(6)));
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct ScriptedSource {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    script: VecDeque<Act>,
    rest: Act,
    value: u64,
    limit: u64,
    wants: Vec<u64>,
    lifts: Vec<u64>,
}

/// What the beginning of a take decided; the rest is waiting.
struct Plan {
    wait: Option<Duration>,
    answer: Option<Result<Blocks, SourceError>>,
}

impl ScriptedSource {
    /// Does each act of `script` once, and `rest` from then on.
    pub fn new(script: impl IntoIterator<Item = Act>, rest: Act) -> Self {
        let script = script.into_iter().collect();
        let state = State { script, rest, value: 0, limit: Block::NUMBER_MAX, wants: vec![], lifts: vec![] };
        Self { state: Mutex::new(state) }
    }

    /// A source that always gives.
    pub fn giving() -> Self {
        Self::new([], Act::Give)
    }

    /// The same source, with numbers up to `limit`: past it, it is exhausted.
    #[must_use]
    pub fn up_to(self, limit: u64) -> Self {
        self.state().limit = limit;
        self
    }

    /// The same source, going on above `value`.
    #[must_use]
    pub fn above(self, value: u64) -> Self {
        self.state().value = value;
        self
    }

    /// Adds an act to the end of the script.
    pub fn then(&self, act: Act) {
        self.state().script.push_back(act);
    }

    /// Forgets the script, and does `act` from now on.
    pub fn always(&self, act: Act) {
        let mut state = self.state();
        state.script.clear();
        state.rest = act;
    }

    /// What each take asked for, in order.
    pub fn wants(&self) -> Vec<u64> {
        self.state().wants.clone()
    }

    /// How many takes began.
    pub fn takes(&self) -> usize {
        self.state().wants.len()
    }

    /// The floor of each lift, in order.
    pub fn lifts(&self) -> Vec<u64> {
        self.state().lifts.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn begin(&mut self, want: u64) -> Plan {
        self.wants.push(want);
        let act = self.script.pop_front().unwrap_or_else(|| self.rest.clone());
        self.act(act, want.max(1))
    }

    fn act(&mut self, act: Act, want: u64) -> Plan {
        let answer = match act {
            Act::Give => Some(self.give(want)),
            Act::Short(most) => Some(self.give(want.min(most).max(1))),
            Act::Err(kind) => Some(Err(SourceError::new(kind, "scripted"))),
            Act::Hang => None,
            Act::Swallow => {
                let _ = self.give(want);
                None
            }
            Act::Late(after, act) => {
                let plan = self.act(*act, want);
                return Plan { wait: Some(plan.wait.unwrap_or_default() + after), answer: plan.answer };
            }
            Act::RunOut => {
                self.limit = self.value;
                Some(self.give(want))
            }
            Act::Back(by) => {
                self.value = self.value.saturating_sub(by);
                Some(self.give(want))
            }
            Act::Jump(by) => {
                self.value = self.value.saturating_add(by);
                Some(self.give(want))
            }
        };
        Plan { wait: None, answer }
    }

    fn give(&mut self, want: u64) -> Result<Blocks, SourceError> {
        let left = self.limit.saturating_sub(self.value);
        let first = self.value.saturating_add(1);
        let block = Block::new(first, 1, want.min(left)).map_err(SourceError::exhausted)?;
        self.value = block.last();
        Ok(block.into())
    }
}

impl Source for ScriptedSource {
    fn take(&self, want: u64) -> BoxFuture<'_, Result<Blocks, SourceError>> {
        Box::pin(async move {
            let plan = self.state().begin(want);
            if let Some(wait) = plan.wait {
                tokio::time::sleep(wait).await;
            }
            match plan.answer {
                Some(answer) => answer,
                None => pending().await,
            }
        })
    }

    fn lift(&self, floor: u64) -> BoxFuture<'_, Result<(), SourceError>> {
        let mut state = self.state();
        state.lifts.push(floor);
        state.value = state.value.max(floor.min(Block::NUMBER_MAX));
        Box::pin(std::future::ready(Ok(())))
    }

    fn position(&self) -> Option<u64> {
        Some(self.state().value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn first(source: &ScriptedSource) -> Result<u64, ErrorKind> {
        source.take(2).await.map(|blocks| blocks.as_slice()[0].first()).map_err(|error| error.kind())
    }

    #[tokio::test(start_paused = true)]
    async fn each_act_does_what_it_says() {
        let source =
            ScriptedSource::new([Act::Jump(100), Act::Back(102), Act::Short(1), Act::RunOut], Act::Give);
        assert_eq!(first(&source).await, Ok(101), "jumped over 1..=100");
        assert_eq!(first(&source).await, Ok(1), "back by what was given and jumped over");
        assert_eq!(source.take(5).await.unwrap().count(), 1);
        assert_eq!(first(&source).await, Err(ErrorKind::Exhausted));
        assert_eq!(first(&source).await, Err(ErrorKind::Exhausted), "for good");
    }

    #[tokio::test(start_paused = true)]
    async fn a_late_answer_has_the_numbers_of_its_beginning() {
        let source = ScriptedSource::new([Act::late(Duration::from_secs(1))], Act::Give);
        let (late, prompt) = tokio::join!(first(&source), first(&source));
        assert_eq!((late, prompt), (Ok(1), Ok(3)));
    }

    #[tokio::test(start_paused = true)]
    async fn what_never_answers_may_or_may_not_have_taken() {
        let source = ScriptedSource::new([Act::Hang, Act::Swallow], Act::Give);
        for expected in [0, 2] {
            let cut = tokio::time::timeout(Duration::from_secs(9), source.take(2)).await;
            assert!(cut.is_err(), "it never answers");
            assert_eq!(source.position(), Some(expected));
        }
    }

    #[tokio::test]
    async fn the_limit_is_given_and_not_passed() {
        let source = ScriptedSource::giving().above(7).up_to(8);
        assert_eq!(source.take(5).await.unwrap().count(), 1, "what is left");
        assert_eq!(first(&source).await, Err(ErrorKind::Exhausted));
    }
}
