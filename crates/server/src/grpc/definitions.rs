//! gRPC service `sequent.v1.Definitions`: converts messages to and from the types of `service::definitions`.

use sequent_engine::{
    Capacity, NamedValue,
    report::{KnownSequences, SequenceSummary, WaitingReport},
};
use sequent_proto::v1::{self, parse_request, preview_request};
use tonic::{Extensions, Request, Response, Status, metadata::MetadataMap};

use crate::{
    auth::Caller,
    error::ApiError,
    grpc::{
        connection::{caller, share},
        sequences::values,
        timeout,
    },
    service::{
        NumberService,
        definition_input::{DefinitionInput, NumberInput},
        definitions::{self, Call, PreviewInput, Target},
    },
    telemetry::request_metrics::RequestMetrics,
};

/// Implementation of the generated service trait.
pub(crate) struct Definitions {
    service: NumberService,
    metrics: RequestMetrics,
}

impl Definitions {
    pub(crate) fn new(service: NumberService, metrics: RequestMetrics) -> Self {
        Self { service, metrics }
    }

    /// A call with its caller and its connection.
    #[allow(clippy::result_large_err, reason = "the methods of tonic return it")]
    fn call<'a>(&'a self, extensions: &'a Extensions) -> Result<Call<'a>, Status> {
        Ok(Call { service: &self.service, caller: caller(extensions)?, share: share(extensions)? })
    }

    /// Runs a call within its caller's timeout, and counts its outcome.
    async fn answered<T>(
        &self,
        (metadata, caller): (&MetadataMap, &Caller),
        name: &str,
        work: impl Future<Output = Result<T, ApiError>>,
    ) -> Result<Response<T>, Status> {
        let call = async {
            match timeout::from_metadata(metadata)? {
                None => work.await,
                Some(within) => {
                    let late = || ApiError::late(if name.is_empty() { "any sequence" } else { name });
                    tokio::time::timeout(within, work).await.unwrap_or_else(|_| Err(late()))
                }
            }
        };
        let outcome = self.service.counted(&self.metrics, call).await;
        caller.count(outcome.as_ref().err().map(ApiError::reason), 0);
        outcome.map(Response::new).map_err(ApiError::into_status)
    }
}

#[tonic::async_trait]
impl v1::definitions_server::Definitions for Definitions {
    async fn define(
        &self,
        request: Request<v1::DefineRequest>,
    ) -> Result<Response<v1::DefineResponse>, Status> {
        let (metadata, extensions, message) = request.into_parts();
        let call = self.call(&extensions)?;
        let (name, version) = (message.sequence, message.version);
        let effective = Some(message.effective).filter(|effective| !effective.is_empty());
        let input = || {
            let input = input(message.definition.unwrap_or_default())?;
            Ok(DefinitionInput { version, effective, ..input })
        };
        let work = async {
            let defined = definitions::define(call, ("sequence", &name), input).await?;
            Ok(v1::DefineResponse {
                capacity: Some(sum(&defined.capacity)),
                sequence: defined.sequence,
                version: defined.version,
                already: defined.already,
                effective: defined.effective.unwrap_or_default(),
                definition: defined.definition,
                warnings: defined.warnings,
            })
        };
        self.answered((&metadata, call.caller), &name, work).await
    }

    async fn list(&self, request: Request<v1::ListRequest>) -> Result<Response<v1::ListResponse>, Status> {
        let (metadata, extensions, message) = request.into_parts();
        let call = self.call(&extensions)?;
        let work = async {
            let KnownSequences { sequences, more, as_of } = definitions::list(call, &message.after)?;
            Ok(v1::ListResponse { sequences: sequences.into_iter().map(shown).collect(), more, as_of })
        };
        self.answered((&metadata, call.caller), "", work).await
    }

    async fn show(&self, request: Request<v1::ShowRequest>) -> Result<Response<v1::ShowResponse>, Status> {
        let (metadata, extensions, message) = request.into_parts();
        let call = self.call(&extensions)?;
        let name = message.sequence;
        let work = async {
            let known = definitions::show(call, ("sequence", &name)).await?;
            let sequence = Some(shown(known.summary));
            Ok(v1::ShowResponse { sequence, definition: known.definition, as_of: known.as_of })
        };
        self.answered((&metadata, call.caller), &name, work).await
    }

