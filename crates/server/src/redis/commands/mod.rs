//! The commands: a table of them, and one file for each group.

mod client;
mod connection;
pub(crate) mod numbers;
mod options;
mod reads;
mod sequences;
mod server;
mod table;
mod transactions;

use std::{fmt::Write, ops::ControlFlow, sync::Arc};

use bytes::BytesMut;
use tokio::task::yield_now;

pub(crate) use table::{Command, Verb, find};

use crate::{
    auth::Caller,
    connection::ended::EndReason,
    error::ApiError,
    redis::{context::Context, reply::Reply, request::Arguments, session::Session},
    service::definitions::Call,
};

/// The most bytes of arguments in the error for an unknown command.
const ARGUMENTS_SHOWN_MAX: usize = 128;

/// Runs a command, whose arguments were counted. A break ends the connection.
pub(crate) async fn run(
    context: &Context,
    session: &mut Session,
    (command, arguments): (&'static Command, Arguments<'_>),
    output: &mut BytesMut,
) -> ControlFlow<Option<EndReason>> {
    let mut reply = Reply::new(output, session.protocol);
    // Requests for numbers and definitions are admitted where other APIs' are.
    let admits = |caller: &Caller| (!command.verb.is_admitted_later()).then(|| caller.begin()).transpose();
    let admitted =
        session.caller(command.name).and_then(|caller| admits(&caller).map(|admitted| (caller, admitted)));
    let (caller, _admitted) = match admitted {
        Ok(admitted) => admitted,
        Err(error) => {
            reply.fail(&error);
            return ControlFlow::Continue(());
        }
    };
    let share = Arc::clone(&session.share);
    let call = Call { service: &context.service, caller: &caller, share: &share };
    // Those that wait are boxed: the future of a connection stays small.
    match command.verb {
        Verb::IncrBy => Box::pin(numbers::incr_by((context, &caller), arguments, &mut reply)).await,
        Verb::Get => Box::pin(reads::get((context, &caller), arguments, &mut reply)).await,
        Verb::MGet => Box::pin(reads::mget((context, &caller), arguments, &mut reply)).await,
        Verb::Exists => reads::exists((context, &caller), arguments, &mut reply),
        Verb::Type => reads::type_of((context, &caller), arguments, &mut reply),
        Verb::Ttl => reads::ttl((context, &caller), arguments, &mut reply),
        Verb::NoExpiry => reply.integer(0),
        Verb::SeqNext => Box::pin(sequences::next((context, &caller), arguments, &mut reply)).await,
        Verb::SeqLease => Box::pin(sequences::lease((context, &caller), arguments, &mut reply)).await,
        Verb::SeqDefine => Box::pin(sequences::define((context, call), arguments, &mut reply)).await,
        Verb::SeqShow => Box::pin(sequences::show((context, call), arguments, &mut reply)).await,
        Verb::Ping => connection::ping(arguments, &mut reply),
        Verb::Echo => reply.bulk(arguments.get(1).unwrap_or_default()),
        Verb::Select => connection::select(arguments, &mut reply),
        Verb::Auth => connection::auth(session, arguments, output),
        Verb::Hello => connection::hello(session, arguments, output),
        Verb::Reset => {
            session.reset();
            Reply::new(output, session.protocol).simple("RESET");
        }
        Verb::Quit => {
            reply.ok();
            return ControlFlow::Break(None);
        }
        Verb::Client => client::client((session, &caller), arguments, &mut reply),
        Verb::Info => {
            // It looks at every key.
            yield_now().await;
            server::info(context, arguments, &mut reply);
        }
        Verb::Config => server::config(arguments, &mut reply),
        Verb::Command => server::command(arguments, &mut reply),
        Verb::Time => server::time(context, &mut reply),
        Verb::Cluster => reply.error("ERR This instance has cluster support disabled"),
        Verb::Unwatch => reply.ok(),
        Verb::Multi => transactions::multi(session, &mut reply),
        Verb::Exec => reply.error("ERR EXEC without MULTI"),
        Verb::Discard => transactions::discard(session, &mut reply),
        Verb::Refused(why) => reply.error(&not_for_sequences(command.name, why)),
        // Taken care of before; a name alone does nothing.
        Verb::Incr | Verb::OtherProtocol => {}
    }
    ControlFlow::Continue(())
}

/// The error for an unknown command: Redis's own sentence, which clients look for.
pub(crate) fn unknown(arguments: Arguments<'_>) -> String {
    let shown = |bytes: &[u8]| {
        let cut = &bytes[..bytes.len().min(ARGUMENTS_SHOWN_MAX)];
        String::from_utf8_lossy(cut).into_owned()
    };
    let mut text = format!(
        "ERR unknown command '{}', with args beginning with: ",
        shown(arguments.get(0).unwrap_or_default())
    );
    let begin = text.len();
    for argument in arguments.from(1) {
        if text.len() - begin >= ARGUMENTS_SHOWN_MAX {
            break;
        }
        // Writing to a string can't fail.
        let _ = write!(text, "'{}' ", shown(argument));
    }
    text
}

/// The error of a command that a sequence can't obey: what to do instead.
fn not_for_sequences(name: &str, instead: &str) -> String {
    format!("ERR {} is not for sequences: {instead}", name.to_ascii_uppercase())
}

/// Answers `HELP`, and a subcommand that is unknown: with Redis's own sentence.
fn help_or_unknown(arguments: Arguments<'_>, reply: &mut Reply<'_>) {
    let (name, subcommand) = (arguments.get(0).unwrap_or_default(), arguments.get(1).unwrap_or_default());
    let shown = String::from_utf8_lossy(&subcommand[..subcommand.len().min(ARGUMENTS_SHOWN_MAX)]);
    let named = String::from_utf8_lossy(name).to_ascii_uppercase();
    if !subcommand.eq_ignore_ascii_case(b"help") {
        return reply.error(&format!("ERR unknown subcommand '{shown}'. Try {named} HELP."));
    }
    reply.array(2);
    reply.simple(&format!("{named} <subcommand> [argument ...]. Subcommands are:"));
    reply.simple(find(name).map_or("", |command| command.summary));
}

/// The error for a subcommand with too few or too many arguments: Redis's own sentence.
fn wrong_arity(arguments: Arguments<'_>) -> String {
    let lower = |at| String::from_utf8_lossy(arguments.get(at).unwrap_or_default()).to_ascii_lowercase();
    format!("ERR wrong number of arguments for '{}|{}' command", lower(0), lower(1))
}

/// An argument as text.
fn text<'a>(field: &'static str, argument: &'a [u8]) -> Result<&'a str, ApiError> {
    std::str::from_utf8(argument)
        .map_err(|_| ApiError::field(field, &String::from_utf8_lossy(argument), "UTF-8 is expected"))
}
