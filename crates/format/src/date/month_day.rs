//! The first day of a fiscal year: `fy=MM-DD`.

use jiff::civil::Date;

/// The first day of a fiscal year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MonthDay {
    pub(crate) month: i8,
    pub(crate) day: i8,
}

impl Default for MonthDay {
    /// January 1: the fiscal year is the calendar year.
    fn default() -> Self {
        Self { month: 1, day: 1 }
    }
}

impl MonthDay {
    /// Parses `MM-DD`. February 29 is refused, since most years lack it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (month, day) = text.split_once('-')?;
        let is_two_digits = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        let (month, day) = (is_two_digits(month) && is_two_digits(day))
            .then(|| Some((month.parse().ok()?, day.parse().ok()?)))??;
        Date::new(2001, month, day).ok().map(|_| Self { month, day })
    }

    /// The year in which the fiscal year of a date begins.
    pub(crate) fn start_of(self, year: i16, month: i8, day: i8) -> i16 {
        if (month, day) < (self.month, self.day) { year - 1 } else { year }
    }

    /// The year in which a fiscal year ends, by the year in which it begins.
    pub(crate) fn end_of(self, start: i16) -> i16 {
        if self.is_calendar() { start } else { start + 1 }
    }

    /// Whether fiscal years are calendar years.
    pub(crate) fn is_calendar(self) -> bool {
        self == Self::default()
    }

    /// Whether it is the first day of a month.
    pub(crate) fn begins_month(self) -> bool {
        self.day == 1
    }

    /// Whether it is the first day of a quarter.
    pub(crate) fn begins_quarter(self) -> bool {
        self.day == 1 && (self.month - 1) % 3 == 0
    }
}
