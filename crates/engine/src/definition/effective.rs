//! The instant from which a version is used, and the version used until then. Both are part of the definition's text,
//! so that all servers agree.

use std::time::Duration;

use sequent_core::FieldFault;
use sequent_format::{Format, Reset, Timestamp};
use serde::{Deserialize, Serialize};

use super::Body;
use crate::texts::Texts;

/// Upper limit of the earlier versions kept with one, each in effect up to an instant. Instants before the oldest of
/// them use the oldest.
pub const EARLIER_MAX: usize = 8;

/// Least distance of an instant from now: every server knows of a version by then, whatever its clock shows.
pub const EFFECTIVE_AHEAD_MIN: Duration = Duration::from_secs(10);

/// When a version takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effective {
    /// As soon as a server has read it, whatever instant a request names.
    Now,
    /// At the end of the current period.
    NextPeriod,
    /// At this instant.
    At(Timestamp),
}

/// A version that is in effect until the next one is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Earlier {
    version: u32,
    body: Body,
}

impl Effective {
    /// Parses `now`, `next-period`, or an instant in the form that requests of this definition use. Instants count in
    /// whole milliseconds.
    ///
    /// ```
    /// use sequent_engine::{Body, Effective, Texts};
    /// let texts = Texts::new("@{date,yyyyMMdd}@{seq,w=5}").zone("Asia/Shanghai");
    /// let body = Body::check(None, 1, 1, None, None, Some(texts))?;
    /// let midnight = Effective::read("2027-01-01", &body)?;
    /// assert_eq!(midnight, Effective::At("2026-12-31T16:00:00Z".parse().unwrap()));
    /// assert_eq!(Effective::read("soon", &body).unwrap_err().field, "effective");
    /// # Ok::<(), sequent_core::FieldFault>(())
    /// ```
    pub fn read(text: &str, body: &Body) -> Result<Self, FieldFault> {
        let instant = match text {
            "now" => return Ok(Self::Now),
            "next-period" => return Ok(Self::NextPeriod),
            text => match body.format() {
                Some(format) => format.instant(text).ok(),
                None => text.parse::<Timestamp>().ok(),
            },
        };
        let whole = instant.and_then(|instant| Timestamp::from_millisecond(instant.as_millisecond()).ok());
        whole.map(Self::At).ok_or_else(|| {
            let date =
                if body.format().is_some() { ", or a date of the zone such as 2027-01-01," } else { "" };
            let bound = format!(
                "now, next-period, or an instant such as 2027-01-01T00:00:00+08:00{date} is expected"
            );
            FieldFault::new("effective", format!("{text:?}"), bound)
        })
    }

    /// The keyword or the instant.
    pub(crate) fn shown(self) -> String {
        match self {
            Self::Now => "\"now\"".to_owned(),
            Self::NextPeriod => "\"next-period\"".to_owned(),
            Self::At(instant) => format!("{:?}", instant.to_string()),
        }
    }

    /// The fault of this value, with its bound.
    pub(crate) fn fault(self, bound: impl Into<String>) -> FieldFault {
        FieldFault::new("effective", self.shown(), bound)
    }
}

impl Body {
    /// When it takes effect, if another version is in effect before.
    pub fn begins(&self) -> Option<Timestamp> {
        self.from
    }

    /// An instant in the definition's zone, in RFC 3339.
    pub(crate) fn shown(&self, instant: Timestamp) -> String {
        self.format().map_or_else(|| instant.to_string(), |format| format.shown_instant(instant))
    }

    /// The earlier versions with a known end of effect, the oldest first.
    pub(crate) fn earlier(&self) -> impl DoubleEndedIterator<Item = (u32, &Self)> {
        self.earlier.iter().map(|earlier| (earlier.version, &earlier.body))
    }

    /// The version in effect at an instant: this one, which is `version`, or an earlier one.
    pub fn in_effect(&self, version: u32, at: Timestamp) -> (u32, &Self) {
        let own = std::iter::once((version, self));
        let mut known = own.chain(self.earlier().rev()).skip_while(|(_, body)| body.waits(at));
        known.next().or_else(|| self.earlier().next()).unwrap_or((version, self))
    }

