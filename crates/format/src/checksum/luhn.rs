//! Luhn's check digit: the sum of digits, every second one from the right doubled. Also over any alphabet of even size.

use crate::number::Alphabet;

use super::algorithm::{Algorithm, Characters, DIGITS, digits, one};

/// The state holds two sums: one with the last digit doubled, one without. The next digit swaps them.
#[derive(Debug)]
pub(super) struct Luhn;

impl Algorithm for Luhn {
    fn name(&self) -> &'static str {
        "luhn"
    }

    fn fold(&self, state: u32, piece: &[u8]) -> u32 {
        digits(piece).fold(state, |sums, digit| {
            let (doubled, plain) = (sums >> 16, sums & 0xffff);
            let twice = digit * 2;
            ((plain + twice / 10 + twice % 10) % 10) << 16 | ((doubled + digit) % 10)
        })
    }

    fn finish(&self, state: u32) -> Characters {
        one(DIGITS, (10 - (state >> 16)) % 10)
    }
}

/// Luhn's algorithm modulo the size of an alphabet.
#[derive(Debug)]
pub(super) struct LuhnModN {
    alphabet: Alphabet,
}

impl LuhnModN {
    pub(super) fn new(alphabet: &str) -> Result<Self, String> {
        let alphabet = Alphabet::custom(alphabet)?;
        if alphabet.radix() % 2 == 0 {
            return Ok(Self { alphabet });
        }
        // Doubling with carry is a permutation only if the size is even.
        Err(format!("alphabet has {} characters: an even number is allowed for luhn", alphabet.radix()))
    }

    fn size(&self) -> u32 {
        u32::try_from(self.alphabet.radix()).unwrap_or(2)
    }
}

impl Algorithm for LuhnModN {
    fn name(&self) -> &'static str {
        "luhn"
    }

    fn body(&self) -> &str {
        self.alphabet.as_str()
    }

    fn characters(&self) -> &str {
        self.alphabet.as_str()
    }

    fn fold(&self, state: u32, piece: &[u8]) -> u32 {
        let size = self.size();
        let values = piece.iter().filter_map(|byte| u32::try_from(self.alphabet.value(*byte)?).ok());
        values.fold(state, |sums, value| {
            let (doubled, plain) = (sums >> 16, sums & 0xffff);
            let twice = value * 2;
            ((plain + twice / size + twice % size) % size) << 16 | ((doubled + value) % size)
        })
    }

    fn finish(&self, state: u32) -> Characters {
        one(self.alphabet.as_str(), (self.size() - (state >> 16)) % self.size())
    }
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
        let own = LuhnModN::new("abcdef").unwrap();
        assert_eq!(own.finish(own.fold(own.start(), b"abcdef"))[0], b'e');
        assert!(LuhnModN::new("abc").unwrap_err().contains("even"));
    }
}
