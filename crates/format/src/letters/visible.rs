//! Which characters a person can tell from others on paper, and which of those look like another one.

use std::{iter, sync::LazyLock};

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::{Letters, signs};

/// No controls, no marks that join what is before them, no blanks.
static PRINTED: LazyLock<Letters> =
    LazyLock::new(|| Letters::class(r"[^\p{C}\p{M}\p{Z}]").unwrap_or_else(Letters::none));

/// Letters and digits, for which another character may stand in; raised ones (`º`, `ⁿ`) are seen to be raised.
static READ: LazyLock<Letters> = LazyLock::new(|| {
    let all = Letters::class(r"[\p{L}\p{Nd}\p{Nl}]").unwrap_or_else(Letters::none);
    all.without(&Letters::class(r"[\p{Lm}ªº]").unwrap_or_else(Letters::none))
});

/// What is left of them where two ways to write one text, which normalization makes one, are one too many.
pub(super) static VISIBLE: LazyLock<Letters> = LazyLock::new(|| {
    let doubles = SCANNED.iter().flat_map(|&(from, to)| from..=to).filter(|&c| twin(c).is_some());
    let doubles: String = doubles.chain(signs::alike()).collect();
    PRINTED.without(&Letters::of(&doubles)).without(&JOINED).without(&Letters::of(BLANK))
});

/// Letters of Hangul, and one of Kirat Rai, that join their neighbours to what has a character of its own.
static JOINED: LazyLock<Letters> = LazyLock::new(|| {
    let joined = "[\u{1100}-\u{11ff}\u{a960}-\u{a97f}\u{d7b0}-\u{d7ff}\u{16d63}-\u{16d6a}]";
    Letters::class(joined).unwrap_or_else(Letters::none)
});

/// Letters and symbols that print as nothing, or stand for what cannot be printed.
const BLANK: &str = "\u{115f}\u{1160}\u{2800}\u{3164}\u{ffa0}\u{fffc}\u{fffd}\u{13441}\u{13442}\u{1d159}";

/// The letters of a Korean keyboard: nobody writes them as the joining ones, to which normalization would bring them.
const KEYBOARD: std::ops::RangeInclusive<char> = '\u{3131}'..='\u{318e}';

/// Radicals, which are printed as the ideographs that they are.
const RADICALS: std::ops::RangeInclusive<char> = '\u{2f00}'..='\u{2fd5}';

/// Where all characters are that another text may stand in for; a test looks at the rest.
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

/// The text that a character is another spelling of, where it is one: by Unicode's own rules, or because both are printed
/// alike (`Ａ` and `A`, `ﬁ` and `fi`).
pub(super) fn twin(c: char) -> Option<String> {
    if c.is_ascii() {
        return None;
    }
    if is_nfc_quick(iter::once(c)) != IsNormalized::Yes {
        let composed: String = iter::once(c).nfc().collect();
        if !composed.chars().eq([c]) {
            return Some(composed);
        }
    }
    if let Some(plain) = signs::plain(c) {
        return Some(plain.to_string());
    }
    if KEYBOARD.contains(&c) || !(READ.contains(c) || RADICALS.contains(&c)) {
        return None;
    }
    let plain: String = iter::once(c).nfkc().collect();
    let is_other = !plain.chars().eq([c]) && plain.chars().all(|c| READ.contains(c));
    is_other.then_some(plain)
}

#[cfg(test)]
mod tests {
    use unicode_normalization::{is_nfc, is_nfkc};

    use super::*;

    #[test]
    fn one_text_has_one_spelling() {
        let kept = "aZ0-/京é€한日カŁñßЖאب№㈱①²º½℃（）〔〕，ㄱ—…“”’·・。€ー";
        assert!(kept.chars().all(|c| VISIBLE.contains(c)), "{kept}");
        let refused = "\u{212a}\u{212b}\u{2126}\u{f900}\u{1112}\u{1161}\u{11ab}\u{2f00}\u{2f800}\u{b5}ＡＺａ１ｱﬁĳⅣ𝐀ſ‐‑–−－⁄∕／：＝∣｜．＿";
        for c in refused.chars().chain(BLANK.chars()) {
            assert!(!VISIBLE.contains(c), "{c} {:x}", u32::from(c));
        }
        assert_eq!(twin('\u{212a}').as_deref(), Some("K"));
        assert_eq!(twin('ﬁ').as_deref(), Some("fi"));
        assert_eq!(
            ["‑", "／", "∣"].map(|text| twin(text.chars().next()?)),
            ["-", "/", "|"].map(|plain| Some(plain.to_owned()))
        );
        assert_eq!(twin('（'), None);
    }

    /// Also of neighbours: nothing visible composes with what is before it.
    #[test]
    fn all_that_is_visible_stays_as_it_is_under_normalization() {
        let visible = VISIBLE.clone();
        for c in ('\0'..=char::MAX).filter(|&c| visible.contains(c)) {
            let text = c.to_string();
            assert!(is_nfc(&text), "{:x} is not normal", u32::from(c));
            assert!(twin(c).is_none(), "{:x} was not looked at", u32::from(c));
            assert_ne!(is_nfc_quick(iter::once(c)), IsNormalized::Maybe, "{:x} composes", u32::from(c));
            let is_read = READ.contains(c) && !KEYBOARD.contains(&c);
            let plain = || iter::once(c).nfkc().all(|c| READ.contains(c));
            assert!(!is_read || is_nfkc(&text) || !plain(), "{:x} looks like another", u32::from(c));
        }
    }
}
