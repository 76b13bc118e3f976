//! Tokens of a date pattern: `yyyy`, `MM`, `dd` and others. Each has a fixed width.

use std::fmt::Write;

use super::{local_datetime::LocalDateTime, month_day::MonthDay};

/// The years that two digits stand for. A template that shows two digits has no text for other years.
pub(super) const TWO_DIGIT_YEARS: std::ops::RangeInclusive<i16> = 2000..=2099;

/// A date field, or text between fields.
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
    /// The year in which the fiscal year begins, two digits.
    FiscalStart,
    /// The year in which the fiscal year ends, two digits.
    FiscalEnd,
    /// The year in which the fiscal year ends, four digits.
    FiscalYear,
    Literal(String),
}

/// How patterns write the fields.
pub(super) const TOKENS: [(&str, Token); 14] = [
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

    /// Appends the text of a local time.
    pub(super) fn render(
        &self,
        local: &LocalDateTime,
        fiscal: MonthDay,
        out: &mut String,
    ) -> Result<(), String> {
        let number: i16 = match self {
            Self::Year4 => local.year,
            Self::Year2 => two_digits(local.year)?,
            Self::Month => local.month.into(),
            Self::Day => local.day.into(),
            Self::DayOfYear => local.day_of_year,
            Self::Hour => local.hour.into(),
            Self::Minute => local.minute.into(),
            Self::Second => local.second.into(),
            Self::Quarter => local.quarter().into(),
            Self::IsoYear => local.iso_year,
            Self::IsoWeek => local.iso_week.into(),
            Self::FiscalStart => two_digits(local.fiscal_start(fiscal))?,
            Self::FiscalEnd => {
                two_digits(local.fiscal_start(fiscal))?;
                fiscal.end_of(local.fiscal_start(fiscal)) % 100
            }
            Self::FiscalYear => fiscal.end_of(local.fiscal_start(fiscal)),
            Self::Literal(text) => {
                out.push_str(text);
                return Ok(());
            }
        };
        write!(out, "{number:0width$}", width = self.width()).map_err(|error| error.to_string())
    }
}

/// The last two digits of a year from 2000 to 2099.
fn two_digits(year: i16) -> Result<i16, String> {
    if TWO_DIGIT_YEARS.contains(&year) {
        return Ok(year % 100);
    }
    Err(format!("year {year} cannot be shown with two digits: they stand for 2000 to 2099; show four"))
}
