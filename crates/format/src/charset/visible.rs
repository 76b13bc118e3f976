//! The characters allowed in texts and values: printable, distinguishable on paper, and in one spelling only.

use std::{iter, sync::LazyLock};

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::{lookalikes, set::Charset};

/// Everything but controls, combining marks and blanks.
static PRINTED: LazyLock<Charset> =
    LazyLock::new(|| Charset::class(r"[^\p{C}\p{M}\p{Z}]").unwrap_or_else(Charset::none));

/// Letters and digits, which another character may imitate. Superscripts (`º`, `ⁿ`) are visibly different and left out.
static ALPHANUMERIC: LazyLock<Charset> = LazyLock::new(|| {
    let all = Charset::class(r"[\p{L}\p{Nd}\p{Nl}]").unwrap_or_else(Charset::none);
    all.without(&Charset::class(r"[\p{Lm}ªº]").unwrap_or_else(Charset::none))
});

/// Printable characters without those that normalization would turn into another one.
static VISIBLE: LazyLock<Charset> = LazyLock::new(|| {
    let variants =
        SCANNED.iter().flat_map(|&(from, to)| from..=to).filter(|&c| canonical_spelling(c).is_some());
    let variants: String = variants.chain(lookalikes::all()).collect();
    PRINTED.without(&Charset::of(&variants)).without(&COMPOSING).without(&Charset::of(BLANK))
});

/// Letters of Hangul and Kirat Rai that compose with their neighbours into one character.
static COMPOSING: LazyLock<Charset> = LazyLock::new(|| {
    let composing = "[\u{1100}-\u{11ff}\u{a960}-\u{a97f}\u{d7b0}-\u{d7ff}\u{16d63}-\u{16d6a}]";
    Charset::class(composing).unwrap_or_else(Charset::none)
});

/// Letters and symbols that print nothing, and placeholders for unprintable ones.
const BLANK: &str = "\u{115f}\u{1160}\u{2800}\u{3164}\u{ffa0}\u{fffc}\u{fffd}\u{13441}\u{13442}\u{1d159}";

/// Compatibility letters of a Korean keyboard. They are allowed although NFKC maps them to composing letters, which nobody types.
const KEYBOARD: std::ops::RangeInclusive<char> = '\u{3131}'..='\u{318e}';

/// Radicals, which are printed like the ideographs of the same shape.
const RADICALS: std::ops::RangeInclusive<char> = '\u{2f00}'..='\u{2fd5}';

/// The ranges with all characters that are another spelling of a text. A test scans the rest.
const SCANNED: [(char, char); 8] = [
    ('\u{a0}', '\u{33ff}'),
    ('\u{a640}', '\u{abff}'),
    ('\u{f900}', '\u{ffef}'),
    ('\u{10780}', '\u{107ff}'),
    ('\u{1cc00}', '\u{1ccff}'),
    ('\u{1d000}', '\u{1f2ff}'),
    ('\u{1fb00}', '\u{1fbff}'),
    ('\u{2f800}', '\u{2fa1f}'),
];

/// All characters that a value may hold by default. Each text has one spelling, so that normalization on the way never merges
/// two values.
pub(crate) fn visible() -> Charset {
    VISIBLE.clone()
}

/// Whether a text may hold a character.
pub(crate) fn is_visible(c: char) -> bool {
    c.is_ascii_graphic() || VISIBLE.contains(c)
}

/// A character for a message: with its code point unless it is ASCII, and with the usual spelling if it is another one.
pub(crate) fn describe(c: char) -> String {
    match (c.is_ascii(), canonical_spelling(c)) {
        (true, _) => format!("{c:?}"),
        (_, None) => format!("{c:?} (U+{:04X})", u32::from(c)),
        (_, Some(usual)) => format!("{c:?} (U+{:04X}, another spelling of {usual:?})", u32::from(c)),
    }
}

