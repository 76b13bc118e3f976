//! `INCR`, `INCRBY`: the next numbers of a sequence as integers.

use sequent_core::SequenceName;
use sequent_engine::{Reason, SequenceShape, Values};
use tracing::Instrument;

use crate::{
    auth::Caller,
    error::ApiError,
    redis::{
        context::Context,
        reply::Reply,
        request::{Arguments, integer},
        session::Session,
    },
    service::{NumberRequest, request_id},
};

/// The sequence of a command that asks for one number: `INCR name`, or `INCRBY name 1`, which some clients send for it.
pub(crate) fn single(arguments: Arguments<'_>) -> Option<&[u8]> {
    let named = |name: &[u8]| arguments.get(0).is_some_and(|found| found.eq_ignore_ascii_case(name));
    let is_single = match arguments.len() {
        2 => named(b"incr"),
        3 => arguments.get(2) == Some(b"1") && named(b"incrby"),
        _ => false,
    };
    arguments.get(1).filter(|_| is_single)
}

/// Answers `count` commands that ask for one number each.
pub(crate) async fn incr(
    (context, session): (&Context, &Session),
    name: &[u8],
    count: u64,
    reply: &mut Reply<'_>,
) {
    let Ok(name) = std::str::from_utf8(name) else {
        let error = match session.caller("incr") {
            Ok(caller) => {
                caller.refused_each(Reason::InvalidArgument, count);
                not_text(name)
            }
            Err(error) => error,
        };
        return fail(context, &error, count, reply);
    };
    let left = ready((context, session), name, count, reply);
    if left == 0 {
        return;
    }
    match allowed(session, name, left) {
        Ok(caller) => {
            let span = request_id::generated_span();
            Box::pin(wait((context, caller), name, left, reply)).instrument(span).await;
        }
        // It needs no span, which would cost more than all the rest of it.
        Err(error) => fail(context, &error, left, reply),
    }
}

/// Answers as many commands as numbers are ready. Returns how many are left.
fn ready((context, session): (&Context, &Session), name: &str, count: u64, reply: &mut Reply<'_>) -> u64 {
    let (service, metrics) = (&context.service, &context.next_metrics);
    let Session { auth, headers, .. } = session;
    let mut left = count;
    while left > 1
        && let Some(ready) = auth.ready_block(headers, name, || service.next_ready_block(name, left, metrics))
    {
        ready.numbers.iter().for_each(|number| reply.integer(number));
        left -= ready.numbers.count();
    }
    while left > 0
        && let Some(ready) = auth.ready(headers, name, || service.next_ready(name, metrics))
    {
        reply.integer(ready.number);
        left -= 1;
    }
    left
}

/// The caller of `count` commands, if it may have numbers of a sequence. Nobody learns of one that is not for him whether
/// it exists, and whoever is above the quota of requests has nothing looked for in the ledger.
fn allowed(session: &Session, name: &str, count: u64) -> Result<Caller, ApiError> {
    let caller = session.caller("incr")?;
    let may = name.parse::<SequenceName>().map_or(Ok(()), |name| caller.authorize(name.as_str()));
    match may.and_then(|()| caller.within_requests()) {
        Ok(()) => Ok(caller),
        Err(error) => {
            caller.refused_each(error.reason(), count);
            Err(error)
        }
    }
}

/// Answers commands whose numbers are not ready: all of them by one request, if the caller's are not counted one by one.
async fn wait((context, mut caller): (&Context, Caller), name: &str, mut count: u64, reply: &mut Reply<'_>) {
    if let Err(error) = has_integers(context, name).await {
        caller.refused_each(error.reason(), count);
        return fail(context, &error, count, reply);
    }
    let mut at_once = if caller.has_rates() { 1 } else { count };
    while count > 0 {
        at_once = at_once.min(count);
        match take((context, &caller), name, at_once, reply).await {
            Ok(()) => count -= at_once,
            // Fewer are left than were asked for: the first commands get them.
            Err(error) if at_once > 1 && error.reason() == Reason::SequenceExhausted => at_once = 1,
            Err(error) => {
                caller.count_further(count - 1);
                return reply.fail_each(&error, count);
            }
        }
        if count > 0 {
            caller = caller.again();
        }
    }
}

