//! How texts are made here: by the template that servers tell with a lease, from numbers of a lease of its own period.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sequent_core::Clock;
use sequent_format::{Format, RenderContext, Settings, Template, Timestamp, Unique, ValueError, Values};

use crate::{
    client::state::Ground,
    error::Error,
    lease::request_scope::{Due, Scope},
    number::Number,
    render::text::Issued,
    sequence::Shared,
    transport::Rendering,
};

/// What is known of a scope's texts.
#[derive(Clone, Default)]
pub(crate) enum Known {
    /// Nothing yet.
    #[default]
    Nothing,
    /// They are rendered here.
    Here(Arc<Page>),
    /// Only servers render them: there is no template, no lease, or a template that can't be proven here.
    There,
}

/// What one scope knows; all its handles share it.
#[derive(Default)]
pub(crate) struct Texts(Mutex<Known>);

impl Texts {
    pub(crate) fn known(&self) -> Known {
        self.held().clone()
    }

    pub(crate) fn learn(&self, known: Known) {
        *self.held() = known;
    }

    /// Forgets a page that turned out to be outdated, unless somebody has turned it already.
    pub(crate) fn forget(&self, outdated: &Arc<Page>) {
        let mut held = self.held();
        if matches!(&*held, Known::Here(page) if Arc::ptr_eq(page, outdated)) {
            *held = Known::Nothing;
        }
    }

    fn held(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All that texts have in common for a while, and the numbers of their period.
pub(crate) struct Page {
    version: u32,
    context: RenderContext,
    /// It is good from this instant …
    from: Timestamp,
    /// … to this one, if to any.
    until: Option<Timestamp>,
    /// When another version takes effect, if one waits: nothing is rendered by this one from then on.
    version_end: Option<Timestamp>,
    lease: Arc<Shared>,
}

/// What a server said of the version in effect.
#[derive(Clone, Copy)]
pub(crate) struct Version {
    pub(crate) number: u32,
    pub(crate) end: Option<Timestamp>,
}

impl Page {
    /// A first page, by what a server said.
    pub(crate) fn first(
        ground: &Ground,
        scope: &Scope,
        (version, said): (Version, &Rendering),
    ) -> Result<Option<Arc<Self>>, Error> {
        // Proven by the server; what can't be proven here (a key, a function) is left to it.
        let Ok(template) = Template::parse(&said.template) else { return Ok(None) };
        let Ok(format) = template.analyze(&settings(said)) else { return Ok(None) };
        Self::turned(ground, scope, (version, &format), None).map(Some)
    }

    /// The page that follows this one: of the same period and lease, or of the next one's.
    pub(crate) fn next(self: &Arc<Self>, ground: &Ground, scope: &Scope) -> Result<Arc<Self>, Error> {
        let version = Version { number: self.version, end: self.version_end };
        Self::turned(ground, scope, (version, self.context.format()), Some(self))
    }

    fn turned(
        ground: &Ground,
        scope: &Scope,
        (Version { number: version, end: version_end }, format): (Version, &Format),
        before: Option<&Arc<Self>>,
    ) -> Result<Arc<Self>, Error> {
        let wish = scope.wish();
        let values: Values = wish.with.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let named = !wish.at.is_empty();
        let at = if named { format.instant(&wish.at) } else { Ok(now(&*ground.nature.timers)) };
        let at = at.map_err(|error| of_value(&error))?;
        let context = format.context(at, &values).map_err(|error| of_value(&error))?;
        let same = before.filter(|before| before.context.period() == context.period());
        let of_its_own = || {
            let until = context.period_until().into_iter().chain(version_end).min().filter(|_| !named);
            let (period, from_ms) = (context.period().to_owned(), at.as_millisecond());
            let due = Due { version, period, from_ms, until_ms: until.map(Timestamp::as_millisecond) };
            ground.shared_or_own(&scope.due(due))
        };
        let lease = same.map_or_else(of_its_own, |before| Arc::clone(&before.lease));
        let until = context.holds_until().into_iter().chain(version_end).min().filter(|_| !named);
        Ok(Arc::new(Self { version, context, from: at, until, version_end, lease }))
    }

    /// Whether another version is in effect: this one has no page any more.
    pub(crate) fn is_over(&self, scope: &Scope, now: Timestamp) -> bool {
        scope.wish().at.is_empty() && self.version_end.is_some_and(|end| end <= now)
    }

    /// Whether texts of this instant are on it.
    pub(crate) fn holds(&self, scope: &Scope, now: Timestamp) -> bool {
        !scope.wish().at.is_empty() || self.from <= now && self.until.is_none_or(|until| now < until)
    }

    /// Whether it is of this period.
    pub(crate) fn is_of(&self, period: &str) -> bool {
        self.context.period() == period
    }

    /// Where its numbers come from.
    pub(crate) fn lease(&self) -> &Arc<Shared> {
        &self.lease
    }

    /// A number of its lease with its text.
    pub(crate) fn issued(&self, number: Number, scope: &Scope, now: Timestamp) -> Result<Issued, Error> {
        // A wait may have gone on beyond the page: what it shows is its own last instant.
        let last =
            self.until.map(|until| Timestamp::from_millisecond(until.as_millisecond() - 1).unwrap_or(until));
        let at = if scope.wish().at.is_empty() {
            last.map_or(now, |last| now.min(last)).max(self.from)
        } else {
            self.from
        };
        let text = self.context.text(u64::from(number)).map_err(|error| {
            Error::new("SEQUENCE_EXHAUSTED", format!("{} has no text: {error}", scope.name()))
        })?;
        let (period, version) = (self.context.period().to_owned(), self.version);
        Ok(Issued { number, text, period, at: self.context.format().shown_instant(at), version })
    }
}

/// The wall, as a page sees it.
pub(crate) fn now(clock: &dyn Clock) -> Timestamp {
    let now = i64::try_from(clock.wall_ms()).ok();
    now.and_then(|now| Timestamp::from_millisecond(now).ok()).unwrap_or_default()
}

/// A value that the template does not take, as a server would say it.
pub(crate) fn of_value(error: &ValueError) -> Error {
    let field = if error.field == "at" { "at".to_owned() } else { format!("values.{}", error.field) };
    let value = if error.is_missing { "missing".to_owned() } else { format!("{:?}", error.value) };
    Error::field(&field, value, &error.bound)
}

pub(crate) fn settings(said: &Rendering) -> Settings {
    let Rendering { zone, maxlen, charset, unique, .. } = said;
    Settings {
        zone: zone.clone(),
        maxlen: *maxlen,
        charset: charset.clone(),
        unique: match unique.as_str() {
            "period" => Unique::Period,
            "partition" => Unique::Partition,
            _ => Unique::Global,
        },
        ..Settings::default()
    }
}
