//! A local date and time, taken apart.

use jiff::civil::{Date, DateTime};

/// What a clock on the wall and a calendar beside it say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) year: i16,
    pub(crate) month: i8,
    pub(crate) day: i8,
    pub(crate) day_of_year: i16,
    pub(crate) hour: i8,
    pub(crate) minute: i8,
    pub(crate) second: i8,
    pub(crate) iso_year: i16,
    pub(crate) iso_week: i8,
}

/// The years that four digits can show.
pub(crate) const YEARS: std::ops::RangeInclusive<i16> = 1..=9998;

impl Moment {
    /// The moment of a local time; `None` where four digits cannot show its year or that of its week or fiscal year.
    pub(crate) fn new(local: DateTime) -> Option<Self> {
        let week = local.date().iso_week_date();
        let moment = Self {
            year: local.year(),
            month: local.month(),
            day: local.day(),
            day_of_year: local.day_of_year(),
            hour: local.hour(),
            minute: local.minute(),
            second: local.second(),
            iso_year: week.year(),
            iso_week: week.week(),
        };
        (YEARS.contains(&moment.year) && YEARS.contains(&moment.iso_year)).then_some(moment)
    }

    pub(crate) fn quarter(&self) -> i8 {
        quarter_of(self.month)
    }

    /// The year that this moment's fiscal year begins in.
    pub(crate) fn fiscal_start(&self, first: MonthDay) -> i16 {
        first.start_of(self.year, self.month, self.day)
    }
}

/// The quarter of a month.
pub(crate) fn quarter_of(month: i8) -> i8 {
    (month - 1) / 3 + 1
}

/// The day that a fiscal year begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MonthDay {
    pub(crate) month: i8,
    pub(crate) day: i8,
}

impl Default for MonthDay {
    /// A fiscal year that is the calendar's.
    fn default() -> Self {
        Self { month: 1, day: 1 }
    }
}

impl MonthDay {
    /// Reads `MM-DD`; the 29th of February is none, since most years have no such day.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (month, day) = text.split_once('-')?;
        let plain = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        let (month, day) =
            (plain(month) && plain(day)).then(|| Some((month.parse().ok()?, day.parse().ok()?)))??;
        Date::new(2001, month, day).ok().map(|_| Self { month, day })
    }

    /// The year that the fiscal year of a date begins in.
    pub(crate) fn start_of(self, year: i16, month: i8, day: i8) -> i16 {
        if (month, day) < (self.month, self.day) { year - 1 } else { year }
    }

    /// The year that a fiscal year ends in, by the year it begins in.
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
