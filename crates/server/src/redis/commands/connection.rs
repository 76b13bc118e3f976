//! `HELLO`, `AUTH`, `PING`, `SELECT`: the connection itself.

use bytes::BytesMut;

use crate::redis::{
    commands::client,
    reply::{Protocol, Reply},
    request::{Arguments, integer},
    session::Session,
};

/// The version of Redis that clients are told. They choose commands by it: this one has none that Sequent lacks.
pub(super) const REDIS_VERSION: &str = "7.2.0";

/// Where the version of RESP is not one of both.
const NO_PROTOCOL: &str = "NOPROTO unsupported protocol version";

/// The answer to a password where nobody needs one.
const NO_TOKENS: &str =
    "ERR this server needs no token, and does not know this one: connect without a password";

/// `HELLO [2|3] [AUTH user password] [SETNAME name]`: all of it, or nothing and an error.
pub(super) fn hello(session: &mut Session, arguments: Arguments<'_>, output: &mut BytesMut) {
    match greeted(session, arguments) {
        Ok(protocol) => {
            session.protocol = protocol;
            let mut reply = Reply::new(output, protocol);
            let version = if protocol == Protocol::Resp3 { 3 } else { 2 };
            reply.map(7);
            let pair = |reply: &mut Reply<'_>, name: &str, value: &str| {
                reply.text(name);
                reply.text(value);
            };
            pair(&mut reply, "server", "redis");
            pair(&mut reply, "version", REDIS_VERSION);
            reply.text("proto");
            reply.integer(version);
            reply.text("id");
            reply.integer(session.id);
            pair(&mut reply, "mode", "standalone");
            pair(&mut reply, "role", "master");
            reply.text("modules");
            reply.array(0);
        }
        Err(text) => Reply::new(output, session.protocol).error(&text),
    }
}

fn greeted(session: &mut Session, arguments: Arguments<'_>) -> Result<Protocol, String> {
    let protocol = match arguments.get(1) {
        None => session.protocol,
        Some(b"2") => Protocol::Resp2,
        Some(b"3") => Protocol::Resp3,
        Some(other) if integer(other).is_some() => return Err(NO_PROTOCOL.into()),
        Some(_) => return Err("ERR Protocol version is not an integer or out of range".into()),
    };
    let (mut at, mut password, mut name) = (2, None, None);
    while let Some(option) = arguments.get(at) {
        let next = (arguments.get(at + 1), arguments.get(at + 2));
        match next {
            (Some(user), Some(token)) if option.eq_ignore_ascii_case(b"auth") => {
                (password, at) = (Some((user, token)), at + 3);
            }
            (Some(given), _) if option.eq_ignore_ascii_case(b"setname") => {
                (name, at) = (Some(client::name(given)?), at + 2);
            }
            _ => return Err("ERR Syntax error in HELLO".into()),
        }
    }
    match password {
        Some((user, token)) => sign_in(session, Some(user), token)?,
        None => drop(session.caller("ping").map_err(|error| error.resp())?),
    }
    if let Some(name) = name {
        name.clone_into(&mut session.name);
    }
    Ok(protocol)
}

/// `AUTH [user] password`.
pub(super) fn auth(session: &mut Session, arguments: Arguments<'_>, output: &mut BytesMut) {
    let signed_in = match (arguments.get(1), arguments.get(2), arguments.len()) {
        (Some(token), None, 2) => sign_in(session, None, token),
        (Some(user), Some(token), 3) => sign_in(session, Some(user), token),
        _ => Err("ERR syntax error".to_owned()),
    };
    let mut reply = Reply::new(output, session.protocol);
    match signed_in {
        Ok(()) => reply.ok(),
        Err(text) => reply.error(&text),
    }
}

/// Signs in by a token. The code of the error is the one that clients know a wrong password by.
fn sign_in(session: &mut Session, user: Option<&[u8]>, token: &[u8]) -> Result<(), String> {
    let signed_in = session.sign_in(user, token);
    let is_needed = session.auth.is_required();
    signed_in.map_err(
        |error| {
            if is_needed { format!("WRONGPASS {}", error.text()) } else { NO_TOKENS.to_owned() }
        },
    )
}

/// `PING [message]`.
pub(super) fn ping(arguments: Arguments<'_>, reply: &mut Reply<'_>) {
    match (arguments.get(1), arguments.len()) {
        (None, _) => reply.simple("PONG"),
        (Some(message), 2) => reply.bulk(message),
        _ => reply.error("ERR wrong number of arguments for 'ping' command"),
    }
}

/// `SELECT 0`.
pub(super) fn select(arguments: Arguments<'_>, reply: &mut Reply<'_>) {
    match arguments.get(1).and_then(integer) {
        Some(0) => reply.ok(),
        Some(_) => reply.error("ERR DB index is out of range"),
        None => reply.error("ERR invalid DB index"),
    }
}