    async fn preview(
        &self,
        request: Request<v1::PreviewRequest>,
    ) -> Result<Response<v1::PreviewResponse>, Status> {
        let (metadata, extensions, mut message) = request.into_parts();
        let call = self.call(&extensions)?;
        let with = values(&mut message.values);
        let work = async {
            let by = match message.by {
                Some(preview_request::By::Sequence(name)) => Target::from_parts(Some(name), None),
                Some(preview_request::By::Definition(given)) => Target::from_parts(None, Some(input(given)?)),
                None => Target::from_parts(None, None),
            };
            if message.capacity_only {
                let (capacity, warnings) = definitions::capacity(call, by?, message.at).await?;
                let capacity = Some(sum(&capacity));
                return Ok(v1::PreviewResponse { capacity, warnings, ..v1::PreviewResponse::default() });
            }
            let number = number("number", message.number)?;
            let input = PreviewInput { by: by?, number, with, at: message.at };
            let preview = definitions::preview(call, input).await?;
            Ok(v1::PreviewResponse {
                text: preview.text,
                number: narrowed(preview.number),
                period: preview.period,
                partition: named(preview.partition),
                at: preview.at,
                zone: preview.zone,
                tzdb: preview.tzdb.to_owned(),
                max_len: preview.max_len as u64,
                warnings: preview.warnings,
                capacity: Some(sum(&preview.capacity)),
            })
        };
        self.answered((&metadata, call.caller), "", work).await
    }

    async fn parse(&self, request: Request<v1::ParseRequest>) -> Result<Response<v1::ParseResponse>, Status> {
        let (metadata, extensions, message) = request.into_parts();
        let call = self.call(&extensions)?;
        let work = async {
            let by = match message.by {
                Some(parse_request::By::Sequence(name)) => Target::from_parts(Some(name), None),
                Some(parse_request::By::Definition(given)) => Target::from_parts(None, Some(input(given)?)),
                None => Target::from_parts(None, None),
            };
            let parsed = definitions::parse(call, by?, &message.text).await?;
            let (number, values) = (narrowed(parsed.number), named(parsed.values));
            Ok(v1::ParseResponse { number, period: parsed.period, values, text: parsed.text })
        };
        self.answered((&metadata, call.caller), "", work).await
    }
}

/// Converts a definition. An empty field counts as absent.
fn input(given: v1::Definition) -> Result<DefinitionInput, ApiError> {
    let non_empty = |text: String| Some(text).filter(|text| !text.is_empty());
    Ok(DefinitionInput {
        version: None,
        placement: non_empty(given.placement),
        start: number("start", given.start)?,
        step: number("step", given.step)?,
        end: number("end", given.end)?,
        fits: non_empty(given.fits),
        numbering: non_empty(given.numbering),
        reserve_ms: given.reserve_ms,
        at_risk_max: given.at_risk_max,
        template: non_empty(given.template),
        zone: non_empty(given.zone),
        maxlen: given.maxlen,
        charset: non_empty(given.charset),
        unique: non_empty(given.unique),
        window_s: given.window_s,
        retain_periods: given.retain_periods,
        effective: None,
    })
}

fn number(field: &'static str, given: Option<i64>) -> Result<Option<NumberInput>, ApiError> {
    let whole = |number: i64| {
        let bound = || format!("0 to {} are allowed", i64::MAX);
        u64::try_from(number)
            .map(NumberInput::Integer)
            .map_err(|_| ApiError::field(field, &number.to_string(), bound()))
    };
    given.map(whole).transpose()
}

fn shown(summary: SequenceSummary) -> v1::Sequence {
    v1::Sequence {
        sequence: summary.sequence,
        version: summary.version,
        placement: summary.placement.to_owned(),
        start: narrowed(summary.start),
        step: narrowed(summary.step),
        end: narrowed(summary.end),
        template: summary.template.unwrap_or_default(),
        fault: summary.fault.unwrap_or_default(),
        waiting: summary.waiting.into_iter().map(waiting).collect(),
    }
}

fn waiting(WaitingReport { version, effective, template }: WaitingReport) -> v1::Waiting {
    v1::Waiting { version, effective, template: template.unwrap_or_default() }
}

fn sum(capacity: &Capacity) -> v1::Capacity {
    v1::Capacity {
        numbers: narrowed(capacity.numbers),
        skipped: narrowed(capacity.skipped()),
        may_be_spread: capacity.may_be_spread(),
        reserve: narrowed(capacity.reserve),
        ceilings: narrowed(capacity.ceilings),
        lease: narrowed(capacity.lease),
        servers: capacity.servers,
        is_bounded: capacity.is_bounded,
    }
}

fn named(values: Vec<NamedValue>) -> Vec<v1::Value> {
    values.into_iter().map(|NamedValue { name, value }| v1::Value { name, value }).collect()
}

/// Converts to `i64`: numbers and their counts are at most `i64::MAX`.
fn narrowed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
