//! `GET`, `MGET`, `EXISTS`, `TYPE`, `TTL`: what is known of a sequence. None of them defines one, and none but `GET` and
//! `MGET` asks a store.

use std::time::Instant;

use sequent_core::SequenceName;
use sequent_engine::SequenceShape;

use crate::{
    error::ApiError,
    redis::{context::Context, reply::Reply, request::Arguments},
};

/// `GET name`.
pub(super) async fn get(context: &Context, arguments: Arguments<'_>, reply: &mut Reply<'_>) {
    let name = arguments.get(1).unwrap_or_default();
    match context.counted(highest(context, name, context.service.deadline())).await {
        Ok(found) => write(found, reply),
        Err(error) => reply.fail(&error),
    }
}

/// `MGET name …`: all of them within one deadline.
pub(super) async fn mget(context: &Context, arguments: Arguments<'_>, reply: &mut Reply<'_>) {
    let deadline = context.service.deadline();
    let all = async {
        let mut found = Vec::with_capacity(arguments.len());
        for name in arguments.from(1) {
            found.push(highest(context, name, deadline).await?);
        }
        Ok(found)
    };
    match context.counted(all).await {
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
pub(super) fn exists(context: &Context, arguments: Arguments<'_>, reply: &mut Reply<'_>) {
    let known = arguments.from(1).filter(|name| known(context, name).is_some()).count();
    reply.integer(u64::try_from(known).unwrap_or(u64::MAX));
}

/// `TYPE name`.
pub(super) fn kind(context: &Context, arguments: Arguments<'_>, reply: &mut Reply<'_>) {
    let is_known = known(context, arguments.get(1).unwrap_or_default()).is_some();
    reply.simple(if is_known { "string" } else { "none" });
}

/// `TTL name`, `PTTL name`.
pub(super) fn ttl(context: &Context, arguments: Arguments<'_>, reply: &mut Reply<'_>) {
    let is_known = known(context, arguments.get(1).unwrap_or_default()).is_some();
    reply.signed(if is_known { -1 } else { -2 });
}

async fn highest(context: &Context, name: &[u8], deadline: Instant) -> Result<Option<u64>, ApiError> {
    let Some(name) = sequence(name) else { return Ok(None) };
    Ok(context.service.engine().highest_issued(&name, deadline).await?)
}

fn write(found: Option<u64>, reply: &mut Reply<'_>) {
    match found {
        Some(number) => reply.text(itoa::Buffer::new().format(number)),
        None => reply.null(),
    }
}

fn known(context: &Context, name: &[u8]) -> Option<SequenceShape> {
    context.service.engine().known_shape(&sequence(name)?)
}

/// A name. A text that is none names no sequence.
fn sequence(name: &[u8]) -> Option<SequenceName> {
    std::str::from_utf8(name).ok()?.parse().ok()
}
