//! Luhn's check digit: the sum of digits, every second one from the right doubled. Also over any alphabet of even size.

use crate::number::Alphabet;

use super::algorithm::{Algorithm, DIGITS, decimal, digits, one};

/// The state holds two sums: one with the last digit doubled, one without.
pub(super) fn luhn(name: &'static str) -> Algorithm {
    Algorithm {
        fold: |_, state, piece| digits(piece).fold(state, |sums, digit| step(sums, digit, 10)),
        finish: |_, state| one(DIGITS, (10 - (state >> 16)) % 10),
        ..decimal(name)
    }
}

/// Luhn's algorithm modulo the size of an alphabet.
pub(super) fn luhn_mod_n(name: &'static str, alphabet: &str) -> Result<Algorithm, String> {
    let radix = Alphabet::custom(alphabet)?.radix();
    if radix % 2 != 0 {
        // Doubling with carry is a permutation only if the size is even.
        return Err(format!("alphabet has {radix} characters: an even number is allowed for luhn"));
    }
    Ok(Algorithm {
        body: alphabet.to_owned().into(),
        characters: alphabet.to_owned().into(),
        fold: |of, state, piece| {
            let size = size(of);
            of.values(piece).fold(state, |sums, value| step(sums, value, size))
        },
        finish: |of, state| one(&of.characters, (size(of) - (state >> 16)) % size(of)),
        ..decimal(name)
    })
}

/// The sums after the next digit, which swaps them.
fn step(sums: u32, digit: u32, size: u32) -> u32 {
    let (doubled, plain) = (sums >> 16, sums & 0xffff);
    let twice = digit * 2;
    ((plain + twice / size + twice % size) % size) << 16 | ((doubled + digit) % size)
}

fn size(algorithm: &Algorithm) -> u32 {
    u32::try_from(algorithm.body.len()).unwrap_or(2)
}

#[cfg(test)]
mod tests {
    use super::super::checksum;
    use super::*;

    #[test]
    fn published_vectors() {
        for number in ["49927398716", "490154203237518", "78949"] {
            let (body, check) = number.split_at(number.len() - 1);
            assert_eq!(checksum("luhn", body), check);
        }
        let own = luhn_mod_n("luhn", "abcdef").unwrap();
        assert_eq!(own.finish(own.fold(own.start, b"abcdef"))[0], b'e');
        assert!(luhn_mod_n("luhn", "abc").unwrap_err().contains("even"));
    }
}
