//! Local rendering of texts: the template comes with a lease, and the numbers are leased for one period of it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sequent_core::Clock;
use sequent_format::{
    Format, Registry, RenderContext, Settings, Template, Timestamp, Unique, ValueError, Values,
};
use sequent_proto::v1;

use crate::{
    client::state::ClientState,
    error::Error,
    lease::request_scope::{ExpectedPeriod, RequestScope},
    number::Number,
    render::text::Issued,
    sequence::SequenceInner,
};

/// Where the texts of a scope are rendered.
#[derive(Clone, Default)]
pub(crate) enum RenderMode {
    /// Not known yet.
    #[default]
    Unknown,
    /// In this process.
    Local(Arc<LocalRenderer>),
    /// By servers only: without a template, without leases, or with a template that can't be analyzed here.
    Server,
}

/// Render mode of a scope, shared by all its handles.
#[derive(Default)]
pub(crate) struct RenderState(Mutex<RenderMode>);

impl RenderState {
    pub(crate) fn mode(&self) -> RenderMode {
        self.held().clone()
    }

    pub(crate) fn set(&self, mode: RenderMode) {
        *self.held() = mode;
    }

    /// Resets the mode if it still has this outdated renderer.
    pub(crate) fn forget(&self, outdated: &Arc<LocalRenderer>) {
        let mut held = self.held();
        if matches!(&*held, RenderMode::Local(renderer) if Arc::ptr_eq(renderer, outdated)) {
            *held = RenderMode::Unknown;
        }
    }

    fn held(&self) -> MutexGuard<'_, RenderMode> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Renderer of one period: the context that its texts have in common, and the lease of its numbers.
pub(crate) struct LocalRenderer {
    /// From the end of the version on this renderer is not used.
    version: Version,
    context: RenderContext,
    /// Valid from this instant …
    from: Timestamp,
    /// … until this one, if there is an end.
    until: Option<Timestamp>,
    /// The lease of its numbers.
    pub(crate) lease: Arc<SequenceInner>,
}

/// Version in effect, as a server reported it.
#[derive(Clone, Copy)]
pub(crate) struct Version {
    pub(crate) number: u32,
    /// When another version takes effect, if one is waiting.
    pub(crate) end: Option<Timestamp>,
}

impl LocalRenderer {
    /// The first renderer of a scope, from a server's response.
    pub(crate) fn first(
        state: &ClientState,
        scope: &RequestScope,
        (version, template_settings): (Version, &v1::Texts),
    ) -> Result<Option<Arc<Self>>, Error> {
        // The server has analyzed the template. What can't be analyzed here (a key, a function) is left to the
        // server.
        let Ok(template) = Template::parse(&template_settings.template) else { return Ok(None) };
        let Ok(format) = template.analyze(&settings(template_settings, &state.options.functions)) else {
            return Ok(None);
        };
        Self::for_instant(state, scope, (version, &format), None).map(Some)
    }

    /// The renderer that follows, with the same lease if its period is the same.
    pub(crate) fn next(
        self: &Arc<Self>,
        state: &ClientState,
        scope: &RequestScope,
    ) -> Result<Arc<Self>, Error> {
        Self::for_instant(state, scope, (self.version, self.context.format()), Some(self))
    }

    fn for_instant(
        state: &ClientState,
        scope: &RequestScope,
        (version, format): (Version, &Format),
        before: Option<&Arc<Self>>,
    ) -> Result<Arc<Self>, Error> {
        let input = scope.template_input();
        let values: Values = input.with.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let named = !input.at.is_empty();
        let at = if named { format.instant(&input.at) } else { Ok(now(&*state.environment.timers)) };
        let at = at.map_err(|error| value_error(&error))?;
        let context = format.context(at, &values).map_err(|error| value_error(&error))?;
        let same = before.filter(|before| before.context.period() == context.period());
        let of_its_own = || {
            let until = context.period_until().into_iter().chain(version.end).min().filter(|_| !named);
            let (period, from_ms) = (context.period().to_owned(), at.as_millisecond());
            let until_ms = until.map(Timestamp::as_millisecond);
            let expected = ExpectedPeriod { version: version.number, period, from_ms, until_ms };
            state.shared_or_own(&scope.for_period(expected))
        };
        let lease = same.map_or_else(of_its_own, |before| Arc::clone(&before.lease));
        let until = context.holds_until().into_iter().chain(version.end).min().filter(|_| !named);
        Ok(Arc::new(Self { version, context, from: at, until, lease }))
    }

    /// Whether another version is in effect, so that this renderer must not be used.
    pub(crate) fn is_over(&self, scope: &RequestScope, now: Timestamp) -> bool {
        scope.template_input().at.is_empty() && self.version.end.is_some_and(|end| end <= now)
    }

    /// Whether the renderer is valid at this instant.
    pub(crate) fn holds(&self, scope: &RequestScope, now: Timestamp) -> bool {
        !scope.template_input().at.is_empty()
            || self.from <= now && self.until.is_none_or(|until| now < until)
    }

    /// Whether it is of this period.
    pub(crate) fn is_of(&self, period: &str) -> bool {
        self.context.period() == period
    }

    /// A number of the lease with its text.
    pub(crate) fn issued(
        &self,
        number: Number,
        scope: &RequestScope,
        now: Timestamp,
    ) -> Result<Issued, Error> {
        // A call may have waited beyond the end of the renderer. The text then shows its last instant.
        let last =
            self.until.map(|until| Timestamp::from_millisecond(until.as_millisecond() - 1).unwrap_or(until));
        let at = if scope.template_input().at.is_empty() {
            last.map_or(now, |last| now.min(last)).max(self.from)
        } else {
            self.from
        };
        let text = self.context.text(u64::from(number)).map_err(|error| {
            Error::new("SEQUENCE_EXHAUSTED", format!("{} has no text: {error}", scope.name()))
        })?;
        let (period, version) = (self.context.period().to_owned(), self.version.number);
        Ok(Issued { number, text, period, at: self.context.format().shown_instant(at), version })
    }
}

/// The wall clock as a timestamp.
pub(crate) fn now(clock: &dyn Clock) -> Timestamp {
    let now = i64::try_from(clock.wall_ms()).ok();
    now.and_then(|now| Timestamp::from_millisecond(now).ok()).unwrap_or_default()
}

/// The error of a value that the template refuses, as a server would report it.
pub(crate) fn value_error(error: &ValueError) -> Error {
    let field = if error.field == "at" { "at".to_owned() } else { format!("values.{}", error.field) };
    let value = if error.is_missing { "missing".to_owned() } else { format!("{:?}", error.value) };
    Error::field(&field, value, &error.bound)
}

pub(crate) fn settings(template_settings: &v1::Texts, functions: &Registry) -> Settings {
    let v1::Texts { zone, maxlen, charset, unique, .. } = template_settings;
    Settings {
        zone: zone.clone(),
        maxlen: usize::try_from(*maxlen).unwrap_or(usize::MAX),
        charset: charset.clone(),
        unique: match unique.as_str() {
            "period" => Unique::Period,
            "partition" => Unique::Partition,
            _ => Unique::Global,
        },
        registry: functions.clone(),
        ..Settings::default()
    }
}
