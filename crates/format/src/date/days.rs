//! Whether some day has all that a text shows of one, found by looking at days.

use std::ops::RangeInclusive;

use jiff::civil::Date;

use crate::date::{Moment, MonthDay};

/// Year, ISO year, the year that the fiscal year begins in, quarter, month, day, day of the year, ISO week; each if it is shown.
pub(super) type Words = [Option<i16>; 8];

/// Where no year is shown, these have all there are: 28 in a row begin on each weekday, leap years and others.
const ANY_YEARS: RangeInclusive<i16> = 2000..=2027;

/// Whether there is such a day: of 28 years at most.
pub(super) fn one_has(words: &Words, fiscal: MonthDay) -> bool {
    let [year, iso_year, fiscal_start, _, month, day, ..] = *words;
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
        .any(|(year, month)| in_month(year, month).any(|date| has(words, date, fiscal)))
}

fn date(year: i16, month: i16, day: i16) -> Option<Date> {
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

fn has(words: &Words, date: Date, fiscal: MonthDay) -> bool {
    let Some(moment) = Moment::new(date.at(0, 0, 0, 0)) else { return false };
    let found = [
        moment.year,
        moment.iso_year,
        moment.fiscal_start(fiscal),
        moment.quarter().into(),
        moment.month.into(),
        moment.day.into(),
        moment.day_of_year,
        moment.iso_week.into(),
    ];
    words.iter().zip(found).all(|(word, found)| word.is_none_or(|word| word == found))
}
