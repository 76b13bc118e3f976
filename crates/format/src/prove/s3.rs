//! S3: the date in the text tells the period, or two periods give one text.

use std::collections::HashMap;

use jiff::{
    ToSpan,
    civil::{Date, DateTime},
};

use crate::{
    Fault, Rule, Unique,
    date::{Facts, Moment, Reset},
    prove::Claim,
};

pub(super) fn check(claim: &Claim, faults: &mut Vec<Fault>) {
    if claim.settings.unique == Unique::Period || claim.told().have(Facts::needed(claim.reset)) {
        return;
    }
    let (part, seq) = claim.seq();
    let column = claim.dates().next().map_or(part.column, |(part, _)| part.column);
    let reset = claim.reset;
    let example = collision(claim).map_or_else(
        || {
            "; no two are alike in 28 years, but what tells them is roundabout, and parse reads what a text says"
                .to_owned()
        },
        |(one, two, text)| match text.as_str() {
            "" => format!("; no date is shown: {} and {} give one text", one.date(), two.date()),
            text => format!("; {} and {} both show {text:?}", shown(reset, one), shown(reset, two)),
        },
    );
    let what = format!(
        "the counter begins again at {} with each {}, which the text does not tell{example}",
        seq.start,
        noun(reset)
    );
    faults.push(Fault::new(Rule::S3, column, what, mend(claim)));
}

fn shown(reset: Reset, local: DateTime) -> String {
    if reset == Reset::Hour { local.to_string() } else { local.date().to_string() }
}

/// How many days are searched: in 28 years leap years and days of the week come round.
const DAYS: i64 = 28 * 366;

/// Two moments of different periods with the same text, if there are any.
fn collision(claim: &Claim) -> Option<(DateTime, DateTime, String)> {
    let begin = Date::new(2024, 1, 1).ok()?.at(0, 0, 0, 0);
    // Hours that a text does not tell are alike within a day; those that it tells, from day to day.
    let hours = if claim.reset == Reset::Hour { 24 } else { 0 };
    let moments = (0..hours)
        .map(|hour| begin.checked_add(hour.hours()))
        .chain((0..DAYS).map(|day| begin.checked_add(day.days())));
    let mut seen: HashMap<String, (String, DateTime)> = HashMap::new();
    for local in moments {
        let local = local.ok()?;
        let moment = Moment::new(local)?;
        let mut text = String::new();
        for (_, date) in claim.dates() {
            date.pattern.render(&moment, &mut text).ok()?;
        }
        let key = claim.reset.key(&moment, claim.fiscal);
        let first = seen.entry(text.clone()).or_insert_with(|| (key.clone(), local));
        if first.0 != key {
            return Some((first.1, local, text));
        }
    }
    None
}

fn noun(reset: Reset) -> &'static str {
    match reset {
        Reset::Never => "period",
        Reset::Year => "year",
        Reset::FiscalYear => "fiscal year",
        Reset::Quarter => "quarter",
        Reset::Month => "month",
        Reset::IsoWeek => "ISO week",
        Reset::Day => "day",
        Reset::Hour => "hour",
    }
}

fn mend(claim: &Claim) -> String {
    let show = match claim.reset {
        Reset::FiscalYear => "FS-FE or FFFF",
        Reset::Quarter => "yyyy and Q",
        Reset::Month => "yyyyMM",
        Reset::IsoWeek => "GGGG with WW",
        Reset::Day => "yyyyMMdd",
        Reset::Hour => "yyyyMMddHH",
        Reset::Year | Reset::Never => "yyyy",
    };
    let by_value = claim
        .template
        .parts
        .iter()
        .any(|part| matches!(&part.kind, crate::template::Kind::Date(date) if date.at.is_some()));
    if by_value && claim.facts.is_empty() {
        return "leave reset out: a date with at= counts by itself; or give the request's own at, and show it".into();
    }
    format!("show {show}, or name a coarser reset, such as reset=never")
}
