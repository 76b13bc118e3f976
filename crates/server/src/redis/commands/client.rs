//! `CLIENT`: what clients tell of themselves, and ask of their connection.

use crate::{
    auth::{ANY_USER, Caller},
    limits::REDIS_CLIENT_NAME_MAX,
    redis::{
        commands::{help_or_unknown, wrong_arity},
        reply::{Protocol, Reply},
        request::Arguments,
        session::Session,
    },
};

/// The error where a client would be told of changes to what it has cached.
const NO_TRACKING: &str =
    "ERR client-side caching is not supported: every number is new, so there is nothing to cache";

/// The error where a client would read no replies.
const NO_SILENCE: &str = "ERR only CLIENT REPLY ON is supported: a client has to read its replies";

/// `CLIENT subcommand …`.
pub(super) fn client(
    (session, caller): (&mut Session, &Caller),
    arguments: Arguments<'_>,
    reply: &mut Reply<'_>,
) {
    let lower = |at| arguments.get(at).unwrap_or_default().to_ascii_lowercase();
    let (subcommand, value) = (lower(1), lower(2));
    match (subcommand.as_slice(), arguments.len()) {
        (b"setname", 3) => match name(arguments.get(2).unwrap_or_default()) {
            Ok(name) => {
                name.clone_into(&mut session.name);
                reply.ok();
            }
            Err(text) => reply.error(text),
        },
        (b"getname", 2) if session.name.is_empty() => reply.null(),
        (b"getname", 2) => reply.text(&session.name),
        // What library it is changes nothing here, nor do the others.
        (b"setinfo", 4) if matches!(value.as_slice(), b"lib-name" | b"lib-ver") => reply.ok(),
        (b"setinfo", 4) => reply.error("ERR syntax error: LIB-NAME or LIB-VER is expected"),
        (b"no-evict" | b"no-touch", 3) if matches!(value.as_slice(), b"on" | b"off") => reply.ok(),
        (b"no-evict" | b"no-touch", 3) => reply.error("ERR syntax error: ON or OFF is expected"),
        (b"reply", 3) if value == b"on" => reply.ok(),
        (b"reply", 3) => reply.error(NO_SILENCE),
        (b"tracking", 3..) if value == b"off" => reply.ok(),
        (b"tracking", 3..) => reply.error(NO_TRACKING),
        (b"id", 2) => reply.integer(session.id),
        (b"info", 2) | (b"list", _) => reply.text(&described(session, caller)),
        (
            b"setname" | b"getname" | b"setinfo" | b"no-evict" | b"no-touch" | b"reply" | b"tracking" | b"id"
            | b"info",
            _,
        ) => reply.error(&wrong_arity(arguments)),
        _ => help_or_unknown(arguments, reply),
    }
}

/// A name of a connection: visible ASCII.
pub(super) fn name(given: &[u8]) -> Result<&str, &'static str> {
    if given.len() > REDIS_CLIENT_NAME_MAX {
        return Err("ERR Client names have at most 128 bytes");
    }
    let is_visible = given.iter().all(u8::is_ascii_graphic);
    std::str::from_utf8(given)
        .ok()
        .filter(|_| is_visible)
        .ok_or("ERR Client names cannot contain spaces, newlines or special characters.")
}

/// This connection. Others are not listed.
fn described(session: &Session, caller: &Caller) -> String {
    let Session { id, name, protocol, .. } = session;
    let resp = if *protocol == Protocol::Resp3 { 3 } else { 2 };
    let user = caller.principal().unwrap_or(ANY_USER);
    format!("id={id} name={name} db=0 resp={resp} cmd=client user={user}\n")
}