    /// The versions that take effect after an instant, the next one first.
    pub(crate) fn waiting(&self, version: u32, at: Timestamp) -> Vec<(u32, &Self)> {
        let own = std::iter::once((version, self));
        self.earlier()
            .chain(own)
            .skip(usize::from(!self.earlier.is_empty()))
            .filter(|(_, body)| body.waits(at))
            .collect()
    }

    fn waits(&self, at: Timestamp) -> bool {
        self.begins().is_some_and(|from| at < from)
    }

    /// The same from an instant on. The versions in `before`, the oldest first, are in effect until then.
    #[must_use]
    pub(crate) fn beginning_at(self, from: Timestamp, before: &[(u32, &Self)]) -> Self {
        let before: Vec<_> = before.iter().filter(|(_, body)| body.begins() < Some(from)).collect();
        let kept = before.iter().skip(before.len().saturating_sub(EARLIER_MAX));
        let earlier = kept.map(|(version, body)| {
            let texts = body.texts.as_ref().map(Texts::alone);
            Earlier { version: *version, body: Self { texts, earlier: Vec::new(), ..(*body).clone() } }
        });
        Self { earlier: earlier.collect(), from: Some(from), ..self }
    }

    /// The same without the instant and the earlier versions.
    #[must_use]
    pub(crate) fn at_once(&self) -> Self {
        Self { from: None, earlier: Vec::new(), ..self.clone() }
    }

    /// Prepares the earlier versions for use.
    pub(crate) fn prove_earlier(&mut self) -> Result<(), String> {
        for Earlier { version, body } in &mut self.earlier {
            if !body.earlier.is_empty() {
                return Err(format!("version {version}, which it follows, follows others of its own"));
            }
            body.prove().map_err(|why| format!("version {version}, which it follows: {why}"))?;
        }
        Ok(())
    }

    /// Refuses a version with another last number than an earlier one if both share a counter: a counter has one end.
    pub(crate) fn check_counters(&self) -> Result<(), FieldFault> {
        let Some(from) = self.begins() else { return Ok(()) };
        let until = self.earlier().skip(1).filter_map(|(_, next)| next.begins()).chain([from]);
        for ((version, before), until) in self.earlier().zip(until) {
            let (was, is) = (before.span().limit(), self.span().limit());
            if was == is || !self.shares_counters(from, before, until) {
                continue;
            }
            return Err(Effective::At(from).fault(format!(
                "its last number is {is}, that of version {version} is {was}, and they would share a counter: now is \
                 expected, or an instant from which on it counts no period that version {version} has counted"
            )));
        }
        Ok(())
    }

    /// Whether both versions use the same counter: `before` until an instant, and this one from another instant on.
    /// That is so if this version's first period is not later than the last period of `before`. Clocks further west
    /// show a period that has been counted already.
    fn shares_counters(&self, from: Timestamp, before: &Self, until: Timestamp) -> bool {
        let last = until.checked_sub(Duration::from_millis(1)).unwrap_or(until);
        let period = |body: &Self, at| body.format().and_then(|format| format.period_back(at, 0));
        let kind = |body: &Self| body.format().map_or(Reset::Never, Format::reset);
        let values = |body: &Self| body.format().map_or(0, |format| format.partitioned_by().len());
        // Keys of one kind of period sort by time.
        kind(before) == kind(self)
            && period(self, from) <= period(before, last)
            && values(before) == values(self)
    }

