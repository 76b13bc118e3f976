//! A date decoded from a text: the fields shown, the fields that follow from them, and whether such a day exists.

use jiff::civil::{Date, DateTime, ISOWeekDate, Weekday};

use super::{
    calendar_search,
    local_datetime::quarter_of,
    month_day::MonthDay,
    period::Reset,
    token::{TWO_DIGIT_YEARS, Token},
};

/// The known fields of one date. A field that is decoded twice must have the same value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct DecodedDate {
    year: Option<i16>,
    quarter: Option<i16>,
    month: Option<i16>,
    day: Option<i16>,
    day_of_year: Option<i16>,
    hour: Option<i16>,
    minute: Option<i16>,
    second: Option<i16>,
    iso_year: Option<i16>,
    iso_week: Option<i16>,
    fiscal_start: Option<i16>,
}

/// The year that two digits stand for.
fn century(two_digits: i16) -> i16 {
    TWO_DIGIT_YEARS.start() + two_digits
}

impl DecodedDate {
    /// Decodes the text of a token.
    pub(super) fn add_token(&mut self, token: &Token, piece: &str, fiscal: MonthDay) -> Result<(), String> {
        if let Token::Literal(text) = token {
            return if piece == text { Ok(()) } else { Err(format!("found {piece:?}, expected {text:?}")) };
        }
        let digits = piece.len() == token.width() && piece.bytes().all(|byte| byte.is_ascii_digit());
        let number: Option<i16> = piece.parse().ok().filter(|_| digits);
        let number =
            number.ok_or_else(|| format!("{piece:?} is no date: {} digits are expected", token.width()))?;
        self.set(token, number, fiscal)
    }

    fn set(&mut self, token: &Token, number: i16, fiscal: MonthDay) -> Result<(), String> {
        let (field, value, low, high) = match token {
            Token::Year4 => (&mut self.year, number, 1, 9998),
            Token::Year2 => (&mut self.year, century(number), 2000, 2099),
            Token::Month => (&mut self.month, number, 1, 12),
            Token::Day => (&mut self.day, number, 1, 31),
            Token::DayOfYear => (&mut self.day_of_year, number, 1, 366),
            Token::Hour => (&mut self.hour, number, 0, 23),
            Token::Minute => (&mut self.minute, number, 0, 59),
            Token::Second => (&mut self.second, number, 0, 59),
            Token::Quarter => (&mut self.quarter, number, 1, 4),
            Token::IsoYear => (&mut self.iso_year, number, 1, 9998),
            Token::IsoWeek => (&mut self.iso_week, number, 1, 53),
            Token::FiscalStart => (&mut self.fiscal_start, century(number), 2000, 2099),
            Token::FiscalEnd => (&mut self.fiscal_start, century(start_of_end(number, fiscal)), 2000, 2099),
            Token::FiscalYear => (&mut self.fiscal_start, number - fiscal.end_of(0), 0, 9998),
            Token::Literal(_) => return Ok(()),
        };
        if !(low..=high).contains(&value) {
            return Err(format!("{value} is out of range for a date: {low} to {high} are allowed"));
        }
        put(field, value)
    }

    /// Adds the fields that follow, by the rules of [`DateFields::closure`](super::inference::DateFields::closure). A date that does
    /// not exist is an error.
    pub(crate) fn completed(mut self, fiscal: MonthDay) -> Result<Self, String> {
        self.check_exists(fiscal)?;
        self.infer_year(fiscal)?;
        if let Some(date) = self.date()? {
            let week = date.iso_week_date();
            put(&mut self.month, date.month().into())?;
            put(&mut self.day, date.day().into())?;
            put(&mut self.day_of_year, date.day_of_year())?;
            put(&mut self.iso_year, week.year())?;
            put(&mut self.iso_week, week.week().into())?;
            put(&mut self.fiscal_start, fiscal.start_of(date.year(), date.month(), date.day()))?;
        }
        if let Some(month) = self.month {
            put(&mut self.quarter, quarter_of(small(month)).into())?;
        }
        if let Some(start) = self.infer_fiscal_start(fiscal) {
            put(&mut self.fiscal_start, start)?;
        }
        Ok(self)
    }

    /// Whether some day has all known fields. The error names two fields that contradict each other.
    fn check_exists(&self, fiscal: MonthDay) -> Result<(), String> {
        self.date()?;
        self.check_partial()?;
        let all = self.day_fields();
        let known: Vec<_> = all.into_iter().filter(|field| field.1.is_some()).collect();
        if known.len() < 2 || calendar_search::any_day_has(&all.map(|field| field.1), fiscal) {
            return Ok(());
        }
        let two = |one: usize, two: usize| {
            let pair = [known[one].0, known[two].0];
            all.map(|(name, value)| value.filter(|_| pair.contains(&name)))
        };
        let pairs = (0..known.len()).flat_map(|one| (one + 1..known.len()).map(move |two| (one, two)));
        let describe = |fields: &[(&str, Option<i16>)]| {
            let words = fields.iter().map(|(name, value)| format!("{name} {}", value.unwrap_or_default()));
            words.collect::<Vec<_>>().join(" and ")
        };
        let contradiction =
            pairs.into_iter().find(|(one, other)| !calendar_search::any_day_has(&two(*one, *other), fiscal));
        let words = contradiction
            .map_or_else(|| describe(&known), |(one, other)| describe(&[known[one], known[other]]));
        Err(format!("{words} contradict each other: no day has both"))
    }

