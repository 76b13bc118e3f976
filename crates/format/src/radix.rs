//! Numbers as digits of some alphabet, and back.

use crate::limits::WIDTH_MAX;

/// An alphabet of ASCII characters; the first is the zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Digits {
    letters: Vec<u8>,
}

/// Where digits are written before they are part of a text.
pub(crate) type DigitBuffer = [u8; WIDTH_MAX];

const TEN: &str = "0123456789";
const CROCKFORD: &str = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const SIXTY_TWO: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

impl Digits {
    /// The fewest and most digits of an alphabet.
    const SIZES: std::ops::RangeInclusive<usize> = 2..=64;

    /// 0 to 9.
    pub(crate) fn decimal() -> Self {
        Self { letters: TEN.into() }
    }

    /// By the word that a template uses: `10`, `16`, `32c`, `36`, `62`, or the characters themselves, the zero first.
    pub(crate) fn named(word: &str) -> Result<Self, String> {
        let letters = match word {
            "10" => TEN,
            "16" => &SIXTY_TWO[..16],
            "32c" => CROCKFORD,
            "36" => &SIXTY_TWO[..36],
            "62" => SIXTY_TWO,
            own => own,
        };
        Self::own(letters)
    }

    /// The characters of `text`, the zero first.
    pub(crate) fn own(text: &str) -> Result<Self, String> {
        let letters = text.as_bytes();
        if !letters.iter().all(u8::is_ascii_graphic) {
            return Err(format!("alphabet is {text:?}: visible characters of ASCII are allowed"));
        }
        if !Self::SIZES.contains(&letters.len()) {
            return Err(format!("alphabet has {} characters: 2 to 64 are allowed", letters.len()));
        }
        let twice = letters.iter().enumerate().find(|(at, letter)| letters[..*at].contains(letter));
        match twice {
            Some((_, &letter)) => {
                Err(format!("alphabet has {:?} twice: two numbers would share a text", char::from(letter)))
            }
            None => Ok(Self { letters: letters.to_vec() }),
        }
    }

    /// The same alphabet with each letter changed; `None` where two become one.
    pub(crate) fn mapped(&self, change: impl Fn(&u8) -> u8) -> Option<Self> {
        let letters: Vec<u8> = self.letters.iter().map(change).collect();
        Self::own(std::str::from_utf8(&letters).ok()?).ok()
    }

    /// How many digits there are.
    pub(crate) fn radix(&self) -> u64 {
        self.letters.len() as u64
    }

    /// The characters.
    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.letters).unwrap_or_default()
    }

    /// The digit of value 0.
    pub(crate) fn zero(&self) -> u8 {
        self.letters.first().copied().unwrap_or(b'0')
    }

    /// Whether these are Crockford's 32, whose readers take O for 0 and I and L for 1.
    pub(crate) fn is_crockford(&self) -> bool {
        self.letters == CROCKFORD.as_bytes()
    }

    /// What a reader takes a character for, where these are its digits: of Crockford's, the digit that it stands for.
    pub(crate) fn taken_for(&self, letter: u8) -> u8 {
        if !self.is_crockford() {
            return letter;
        }
        crockford_spelling(char::from(letter)).try_into().unwrap_or(letter)
    }

    /// The letter of one digit.
    pub(crate) fn letter(&self, value: u64) -> u8 {
        usize::try_from(value).ok().and_then(|at| self.letters.get(at)).copied().unwrap_or(b'?')
    }

    /// The value of one letter.
    pub(crate) fn value(&self, letter: u8) -> Option<u64> {
        self.letters.iter().position(|known| *known == letter).map(|at| at as u64)
    }

    /// Writes a number at the end of `buffer`, padded with `pad` to `width`; the digits without padding count towards it.
    pub(crate) fn write<'a>(
        &self,
        number: u64,
        width: usize,
        pad: u8,
        buffer: &'a mut DigitBuffer,
    ) -> &'a [u8] {
        let mut at = buffer.len();
        if self.radix() == 10 && self.letters == TEN.as_bytes() {
            let mut decimal = itoa::Buffer::new();
            let digits = decimal.format(number).as_bytes();
            at -= digits.len();
            buffer[at..].copy_from_slice(digits);
        } else {
            let (radix, mut rest) = (self.radix(), number);
            loop {
                at -= 1;
                buffer[at] = self.letter(rest % radix);
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

    /// The number that digits stand for; `None` where one is not of the alphabet or the number leaves 64 bits.
    pub(crate) fn read(&self, digits: &[u8]) -> Option<u64> {
        digits.iter().try_fold(0_u64, |number, letter| {
            number.checked_mul(self.radix())?.checked_add(self.value(*letter)?)
        })
    }

    /// How many digits a number has.
    pub(crate) fn width_of(&self, number: u64) -> usize {
        number.checked_ilog(self.radix()).map_or(1, |log| log as usize + 1)
    }

    /// The highest number of `width` digits, or `u64::MAX` where it is more.
    pub(crate) fn highest(&self, width: usize) -> u64 {
        let width = u32::try_from(width).unwrap_or(u32::MAX);
        self.radix().checked_pow(width).map_or(u64::MAX, |all| all - 1)
    }
}

/// A character as Crockford's digits are rendered: his readers write O for 0, I and L for 1, and small letters.
pub(crate) fn crockford_spelling(c: char) -> char {
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
        let digits = Digits::named(radix).unwrap();
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
        assert_eq!(Digits::named("0").unwrap_err(), "alphabet has 1 characters: 2 to 64 are allowed");
        assert!(Digits::named("0120").unwrap_err().contains("'0' twice"));
        assert!(Digits::named("0é").is_err() && Digits::named("0 1").is_err());
    }

    proptest! {
        #[test]
        fn digits_read_back(number: u64, radix in prop::sample::select(vec!["10", "16", "32c", "36", "62", "ab"])) {
            let digits = Digits::named(radix).unwrap();
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
