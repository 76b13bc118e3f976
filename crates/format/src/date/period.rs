//! Periods of a counter: how often it resets, the key of a period, and when it begins and ends.

use std::fmt;

use jiff::{
    Span, ToSpan,
    civil::{Date, DateTime, ISOWeekDate, Time, Weekday},
};

use super::{local_datetime::LocalDateTime, month_day::MonthDay};

/// How often a counter resets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reset {
    /// Never.
    Never,
    /// With the calendar year.
    Year,
    /// With the fiscal year, which begins on the day of `fy=`.
    FiscalYear,
    /// With the calendar quarter.
    Quarter,
    /// With the month.
    Month,
    /// With the ISO week.
    IsoWeek,
    /// With the day.
    Day,
    /// With the hour of local clocks. An hour that clocks show twice is one period.
    Hour,
}

impl Reset {
    /// The words of `reset=`.
    pub(crate) const WORDS: [(&'static str, Self); 8] = [
        ("never", Self::Never),
        ("year", Self::Year),
        ("fy", Self::FiscalYear),
        ("quarter", Self::Quarter),
        ("month", Self::Month),
        ("isoweek", Self::IsoWeek),
        ("day", Self::Day),
        ("hour", Self::Hour),
    ];

    /// The key of the period of a local time: `2026`, `FY2027` (the year in which it ends), `2026Q1`, `202601`, `2026W53`,
    /// `20260101`, `2026010123`; empty for [`Reset::Never`].
    pub(crate) fn key(self, local: &LocalDateTime, fiscal: MonthDay) -> String {
        let LocalDateTime { year, month, day, hour, iso_year, iso_week, .. } = *local;
        match self {
            Self::Never => String::new(),
            Self::Year => format!("{year:04}"),
            Self::FiscalYear => format!("FY{:04}", fiscal.end_of(local.fiscal_start(fiscal))),
            Self::Quarter => format!("{year:04}Q{}", local.quarter()),
            Self::Month => format!("{year:04}{month:02}"),
            Self::IsoWeek => format!("{iso_year:04}W{iso_week:02}"),
            Self::Day => format!("{year:04}{month:02}{day:02}"),
            Self::Hour => format!("{year:04}{month:02}{day:02}{hour:02}"),
        }
    }

    /// A local time in the period that is `count` periods before the one of `local`; `None` for [`Reset::Never`].
    pub(crate) fn back(self, local: DateTime, count: u32) -> Option<DateTime> {
        let (count, none) = (i64::from(count), Span::new());
        let month = local.date().first_of_month().to_datetime(local.time());
        let (from, span) = match self {
            Self::Never => return None,
            Self::Year | Self::FiscalYear => (local, none.try_years(count)),
            Self::Quarter => (month, none.try_months(count * 3)),
            Self::Month => (month, none.try_months(count)),
            Self::IsoWeek => (local, none.try_weeks(count)),
            Self::Day => (local, none.try_days(count)),
            Self::Hour => (local, none.try_hours(count)),
        };
        from.checked_sub(span.ok()?).ok()
    }

    /// The local time at which the period of a key begins. A malformed key may give a time, too: compare the key of the result.
    pub(crate) fn begins(self, key: &str, fiscal: MonthDay) -> Option<DateTime> {
        let number = |from: usize, to: usize| key.get(from..to)?.parse::<i16>().ok();
        let small = |from, to| i8::try_from(number(from, to)?).ok();
        let date = match self {
            Self::Never => return None,
            Self::Year => Date::new(number(0, 4)?, 1, 1),
            Self::FiscalYear => {
                let end = number(2, 6)?;
                let later = end - fiscal.end_of(end);
                Date::new(end + later, fiscal.month, fiscal.day)
            }
            Self::Quarter => Date::new(number(0, 4)?, small(5, 6)?.checked_sub(1)?.checked_mul(3)? + 1, 1),
            Self::Month => Date::new(number(0, 4)?, small(4, 6)?, 1),
            Self::IsoWeek => {
                ISOWeekDate::new(number(0, 4)?, small(5, 7)?, Weekday::Monday).map(ISOWeekDate::date)
            }
            Self::Day | Self::Hour => Date::new(number(0, 4)?, small(4, 6)?, small(6, 8)?),
        };
        let hour = if self == Self::Hour { small(8, 10)? } else { 0 };
        Some(date.ok()?.to_datetime(Time::new(hour, 0, 0, 0).ok()?))
    }

    /// The local time at which the next period begins; `None` for [`Reset::Never`].
    pub(crate) fn next(self, local: DateTime, fiscal: MonthDay) -> Option<DateTime> {
        let date = local.date();
        let first_of_month = date.first_of_month();
        let months_to = |month: i8| 12 - i32::from((date.month() - month).rem_euclid(12));
        let next = match self {
            Self::Never => return None,
            Self::Year => first_of_month.checked_add(months_to(1).months()),
            Self::Quarter => first_of_month.checked_add((3 - i32::from((date.month() - 1) % 3)).months()),
            Self::Month => first_of_month.checked_add(1.month()),
            Self::FiscalYear => {
                let start = fiscal.start_of(date.year(), date.month(), date.day());
                Date::new(start + 1, fiscal.month, fiscal.day)
            }
            Self::IsoWeek => date.nth_weekday(1, Weekday::Monday),
            Self::Day => date.tomorrow(),
            Self::Hour => return start_of_hour(local).checked_add(1.hour()).ok(),
        };
        Some(next.ok()?.to_datetime(Time::midnight()))
    }
}

fn start_of_hour(local: DateTime) -> DateTime {
    local.date().at(local.hour(), 0, 0, 0)
}

impl fmt::Display for Reset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = Self::WORDS.iter().find(|(_, reset)| reset == self).map_or("", |(word, _)| word);
        f.write_str(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_period_begins_when_the_key_changes() {
        let fiscal = MonthDay { month: 4, day: 6 };
        let mut local: DateTime = "2023-12-30T22:30:00".parse().unwrap();
        let end: DateTime = "2026-01-05T00:00:00".parse().unwrap();
        while local < end {
            for (_, reset) in Reset::WORDS {
                let key = |local| reset.key(&LocalDateTime::new(local).unwrap(), fiscal);
                let Some(next) = reset.next(local, fiscal) else { continue };
                assert!(next > local, "{reset} {local}");
                assert_ne!(key(next), key(local), "{reset} {local}");
                assert_eq!(key(next.checked_sub(1.second()).unwrap()), key(local), "{reset} {local}");
            }
            local = local.checked_add(7.hours()).unwrap();
        }
    }

    #[test]
    fn a_period_is_found_by_its_key() {
        for fiscal in [MonthDay { month: 4, day: 6 }, MonthDay::default()] {
            let mut local: DateTime = "2023-12-30T22:30:00".parse().unwrap();
            let end: DateTime = "2026-01-05T00:00:00".parse().unwrap();
            while local < end {
                for (_, reset) in Reset::WORDS {
                    let key = |local| reset.key(&LocalDateTime::new(local).unwrap(), fiscal);
                    let begins = reset.begins(&key(local), fiscal);
                    assert_eq!(begins.is_none(), reset == Reset::Never);
                    let Some(begins) = begins else { continue };
                    assert_eq!(key(begins), key(local), "{reset} {local}");
                    assert!(begins <= local && key(begins.checked_sub(1.second()).unwrap()) != key(local));
                }
                local = local.checked_add(7.hours()).unwrap();
            }
        }
        for (reset, key) in [
            (Reset::Day, "20260231"),
            (Reset::Day, "2026"),
            (Reset::Month, "202613"),
            (Reset::Quarter, "2026Q"),
            (Reset::IsoWeek, "2026W54"),
            (Reset::Year, "磁"),
            (Reset::FiscalYear, "FY"),
        ] {
            assert_eq!(reset.begins(key, MonthDay::default()), None, "{key}");
        }
    }

    #[test]
    fn going_back_n_periods_gives_the_nth_earlier_key() {
        let fiscal = MonthDay { month: 4, day: 6 };
        let end: DateTime = "2026-01-05T00:00:00".parse().unwrap();
        for (_, reset) in Reset::WORDS {
            let key = |local| reset.key(&LocalDateTime::new(local).unwrap(), fiscal);
            let mut keys: Vec<String> = Vec::new();
            let mut local: DateTime = "2023-12-30T22:30:00".parse().unwrap();
            while local < end {
                keys.push(key(local));
                keys.dedup();
                for count in [1, 2, 17_u32] {
                    let before = keys.len().checked_sub(1 + usize::try_from(count).unwrap());
                    let Some(before) = before.filter(|_| reset != Reset::Never) else { continue };
                    assert_eq!(
                        key(reset.back(local, count).unwrap()),
                        keys[before],
                        "{reset} {local} {count}"
                    );
                }
                local = local.checked_add(1.hour()).unwrap();
            }
            assert_eq!(reset.back(local, 1).is_none(), reset == Reset::Never);
        }
    }
}