    /// The fields of a day with their names, in the order of [`calendar_search::DayFields`].
    fn day_fields(&self) -> [(&'static str, Option<i16>); 8] {
        [
            ("year", self.year),
            ("ISO year", self.iso_year),
            ("fiscal year from", self.fiscal_start),
            ("quarter", self.quarter),
            ("month", self.month),
            ("day", self.day),
            ("day of the year", self.day_of_year),
            ("ISO week", self.iso_week),
        ]
    }

    /// The key of the period; `None` if the known fields do not determine it.
    pub(crate) fn period(&self, reset: Reset, fiscal: MonthDay) -> Option<String> {
        Some(match reset {
            Reset::Never => String::new(),
            Reset::Year => format!("{:04}", self.year?),
            Reset::FiscalYear => format!("FY{:04}", fiscal.end_of(self.fiscal_start?)),
            Reset::Quarter => format!("{:04}Q{}", self.year?, self.quarter?),
            Reset::Month => format!("{:04}{:02}", self.year?, self.month?),
            Reset::IsoWeek => format!("{:04}W{:02}", self.iso_year?, self.iso_week?),
            Reset::Day => format!("{:04}{:02}{:02}", self.year?, self.month?, self.day?),
            Reset::Hour => {
                format!("{:04}{:02}{:02}{:02}", self.year?, self.month?, self.day?, self.hour?)
            }
        })
    }

    /// The first and the last second that match the known fields, in local time; `None` without a known day.
    pub(crate) fn span(&self) -> Option<(DateTime, DateTime)> {
        let date = self.date().ok()??;
        let (mut from, mut to) = ([0; 3], [23, 59, 59]);
        let known = [self.hour, self.minute, self.second].into_iter().map_while(|value| value);
        for (at, value) in known.enumerate() {
            (from[at], to[at]) = (small(value), small(value));
        }
        Some((date.at(from[0], from[1], from[2], 0), date.at(to[0], to[1], to[2], 0)))
    }

    /// Sets the calendar year if the fiscal year and the month, day or quarter determine it.
    fn infer_year(&mut self, fiscal: MonthDay) -> Result<(), String> {
        let Some(start) = self.fiscal_start else { return Ok(()) };
        let begun = (fiscal.month, fiscal.day);
        let later = if fiscal.is_calendar() {
            Some(false)
        } else if let (Some(month), Some(day)) = (self.month, self.day) {
            Some((small(month), small(day)) < begun)
        } else if let (Some(month), true) = (self.month, fiscal.begins_month()) {
            Some(small(month) < fiscal.month)
        } else if let (Some(quarter), true) = (self.quarter, fiscal.begins_quarter()) {
            Some(small(quarter) < quarter_of(fiscal.month))
        } else {
            None
        };
        later.map_or(Ok(()), |later| put(&mut self.year, if later { start + 1 } else { start }))
    }

    /// The fiscal year, if the calendar year and a month or quarter determine it.
    fn infer_fiscal_start(&self, fiscal: MonthDay) -> Option<i16> {
        let year = self.year?;
        if fiscal.is_calendar() {
            return Some(year);
        }
        if let (Some(month), true) = (self.month, fiscal.begins_month()) {
            return Some(fiscal.start_of(year, small(month), 1));
        }
        let quarter = self.quarter.filter(|_| fiscal.begins_quarter())?;
        Some(if small(quarter) < quarter_of(fiscal.month) { year - 1 } else { year })
    }

    /// The day, if it is known.
    fn date(&self) -> Result<Option<Date>, String> {
        let none = |what: String| move |_| format!("there is no {what}");
        match (self.year, self.month, self.day, self.day_of_year) {
            (Some(year), Some(month), Some(day), _) => {
                let date = Date::new(year, small(month), small(day));
                date.map(Some).map_err(none(format!("{year:04}-{month:02}-{day:02}")))
            }
            (Some(year), _, _, Some(day)) => {
                let date = Date::new(year, 1, 1).and_then(|first| first.with().day_of_year(day).build());
                date.map(Some).map_err(none(format!("day {day} of {year:04}")))
            }
            _ => Ok(None),
        }
    }

    /// Whether an ISO week, or a day of a month without a year, can exist.
    fn check_partial(&self) -> Result<(), String> {
        if let (Some(year), Some(week)) = (self.iso_year, self.iso_week)
            && ISOWeekDate::new(year, small(week), Weekday::Monday).is_err()
        {
            return Err(format!("there is no week {week} in {year:04}"));
        }
        if let (Some(month), Some(day)) = (self.month, self.day)
            && Date::new(2000, small(month), small(day)).is_err()
        {
            return Err(format!("there is no day {day} in month {month}"));
        }
        Ok(())
    }
}

/// The last two digits of the year in which a fiscal year begins, by those of the year in which it ends.
fn start_of_end(end: i16, fiscal: MonthDay) -> i16 {
    if fiscal.is_calendar() { end } else { (end + 99) % 100 }
}

fn put(field: &mut Option<i16>, value: i16) -> Result<(), String> {
    match field.replace(value) {
        Some(before) if before != value => Err(format!("{before} and {value} contradict each other")),
        _ => Ok(()),
    }
}

/// Converts months, days and weeks, which have been checked to be at most 53.
fn small(value: i16) -> i8 {
    i8::try_from(value).unwrap_or(i8::MAX)
}
