//! Characters that are printed like an ASCII sign.
//!
//! The table follows Unicode: the confusable characters of Technical Standard 39, and the forms that normalization maps to an
//! ASCII sign. A test compares the table with both. The full list has six thousand pairs, which clients do not need.

/// ASCII signs, each with the characters that are printed like it. Of quotation marks only the fullwidth ones are listed:
/// curved ones are characters of their own.
#[rustfmt::skip]
const LOOKALIKES: [(char, &str); 32] = [
    ('!', "\u{fe15}\u{fe57}"),
    ('"', "\u{ff02}"),
    ('#', "\u{fe5f}\u{ff03}"),
    ('$', "\u{fe69}\u{ff04}"),
    ('%', "\u{66a}\u{2052}\u{fe6a}\u{ff05}"),
    ('&', "\u{fe60}\u{ff06}\u{1f672}\u{1f674}\u{1f675}"),
    ('\'', "\u{ff07}"),
    ('(', "\u{2768}\u{2772}\u{fd3e}\u{fe35}\u{fe59}\u{fe5d}"),
    (')', "\u{2769}\u{2773}\u{fd3f}\u{fe36}\u{fe5a}\u{fe5e}"),
    ('*', "\u{66d}\u{204e}\u{2217}\u{fe61}\u{ff0a}"),
    ('+', "\u{16ed}\u{2795}\u{fb29}\u{fe62}\u{ff0b}"),
    (',', "\u{b8}\u{60d}\u{66b}\u{201a}\u{2e12}\u{fe10}\u{fe50}"),
    ('-', "\u{2d7}\u{6d4}\u{2010}\u{2011}\u{2012}\u{2013}\u{2043}\u{2212}\u{2796}\u{fe58}\u{fe63}\u{ff0d}\u{10191}"),
    ('.', "\u{701}\u{702}\u{2024}\u{a60e}\u{fe52}\u{ff0e}\u{10a50}"),
    ('/', "\u{1735}\u{2041}\u{2044}\u{2215}\u{2571}\u{27cb}\u{29f8}\u{31d2}\u{31d3}\u{ff0f}\u{1d23a}"),
    (':', "\u{2f8}\u{589}\u{5c3}\u{703}\u{704}\u{831}\u{1361}\u{1393}\u{16ec}\u{1803}\u{1809}\u{205a}\u{2236}\u{a789}\u{fe13}\u{fe30}\u{fe55}\u{ff1a}\u{10af5}\u{1123a}\u{1d108}"),
    (';', "\u{37e}\u{fe14}\u{fe54}"),
    ('<', "\u{2c2}\u{2039}\u{276e}\u{fe64}\u{ff1c}\u{1d236}"),
    ('=', "\u{1400}\u{2e40}\u{30a0}\u{a4ff}\u{a78a}\u{fe66}\u{ff1d}\u{10190}"),
    ('>', "\u{2c3}\u{203a}\u{276f}\u{fe65}\u{ff1e}\u{1d237}"),
    ('?', "\u{fe16}\u{fe56}"),
    ('@', "\u{fe6b}\u{ff20}"),
    ('[', "\u{fe47}\u{ff3b}"),
    ('\\', "\u{2216}\u{2572}\u{27cd}\u{29f5}\u{29f9}\u{31d4}\u{fe68}\u{ff3c}\u{1d20f}\u{1d23b}"),
    (']', "\u{fe48}\u{ff3d}"),
    ('^', "\u{2c4}\u{fe3f}\u{ff3e}"),
    ('_', "\u{fe33}\u{fe34}\u{fe4d}\u{fe4e}\u{fe4f}\u{ff3f}"),
    ('`', "\u{1fef}\u{ff40}"),
    ('{', "\u{2774}\u{fe37}\u{fe5b}\u{ff5b}\u{1d114}"),
    ('|', "\u{5c0}\u{964}\u{104a}\u{21bf}\u{2223}\u{23fd}\u{2502}\u{2503}\u{a8ce}\u{aa5d}\u{fe31}\u{ff5c}\u{ffe8}\u{11047}\u{110c0}\u{11141}\u{111c5}\u{113d4}\u{1144b}\u{115c5}\u{11641}\u{11c41}\u{1ccde}\u{1d100}"),
    ('}', "\u{2775}\u{fe38}\u{fe5c}\u{ff5d}"),
    ('~', "\u{2dc}\u{1fc0}\u{2053}\u{223c}\u{ff5e}"),
];

/// The ASCII sign that a character is printed like (`-` for `‐` and `－`).
pub(super) fn ascii_lookalike(c: char) -> Option<char> {
    if c.is_ascii() {
        return None;
    }
    LOOKALIKES.iter().find(|(_, others)| others.contains(c)).map(|(plain, _)| *plain)
}

/// All characters that are printed like an ASCII sign.
pub(super) fn all() -> impl Iterator<Item = char> {
    LOOKALIKES.iter().flat_map(|(_, others)| others.chars())
}

#[cfg(test)]
mod tests {
    use std::iter;

    use unicode_normalization::UnicodeNormalization;
    use unicode_security::confusable_detection::skeleton;

    use super::*;
    use crate::charset::set::Charset;

    /// Signs of Chinese and Japanese text. Names and document numbers contain them, and they are visibly wider.
    const WIDE: &str = "（），；！？〔〕〜";
    /// Superscripts and subscripts are visibly different.
    const RAISED: &str = "⁺⁼⁽⁾₊₌₍₎";

    #[test]
    fn the_table_lists_exactly_what_unicode_calls_confusable() {
        let one = |c: char| skeleton(c.encode_utf8(&mut [0; 4])).collect::<String>();
        let is_quote = |c: char| matches!(c, '"' | '\'' | '`');
        let ascii = ('!'..='~').filter(char::is_ascii_punctuation);
        let ascii: Vec<(String, char)> = ascii.map(|c| (one(c), c)).collect();
        let listed = |c: char| {
            let own = one(c);
            let normal: String = iter::once(c).nfkc().collect();
            ascii
                .iter()
                .find(|(alike, sign)| !is_quote(*sign) && *alike == own || normal.chars().eq([*sign]))
                .map(|(_, sign)| *sign)
        };
        let signs = Charset::class(r"[\p{P}\p{S}]").unwrap();
        // Radicals are printed like ideographs: see `visible`.
        let signs = signs.without(&Charset::class("[\u{2f00}-\u{2fd5}]").unwrap());
        let mut found = 0;
        for c in
            ('\u{80}'..=char::MAX).filter(|&c| signs.contains(c) && !WIDE.contains(c) && !RAISED.contains(c))
        {
            assert_eq!(ascii_lookalike(c), listed(c), "{c} {:x}", u32::from(c));
            found += usize::from(ascii_lookalike(c).is_some());
        }
        assert_eq!(found, all().count());
    }
}
