//! ISO/IEC 7064: the pure systems MOD 11-2, 37-2 and 97-10, and the hybrid systems MOD 11,10 and 37,36.

use super::algorithm::{ALPHANUMERIC, Algorithm, Characters, DIGITS, one, two, value};

/// A pure system with one check character: radix 2, modulo a prime. The check character may be one that a body cannot hold: X or *.
#[derive(Debug)]
pub(super) struct Pure {
    name: &'static str,
    modulus: u32,
    body: &'static str,
    characters: &'static str,
}

impl Pure {
    pub(super) fn mod11_2() -> Self {
        Self { name: "mod11-2", modulus: 11, body: DIGITS, characters: "0123456789X" }
    }

    pub(super) fn mod37_2() -> Self {
        let characters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ*";
        Self { name: "mod37-2", modulus: 37, body: ALPHANUMERIC, characters }
    }
}

impl Algorithm for Pure {
    fn name(&self) -> &'static str {
        self.name
    }

    fn body(&self) -> &'static str {
        self.body
    }

    fn characters(&self) -> &'static str {
        self.characters
    }

    fn fold(&self, state: u32, piece: &[u8]) -> u32 {
        let letters = u32::try_from(self.body.len()).unwrap_or(0);
        let values = piece.iter().filter_map(|byte| value(*byte)).filter(|value| *value < letters);
        values.fold(state, |sum, value| (sum + value) * 2 % self.modulus)
    }

    fn finish(&self, state: u32) -> Characters {
        one(self.characters, (self.modulus + 1 - state) % self.modulus)
    }
}

/// MOD 97-10 of LEI: two check digits over digits and letters. A letter counts as two digits.
#[derive(Debug)]
pub(super) struct Mod97;

/// The remainder modulo 97, with two digits for each letter.
pub(super) fn modulo_97(state: u32, piece: &[u8]) -> u32 {
    let values = piece.iter().filter_map(|byte| value(*byte));
    values.fold(state, |rest, value| (rest * if value < 10 { 10 } else { 100 } + value) % 97)
}

impl Algorithm for Mod97 {
    fn name(&self) -> &'static str {
        "mod97-10"
    }

    fn body(&self) -> &'static str {
        ALPHANUMERIC
    }

    fn length(&self) -> usize {
        2
    }

    fn fold(&self, state: u32, piece: &[u8]) -> u32 {
        modulo_97(state, piece)
    }

    fn finish(&self, state: u32) -> Characters {
        two(98 - state * 100 % 97)
    }
}

/// A hybrid system: one check character of the body's alphabet.
#[derive(Debug)]
pub(super) struct Hybrid {
    name: &'static str,
    letters: &'static str,
}

impl Hybrid {
    pub(super) fn mod11_10() -> Self {
        Self { name: "mod11-10", letters: DIGITS }
    }

    pub(super) fn mod37_36() -> Self {
        Self { name: "mod37-36", letters: ALPHANUMERIC }
    }

    fn size(&self) -> u32 {
        u32::try_from(self.letters.len()).unwrap_or(10)
    }
}

impl Algorithm for Hybrid {
    fn name(&self) -> &'static str {
        self.name
    }

    fn body(&self) -> &'static str {
        self.letters
    }

    fn characters(&self) -> &'static str {
        self.letters
    }

    fn start(&self) -> u32 {
        self.size()
    }

    fn fold(&self, state: u32, piece: &[u8]) -> u32 {
        let size = self.size();
        let values = piece.iter().filter_map(|byte| value(*byte)).filter(|value| *value < size);
        values.fold(state, |product, value| {
            let sum = (product + value) % size;
            (if sum == 0 { size } else { sum }) * 2 % (size + 1)
        })
    }

    fn finish(&self, state: u32) -> Characters {
        one(self.letters, (self.size() + 1 - state) % self.size())
    }
}

#[cfg(test)]
mod tests {
    use super::super::checksum;

    fn holds(name: &str, number: &str) {
        let length = super::super::named(name).unwrap().length();
        let (body, check) = number.split_at(number.len() - length);
        assert_eq!(checksum(name, body), check, "{name} {number}");
    }

    #[test]
    fn published_vectors() {
        for number in ["07940", "079X", "000000012281955X", "0000-0002-1825-0097", "11010519491231002X"] {
            holds("mod11-2", number);
        }
        holds("mod37-2", "G123489654321Y");
        for number in ["A12425GABC1234002M", "123ABX"] {
            holds("mod37-36", number);
        }
        for number in ["794623", "07945"] {
            holds("mod11-10", number);
        }
        for number in ["9999123456789012141490", "213800KUD8LAJWSQ9D15", "536702", "530397", "533598"] {
            holds("mod97-10", number);
        }
        // An IBAN starts with country and check digits, which are computed as if they followed.
        holds("mod97-10", "435411161155BE31");
    }

    #[test]
    fn the_extra_character_is_reached() {
        let stars = (0..1000).filter(|n| checksum("mod37-2", &format!("{n:03}")) == "*").count();
        assert!(stars > 0);
    }
}
