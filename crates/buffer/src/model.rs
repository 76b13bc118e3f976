//! The gate under loom: every order of its loads and stores that the memory model allows, for a few callers and turns.
//!
//! `RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test --release -p sequent-buffer --lib`
//!
//! A caller draws like the hot path does, and settles a miss under the mutex like a turn does. What is asked of every
//! execution: no number twice, and none lost.
//!
//! Turns red when: a base ignores where the word stood, `end` is loaded relaxed or published before `origin` and `step`,
//! a turn does not close the word, a miss is not resolved. What loom cannot show is a relaxed load that reads a write
//! from its future, so the orderings of the draw and of the closing rest on the argument in `gate`.

#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

use loom::{
    sync::{Arc, Mutex},
    thread,
};
use sequent_core::Block;

use crate::{
    gate::Gate,
    lot::Lot,
    tickets::{Claim, Tickets},
};

struct Room {
    gate: Gate,
    turns: Mutex<Turns>,
}

struct Turns {
    tickets: Tickets,
    /// Blocks that wait their turn, the last one first.
    stock: Vec<Lot>,
}

impl Room {
    fn new(blocks: &[(u64, u64, u64)]) -> Arc<Self> {
        let stock =
            blocks.iter().rev().map(|&(first, step, count)| Block::new(first, step, count).unwrap().into());
        let mut turns = Turns { tickets: Tickets::default(), stock: stock.collect() };
        let gate = Gate::new();
        turns.turn(&gate);
        Arc::new(Self { gate, turns: Mutex::new(turns) })
    }

    /// One number or none: the hot path, and where it misses, the mutex.
    fn next(&self) -> Option<u64> {
        let miss = match self.gate.draw() {
            Ok(number) => return Some(number),
            Err(miss) => miss,
        };
        let mut turns = self.turns.lock().unwrap();
        match turns.tickets.resolve(miss) {
            Claim::Yours(lot) => return Some(lot.block.first()),
            Claim::Forgotten(_) => panic!("nothing is forgotten within so few turns"),
            Claim::Void => {}
        }
        if let Some(lot) = turns.tickets.draw(&self.gate, 1) {
            return Some(lot.block.first());
        }
        turns.turn(&self.gate);
        turns.tickets.draw(&self.gate, 1).map(|lot| lot.block.first())
    }

    /// What a chunk takes: up to `count` numbers in one draw, a miss settled under the mutex.
    fn chunk(&self, count: u64) -> Vec<u64> {
        let block = match self.gate.draw_many(count) {
            Ok(block) => Some(block),
            Err(miss) => match self.turns.lock().unwrap().tickets.resolve(miss) {
                Claim::Yours(lot) => Some(lot.block),
                _ => None,
            },
        };
        block.iter().flat_map(Block::iter).collect()
    }

    /// A turn before its time, as a put-back, an expiry or a close makes it.
    fn interrupt(&self) {
        self.turns.lock().unwrap().turn(&self.gate);
    }

    /// What nobody has taken.
    fn rest(&self) -> Vec<u64> {
        let mut turns = self.turns.lock().unwrap();
        let mut lots: Vec<Lot> = turns.tickets.close(&self.gate).into_iter().collect();
        lots.append(&mut turns.stock);
        lots.iter().flat_map(|lot| lot.block.iter()).collect()
    }
}

impl Turns {
    /// Closes the gate, puts what is left back to the front, opens the first block.
    fn turn(&mut self, gate: &Gate) {
        self.stock.extend(self.tickets.close(gate));
        if let Some(lot) = self.stock.pop() {
            self.tickets.open(gate, lot);
        }
    }
}

/// Runs the callers beside the main thread's own work; every number must come out once.
fn check(
    blocks: &'static [(u64, u64, u64)],
    callers: &'static [fn(&Room) -> Vec<u64>],
    own: fn(&Room) -> Vec<u64>,
) {
    let mut model = loom::model::Builder::new();
    // Three switches away from a thread that could go on find every known bug of this kind of code.
    model.preemption_bound = Some(3);
    model.check(move || {
        let room = Room::new(blocks);
        let threads: Vec<_> = callers
            .iter()
            .map(|caller| {
                let room = Arc::clone(&room);
                thread::spawn(move || caller(&room))
            })
            .collect();
        let mut found = own(&room);
        found.extend(threads.into_iter().flat_map(|thread| thread.join().unwrap()));
        found.extend(room.rest());
        found.sort_unstable();
        let mut expected: Vec<u64> = blocks
            .iter()
            .flat_map(|&(first, step, count)| Block::new(first, step, count).unwrap().iter())
            .collect();
        expected.sort_unstable();
        assert_eq!(found, expected, "no number twice, and none lost");
    });
}

fn two(room: &Room) -> Vec<u64> {
    [room.next(), room.next()].into_iter().flatten().collect()
}

fn three(room: &Room) -> Vec<u64> {
    [room.next(), room.next(), room.next()].into_iter().flatten().collect()
}

fn one_chunk(room: &Room) -> Vec<u64> {
    room.chunk(2)
}

fn interrupted(room: &Room) -> Vec<u64> {
    room.interrupt();
    room.next().into_iter().collect()
}

#[test]
fn two_callers_across_turns() {
    check(&[(10, 1, 1), (20, 3, 2), (40, 1, 1)], &[two], two);
}

#[test]
fn callers_that_find_it_dry_own_nothing_of_what_comes() {
    check(&[(10, 1, 1), (20, 1, 3)], &[three], three);
}

#[test]
fn three_callers() {
    check(&[(10, 1, 1), (20, 2, 2)], &[|room| room.next().into_iter().collect(), two], |room| {
        room.next().into_iter().collect()
    });
}

#[test]
fn a_range_that_is_interrupted_loses_and_repeats_nothing() {
    check(&[(10, 1, 3), (20, 1, 2)], &[two], interrupted);
}

#[test]
fn chunks_and_single_numbers() {
    check(&[(10, 1, 3), (20, 5, 2)], &[one_chunk, two], |room| room.next().into_iter().collect());
}