    /// When the period at an instant ends: the period of this version, or of the next one if this one's counters never
    /// reset.
    pub(crate) fn next_period(&self, next: &Self, at: Timestamp) -> Option<Timestamp> {
        let ends = |body: &Self| body.format().and_then(|format: &Format| format.period_until(at));
        ends(self).or_else(|| ends(next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(template: &str) -> Body {
        Body::check(None, 1, 1, None, None, Some(Texts::new(template))).unwrap()
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn of_each_instant_one_version_is_in_effect() {
        let (one, two, three) = (body("A@{seq,w=6}"), body("B@{seq,w=6}"), body("C@{seq,w=6}"));
        let two = two.beginning_at(at("2027-01-01T00:00:00Z"), &[(1, &one)]);
        let before: Vec<_> = two.earlier().chain([(2, &two)]).collect();
        let three = three.beginning_at(at("2028-01-01T00:00:00Z"), &before);
        let three = Body::from_text(&three.to_text()).unwrap();
        for (instant, version) in [
            ("2020-01-01T00:00:00Z", 1),
            ("2026-12-31T23:59:59.999Z", 1),
            ("2027-01-01T00:00:00Z", 2),
            ("2027-12-31T23:59:59.999Z", 2),
            ("2028-01-01T00:00:00Z", 3),
        ] {
            assert_eq!(three.in_effect(3, at(instant)).0, version, "{instant}");
        }
        let waiting = |instant| -> Vec<u32> {
            three.waiting(3, at(instant)).into_iter().map(|(version, _)| version).collect()
        };
        assert_eq!(waiting("2026-01-01T00:00:00Z"), [2, 3]);
        assert_eq!(waiting("2027-06-01T00:00:00Z"), [3]);
        assert!(waiting("2028-01-01T00:00:00Z").is_empty());
        // An earlier instant replaces the versions that would begin after it.
        let before: Vec<_> = three.earlier().chain([(3, &three)]).collect();
        let four = body("D@{seq,w=6}").beginning_at(at("2026-06-01T00:00:00Z"), &before);
        assert_eq!(four.earlier().map(|(version, _)| version).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn the_versions_that_are_kept_are_bounded_and_the_oldest_stands_for_those_before() {
        let mut top = body("A@{seq,w=6}");
        for year in 1..=20 {
            let (held, version) = (top.clone(), year);
            let before: Vec<_> = held.earlier().chain([(version, &held)]).collect();
            let from = at(&format!("{}-01-01T00:00:00Z", 2030 + year));
            top = body("A@{seq,w=6}").beginning_at(from, &before);
        }
        assert_eq!(top.earlier().count(), EARLIER_MAX);
        assert_eq!(top.in_effect(21, at("2020-01-01T00:00:00Z")).0, 13);
        assert_eq!(top.in_effect(21, at("2050-01-01T00:00:00Z")).0, 21);
    }

    #[test]
    fn a_counter_has_one_end() {
        let midnight = at("2027-01-01T00:00:00Z");
        let short = body("@{date,yyyyMMdd}@{seq,w=5,over=error}");
        let long = body("B@{date,yyyyMMdd}@{seq,w=6,over=error}");
        let checked = |next: &Body, from| next.clone().beginning_at(from, &[(1, &short)]).check_counters();
        checked(&long, midnight).unwrap();
        let fault = checked(&long, at("2027-01-01T12:00:00Z")).unwrap_err();
        assert_eq!((&*fault.field, fault.value.as_str()), ("effective", "\"2027-01-01T12:00:00Z\""));
        assert!(
            fault.bound.contains("its last number is 999999, that of version 1 is 99999"),
            "{}",
            fault.bound
        );
        checked(&body("B@{date,yyyyMMdd}@{seq,w=5,over=error}"), at("2027-01-01T12:00:00Z")).unwrap();
        let west = Texts::new("B@{date,yyyyMMdd}@{seq,w=6,over=error}").zone("Pacific/Honolulu");
        let west = Body::check(None, 1, 1, None, None, Some(west)).unwrap();
        assert!(checked(&west, midnight).is_err(), "there it is still the day before");
    }

    #[test]
    fn a_period_that_was_counted_before_the_last_one_has_one_end_too() {
        let of = |template, zone: &str| {
            Body::check(None, 1, 1, None, None, Some(Texts::new(template).zone(zone))).unwrap()
        };
        let (short, long) =
            ("@{date,yyyyMMdd}@{seq,w=5,over=error}", "B@{date,yyyyMMdd}@{seq,w=6,over=error}");
        let first = of(short, "Pacific/Kiritimati");
        let checked =
            |next: &Body, from| next.clone().beginning_at(at(from), &[(1, &first)]).check_counters();
        // A day of Kiritimati is over when Honolulu begins it, or the one after it has begun.
        for from in ["2027-01-01T09:59:00Z", "2027-01-01T10:00:00Z", "2027-01-01T12:00:00Z"] {
            assert!(checked(&of(long, "Pacific/Honolulu"), from).is_err(), "{from}");
        }
        // Further east, and in periods of another kind, no number is counted again.
        assert!(checked(&of(long, "Pacific/Kiritimati"), "2027-01-01T10:00:00Z").is_ok());
        let monthly = "B@{date,yyyyMM}@{seq,w=6,over=error}";
        assert!(checked(&of(monthly, "Pacific/Honolulu"), "2027-01-01T10:00:00Z").is_ok());
    }
}
