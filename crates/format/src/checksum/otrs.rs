//! OTRS's date checksum: weights 1 and 2 from the left without a sum of digits. Ten is written as 1, so some errors go
//! undetected.

use super::algorithm::{Algorithm, Characters, DIGITS, digits, one};

/// The state holds the weight of the next digit minus one, and the sum.
#[derive(Debug)]
pub(super) struct Otrs;

impl Algorithm for Otrs {
    fn name(&self) -> &'static str {
        "otrs"
    }

    fn fold(&self, state: u32, piece: &[u8]) -> u32 {
        digits(piece).fold(state, |state, digit| {
            let (second, sum) = (state >> 16, state & 0xffff);
            ((1 - second) << 16) | ((sum + (second + 1) * digit) % 10)
        })
    }

    fn finish(&self, state: u32) -> Characters {
        one(
            DIGITS,
            match 10 - (state & 0xffff) {
                10 => 1,
                digit => digit,
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::checksum;

    #[test]
    fn published_vectors() {
        assert_eq!(checksum("otrs", "200206231010001"), "1");
        let tens = (0..1000).filter(|n| checksum("otrs", &format!("{n:03}")) == "1").count();
        assert!(tens > 100, "10 gives 1, too: {tens}");
    }
}
