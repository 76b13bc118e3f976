//! Templates of a cluster in memory, with the same analysis, periods and texts as in a server.

use std::{collections::HashMap, sync::Arc};

use sequent_core::{Block, Clock, FieldFault, Fits, SequenceName, Span, SystemClock};
use sequent_format::{
    CounterSpec, Format, Registry, RenderContext, Template, Timestamp, limits::MAXLEN_DEFAULT,
};
use sequent_proto::v1;

use crate::{
    error::Error,
    lease::request_scope::RequestScope,
    render::local_render::{now, settings, value_error},
    transport::{NumberRequest, TemplateData, Verb},
};

/// Templates by sequence. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Templates(Arc<HashMap<SequenceName, KnownTemplate>>);

#[derive(Clone)]
struct KnownTemplate {
    rendering: v1::Texts,
    format: Format,
    span: Span,
}

/// Counter and texts that a request refers to.
pub(super) struct ResolvedRequest {
    template_data: Option<(RenderContext, Timestamp, v1::Texts)>,
    /// The numbers of the counter.
    pub(super) span: Span,
    /// The sequence whose counter is drawn from.
    counter: SequenceName,
}

impl Templates {
    /// Adds a template. One that is invalid or could render two numbers alike is refused.
    pub(crate) fn with(
        &self,
        name: SequenceName,
        (template, zone): (&str, &str),
        functions: &Registry,
    ) -> Result<Self, Error> {
        let rendering = v1::Texts {
            template: template.to_owned(),
            zone: zone.to_owned(),
            maxlen: u32::try_from(MAXLEN_DEFAULT).unwrap_or(u32::MAX),
            charset: String::new(),
            unique: "global".to_owned(),
        };
        let refused = |bound: String| Error::field("template", format!("{template:?}"), bound);
        let read = Template::parse(template).map_err(|error| refused(error.to_string()))?;
        let format =
            read.analyze(&settings(&rendering, functions)).map_err(|error| refused(error.to_string()))?;
        let span = span_of(&format).map_err(|error| refused(error.to_string()))?;
        let mut all = HashMap::clone(&self.0);
        all.insert(name, KnownTemplate { rendering, format, span });
        Ok(Self(Arc::new(all)))
    }

    pub(super) fn resolve(&self, scope: &RequestScope) -> Result<ResolvedRequest, Error> {
        let input = scope.template_input();
        let Some(KnownTemplate { rendering, format, span }) = self.0.get(scope.name()) else {
            if let Some((name, value)) = input.with.first_key_value() {
                let bound = "no template asks for a value: leave it out";
                return Err(Error::field(&format!("values.{name}"), format!("{value:?}"), bound));
            }
            let counter = scope.name().clone();
            return Ok(ResolvedRequest { template_data: None, span: Span::default(), counter });
        };
        let at = match input.instant(SystemClock.wall_ms()) {
            none if none.is_empty() => now(&SystemClock),
            at => format.instant(&at).map_err(|error| value_error(&error))?,
        };
        let values = input.with.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let context = format.context(at, &values).map_err(|error| value_error(&error))?;
        let named = format.counter_name().and_then(|name| name.parse().ok());
        let counter = named.unwrap_or_else(|| scope.name().clone());
        Ok(ResolvedRequest { template_data: Some((context, at, rendering.clone())), span: *span, counter })
    }
}

/// The numbers that have a text: from `start` in steps up to the last one, as in a server.
fn span_of(format: &Format) -> Result<Span, FieldFault> {
    let CounterSpec { start, step, end, wrap, .. } = format.counter_spec();
    let round = wrap.map(|wrap| start.saturating_add(wrap.cycle).saturating_sub(step));
    let end = round.unwrap_or(end).min(Fits::Js.limit());
    Span::new(start, step, Some(end), Fits::Js)
}

impl ResolvedRequest {
    /// Key of the counter: its sequence, and what it belongs to within it.
    pub(super) fn key(&self) -> (SequenceName, Vec<String>) {
        let within = self.template_data.iter().flat_map(|(context, ..)| {
            let values = context.partition().map(|(_, value)| value);
            // A sequence without a template counts without a period, as one does whose template has none.
            std::iter::once(context.period()).chain(values).filter(|part| !part.is_empty()).map(str::to_owned)
        });
        (self.counter.clone(), within.collect())
    }

    pub(super) fn template_data(&self, ask: &NumberRequest, blocks: &[Block]) -> Result<TemplateData, Error> {
        let Some((context, at, rendering)) = &self.template_data else { return Ok(TemplateData::default()) };
        let text = |number| {
            context.text(number).map_err(|error| Error::new("SEQUENCE_EXHAUSTED", error.to_string()))
        };
        let period = context.period().to_owned();
        match ask.verb {
            Verb::Lease => {
                Ok(TemplateData { period, rendering: Some(rendering.clone()), ..TemplateData::default() })
            }
            Verb::Next => {
                let texts = blocks.iter().flat_map(Block::iter).map(text).collect::<Result<_, _>>()?;
                let at = context.format().shown_instant(*at);
                Ok(TemplateData { texts, period, at, ..TemplateData::default() })
            }
        }
    }
}
