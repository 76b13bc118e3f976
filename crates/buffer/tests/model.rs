//! Property test of the reservoir against a simple model: a set of numbers and a queue of callers.

#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

mod support;

use std::{
    collections::{BTreeSet, VecDeque},
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

use proptest::prelude::*;
use sequent_buffer::{LocalHandle, Reservoir, ReservoirConfig, TakeError};
use sequent_core::{Block, Blocks, BoxFuture, ErrorKind, Source, SourceError};
use support::Fixture;
use tokio::sync::oneshot;

/// One step of a run.
#[derive(Debug, Clone)]
enum Step {
    Try,
    /// A caller joins and wants this many.
    Take(u64),
    /// The waiting caller at this position is dropped.
    Drop(usize),
    /// All waiting callers are polled.
    Poll,
    /// The refill in flight gives blocks of (gap before, step, count).
    Refill(Vec<(u64, u64, u64)>),
    /// The refill in flight fails.
    Fail,
    TakeLocally,
    /// The local handle is dropped, with its chunk.
    DropLocal,
    Trim,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::Try),
        4 => (1..12_u64).prop_map(Step::Take),
        2 => (0..4_usize).prop_map(Step::Drop),
        3 => Just(Step::Poll),
        6 => prop::collection::vec((0..3_u64, 1..4_u64, 1..40_u64), 1..4).prop_map(Step::Refill),
        1 => Just(Step::Fail),
        4 => Just(Step::TakeLocally),
        1 => Just(Step::DropLocal),
        1 => Just(Step::Trim),
    ]
}

type Answer = Result<Blocks, SourceError>;

/// A source whose takes are answered by the test.
#[derive(Default)]
struct AnsweredByTest {
    out: Mutex<VecDeque<oneshot::Sender<Answer>>>,
}

impl Source for AnsweredByTest {
    fn take(&self, _: u64) -> BoxFuture<'_, Answer> {
        let (sender, receiver) = oneshot::channel();
        self.out.lock().unwrap().push_back(sender);
        Box::pin(async move { receiver.await.unwrap() })
    }
}

type Waiting = Pin<Box<dyn Future<Output = Result<Blocks, TakeError>> + Send>>;

struct Harness {
    fixture: Fixture,
    source: Arc<AnsweredByTest>,
    local: Option<LocalHandle>,
    waiting: VecDeque<(u64, Waiting)>,
    highest: u64,
    given: BTreeSet<u64>,
    received: BTreeSet<u64>,
}

impl Harness {
    fn new() -> Self {
        let source = Arc::new(AnsweredByTest::default());
        let fixture = support::with(source.clone(), ReservoirConfig::default());
        let (waiting, given, received) = (VecDeque::new(), BTreeSet::new(), BTreeSet::new());
        Self { fixture, source, local: None, waiting, highest: 0, given, received }
    }

    fn reservoir(&self) -> Reservoir {
        self.fixture.reservoir.clone()
    }

    async fn apply(&mut self, step: Step) {
        match step {
            Step::Try => {
                let number = self.reservoir().try_next();
                self.receive(number);
            }
            Step::Take(want) => {
                let reservoir = self.reservoir();
                self.waiting.push_back((want, Box::pin(async move { reservoir.take(want, None).await })));
                self.poll();
            }
            Step::Drop(place) => drop(self.waiting.remove(place)),
            Step::Poll => self.poll(),
            Step::Refill(parts) => self.refill(&parts),
            Step::Fail => {
                if let Some(refill) = self.source.out.lock().unwrap().pop_front() {
                    drop(refill.send(Err(SourceError::new(ErrorKind::NoShard, "by hand"))));
                }
            }
            Step::TakeLocally => {
                let reservoir = self.reservoir();
                let number = self.local.get_or_insert_with(|| reservoir.local()).try_next();
                self.receive(number);
            }
            Step::DropLocal => self.local = None,
            Step::Trim => drop(self.fixture.reservoir.trim()),
        }
        support::settle().await;
    }

    fn refill(&mut self, parts: &[(u64, u64, u64)]) {
        let Some(refill) = self.source.out.lock().unwrap().pop_front() else { return };
        let mut blocks = Vec::new();
        for &(gap, step, count) in parts {
            let block = Block::new(self.highest + gap + 1, step, count).unwrap();
            self.highest = block.last();
            blocks.push(block);
        }
        self.given.extend(blocks.iter().flat_map(Block::iter));
        drop(refill.send(Ok(Blocks::from_unsorted(blocks))));
    }

    /// Callers are answered in the order in which they came.
    fn poll(&mut self) {
        let mut cx = Context::from_waker(Waker::noop());
        let mut still = VecDeque::new();
        while let Some((want, mut caller)) = self.waiting.pop_front() {
            match caller.as_mut().poll(&mut cx) {
                Poll::Pending => still.push_back((want, caller)),
                Poll::Ready(Ok(blocks)) => {
                    assert!(still.is_empty(), "overtook a caller that came earlier");
                    assert_eq!(blocks.count(), want, "all or nothing");
                    assert!(blocks.as_slice().is_sorted_by_key(Block::first));
                    blocks.numbers().for_each(|number| self.receive(Some(number)));
                }
                Poll::Ready(Err(error)) => assert!(matches!(error, TakeError::Source(_)), "{error}"),
            }
        }
        self.waiting = still;
    }

    fn receive(&mut self, number: Option<u64>) {
        let Some(number) = number else { return };
        assert!(self.given.contains(&number), "{number} never came from the source");
        assert!(self.received.insert(number), "{number} was handed out twice");
    }

    /// Every number of the source was received, is held, or was reported as discarded.
    fn account(&mut self) {
        self.local = None;
        self.waiting.clear();
        let stats = self.fixture.reservoir.stats();
        assert_eq!(stats.discarded, self.fixture.dropped());
        assert_eq!(stats.issued, self.received.len() as u64, "{stats:?}");
        assert_eq!(stats.at_risk, stats.reserve, "nothing is lent any more");
        assert_eq!(stats.issued + stats.reserve + stats.discarded, self.given.len() as u64, "{stats:?}");
        while let Some(number) = self.fixture.reservoir.try_next() {
            self.receive(Some(number));
        }
        assert_eq!(self.received.len() as u64 + stats.discarded, self.given.len() as u64);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_number_is_repeated_or_unaccounted_for(steps in prop::collection::vec(step(), 1..60)) {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let mut harness = Harness::new();
            for step in steps {
                harness.apply(step).await;
            }
            harness.account();
        });
    }
}
