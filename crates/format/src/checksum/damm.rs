//! Damm's check digit: a quasigroup of order 10. It detects every wrong digit and every swap of neighbours.
//!
//! The table is the one of Wikipedia's article "Damm algorithm": 572 has the check digit 4. Other tables exist, so agree on the
//! table before you exchange numbers.

use super::algorithm::{Algorithm, decimal};

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

/// The table for two digits at once. Each step depends on the one before it, so fewer steps are faster. An entry is the next
/// state times [`STATE`], so that a step is one addition and one load.
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

/// The distance between the entries of two states. There are 100 pairs of digits.
const STATE: usize = 128;

/// The size of the table: a power of two, so that the compiler can prove indices to be in bounds.
const PLACES: usize = 16 * STATE;

fn step(interim: usize, byte: u8) -> usize {
    let digit = usize::from(byte.wrapping_sub(b'0'));
    if digit < 10 { usize::from(TABLE[interim][digit]) } else { interim }
}

pub(super) fn damm(name: &'static str) -> Algorithm {
    Algorithm { fold, ..decimal(name) }
}

fn fold(_: &Algorithm, state: u32, piece: &[u8]) -> u32 {
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

#[cfg(test)]
mod tests {
    #[test]
    fn published_vectors() {
        assert_eq!(super::super::checksum("damm", "572"), "4");
        assert_eq!(super::super::checksum("damm", "43881234567"), "9");
        assert_eq!(super::super::checksum("damm", "00000572"), "4", "leading zeros change nothing");
        assert_eq!(super::super::checksum("damm", "-5-7-2"), "4", "other characters are skipped");
    }
}
