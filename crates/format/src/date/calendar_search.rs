//! Searches the calendar for a day with given fields.

use std::ops::RangeInclusive;

use jiff::civil::Date;

use super::{local_datetime::LocalDateTime, month_day::MonthDay};

/// Year, ISO year, year in which the fiscal year begins, quarter, month, day, day of the year, ISO week: those that are known.
pub(super) type DayFields = [Option<i16>; 8];

/// The years to search without a known year: 28 in a row contain leap years and common years that begin on each weekday.
const ANY_YEARS: RangeInclusive<i16> = 2000..=2027;

/// Whether some day has these fields. At most 28 years are searched.
pub(super) fn any_day_has(fields: &DayFields, fiscal: MonthDay) -> bool {
    let [year, iso_year, fiscal_start, _, month, day, ..] = *fields;
    let years = match (year, iso_year, fiscal_start) {
        (Some(year), ..) => year..=year,
        (_, Some(year), _) => year - 1..=year + 1,
        (_, _, Some(year)) => year..=year + 1,
        _ => ANY_YEARS,
    };
    let of = |given: Option<i16>, last: i16| given.map_or(1..=last, |given| given..=given);
    let in_month = |year, month| of(day, 31).filter_map(move |day| date(year, month, day));
    years
        .flat_map(|year| of(month, 12).map(move |month| (year, month)))
        .any(|(year, month)| in_month(year, month).any(|date| has(fields, date, fiscal)))
}

fn date(year: i16, month: i16, day: i16) -> Option<Date> {
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

fn has(fields: &DayFields, date: Date, fiscal: MonthDay) -> bool {
    let Some(local) = LocalDateTime::new(date.at(0, 0, 0, 0)) else { return false };
    let found = [
        local.year,
        local.iso_year,
        local.fiscal_start(fiscal),
        local.quarter().into(),
        local.month.into(),
        local.day.into(),
        local.day_of_year,
        local.iso_week.into(),
    ];
    fields.iter().zip(found).all(|(field, found)| field.is_none_or(|field| field == found))
}
