//! A request, but for its numbers: one instant, one zone, one key; the parts of the text that are known by then.

mod places;
mod render;
mod value;

use jiff::{Timestamp, ToSpan, civil::DateTime};

use crate::{
    Format, ValueError, Values,
    date::{Facts, Moment, Reset, instant::YEARS_EXPECTED},
    template::Kind,
};

use render::Step;
pub(crate) use value::shown as shown_value;

/// What all texts of one request have in common. Cheap to render from, again and again; it never looks at a clock.
///
/// Keep it until [`Issue::holds_until`], and ask for another one after.
#[derive(Debug, Clone)]
pub struct Issue {
    format: Format,
    /// The known texts of all parts, one after the other.
    fixed: String,
    /// Where each part's text is in `fixed`.
    spans: Vec<(usize, usize)>,
    steps: Vec<Step>,
    period: String,
    partition: Vec<(String, String)>,
    tweak: Vec<u8>,
    holds_until: Option<Timestamp>,
    period_until: Option<Timestamp>,
}

/// What is known of a request, from values and instant or from a text.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// The text of each part; empty for those that need the number.
    pub(crate) texts: Vec<String>,
    pub(crate) period: String,
    pub(crate) partition: Vec<(String, String)>,
}

impl Issue {
    pub(crate) fn new(format: &Format, instant: Timestamp, values: &Values) -> Result<Self, ValueError> {
        let names = format.template().values();
        if let Some((name, value)) = values.iter().find(|(name, _)| !names.contains(name)) {
            let list = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(ValueError::new(
                name,
                value,
                format!("the template knows no such value: {list} are allowed"),
            ));
        }
        let mut known = value::texts(format, values)?;
        let local = format.zone().local(instant);
        let out_of_years = || ValueError::new("at", &instant.to_string(), YEARS_EXPECTED);
        let moment = Moment::new(local).ok_or_else(out_of_years)?;
        for (at, part) in format.template().parts.iter().enumerate() {
            if let Kind::Date(date) = &part.kind
                && date.at.is_none()
            {
                let out = &mut known.texts[at];
                let unshown = |bound| ValueError::new("at", &instant.to_string(), bound);
                date.pattern.render(&moment, out).map_err(unshown)?;
            }
        }
        known.period = format.reset().key(&moment, format.fiscal());
        let mut issue = Self::known(format, known);
        issue.holds_until = next_change(format, local).and_then(|next| format.zone().until(instant, next));
        let period = format.reset().next(local, format.fiscal());
        issue.period_until = period.and_then(|next| format.zone().until(instant, next));
        Ok(issue)
    }

    /// An issue of which everything is known, however that came about.
    pub(crate) fn known(format: &Format, known: Known) -> Self {
        let mut fixed = String::new();
        let spans = known
            .texts
            .iter()
            .map(|text| {
                let begin = fixed.len();
                fixed.push_str(text);
                (begin, fixed.len())
            })
            .collect();
        let tweak = tweak(&format.settings().name, &known);
        let mut issue = Self {
            format: format.clone(),
            fixed,
            spans,
            steps: Vec::new(),
            period: known.period,
            partition: known.partition,
            tweak,
            holds_until: None,
            period_until: None,
        };
        issue.steps = render::steps(&issue);
        issue
    }

    /// The format it came from.
    pub fn format(&self) -> &Format {
        &self.format
    }

    /// The key of the period, such as `20260401`; empty where the counter never begins again.
    pub fn period(&self) -> &str {
        &self.period
    }

    /// The names and values that partition the counter, in the order of the template. With the period they are the
    /// counter's key: join them by length, never by a separator.
    pub fn partition(&self) -> impl Iterator<Item = (&str, &str)> {
        self.partition.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The instant from which its texts may be others; `None` where they never change. A zone's next change of offset at the latest.
    pub fn holds_until(&self) -> Option<Timestamp> {
        self.holds_until
    }

    /// The instant from which the period may be another; `None` where there is but one.
    pub fn period_until(&self) -> Option<Timestamp> {
        self.period_until
    }

    pub(crate) fn tweak(&self) -> &[u8] {
        &self.tweak
    }
}

/// When clocks show the next moment whose date text or period may differ.
fn next_change(format: &Format, local: DateTime) -> Option<DateTime> {
    let claim = format.claim();
    let to_the_minute = local.date().at(local.hour(), local.minute(), 0, 0);
    let to_the_second = local.date().at(local.hour(), local.minute(), local.second(), 0);
    let shown = claim.facts;
    let units = [
        (Facts::YEAR, Reset::Year),
        (Facts::FISCAL, Reset::FiscalYear),
        (Facts::QUARTER, Reset::Quarter),
        (Facts::MONTH, Reset::Month),
        (Facts::ISO_YEAR, Reset::IsoWeek),
        (Facts::ISO_WEEK, Reset::IsoWeek),
        (Facts::DAY, Reset::Day),
        (Facts::DAY_OF_YEAR, Reset::Day),
        (Facts::HOUR, Reset::Hour),
    ];
    let coarse = units.into_iter().filter(|(fact, _)| shown.have(*fact)).map(|(_, reset)| reset);
    let coarse = coarse.chain([claim.reset]).filter_map(|reset| reset.next(local, claim.fiscal));
    let minute = shown.have(Facts::MINUTE).then(|| to_the_minute.checked_add(1.minute()).ok()).flatten();
    let second = shown.have(Facts::SECOND).then(|| to_the_second.checked_add(1.second()).ok()).flatten();
    coarse.chain(minute).chain(second).min()
}

/// What tells one counter from all others, for FF1: empty where there is nothing to tell.
fn tweak(name: &str, known: &Known) -> Vec<u8> {
    if name.is_empty() && known.period.is_empty() && known.partition.is_empty() {
        return Vec::new();
    }
    let values = known.partition.iter().map(|(_, value)| value.as_str());
    let mut tweak = Vec::new();
    for part in [name, &known.period].into_iter().chain(values) {
        tweak.extend_from_slice(format!("{}:{part}|", part.len()).as_bytes());
    }
    tweak
}
