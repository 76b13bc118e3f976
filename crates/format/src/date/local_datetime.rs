//! A local date and time, with the calendar fields that patterns show.

use jiff::civil::DateTime;

use super::month_day::MonthDay;

/// The calendar fields of a local time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LocalDateTime {
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
const YEARS: std::ops::RangeInclusive<i16> = 1..=9998;

impl LocalDateTime {
    /// The fields of a local time; `None` if four digits cannot show its year, or the year of its week or fiscal year.
    pub(crate) fn new(local: DateTime) -> Option<Self> {
        let week = local.date().iso_week_date();
        let fields = Self {
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
        (YEARS.contains(&fields.year) && YEARS.contains(&fields.iso_year)).then_some(fields)
    }

    pub(crate) fn quarter(&self) -> i8 {
        quarter_of(self.month)
    }

    /// The year in which the fiscal year of this date begins.
    pub(crate) fn fiscal_start(&self, first: MonthDay) -> i16 {
        first.start_of(self.year, self.month, self.day)
    }
}

/// The quarter of a month.
pub(super) fn quarter_of(month: i8) -> i8 {
    (month - 1) / 3 + 1
}
