//! Date patterns such as `yyyyMMdd` and `GGGG-'W'WW`. Every text of a pattern has the same width.

use std::fmt;

use crate::charset::Charset;

use super::{
    decoded::DecodedDate,
    inference::DateFields,
    local_datetime::LocalDateTime,
    month_day::MonthDay,
    token::{TOKENS, Token},
};

/// A date pattern with the first day of its fiscal year.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern {
    written: String,
    pub(crate) tokens: Vec<Token>,
    pub(crate) fiscal: MonthDay,
}

/// A pattern that cannot be parsed: the character (from 0), what was found, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PatternError {
    pub(crate) at: usize,
    pub(crate) what: String,
    pub(crate) hint: String,
}

impl Pattern {
    /// Parses a pattern.
    pub(crate) fn parse(written: &str, fiscal: MonthDay) -> Result<Self, PatternError> {
        let chars: Vec<char> = written.chars().collect();
        let mut tokens = Vec::new();
        let mut at = 0;
        while at < chars.len() {
            let (token, width) = match chars[at] {
                '\'' => quoted(&chars[at..]).ok_or_else(|| PatternError {
                    at,
                    what: "a quote is open".into(),
                    hint: "close it with '".into(),
                })?,
                c if c.is_ascii_alphabetic() => {
                    word(&chars[at..]).map_err(|(what, hint)| PatternError { at, what, hint })?
                }
                c => (Token::Literal(c.into()), 1),
            };
            match (tokens.last_mut(), token) {
                (Some(Token::Literal(before)), Token::Literal(text)) => before.push_str(&text),
                (_, token) => tokens.push(token),
            }
            at += width;
        }
        if tokens.iter().all(|token| matches!(token, Token::Literal(_))) {
            let hint = "write one such as yyyyMMdd".into();
            return Err(PatternError { at: 0, what: "pattern shows no date".into(), hint });
        }
        if let Some(at) = written.find("mm").filter(|_| lacks_the_hour(&tokens)) {
            let what = "mm is the minute, and no hour is shown".into();
            let at = written[..at].chars().count();
            return Err(PatternError { at, what, hint: "write MM for the month".into() });
        }
        Ok(Self { written: written.to_owned(), tokens, fiscal })
    }

    /// The fields that it shows.
    pub(crate) fn fields(&self) -> DateFields {
        self.tokens.iter().fold(DateFields::default(), DateFields::with_token)
    }

    /// The length of its text, in characters.
    pub(crate) fn width(&self) -> usize {
        self.tokens.iter().map(Token::width).sum()
    }

    /// The characters of its text.
    pub(crate) fn charset(&self) -> Charset {
        let mut charset = Charset::digits();
        for token in &self.tokens {
            if let Token::Literal(text) = token {
                charset.add(&Charset::of(text));
            }
        }
        charset
    }

    /// Appends the text of a local time. The error says which years two digits can show.
    pub(crate) fn render(&self, local: &LocalDateTime, out: &mut String) -> Result<(), String> {
        for token in &self.tokens {
            token.render(local, self.fiscal, out)?;
        }
        Ok(())
    }

    /// Decodes a text of this pattern into `decoded`. The error is for people.
    pub(crate) fn decode(&self, text: &str, decoded: &mut DecodedDate) -> Result<(), String> {
        let mut rest = text;
        for token in &self.tokens {
            let end = rest.char_indices().nth(token.width()).map_or(rest.len(), |(at, _)| at);
            let (piece, after) = rest.split_at(end);
            decoded.add_token(token, piece, self.fiscal)?;
            rest = after;
        }
        if rest.is_empty() { Ok(()) } else { Err(format!("{rest:?} follows the date")) }
    }
}

/// Whether a pattern shows minutes without hours. Other systems write the month as `mm`, so a month was meant.
fn lacks_the_hour(tokens: &[Token]) -> bool {
    tokens.contains(&Token::Minute) && !tokens.contains(&Token::Hour)
}

/// Text in single quotes; two quotes stand for one.
fn quoted(chars: &[char]) -> Option<(Token, usize)> {
    let mut text = String::new();
    let mut at = 1;
    loop {
        match (chars.get(at)?, chars.get(at + 1)) {
            ('\'', Some('\'')) => {
                text.push('\'');
                at += 2;
            }
            ('\'', _) => return Some((Token::Literal(text), at + 1)),
            (c, _) => {
                text.push(*c);
                at += 1;
            }
        }
    }
}

/// A token: a run of one letter, or `FS` and `FE`.
fn word(chars: &[char]) -> Result<(Token, usize), (String, String)> {
    let run = match (chars[0], chars.get(1)) {
        ('F', Some('S' | 'E')) => 2,
        (first, _) => chars.iter().take_while(|c| **c == first).count(),
    };
    let text: String = chars[..run].iter().collect();
    let token = TOKENS.iter().find(|(word, _)| *word == text).map(|(_, token)| token.clone());
    token.map(|token| (token, run)).ok_or_else(|| {
        let words: Vec<&str> = TOKENS.iter().map(|(word, _)| *word).collect();
        (format!("date has {text:?}: {} are allowed", words.join(" ")), hint_for(&text).to_owned())
    })
}

fn hint_for(word: &str) -> &'static str {
    match word {
        // In CLDR `YYYY` is the year of the week, which is wrong around new year: https://cldr.unicode.org
        "YYYY" | "YY" => "write yyyy; the year of an ISO week is GGGG",
        "y" | "yyy" => "write yyyy or yy",
        "M" | "MMM" | "MMMM" => "write MM: each token has a fixed width",
        "d" | "DD" | "D" => "write dd for the day of the month, DDD for that of the year",
        "h" | "hh" | "H" => "write HH: hours count from 00 to 23",
        "m" => "write mm",
        "s" | "S" | "SS" | "SSS" => "write ss: no text shows less than a second",
        "w" | "ww" | "W" => "write WW, with GGGG for its year",
        "G" | "GG" => "write GGGG",
        "q" | "QQ" | "QQQ" => "write Q",
        "F" | "FF" | "FFF" => "write FFFF, or FS and FE",
        _ => "text within a date stands in single quotes: 'W'",
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_letters_are_tokens_and_everything_else_is_text() {
        let tokens = |text| Pattern::parse(text, MonthDay::default()).map(|pattern| pattern.tokens);
        let literal = |text: &str| Token::Literal(text.into());
        assert_eq!(tokens("yyyyMMdd").unwrap(), [Token::Year4, Token::Month, Token::Day]);
        assert_eq!(tokens("GGGG-'W'WW").unwrap(), [Token::IsoYear, literal("-W"), Token::IsoWeek]);
        assert_eq!(
            tokens("FS-FEQ").unwrap(),
            [Token::FiscalStart, literal("-"), Token::FiscalEnd, Token::Quarter]
        );
        assert_eq!(tokens("''''HH年").unwrap(), [literal("'"), Token::Hour, literal("年")]);
    }

    #[test]
    fn common_mistakes_have_hints() {
        for (text, hint) in [
            ("YYYY", "write yyyy"),
            ("yyyyM", "MM"),
            ("yyyyDD", "dd for the day"),
            ("hh", "HH"),
            ("yymmdd", "MM for the month"),
            ("yyyy-ww", "GGGG"),
            ("'W", "close"),
            ("-", "yyyyMMdd"),
            ("T", "single quotes"),
        ] {
            let error = Pattern::parse(text, MonthDay::default()).unwrap_err();
            assert!(error.hint.contains(hint), "{text}: {error:?}");
        }
    }
}
