//! A template that is proven: what a definition renders by, and reads back.

use std::{fmt, sync::Arc, time::Duration};

use jiff::{SignedDuration, Timestamp};

use crate::{
    Fault, InvertError, Issue, Parsed, Preview, RenderError, Reset, Settings, Template, ValueError, Values,
    date::{self, Moment, MonthDay, Zone},
    invert,
    numbering::Numbering,
    prove::{self, Claim, Decoding},
    shape::Shape,
    template::{Kind, Overflow},
};

/// A proven template. Cheap to clone; all that it renders is unique where its numbers are, as [`Settings::unique`] says.
#[derive(Clone)]
pub struct Format(Arc<Inner>);

struct Inner {
    claim: Claim,
    decoding: Decoding,
    straight: Vec<bool>,
    warnings: Vec<Fault>,
}

/// What a template asks of the counter behind it: for the allocator, so that no number is drawn that has no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counter {
    /// The first number.
    pub start: u64,
    /// The distance between neighbours.
    pub step: u64,
    /// The last number that has a text of its own; where numbers wrap after a time, none is the last.
    pub end: u64,
    /// How many numbers a key has.
    pub capacity: u64,
    /// The first number that should raise a warning: `warn=`.
    pub warn_at: Option<u64>,
    /// `over=wrap` with `reuse_after`: numbers that far apart share a text, which the allocator keeps apart in time.
    pub wrap: Option<Wrap>,
}

/// Numbers that begin again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wrap {
    /// How far apart two numbers with one text are.
    pub cycle: u64,
    /// How long a text must rest before it is used again.
    pub reuse_after: Duration,
}

impl Format {
    pub(crate) fn proven(claim: Claim, decoding: Decoding, warnings: Vec<Fault>) -> Self {
        let straight = prove::straight(&claim.template);
        Self(Arc::new(Inner { claim, decoding, straight, warnings }))
    }

    /// Everything about a request that is not the number: values checked, one instant, one zone, one key. Costs about
    /// a microsecond and consumes nothing; render as many numbers as you like with it.
    pub fn issue(&self, instant: Timestamp, values: &Values) -> Result<Issue, ValueError> {
        Issue::new(self, instant, values)
    }

