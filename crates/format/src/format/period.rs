//! Instants and periods of a template, in its zone.

use jiff::{SignedDuration, Timestamp};

use crate::{
    date::{LocalDateTime, Reset, instant},
    error::ValueError,
};

use super::Format;

impl Format {
    /// The key of the period that is `count` periods before the one of `instant`. `None` if the counter never resets, or if four
    /// digits cannot show the year.
    ///
    /// ```
    /// use sequent_format::{Settings, Template};
    /// let format = Template::parse("@{date,yyyyMM}@{seq,w=5}")?.analyze(&Settings::default())?;
    /// let now = format.instant("2026-01-31")?;
    /// assert_eq!(format.period_back(now, 2).as_deref(), Some("202511"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn period_back(&self, instant: Timestamp, count: u32) -> Option<String> {
        let of = |local| Some(self.reset().key(&LocalDateTime::new(local)?, self.fiscal()));
        let back = of(self.reset().back(self.zone().local(instant), count)?)?;
        if self.reset() != Reset::Hour {
            return Some(back);
        }
        // An hour that clocks skip is no period, and an hour that they show twice is one. Going back by the local clock and by
        // elapsed time differ then; the earlier result is at least `count` periods back.
        let elapsed = instant.checked_sub(SignedDuration::from_hours(count.into())).ok()?;
        of(self.zone().local(elapsed)).map(|elapsed| elapsed.min(back))
    }

    /// The instant from which the period may differ from the one of `instant`; `None` if the counter never resets.
    ///
    /// ```
    /// use sequent_format::{Settings, Template};
    /// let settings = Settings { zone: "Asia/Shanghai".into(), ..Settings::default() };
    /// let format = Template::parse("@{date,yyyyMM}@{seq,w=5}")?.analyze(&settings)?;
    /// let until = format.period_until(format.instant("2026-01-31")?);
    /// assert_eq!(until, Some("2026-01-31T16:00:00Z".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn period_until(&self, instant: Timestamp) -> Option<Timestamp> {
        let next = self.reset().next(self.zone().local(instant), self.fiscal())?;
        self.zone().until(instant, next)
    }

    /// The instant at which the period of a key begins; `None` if the key is not a period of this template.
    ///
    /// ```
    /// use sequent_format::{Settings, Template};
    /// let format = Template::parse("@{date,GGGG-'W'WW}-@{seq,w=5}")?.analyze(&Settings::default())?;
    /// let begins = format.period_begins("2026W53").ok_or("no week")?;
    /// assert_eq!(format.shown_instant(begins), "2026-12-28T00:00:00+00:00");
    /// assert!(format.period_begins("2027W53").is_none(), "that year has 52");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn period_begins(&self, key: &str) -> Option<Timestamp> {
        let begins = self.zone().instant(self.reset().begins(key, self.fiscal())?)?;
        (self.period_back(begins, 0)? == key).then_some(begins)
    }

    /// Parses an instant of a caller: RFC 3339 with its offset, or a local date or time of the definition's zone. A local time that
    /// clocks show twice is the earlier instant.
    ///
    /// A time that clocks skip, an offset that contradicts a zone in brackets, and second 60 are errors. None of them is moved to a
    /// nearby instant.
    ///
    /// ```
    /// use sequent_format::{Settings, Template};
    /// let settings = Settings { zone: "Asia/Shanghai".into(), ..Settings::default() };
    /// let format = Template::parse("@{date,yyyyMMdd}@{seq,w=5}")?.analyze(&settings)?;
    /// assert_eq!(format.instant("2017-03-04T09:30")?, format.instant("2017-03-04T01:30:00Z")?);
    /// assert_eq!(format.shown_instant(format.instant("2017-03-04")?), "2017-03-04T00:00:00+08:00");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn instant(&self, text: &str) -> Result<Timestamp, ValueError> {
        let error = |bound: String| ValueError::new("at", text, bound);
        let parsed = instant::parse(text, self.zone()).map_err(error)?;
        let is_shown = LocalDateTime::new(self.zone().local(parsed)).is_some();
        is_shown.then_some(parsed).ok_or_else(|| error(instant::YEARS_EXPECTED.to_owned()))
    }

    /// An instant in RFC 3339 with the offset of the definition's zone.
    pub fn shown_instant(&self, instant: Timestamp) -> String {
        self.zone().rfc3339(instant)
    }
}
