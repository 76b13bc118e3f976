//! Damm's quasigroup of order 10: catches every wrong digit and every swap of neighbours.
//!
//! The table is the one of Wikipedia's article "Damm algorithm"; another one is in use elsewhere, so name the table when
//! you exchange numbers: this one gives 4 for 572.

use super::{Algorithm, Characters, DIGITS, one};

#[derive(Debug)]
pub(super) struct Damm;

const TABLE: [[u8; 10]; 10] = [
    [0, 3, 1, 7, 5, 9, 8, 6, 4, 2],
    [7, 0, 9, 2, 1, 5, 4, 8, 6, 3],
    [4, 2, 0, 6, 8, 7, 1, 3, 5, 9],
    [1, 7, 5, 0, 9, 8, 3, 4, 2, 6],
    [6, 1, 2, 3, 0, 4, 5, 9, 7, 8],
    [3, 6, 7, 4, 2, 0, 9, 5, 8, 1],
    [5, 8, 6, 9, 7, 2, 0, 1, 3, 4],
    [8, 9, 4, 5, 3, 6, 2, 0, 1, 7],
    [9, 4, 3, 8, 6, 1, 7, 2, 0, 5],
    [2, 5, 8, 1, 4, 3, 6, 7, 9, 0],
];

/// Two digits at once: each step waits for the one before it, so there had better be few. An entry is the next state
/// where it will be looked for, 128 entries a state, so that a step is an addition and a load.
#[allow(clippy::cast_possible_truncation, clippy::cast_lossless, reason = "9 * 128 at most, in a constant")]
const PAIRS: [u16; PLACES] = {
    let mut pairs = [0; PLACES];
    let (mut state, mut pair) = (0, 0);
    while state < 10 {
        let next = TABLE[TABLE[state][pair / 10] as usize][pair % 10];
        pairs[state * STATE + pair] = next as u16 * STATE as u16;
        (state, pair) = if pair == 99 { (state + 1, 0) } else { (state, pair + 1) };
    }
    pairs
};

/// How far apart the entries of two states are: more than there are pairs of digits.
const STATE: usize = 128;

/// A power of two, so that no index can be out of it.
const PLACES: usize = 16 * STATE;

fn step(interim: usize, byte: u8) -> usize {
    let digit = usize::from(byte.wrapping_sub(b'0'));
    if digit < 10 { usize::from(TABLE[interim][digit]) } else { interim }
}

impl Algorithm for Damm {
    fn name(&self) -> &'static str {
        "damm"
    }

    fn fold(&self, state: u32, piece: &[u8]) -> u32 {
        let mut place = state as usize % 10 * STATE;
        let (pairs, last) = piece.as_chunks::<2>();
        for &[first, second] in pairs {
            let (a, b) = (usize::from(first.wrapping_sub(b'0')), usize::from(second.wrapping_sub(b'0')));
            if a < 10 && b < 10 {
                place = usize::from(PAIRS[(place + a * 10 + b) % PLACES]);
            } else {
                place = step(step(place / STATE, first), second) * STATE;
            }
        }
        let interim = place / STATE;
        let interim = last.iter().fold(interim, |interim, byte| step(interim, *byte));
        u32::try_from(interim).unwrap_or(0)
    }

    fn finish(&self, state: u32) -> Characters {
        one(DIGITS, state)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn published_vectors() {
        assert_eq!(super::super::of("damm", "572"), "4");
        assert_eq!(super::super::of("damm", "43881234567"), "9");
        assert_eq!(super::super::of("damm", "00000572"), "4", "zeros in front change nothing");
        assert_eq!(super::super::of("damm", "-5-7-2"), "4", "what is no digit is skipped");
    }
}
