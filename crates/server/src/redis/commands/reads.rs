//! `GET`, `MGET`, `EXISTS`, `TYPE`, `TTL`: what is known of a sequence. None of them defines one, and none but `GET` and
//! `MGET` asks a store.

use std::time::Instant;

use sequent_core::SequenceName;

use crate::{
    auth::Caller,
    error::ApiError,
    redis::{context::Context, reply::Reply, request::Arguments},
};

/// A command's context and its caller.
type Call<'a> = (&'a Context, &'a Caller);

/// `GET name`.
pub(super) async fn get(call: Call<'_>, arguments: Arguments<'_>, reply: &mut Reply<'_>) {
    let (context, caller) = call;
    let name = arguments.get(1).unwrap_or_default();
    match context.counted(caller, highest(call, name, context.service.deadline())).await {
        Ok(found) => write(found, reply),
        Err(error) => reply.fail(&error),
    }
}

/// `MGET name …`: all of them within one deadline.
pub(super) async fn mget(call: Call<'_>, arguments: Arguments<'_>, reply: &mut Reply<'_>) {
    let (context, caller) = call;
    let deadline = context.service.deadline();
    let all = async {
        let mut found = Vec::with_capacity(arguments.len());
        for (name, at) in arguments.from(1).zip(0..) {
            counted(caller, at)?;
            found.push(highest(call, name, deadline).await?);
        }
        Ok(found)
    };
    match context.counted(caller, all).await {
        Ok(found) => {
            reply.array(found.len());
            for found in found {
                write(found, reply);
            }
        }
        Err(error) => reply.fail(&error),
    }
}

/// `EXISTS name …`.
pub(super) fn exists(call: Call<'_>, arguments: Arguments<'_>, reply: &mut Reply<'_>) {
    let mut found = 0;
    for (name, at) in arguments.from(1).zip(0..) {
        match counted(call.1, at).and_then(|()| is_known(call, name)) {
            Ok(is_known) => found += u64::from(is_known),
            Err(error) => return reply.fail(&error),
        }
    }
    reply.integer(found);
}

/// `TYPE name`.
pub(super) fn type_of(call: Call<'_>, arguments: Arguments<'_>, reply: &mut Reply<'_>) {
    match is_known(call, arguments.get(1).unwrap_or_default()) {
        Ok(is_known) => reply.simple(if is_known { "string" } else { "none" }),
        Err(error) => reply.fail(&error),
    }
}

/// `TTL name`, `PTTL name`.
pub(super) fn ttl(call: Call<'_>, arguments: Arguments<'_>, reply: &mut Reply<'_>) {
    match is_known(call, arguments.get(1).unwrap_or_default()) {
        Ok(is_known) => reply.signed(if is_known { -1 } else { -2 }),
        Err(error) => reply.fail(&error),
    }
}

/// Counts each further name as a request: the quota on requests admits no more of them by one command.
fn counted(caller: &Caller, at: u32) -> Result<(), ApiError> {
    if at == 0 { Ok(()) } else { caller.again().begin().map(drop) }
}

async fn highest(
    (context, caller): Call<'_>,
    name: &[u8],
    deadline: Instant,
) -> Result<Option<u64>, ApiError> {
    let Some(name) = sequence(name) else { return Ok(None) };
    caller.authorize(name.as_str())?;
    Ok(context.service.engine().highest_issued(&name, deadline).await?)
}

fn write(found: Option<u64>, reply: &mut Reply<'_>) {
    match found {
        Some(number) => reply.text(itoa::Buffer::new().format(number)),
        None => reply.null(),
    }
}

/// Whether a sequence is defined. A text that is no name names none.
fn is_known((context, caller): Call<'_>, name: &[u8]) -> Result<bool, ApiError> {
    let Some(name) = sequence(name) else { return Ok(false) };
    caller.authorize(name.as_str())?;
    Ok(context.service.engine().known_shape(&name).is_some())
}

/// A name. A text that is none names no sequence.
fn sequence(name: &[u8]) -> Option<SequenceName> {
    std::str::from_utf8(name).ok()?.parse().ok()
}
