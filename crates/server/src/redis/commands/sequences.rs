//! `SEQ.NEXT`, `SEQ.LEASE`, `SEQ.DEFINE`, `SEQ.SHOW`: what Sequent has and Redis has not.

use sequent_engine::{Issued, Texts};
use serde_json::{Map, Value, json};
use tracing::Instrument;

use crate::{
    auth::Caller,
    error::ApiError,
    redis::{
        commands::{options::NumberOptions, text},
        context::Context,
        reply::Reply,
        request::{Arguments, integer},
    },
    service::{
        definition_input::DefinitionInput,
        definitions::{self, Call},
        request_id,
    },
};

/// Fields of a definition that are integers in JSON. The others are texts, or numbers as texts.
const INTEGER_FIELDS: [&str; 6] =
    ["version", "maxlen", "window_s", "retain_periods", "reserve_ms", "at_risk_max"];

/// `SEQ.NEXT name [options]`: one number, or an array if there is a count; texts if the sequence has a template.
pub(super) async fn next(
    (context, caller): (&Context, &Caller),
    arguments: Arguments<'_>,
    reply: &mut Reply<'_>,
) {
    let call = async {
        let metrics = &context.next_metrics;
        let read = text("name", arguments.get(1).unwrap_or_default())
            .and_then(|name| Ok((name, NumberOptions::read(arguments, 2)?)));
        let (name, options) = read.map_err(|error| metrics.refused(error))?;
        let values = options.values();
        let issued = context.service.next(options.request((name, caller), &values), metrics).await?;
        Ok::<_, ApiError>((issued, options.count.is_some()))
    };
    match call.instrument(request_id::generated_span()).await {
        Ok((issued, is_array)) => write_issued(&issued, is_array, reply),
        Err(error) => reply.fail(&error),
    }
}

fn write_issued(issued: &Issued, is_array: bool, reply: &mut Reply<'_>) {
    if is_array {
        reply.array(usize::try_from(issued.numbers.count()).unwrap_or(usize::MAX));
    }
    match &issued.dated {
        Some(dated) => dated.texts.iter().for_each(|text| reply.text(text)),
        None => issued.numbers.numbers().for_each(|number| reply.integer(number)),
    }
}

/// `SEQ.LEASE name count [options]`: blocks of first number, step and count, and for how long they are good.
pub(super) async fn lease(
    (context, caller): (&Context, &Caller),
    arguments: Arguments<'_>,
    reply: &mut Reply<'_>,
) {
    let call = async {
        let metrics = &context.lease_metrics;
        let read = || {
            let name = text("name", arguments.get(1).unwrap_or_default())?;
            let count = arguments.get(2).unwrap_or_default();
            let expected = || {
                let bound = format!("a whole number is expected: {}", context.service.lease_bound());
                ApiError::field("count", &String::from_utf8_lossy(count), bound)
            };
            let count = integer(count).and_then(|count| u64::try_from(count).ok()).ok_or_else(expected)?;
            let mut options = NumberOptions::read(arguments, 3)?;
            if let Some(other) = options.count.replace(count) {
                return Err(ApiError::field("count", &other.to_string(), "it was said before: say it once"));
            }
            Ok((name, options))
        };
        let (name, options) = read().map_err(|error| metrics.refused(error))?;
        let values = options.values();
        let issued = context.service.lease(options.request((name, caller), &values), metrics).await?;
        let max_age = context.service.lease_age(&issued, &options.at);
        Ok::<_, ApiError>((issued, u64::try_from(max_age.as_millis()).unwrap_or(u64::MAX)))
    };
    match call.instrument(request_id::generated_span()).await {
        Ok((issued, max_age_ms)) => reply.json(&lent(&issued, max_age_ms)),
        Err(error) => reply.fail(&error),
    }
}

/// A lease, by the fields that it has over gRPC. Those that it has not are left out.
fn lent(issued: &Issued, max_age_ms: u64) -> Value {
    let block = |block: &sequent_core::Block| json!([block.first(), block.step(), block.count()]);
    let blocks: Vec<Value> = issued.numbers.as_slice().iter().map(block).collect();
    let dated = issued.dated.as_ref();
    let fields = [
        ("sequence", Some(json!(issued.sequence.as_str()))),
        ("blocks", Some(json!(blocks))),
        ("max_age_ms", Some(json!(max_age_ms))),
        ("version", Some(json!(issued.version))),
        ("version_end", issued.version_end.map(|end| json!(end.to_string()))),
        ("period", dated.map(|dated| json!(dated.period))),
        ("period_end", dated.and_then(|dated| dated.period_end).map(|end| json!(end.to_string()))),
        ("texts", dated.and_then(|dated| dated.by.as_ref()).map(rendering)),
    ];
    Value::Object(fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect())
}

/// Template and settings with which the holder of a lease renders texts.
fn rendering(texts: &Texts) -> Value {
    json!({
        "template": texts.template(),
        "zone": texts.zone_name(),
        "maxlen": texts.maxlen_in_force(),
        "charset": texts.charset_in_force(),
        "unique": texts.unique_word(),
    })
}

/// `SEQ.DEFINE name [field value …]`: the next version, or the one that is named.
pub(super) async fn define(
    (context, call): (&Context, Call<'_>),
    arguments: Arguments<'_>,
    reply: &mut Reply<'_>,
) {
    let work = async {
        let name = text("name", arguments.get(1).unwrap_or_default())?;
        let defined = definitions::define(call, ("name", name), || definition(arguments));
        to_json(&defined.await?)
    };
    write(context.counted(call.caller, work).instrument(request_id::generated_span()).await, reply);
}

/// `SEQ.SHOW name`.
pub(super) async fn show(
    (context, call): (&Context, Call<'_>),
    arguments: Arguments<'_>,
    reply: &mut Reply<'_>,
) {
    let work = async {
        let name = text("name", arguments.get(1).unwrap_or_default())?;
        to_json(&definitions::show(call, ("name", name)).await?)
    };
    write(context.counted(call.caller, work).instrument(request_id::generated_span()).await, reply);
}

fn write(outcome: Result<Value, ApiError>, reply: &mut Reply<'_>) {
    match outcome {
        Ok(value) => reply.json(&value),
        Err(error) => reply.fail(&error),
    }
}

fn to_json(report: &impl serde::Serialize) -> Result<Value, ApiError> {
    serde_json::to_value(report)
        .map_err(|error| ApiError::field("reply", &error.to_string(), "JSON is expected"))
}

/// A definition of pairs of fields and values.
fn definition(arguments: Arguments<'_>) -> Result<DefinitionInput, ApiError> {
    let (mut fields, mut at) = (Map::new(), 2);
    while let Some(field) = arguments.get(at) {
        let field = text("field", field)?.to_lowercase();
        let missing = || ApiError::field(field.clone(), "missing", "a value is expected behind its field");
        let value = text("value", arguments.get(at + 1).ok_or_else(missing)?)?;
        let number = integer(value.as_bytes()).filter(|_| INTEGER_FIELDS.contains(&field.as_str()));
        let json = number.map_or_else(|| json!(value), |number| json!(number));
        if fields.insert(field.clone(), json).is_some() {
            return Err(ApiError::field(field, value, "it was said before: say it once"));
        }
        at += 2;
    }
    serde_json::from_value(Value::Object(fields)).map_err(|error| {
        ApiError::field("definition", &error.to_string(), "fields of a definition are expected")
    })
}
