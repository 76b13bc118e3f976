//! Rule S3: the date in the text determines the period. Otherwise two periods would render the same text.

use std::collections::HashMap;

use jiff::{
    ToSpan,
    civil::{Date, DateTime},
};

use crate::{
    analyze::analysis::Analysis,
    date::{DateFields, LocalDateTime, Reset},
    error::{Fault, Rule},
    settings::Unique,
    template::Kind,
};

pub(in crate::analyze) fn check(analysis: &Analysis, faults: &mut Vec<Fault>) {
    if analysis.settings.unique == Unique::Period
        || analysis.known_fields().contains(DateFields::required_by(analysis.reset))
    {
        return;
    }
    let (part, seq) = analysis.seq();
    let column = analysis.dates().next().map_or(part.column, |(part, _)| part.column);
    let reset = analysis.reset;
    let example = collision(analysis).map_or_else(
        || {
            "; in 28 years no two periods have the same text, but parse cannot compute the period from the fields shown"
                .to_owned()
        },
        |(one, two, text)| match text.as_str() {
            "" => format!("; no date is shown: {} and {} give one text", one.date(), two.date()),
            text => format!("; {} and {} both show {text:?}", shown(reset, one), shown(reset, two)),
        },
    );
    let (noun, show) = words(reset);
    let what = format!(
        "the counter resets to {} with each {noun}, which the text does not show{example}",
        seq.start
    );
    faults.push(Fault::new(Rule::S3, column, what, fix(analysis, show)));
}

fn shown(reset: Reset, local: DateTime) -> String {
    if reset == Reset::Hour { local.to_string() } else { local.date().to_string() }
}

/// How many days are searched. Leap years and weekdays repeat after 28 years.
const DAYS: i64 = 28 * 366;

/// Two local times of different periods with the same text, if there are any.
fn collision(analysis: &Analysis) -> Option<(DateTime, DateTime, String)> {
    let begin = Date::new(2024, 1, 1).ok()?.at(0, 0, 0, 0);
    // Hours that a text does not show collide within a day; hours that it shows can collide between days.
    let hours = if analysis.reset == Reset::Hour { 24 } else { 0 };
    let times = (0..hours)
        .map(|hour| begin.checked_add(hour.hours()))
        .chain((0..DAYS).map(|day| begin.checked_add(day.days())));
    let mut seen: HashMap<String, (String, DateTime)> = HashMap::new();
    for local in times {
        let local = local.ok()?;
        let fields = LocalDateTime::new(local)?;
        let mut text = String::new();
        for (_, date) in analysis.dates() {
            date.pattern.render(&fields, &mut text).ok()?;
        }
        let key = analysis.reset.key(&fields, analysis.fiscal);
        let first = seen.entry(text.clone()).or_insert_with(|| (key.clone(), local));
        if first.0 != key {
            return Some((first.1, local, text));
        }
    }
    None
}

/// What a period is called, and what shows it in a text.
fn words(reset: Reset) -> (&'static str, &'static str) {
    match reset {
        Reset::Never => ("period", "yyyy"),
        Reset::Year => ("year", "yyyy"),
        Reset::FiscalYear => ("fiscal year", "FS-FE or FFFF"),
        Reset::Quarter => ("quarter", "yyyy and Q"),
        Reset::Month => ("month", "yyyyMM"),
        Reset::IsoWeek => ("ISO week", "GGGG with WW"),
        Reset::Day => ("day", "yyyyMMdd"),
        Reset::Hour => ("hour", "yyyyMMddHH"),
    }
}

fn fix(analysis: &Analysis, show: &str) -> String {
    let by_value = analysis
        .template
        .parts
        .iter()
        .any(|part| matches!(&part.kind, Kind::Date(date) if date.at.is_some()));
    if by_value && analysis.fields.is_empty() {
        return "leave reset out: a date with at= has its own counter; or give the request's own at, and show it".into();
    }
    format!(
        "show {show}, name a coarser reset, such as reset=never, or define it with unique = \"period\" if texts of different \
         periods may be equal"
    )
}