/// The text that a character is another spelling of, if any: by Unicode normalization, or because both are printed alike
/// (`Ａ` and `A`, `ﬁ` and `fi`).
fn canonical_spelling(c: char) -> Option<String> {
    if c.is_ascii() {
        return None;
    }
    if is_nfc_quick(iter::once(c)) != IsNormalized::Yes {
        let composed: String = iter::once(c).nfc().collect();
        if !composed.chars().eq([c]) {
            return Some(composed);
        }
    }
    if let Some(plain) = lookalikes::ascii_lookalike(c) {
        return Some(plain.to_string());
    }
    if KEYBOARD.contains(&c) || !(ALPHANUMERIC.contains(c) || RADICALS.contains(&c)) {
        return None;
    }
    let plain: String = iter::once(c).nfkc().collect();
    let is_other = !plain.chars().eq([c]) && plain.chars().all(|c| ALPHANUMERIC.contains(c));
    is_other.then_some(plain)
}

#[cfg(test)]
mod tests {
    use unicode_normalization::{is_nfc, is_nfkc};

    use super::*;

    #[test]
    fn values_hold_what_can_be_told_apart_on_paper() {
        let visible = visible();
        assert!("aZ0-/京é€".chars().all(|c| visible.contains(c)));
        let hidden = "\u{200b}\u{202e}\u{301}\u{feff}\u{ad} \u{a0}\n\u{e000}\u{fe0f}\0";
        assert!(hidden.chars().all(|c| !visible.contains(c)), "{hidden:?}");
    }

    #[test]
    fn a_character_is_described_with_its_usual_spelling() {
        assert_eq!(describe('-'), "'-'");
        assert_eq!(describe('京'), "'京' (U+4EAC)");
        assert_eq!(describe('\u{212a}'), "'\u{212a}' (U+212A, another spelling of \"K\")");
        assert_eq!(describe('\u{200b}'), "'\\u{200b}' (U+200B)");
    }

    #[test]
    fn one_text_has_one_spelling() {
        let kept = "aZ0-/京é€한日カŁñßЖאب№㈱①²º½℃（）〔〕，ㄱ—…“”’·・。€ー";
        assert!(kept.chars().all(|c| VISIBLE.contains(c)), "{kept}");
        let refused = "\u{212a}\u{212b}\u{2126}\u{f900}\u{1112}\u{1161}\u{11ab}\u{2f00}\u{2f800}\u{b5}ＡＺａ１ｱﬁĳⅣ𝐀ſ‐‑–−－⁄∕／：＝∣｜．＿";
        for c in refused.chars().chain(BLANK.chars()) {
            assert!(!VISIBLE.contains(c), "{c} {:x}", u32::from(c));
        }
        assert_eq!(canonical_spelling('\u{212a}').as_deref(), Some("K"));
        assert_eq!(canonical_spelling('ﬁ').as_deref(), Some("fi"));
        assert_eq!(
            ["‑", "／", "∣"].map(|text| canonical_spelling(text.chars().next()?)),
            ["-", "/", "|"].map(|plain| Some(plain.to_owned()))
        );
        assert_eq!(canonical_spelling('（'), None);
    }

    /// Pairs included: no visible character composes with the one before it.
    #[test]
    fn normalization_changes_no_visible_character() {
        let visible = VISIBLE.clone();
        for c in ('\0'..=char::MAX).filter(|&c| visible.contains(c)) {
            let text = c.to_string();
            assert!(is_nfc(&text), "{:x} is not normal", u32::from(c));
            assert!(canonical_spelling(c).is_none(), "{:x} is in no scanned range", u32::from(c));
            assert_ne!(is_nfc_quick(iter::once(c)), IsNormalized::Maybe, "{:x} composes", u32::from(c));
            let is_alphanumeric = ALPHANUMERIC.contains(c) && !KEYBOARD.contains(&c);
            let plain = || iter::once(c).nfkc().all(|c| ALPHANUMERIC.contains(c));
            assert!(!is_alphanumeric || is_nfkc(&text) || !plain(), "{:x} looks like another", u32::from(c));
        }
    }
}
