//! ISO/IEC 7064: the pure systems (MOD 11-2, 37-2, 97-10) and the hybrid ones (MOD 11,10 and 37,36).

use super::{ALPHANUMERIC, Algorithm, Characters, DIGITS, one, two, value};

/// One check character, modulo a prime, radix 2. It may be one more than a body may hold: X, or *.
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

/// Two check digits over digits and letters, a letter being two digits: that of LEI.
#[derive(Debug)]
pub(super) struct Mod97;

/// A number modulo 97, its letters being two digits each.
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

/// One check character of the body's own alphabet.
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
    use super::super::of;

    fn holds(name: &str, number: &str) {
        let length = super::super::named(name).unwrap().length();
        let (body, check) = number.split_at(number.len() - length);
        assert_eq!(of(name, body), check, "{name} {number}");
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
        // An IBAN's country and check digits stand in front, and count as if they followed.
        holds("mod97-10", "435411161155BE31");
    }

    #[test]
    fn the_extra_character_is_reached() {
        let stars = (0..1000).filter(|n| of("mod37-2", &format!("{n:03}")) == "*").count();
        assert!(stars > 0);
    }
}
