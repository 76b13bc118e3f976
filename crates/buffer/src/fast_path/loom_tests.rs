//! Loom tests of the fast path: every order of its loads and stores that the memory model allows, for a few callers.
//!
//! `RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test --release -p sequent-buffer --lib`
//!
//! A caller draws like the fast path does, and resolves a missed draw under the mutex like the slow path does. Every
//! execution must issue each number once: none twice, and none lost.
//!
//! The tests fail if a base ignores where the counter stood, if `end` is loaded relaxed or published before `origin` and
//! `step`, if a range is replaced without closing the counter, or if a missed draw is not resolved.
//!
//! Loom cannot show a relaxed load that reads a write from its future. So the orderings of the draw and of the closing
//! rest on the argument in `ticket_counter`.

#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

use loom::{
    sync::{Arc, Mutex},
    thread,
};
use sequent_core::Block;

use super::{
    ticket_counter::TicketCounter,
    ticket_ranges::{Resolved, TicketRanges},
};
use crate::expiring_block::ExpiringBlock;

struct Fixture {
    tickets: TicketCounter,
    state: Mutex<State>,
}

struct State {
    ranges: TicketRanges,
    /// Queued blocks, the last one first.
    blocks: Vec<ExpiringBlock>,
}

impl Fixture {
    fn new(blocks: &[(u64, u64, u64)]) -> Arc<Self> {
        let blocks =
            blocks.iter().rev().map(|&(first, step, count)| Block::new(first, step, count).unwrap().into());
        let mut state = State { ranges: TicketRanges::default(), blocks: blocks.collect() };
        let tickets = TicketCounter::new();
        state.replace_range(&tickets);
        Arc::new(Self { tickets, state: Mutex::new(state) })
    }

    /// One number or none: the fast path first, and the mutex if it misses.
    fn next(&self) -> Option<u64> {
        let miss = match self.tickets.draw() {
            Ok(number) => return Some(number),
            Err(miss) => miss,
        };
        let mut state = self.state.lock().unwrap();
        match state.ranges.resolve(miss) {
            Resolved::Owned(block) => return Some(block.numbers.first()),
            Resolved::Forgotten(_) => panic!("nothing is forgotten after so few ranges"),
            Resolved::Nothing => {}
        }
        if let Some(block) = state.ranges.draw(&self.tickets, 1) {
            return Some(block.numbers.first());
        }
        state.replace_range(&self.tickets);
        state.ranges.draw(&self.tickets, 1).map(|block| block.numbers.first())
    }

    /// Up to `count` numbers in one draw, as a local handle takes them. A missed draw is resolved under the mutex.
    fn chunk(&self, count: u64) -> Vec<u64> {
        let block = match self.tickets.draw_many(count) {
            Ok(block) => Some(block),
            Err(miss) => match self.state.lock().unwrap().ranges.resolve(miss) {
                Resolved::Owned(block) => Some(block.numbers),
                _ => None,
            },
        };
        block.iter().flat_map(Block::iter).collect()
    }

    /// Replaces the open range early, as a returned block, an expiry or a close does.
    fn interrupt(&self) {
        self.state.lock().unwrap().replace_range(&self.tickets);
    }

    /// The numbers that nobody has taken.
    fn rest(&self) -> Vec<u64> {
        let mut state = self.state.lock().unwrap();
        let mut blocks: Vec<ExpiringBlock> = state.ranges.close(&self.tickets).into_iter().collect();
        blocks.append(&mut state.blocks);
        blocks.iter().flat_map(|block| block.numbers.iter()).collect()
    }
}

impl State {
    /// Closes the counter, puts the rest of its range back to the front, and opens the first block.
    fn replace_range(&mut self, tickets: &TicketCounter) {
        self.blocks.extend(self.ranges.close(tickets));
        if let Some(block) = self.blocks.pop() {
            self.ranges.open(tickets, block);
        }
    }
}

/// Runs the callers beside the main thread's own work. Every number must come out once.
fn check(
    blocks: &'static [(u64, u64, u64)],
    callers: &'static [fn(&Fixture) -> Vec<u64>],
    own: fn(&Fixture) -> Vec<u64>,
) {
    let mut model = loom::model::Builder::new();
    // Three preemptions are enough for every known bug of this kind of code.
    model.preemption_bound = Some(3);
    model.check(move || {
        let fixture = Fixture::new(blocks);
        let threads: Vec<_> = callers
            .iter()
            .map(|caller| {
                let fixture = Arc::clone(&fixture);
                thread::spawn(move || caller(&fixture))
            })
            .collect();
        let mut found = own(&fixture);
        found.extend(threads.into_iter().flat_map(|thread| thread.join().unwrap()));
        found.extend(fixture.rest());
        found.sort_unstable();
        let mut expected: Vec<u64> = blocks
            .iter()
            .flat_map(|&(first, step, count)| Block::new(first, step, count).unwrap().iter())
            .collect();
        expected.sort_unstable();
        assert_eq!(found, expected, "no number twice, and none lost");
    });
}

fn two(fixture: &Fixture) -> Vec<u64> {
    [fixture.next(), fixture.next()].into_iter().flatten().collect()
}

fn three(fixture: &Fixture) -> Vec<u64> {
    [fixture.next(), fixture.next(), fixture.next()].into_iter().flatten().collect()
}

fn one_chunk(fixture: &Fixture) -> Vec<u64> {
    fixture.chunk(2)
}

fn interrupted(fixture: &Fixture) -> Vec<u64> {
    fixture.interrupt();
    fixture.next().into_iter().collect()
}

#[test]
fn two_callers_across_turns() {
    check(&[(10, 1, 1), (20, 3, 2), (40, 1, 1)], &[two], two);
}

#[test]
fn callers_of_an_empty_reservoir_own_nothing_of_the_next_block() {
    check(&[(10, 1, 1), (20, 1, 3)], &[three], three);
}

#[test]
fn three_callers() {
    check(&[(10, 1, 1), (20, 2, 2)], &[|fixture| fixture.next().into_iter().collect(), two], |fixture| {
        fixture.next().into_iter().collect()
    });
}

#[test]
fn an_interrupted_range_loses_and_repeats_nothing() {
    check(&[(10, 1, 3), (20, 1, 2)], &[two], interrupted);
}

#[test]
fn chunks_and_single_numbers() {
    check(&[(10, 1, 3), (20, 5, 2)], &[one_chunk, two], |fixture| fixture.next().into_iter().collect());
}
