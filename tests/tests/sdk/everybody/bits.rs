//! Numbers given by anybody, a bit each: millions of them are checked in little memory.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

/// Numbers a chunk.
const CHUNK: u64 = 1 << 16;

type Chunk = Box<[u64; (CHUNK / 64) as usize]>;

/// Every number given so far; shared by threads.
#[derive(Default)]
pub(crate) struct Bits {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    chunks: HashMap<u64, Chunk>,
    count: u64,
    twice: Vec<String>,
}

impl Bits {
    /// Notes what `who` was given.
    pub(crate) fn add(&self, who: &str, numbers: impl IntoIterator<Item = u64>) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        for number in numbers {
            inner.add(who, number);
        }
    }

    /// How many numbers were given; panics where one came twice.
    pub(crate) fn count(&self) -> u64 {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(inner.twice.is_empty(), "given twice: {:?}", &inner.twice[..inner.twice.len().min(20)]);
        inner.count
    }
}

impl Inner {
    fn add(&mut self, who: &str, number: u64) {
        let chunk = self.chunks.entry(number / CHUNK).or_insert_with(|| Box::new([0; _]));
        let (word, bit) = (usize::try_from(number % CHUNK / 64).unwrap(), 1 << (number % 64));
        if chunk[word] & bit != 0 {
            self.twice.push(format!("{number}, the second time to {who}"));
        }
        chunk[word] |= bit;
        self.count += 1;
    }
}

#[test]
#[should_panic(expected = "7, the second time to b")]
fn a_number_given_twice_is_named() {
    let bits = Bits::default();
    bits.add("a", [6, 7, 1 << 40]);
    bits.add("b", [8, 7]);
    bits.count();
}
