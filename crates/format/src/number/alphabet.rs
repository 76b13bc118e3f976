//! Alphabets: numbers as digits of any radix from 2 to 64, and back.

use crate::limits::WIDTH_MAX;

/// The digits of a radix, as ASCII characters; the first is the zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Alphabet {
    digits: Vec<u8>,
}

/// A buffer for the digits of one number.
pub(crate) type DigitBuffer = [u8; WIDTH_MAX];

const TEN: &str = "0123456789";
const CROCKFORD: &str = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const SIXTY_TWO: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

impl Alphabet {
    /// How many digits an alphabet can have.
    const SIZES: std::ops::RangeInclusive<usize> = 2..=64;

    /// `0` to `9`.
    pub(crate) fn decimal() -> Self {
        Self { digits: TEN.into() }
    }

    /// An alphabet as `radix=` names it: `10`, `16`, `32c`, `36`, `62`, or the characters themselves, the zero first.
    pub(crate) fn named(word: &str) -> Result<Self, String> {
        let digits = match word {
            "10" => TEN,
            "16" => &SIXTY_TWO[..16],
            "32c" => CROCKFORD,
            "36" => &SIXTY_TWO[..36],
            "62" => SIXTY_TWO,
            custom => custom,
        };
        Self::custom(digits)
    }

    /// An alphabet of the characters of `text`, the zero first.
    pub(crate) fn custom(text: &str) -> Result<Self, String> {
        let digits = text.as_bytes();
        if !digits.iter().all(u8::is_ascii_graphic) {
            return Err(format!("alphabet is {text:?}: visible characters of ASCII are allowed"));
        }
        if !Self::SIZES.contains(&digits.len()) {
            return Err(format!("alphabet has {} characters: 2 to 64 are allowed", digits.len()));
        }
        let twice = digits.iter().enumerate().find(|(at, digit)| digits[..*at].contains(digit));
        match twice {
            Some((_, &digit)) => {
                Err(format!("alphabet has {:?} twice: two numbers would share a text", char::from(digit)))
            }
            None => Ok(Self { digits: digits.to_vec() }),
        }
    }

    /// The alphabet with each character changed; `None` if two become equal.
    pub(crate) fn mapped(&self, change: impl Fn(&u8) -> u8) -> Option<Self> {
        let digits: Vec<u8> = self.digits.iter().map(change).collect();
        Self::custom(std::str::from_utf8(&digits).ok()?).ok()
    }

    /// The number of digits.
    pub(crate) fn radix(&self) -> u64 {
        self.digits.len() as u64
    }

    /// All digits, the zero first.
    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.digits).unwrap_or_default()
    }

    /// The digit of value 0.
    pub(crate) fn zero(&self) -> u8 {
        self.digits.first().copied().unwrap_or(b'0')
    }

    /// Whether this is Crockford's base 32. Its readers take O for 0, and I and L for 1.
    pub(crate) fn is_crockford(&self) -> bool {
        self.digits == CROCKFORD.as_bytes()
    }

    /// The digit that a reader takes a character for. Only Crockford's base 32 has more than one spelling.
    pub(crate) fn read_as(&self, character: u8) -> u8 {
        if !self.is_crockford() {
            return character;
        }
        crockford_canonical(char::from(character)).try_into().unwrap_or(character)
    }

    /// The digit of a value.
    pub(crate) fn digit(&self, value: u64) -> u8 {
        usize::try_from(value).ok().and_then(|at| self.digits.get(at)).copied().unwrap_or(b'?')
    }

    /// The value of a digit.
    pub(crate) fn value(&self, digit: u8) -> Option<u64> {
        self.digits.iter().position(|known| *known == digit).map(|at| at as u64)
    }

    /// Writes a number at the end of `buffer`, padded on the left with `pad` to `width`.
    pub(crate) fn write<'a>(
        &self,
        number: u64,
        width: usize,
        pad: u8,
        buffer: &'a mut DigitBuffer,
    ) -> &'a [u8] {
        let mut at = buffer.len();
        if self.radix() == 10 && self.digits == TEN.as_bytes() {
            let mut decimal = itoa::Buffer::new();
            let digits = decimal.format(number).as_bytes();
            at -= digits.len();
            buffer[at..].copy_from_slice(digits);
        } else {
            let (radix, mut rest) = (self.radix(), number);
            loop {
                at -= 1;
                buffer[at] = self.digit(rest % radix);
                rest /= radix;
                if rest == 0 {
                    break;
                }
            }
        }
        let start = at.min(buffer.len() - width.min(WIDTH_MAX));
        buffer[start..at].fill(pad);
        &buffer[start..]
    }

    /// The number of some digits; `None` for a foreign character or more than 64 bits.
    pub(crate) fn read(&self, digits: &[u8]) -> Option<u64> {
        digits.iter().try_fold(0_u64, |number, digit| {
            number.checked_mul(self.radix())?.checked_add(self.value(*digit)?)
        })
    }

    /// The number of digits of a number.
    pub(crate) fn width_of(&self, number: u64) -> usize {
        number.checked_ilog(self.radix()).map_or(1, |log| log as usize + 1)
    }

    /// The highest number of `width` digits, at most `u64::MAX`.
    pub(crate) fn highest(&self, width: usize) -> u64 {
        let width = u32::try_from(width).unwrap_or(u32::MAX);
        self.radix().checked_pow(width).map_or(u64::MAX, |all| all - 1)
    }
}

/// The rendered form of a character of Crockford's base 32. People also type O for 0, I and L for 1, and lower case.
pub(crate) fn crockford_canonical(c: char) -> char {
    match c.to_ascii_uppercase() {
        'O' => '0',
        'I' | 'L' => '1',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(radix: &str, number: u64, width: usize) -> String {
        let digits = Alphabet::named(radix).unwrap();
        let mut buffer = [0; WIDTH_MAX];
        String::from_utf8(digits.write(number, width, digits.zero(), &mut buffer).to_vec()).unwrap()
    }

    #[test]
    fn the_top_of_each_radix() {
        assert_eq!(text("10", u64::MAX, 1), "18446744073709551615");
        assert_eq!(text("36", 9_223_372_036_854_775_807, 1), "1Y2P0IJ32E8E7");
        assert_eq!(text("62", 9_223_372_036_854_775_807, 1), "AzL8n0Y58m7");
        assert_eq!(text("01", u64::MAX, 1).len(), 64);
        assert_eq!(text("32c", 1234, 4), "016J");
        assert_eq!(text("32c", 1_000_000_000, 1), "XSNJG0");
        assert_eq!(text("10", 7, 64).len(), 64);
    }

    #[test]
    fn an_alphabet_names_its_fault() {
        assert_eq!(Alphabet::named("0").unwrap_err(), "alphabet has 1 characters: 2 to 64 are allowed");
        assert!(Alphabet::named("0120").unwrap_err().contains("'0' twice"));
        assert!(Alphabet::named("0é").is_err() && Alphabet::named("0 1").is_err());
    }

    proptest! {
        #[test]
        fn digits_read_back(number: u64, radix in prop::sample::select(vec!["10", "16", "32c", "36", "62", "ab"])) {
            let digits = Alphabet::named(radix).unwrap();
            let written = text(radix, number, 1);
            prop_assert_eq!(digits.read(written.as_bytes()), Some(number));
            prop_assert_eq!(digits.width_of(number), written.len());
            if written.len() < 11 {
                prop_assert!(number <= digits.highest(written.len()));
                prop_assert!(written.len() == 1 || number > digits.highest(written.len() - 1));
            }
        }
    }
}
