//! `CLIENT`: what clients tell of themselves, and ask of their connection.

use crate::{
    auth::{ANY_USER, Caller},
    limits::REDIS_CLIENT_NAME_MAX,
    redis::{
        commands::unknown_subcommand,
        reply::{Protocol, Reply},
        request::Arguments,
        session::Session,
    },
};

/// `CLIENT subcommand …`.
pub(super) fn client(
    (session, caller): (&mut Session, &Caller),
    arguments: Arguments<'_>,
    reply: &mut Reply<'_>,
) {
    let subcommand = arguments.get(1).unwrap_or_default();
    match (subcommand.to_ascii_lowercase().as_slice(), arguments.len()) {
        (b"setname", 3) => match name(arguments.get(2).unwrap_or_default()) {
            Ok(name) => {
                name.clone_into(&mut session.name);
                reply.ok();
            }
            Err(text) => reply.error(text),
        },
        (b"getname", 2) if session.name.is_empty() => reply.null(),
        (b"getname", 2) => reply.text(&session.name),
        // What library it is changes nothing here.
        (b"setinfo", 4) | (b"no-evict" | b"no-touch", 3) => reply.ok(),
        (b"id", 2) => reply.integer(session.id),
        (b"info", 2) | (b"list", _) => reply.text(&described(session, caller)),
        (b"setname" | b"getname" | b"setinfo" | b"no-evict" | b"no-touch" | b"id" | b"info", _) => {
            let named = String::from_utf8_lossy(subcommand).to_ascii_lowercase();
            reply.error(&format!("ERR wrong number of arguments for 'client|{named}' command"));
        }
        _ => reply.error(&unknown_subcommand("CLIENT", subcommand)),
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
