//! ISO/IEC 7064: the pure systems MOD 11-2, 37-2 and 97-10, and the hybrid systems MOD 11,10 and 37,36.

use super::algorithm::{ALPHANUMERIC, Algorithm, DIGITS, decimal, one, two, value};

/// A pure system with one check character: radix 2, modulo a prime. The check character may be one that a body cannot hold: X or *.
fn pure(name: &'static str, body: &'static str, characters: &'static str) -> Algorithm {
    Algorithm {
        body: body.into(),
        characters: characters.into(),
        fold: |of, state, piece| {
            let modulus = size(&of.characters);
            values(of, piece).fold(state, |sum, value| (sum + value) * 2 % modulus)
        },
        finish: |of, state| {
            let modulus = size(&of.characters);
            one(&of.characters, (modulus + 1 - state) % modulus)
        },
        ..decimal(name)
    }
}

pub(super) fn mod11_2(name: &'static str) -> Algorithm {
    pure(name, DIGITS, "0123456789X")
}

pub(super) fn mod37_2(name: &'static str) -> Algorithm {
    pure(name, ALPHANUMERIC, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ*")
}

/// MOD 97-10 of LEI: two check digits over digits and letters. A letter counts as two digits.
pub(super) fn mod97_10(name: &'static str) -> Algorithm {
    Algorithm {
        body: ALPHANUMERIC.into(),
        length: 2,
        fold: |_, state, piece| modulo_97(state, piece),
        finish: |_, state| two(98 - state * 100 % 97),
        ..decimal(name)
    }
}

/// The remainder modulo 97, with two digits for each letter.
pub(super) fn modulo_97(state: u32, piece: &[u8]) -> u32 {
    let values = piece.iter().filter_map(|byte| value(*byte));
    values.fold(state, |rest, value| (rest * if value < 10 { 10 } else { 100 } + value) % 97)
}

/// A hybrid system: one check character of the body's alphabet.
fn hybrid(name: &'static str, letters: &'static str) -> Algorithm {
    Algorithm {
        body: letters.into(),
        characters: letters.into(),
        start: size(letters),
        fold: |of, state, piece| {
            let size = size(&of.body);
            values(of, piece).fold(state, |product, value| {
                let sum = (product + value) % size;
                (if sum == 0 { size } else { sum }) * 2 % (size + 1)
            })
        },
        finish: |of, state| {
            let size = size(&of.body);
            one(&of.body, (size + 1 - state) % size)
        },
        ..decimal(name)
    }
}

pub(super) fn mod11_10(name: &'static str) -> Algorithm {
    hybrid(name, DIGITS)
}

pub(super) fn mod37_36(name: &'static str) -> Algorithm {
    hybrid(name, ALPHANUMERIC)
}

/// The values of the digits and letters that an algorithm reads.
fn values(of: &Algorithm, piece: &[u8]) -> impl Iterator<Item = u32> {
    let size = size(&of.body);
    piece.iter().filter_map(|byte| value(*byte)).filter(move |value| *value < size)
}

/// The size of an alphabet.
fn size(letters: &str) -> u32 {
    u32::try_from(letters.len()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::checksum;

    fn holds(name: &str, number: &str) {
        let length = super::super::named(name).unwrap().length;
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