    /// Takes a text apart, and verifies it: check digits, dates, spelling. The error says which part does not fit.
    ///
    /// ```
    /// use sequent_format::{Settings, Template};
    /// let format = Template::parse("SN-@{seq,w=8,id=s}-@{check,damm,over=s}")?.prove(&Settings::default())?;
    /// assert_eq!(format.invert("SN-00000572-4")?.number, 572);
    /// assert_eq!(
    ///     format.invert("SN-00000527-4").unwrap_err().to_string(),
    ///     "column 13: check damm is '4' where '2' belongs: a slip of the pen, or another number"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn invert(&self, text: &str) -> Result<Parsed, InvertError> {
        invert::text(self, text)
    }

    /// What a number would look like; consumes nothing.
    pub fn preview(&self, number: u64, instant: Timestamp, values: &Values) -> Result<Preview, PreviewError> {
        Preview::new(&self.issue(instant, values)?, number, instant)
    }

    /// The longest text, in characters.
    pub fn max_len(&self) -> usize {
        self.0.claim.shapes.iter().map(|shape| shape.max).sum()
    }

    /// The shortest text, in characters.
    pub fn min_len(&self) -> usize {
        self.0.claim.shapes.iter().map(|shape| shape.min).sum()
    }

    /// What the counter must keep to.
    pub fn counter(&self) -> Counter {
        let (_, seq) = self.0.claim.seq();
        let numbering = self.numbering();
        let within = |high: u64| high.saturating_sub(seq.start) / seq.step + 1;
        // A warning is about the digits that were planned for, also where the text may grow.
        let planned = seq.digits.highest(seq.width).min(numbering.top);
        let warn = |percent: u8| {
            let at = (u128::from(planned) * u128::from(percent)).div_ceil(100);
            u64::try_from(at).unwrap_or(planned).max(seq.start)
        };
        let wrap = match seq.over {
            Overflow::Wrap { reuse_after: Some(reuse_after) } => {
                numbering.cycle.map(|cycle| Wrap { cycle, reuse_after })
            }
            _ => None,
        };
        Counter {
            start: seq.start,
            step: seq.step,
            end: if wrap.is_some() { crate::limits::NUMBER_MAX } else { numbering.top },
            capacity: within(numbering.top),
            warn_at: seq.warn_percent.map(warn),
            wrap,
        }
    }

    /// How often the counter begins again.
    pub fn reset(&self) -> Reset {
        self.0.claim.reset
    }

    /// The key of the period that is `count` periods before the one of `instant`; `None` where the counter never begins
    /// again, and where four digits can't show the year.
    ///
    /// ```
    /// use sequent_format::{Settings, Template};
    /// let format = Template::parse("@{date,yyyyMM}@{seq,w=5}")?.prove(&Settings::default())?;
    /// let now = format.instant("2026-01-31")?;
    /// assert_eq!(format.period_back(now, 2).as_deref(), Some("202511"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn period_back(&self, instant: Timestamp, count: u32) -> Option<String> {
        let of = |local| Some(self.reset().key(&Moment::new(local)?, self.fiscal()));
        let back = of(self.reset().back(self.zone().local(instant), count)?)?;
        if self.reset() != Reset::Hour {
            return Some(back);
        }
        // Hours that clocks skip are no periods, and those that they show twice are one: the earlier of both ways to count
        // has passed by so many.
        let elapsed = instant.checked_sub(SignedDuration::from_hours(count.into())).ok()?;
        of(self.zone().local(elapsed)).map(|elapsed| elapsed.min(back))
    }

    /// The instant from which the period may be another than that of `instant`; `None` where the counter never begins again.
    ///
    /// ```
    /// use sequent_format::{Settings, Template};
    /// let settings = Settings { zone: "Asia/Shanghai".into(), ..Settings::default() };
    /// let format = Template::parse("@{date,yyyyMM}@{seq,w=5}")?.prove(&settings)?;
    /// let until = format.period_until(format.instant("2026-01-31")?);
    /// assert_eq!(until, Some("2026-01-31T16:00:00Z".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn period_until(&self, instant: Timestamp) -> Option<Timestamp> {
        let next = self.reset().next(self.zone().local(instant), self.fiscal())?;
        self.zone().until(instant, next)
    }

    /// When the period of this key begins; `None` for what is no period's key here.
    ///
    /// ```
    /// use sequent_format::{Settings, Template};
    /// let format = Template::parse("@{date,GGGG-'W'WW}-@{seq,w=5}")?.prove(&Settings::default())?;
    /// let begins = format.period_begins("2026W53").ok_or("no week")?;
    /// assert_eq!(format.shown_instant(begins), "2026-12-28T00:00:00+00:00");
    /// assert!(format.period_begins("2027W53").is_none(), "that year has 52");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn period_begins(&self, key: &str) -> Option<Timestamp> {
        let begins = self.zone().instant(self.reset().begins(key, self.fiscal())?)?;
        (self.period_back(begins, 0)? == key).then_some(begins)
    }

    /// The name of the zone that dates are shown and periods are counted in.
    pub fn zone_name(&self) -> &str {
        self.zone().name()
    }

    /// The instant that a caller writes: RFC 3339 with its offset, or a local date or time, which is one of the
    /// definition's zone; the earlier one where clocks show it twice. A time that clocks skip, an offset that contradicts
    /// a zone in brackets, and a sixtieth second are errors: nothing is bent to an instant near by.
    ///
    /// ```
    /// use sequent_format::{Settings, Template};
    /// let settings = Settings { zone: "Asia/Shanghai".into(), ..Settings::default() };
    /// let format = Template::parse("@{date,yyyyMMdd}@{seq,w=5}")?.prove(&settings)?;
    /// assert_eq!(format.instant("2017-03-04T09:30")?, format.instant("2017-03-04T01:30:00Z")?);
    /// assert_eq!(format.shown_instant(format.instant("2017-03-04")?), "2017-03-04T00:00:00+08:00");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn instant(&self, text: &str) -> Result<Timestamp, ValueError> {
        let fault = |bound: String| ValueError::new("at", text, bound);
        let instant = date::instant::read(text, self.zone()).map_err(fault)?;
        let is_shown = Moment::new(self.zone().local(instant)).is_some();
        is_shown.then_some(instant).ok_or_else(|| fault(date::instant::YEARS_EXPECTED.to_owned()))
    }

    /// An instant as the definition's zone shows it, in RFC 3339 with its offset.
    pub fn shown_instant(&self, instant: Timestamp) -> String {
        self.zone().shown(instant)
    }

    /// Names of the values that partition the counter, in the order of the key.
    pub fn partitioned_by(&self) -> Vec<&str> {
        let names = self.template().parts.iter().filter_map(|part| match &part.kind {
            Kind::Ctx(ctx) => ctx.by.then_some(ctx.name.as_str()),
            Kind::Date(date) => date.at.as_deref(),
            _ => None,
        });
        names.collect()
    }

    /// The fewest bytes that each value of the key has, in the order of [`partitioned_by`](Self::partitioned_by): no key is
    /// shorter.
    ///
    /// ```
    /// use sequent_format::{Settings, Template};
    /// let format = Template::parse("@{ctx,a,len=3}@{ctx,b,map=ACME:AC;Bolt:B}-@{seq}")?.prove(&Settings::default())?;
    /// assert_eq!(format.shortest_values().collect::<Vec<_>>(), [3, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shortest_values(&self) -> impl Iterator<Item = usize> {
        self.template().parts.iter().filter_map(|part| match &part.kind {
            Kind::Ctx(ctx) => ctx.by.then(|| ctx.bytes_min()),
            Kind::Date(date) => date.at.as_ref().map(|_| date.pattern.width()),
            _ => None,
        })
    }

    /// Whether there is one counter and its number is the text: in decimal digits, with zeros before it at most.
    pub fn shows_the_number_alone(&self) -> bool {
        self.reset() == Reset::Never && self.template().parts.len() == 1 && self.numbering().is_plain()
    }

    /// What is allowed but worth a word.
    pub fn warnings(&self) -> &[Fault] {
        &self.0.warnings
    }

    /// Rule S9, for two definitions of one namespace: a fault with a text that both can render, if there is one.
    pub fn distinct_from(&self, other: &Self) -> Result<(), Fault> {
        prove::distinct(self, other)
    }

    /// The template.
    pub fn template(&self) -> &Template {
        &self.0.claim.template
    }

    /// The definition's record.
    pub fn settings(&self) -> &Settings {
        &self.0.claim.settings
    }

    pub(crate) fn claim(&self) -> &Claim {
        &self.0.claim
    }

    pub(crate) fn shapes(&self) -> &[Shape] {
        &self.0.claim.shapes
    }

    pub(crate) fn numbering(&self) -> &Numbering {
        &self.0.claim.numbering
    }

    pub(crate) fn zone(&self) -> &Zone {
        &self.0.claim.zone
    }

    pub(crate) fn fiscal(&self) -> MonthDay {
        self.0.claim.fiscal
    }

    pub(crate) fn decoding(&self) -> &Decoding {
        &self.0.decoding
    }

    /// Whether a part can be made when it is reached from the left.
    pub(crate) fn is_straight(&self, at: usize) -> bool {
        self.0.straight[at]
    }
}

/// Why there is no preview.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PreviewError {
    /// A value, or the instant.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// The number.
    #[error(transparent)]
    Render(#[from] RenderError),
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Format({}, {})", self.template(), self.zone_name())
    }
}