async fn take(
    (context, caller): (&Context, &Caller),
    name: &str,
    count: u64,
    reply: &mut Reply<'_>,
) -> Result<(), ApiError> {
    let values = Values::new();
    let request = request((name, caller), count, &values);
    let issued = context.service.next(request, &context.next_metrics).await?;
    if issued.dated.is_some() {
        // It was given a template after it was looked at.
        return Err(has_template(name));
    }
    issued.numbers.numbers().for_each(|number| reply.integer(number));
    Ok(())
}

fn request<'a>((name, caller): (&'a str, &'a Caller), count: u64, values: &'a Values) -> NumberRequest<'a> {
    NumberRequest { name: ("key", name), count, timeout: None, values, at: "", above: 0, caller }
}

/// `INCRBY name count`.
pub(super) async fn incr_by(call: (&Context, &Caller), arguments: Arguments<'_>, reply: &mut Reply<'_>) {
    match last_of_range(call, arguments).instrument(request_id::generated_span()).await {
        Ok(last) => reply.integer(last),
        Err(error) => reply.fail(&error),
    }
}

/// The last of `count` consecutive numbers. A caller of Redis expects the others right below it.
async fn last_of_range(
    (context, caller): (&Context, &Caller),
    arguments: Arguments<'_>,
) -> Result<u64, ApiError> {
    let metrics = &context.next_metrics;
    let (name, text) = (arguments.get(1).unwrap_or_default(), arguments.get(2).unwrap_or_default());
    let name = std::str::from_utf8(name).map_err(|_| metrics.refused(not_text(name)))?;
    let most = context.service.max_count();
    let count = integer(text).and_then(|count| u64::try_from(count).ok());
    let count = count.filter(|count| (1..=most).contains(count)).ok_or_else(|| {
        let bound = format!("1 to {most} are allowed: numbers only go up");
        metrics.refused(ApiError::field("increment", &String::from_utf8_lossy(text), bound))
    })?;
    if name.parse::<SequenceName>().is_ok() {
        caller.authorize(name).map_err(|error| metrics.refused(error))?;
    }
    caller.within_requests().map_err(|error| metrics.refused(error))?;
    let shape = shape(context, name).await.map_err(|error| metrics.refused(error))?;
    if !shape.is_some_and(|shape| shape.is_consecutive()) {
        return Err(metrics.refused(not_consecutive(name, count, shape)));
    }
    let values = Values::new();
    let issued = context.service.next(request((name, caller), count, &values), metrics).await?;
    match issued.numbers.as_slice() {
        [block] if block.step() == 1 || block.count() == 1 => Ok(block.last()),
        // It was defined anew after it was looked at.
        _ => Err(not_consecutive(name, count, shape)),
    }
}

fn not_consecutive(name: &str, count: u64, shape: Option<SequenceShape>) -> ApiError {
    let why = match shape {
        None => format!("{name} is not defined as a dense sequence"),
        Some(shape) if shape.has_texts => return has_template(name),
        Some(shape) if shape.span.step() != 1 => format!("numbers of {name} are {} apart", shape.span.step()),
        Some(_) => format!("{name} is spread over shards, whose next numbers can be apart"),
    };
    let bound = format!(
        "{why}: 1 is allowed. SEQ.NEXT {name} COUNT {count} gives as many, consecutive or not; a dense sequence with step 1 has ranges"
    );
    ApiError::field("increment", &count.to_string(), bound)
}

/// Checks, before a number is used up, that numbers of a sequence are given as integers.
async fn has_integers(context: &Context, name: &str) -> Result<(), ApiError> {
    match shape(context, name).await? {
        Some(shape) if shape.has_texts => Err(has_template(name)),
        _ => Ok(()),
    }
}

/// The shape of a sequence; `None` if it is not defined. An invalid name is refused by the request itself.
async fn shape(context: &Context, name: &str) -> Result<Option<SequenceShape>, ApiError> {
    let Ok(name) = name.parse::<SequenceName>() else { return Ok(None) };
    Ok(context.service.engine().shape(&name).await?)
}

fn has_template(name: &str) -> ApiError {
    let bound = format!("it has a template, so its numbers are texts: SEQ.NEXT {name} gives them");
    ApiError::field("key", name, bound)
}

fn not_text(name: &[u8]) -> ApiError {
    ApiError::name("key", &String::from_utf8_lossy(name))
}

/// Counts and answers commands that were refused before they were requests.
fn fail(context: &Context, error: &ApiError, count: u64, reply: &mut Reply<'_>) {
    context.next_metrics.refused_each(error, count);
    reply.fail_each(error, count);
}
