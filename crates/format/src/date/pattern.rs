//! Patterns such as `yyyyMMdd` and `GGGG-'W'WW`. Each token has a fixed width.

use std::fmt;

use crate::{
    date::{Facts, Moment, MonthDay, Shown, TWO_DIGIT_YEARS},
    letters::Letters,
};

/// What a run of letters stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    Year4,
    Year2,
    Month,
    Day,
    DayOfYear,
    Hour,
    Minute,
    Second,
    Quarter,
    IsoYear,
    IsoWeek,
    /// The year a fiscal year begins in, two digits.
    FiscalStart,
    /// The year it ends in, two digits.
    FiscalEnd,
    /// The year it ends in, four digits.
    FiscalYear,
    Literal(String),
}

/// The runs of letters that mean something.
const TOKENS: [(&str, Token); 14] = [
    ("yyyy", Token::Year4),
    ("yy", Token::Year2),
    ("MM", Token::Month),
    ("dd", Token::Day),
    ("DDD", Token::DayOfYear),
    ("HH", Token::Hour),
    ("mm", Token::Minute),
    ("ss", Token::Second),
    ("Q", Token::Quarter),
    ("GGGG", Token::IsoYear),
    ("WW", Token::IsoWeek),
    ("FS", Token::FiscalStart),
    ("FE", Token::FiscalEnd),
    ("FFFF", Token::FiscalYear),
];

/// A date's pattern, with the first day of its fiscal year.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern {
    written: String,
    pub(crate) tokens: Vec<Token>,
    pub(crate) fiscal: MonthDay,
}

/// A pattern that cannot be read: at which of its characters (from 0), what, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PatternError {
    pub(crate) at: usize,
    pub(crate) what: String,
    pub(crate) hint: String,
}

impl Pattern {
    /// Reads a pattern.
    pub(crate) fn new(written: &str, fiscal: MonthDay) -> Result<Self, PatternError> {
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
        Ok(Self { written: written.to_owned(), tokens, fiscal })
    }

    /// What it shows.
    pub(crate) fn facts(&self) -> Facts {
        self.tokens.iter().fold(Facts::default(), Facts::and)
    }

    /// How many characters its text has.
    pub(crate) fn width(&self) -> usize {
        self.tokens.iter().map(Token::width).sum()
    }

    /// What its text can hold.
    pub(crate) fn letters(&self) -> Letters {
        let mut letters = Letters::digits();
        for token in &self.tokens {
            if let Token::Literal(text) = token {
                letters.add(&Letters::of(text));
            }
        }
        letters
    }

    /// The text of a moment; the error says which years two digits can show.
    pub(crate) fn render(&self, moment: &Moment, out: &mut String) -> Result<(), String> {
        for token in &self.tokens {
            token.render(moment, self.fiscal, out)?;
        }
        Ok(())
    }

    /// Reads a text of this pattern into `shown`; the error is for people.
    pub(crate) fn read(&self, text: &str, shown: &mut Shown) -> Result<(), String> {
        let mut rest = text;
        for token in &self.tokens {
            let end = rest.char_indices().nth(token.width()).map_or(rest.len(), |(at, _)| at);
            let (piece, after) = rest.split_at(end);
            token.read(piece, self.fiscal, shown)?;
            rest = after;
        }
        if rest.is_empty() { Ok(()) } else { Err(format!("{rest:?} follows the date")) }
    }
}

impl Token {
    pub(crate) fn width(&self) -> usize {
        match self {
            Self::Quarter => 1,
            Self::DayOfYear => 3,
            Self::Year4 | Self::IsoYear | Self::FiscalYear => 4,
            Self::Literal(text) => text.chars().count(),
            _ => 2,
        }
    }

    fn render(&self, moment: &Moment, fiscal: MonthDay, out: &mut String) -> Result<(), String> {
        use fmt::Write;
        let number: i16 = match self {
            Self::Year4 => moment.year,
            Self::Year2 => two_digits(moment.year)?,
            Self::Month => moment.month.into(),
            Self::Day => moment.day.into(),
            Self::DayOfYear => moment.day_of_year,
            Self::Hour => moment.hour.into(),
            Self::Minute => moment.minute.into(),
            Self::Second => moment.second.into(),
            Self::Quarter => moment.quarter().into(),
            Self::IsoYear => moment.iso_year,
            Self::IsoWeek => moment.iso_week.into(),
            Self::FiscalStart => two_digits(moment.fiscal_start(fiscal))?,
            Self::FiscalEnd => {
                two_digits(moment.fiscal_start(fiscal))?;
                fiscal.end_of(moment.fiscal_start(fiscal)) % 100
            }
            Self::FiscalYear => fiscal.end_of(moment.fiscal_start(fiscal)),
            Self::Literal(text) => {
                out.push_str(text);
                return Ok(());
            }
        };
        write!(out, "{number:0width$}", width = self.width()).map_err(|error| error.to_string())
    }

    fn read(&self, piece: &str, fiscal: MonthDay, shown: &mut Shown) -> Result<(), String> {
        if let Self::Literal(text) = self {
            return if piece == text {
                Ok(())
            } else {
                Err(format!("{piece:?} stands where {text:?} belongs"))
            };
        }
        let digits = piece.len() == self.width() && piece.bytes().all(|byte| byte.is_ascii_digit());
        let number: Option<i16> = piece.parse().ok().filter(|_| digits);
        let number =
            number.ok_or_else(|| format!("{piece:?} is no date: {} digits belong there", self.width()))?;
        shown.set(self, number, fiscal)
    }
}

/// Two digits of a year that two digits can stand for.
fn two_digits(year: i16) -> Result<i16, String> {
    if TWO_DIGIT_YEARS.contains(&year) {
        return Ok(year % 100);
    }
    Err(format!("year {year} has no two digits of its own: they stand for 2000 to 2099; show four"))
}

/// Text in single quotes; two of them are one.
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

/// A run of one letter, or one of the fiscal tokens, which mix two.
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
        // In CLDR the year of a week, which is the wrong one around new year: https://cldr.unicode.org
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
    fn runs_of_letters_are_tokens_and_all_else_is_text() {
        let tokens = |text| Pattern::new(text, MonthDay::default()).map(|pattern| pattern.tokens);
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
    fn every_trap_has_a_hint() {
        for (text, hint) in [
            ("YYYY", "write yyyy"),
            ("yyyyM", "MM"),
            ("yyyyDD", "dd for the day"),
            ("hh", "HH"),
            ("yyyy-ww", "GGGG"),
            ("'W", "close"),
            ("-", "yyyyMMdd"),
            ("T", "single quotes"),
        ] {
            let error = Pattern::new(text, MonthDay::default()).unwrap_err();
            assert!(error.hint.contains(hint), "{text}: {error:?}");
        }
    }
}
