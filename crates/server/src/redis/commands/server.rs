//! `INFO`, `CONFIG`, `COMMAND`, `TIME`: the server, as clients, tools and exporters of Redis ask for it.

use std::fmt::Write;

use crate::{
    limits::{REDIS_CHECK_EVERY, REDIS_IDLE_CHECKS_MAX},
    redis::{
        commands::{
            connection::REDIS_VERSION,
            help_or_unknown,
            table::{self, Command},
            wrong_arity,
        },
        context::Context,
        reply::Reply,
        request::Arguments,
    },
    shutdown::phase::Phase,
};

/// Names of `INFO` that stand for every section.
const EVERY_SECTION: [&[u8]; 3] = [b"all", b"default", b"everything"];

/// `INFO [section …]`: the lines that clients decide by, and some of Sequent's own.
pub(super) fn info(context: &Context, arguments: Arguments<'_>, reply: &mut Reply<'_>) {
    let is_wanted = |section: &str| {
        arguments.len() == 1
            || arguments.from(1).any(|asked| {
                asked.eq_ignore_ascii_case(section.as_bytes())
                    || EVERY_SECTION.iter().any(|every| asked.eq_ignore_ascii_case(every))
            })
    };
    let mut text = String::new();
    for (section, lines) in sections(context).into_iter().filter(|(section, _)| is_wanted(section)) {
        // Writing to a string can't fail.
        let _ = write!(text, "{}# {section}\r\n", if text.is_empty() { "" } else { "\r\n" });
        for (name, value) in lines {
            let _ = write!(text, "{name}:{value}\r\n");
        }
    }
    reply.text(&text);
}

type Section = (&'static str, Vec<(&'static str, String)>);

fn sections(context: &Context) -> [Section; 6] {
    let text = str::to_owned;
    let engine = context.service.engine();
    let is_serving = !context.phases.has_reached(Phase::Draining);
    [
        (
            "Server",
            vec![
                ("redis_version", text(REDIS_VERSION)),
                ("redis_mode", text("standalone")),
                ("sequent_version", text(env!("CARGO_PKG_VERSION"))),
                ("process_id", std::process::id().to_string()),
                ("uptime_in_seconds", context.uptime().as_secs().to_string()),
            ],
        ),
        ("Clients", vec![("connected_clients", context.open().to_string())]),
        ("Persistence", vec![("loading", text("0"))]),
        ("Replication", vec![("role", text("master")), ("connected_slaves", text("0"))]),
        ("Cluster", vec![("cluster_enabled", text("0"))]),
        (
            "Sequent",
            vec![
                ("sequent_ready", u8::from(is_serving).to_string()),
                ("sequent_reserve_numbers", engine.ready().to_string()),
                ("sequent_requests_in_flight", context.service.in_flight().count().to_string()),
            ],
        ),
    ]
}

/// `CONFIG GET pattern …`: what a caller of Redis would have to assume of this server.
pub(super) fn config(arguments: Arguments<'_>, reply: &mut Reply<'_>) {
    let subcommand = arguments.get(1).unwrap_or_default();
    if !subcommand.eq_ignore_ascii_case(b"get") {
        return help_or_unknown(arguments, reply);
    }
    if arguments.len() < 3 {
        return reply.error(&wrong_arity(arguments));
    }
    let idle = (REDIS_CHECK_EVERY * REDIS_IDLE_CHECKS_MAX).as_secs().to_string();
    let all = [("appendonly", "yes"), ("databases", "1"), ("save", ""), ("timeout", idle.as_str())];
    let is_wanted = |name: &str| arguments.from(2).any(|pattern| matches(pattern, name.as_bytes()));
    let found: Vec<_> = all.into_iter().filter(|(name, _)| is_wanted(name)).collect();
    reply.map(found.len());
    for (name, value) in found {
        reply.text(name);
        reply.text(value);
    }
}

/// Whether a name fits a pattern, of which at most the last byte is `*`.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match pattern.split_last() {
        Some((b'*', begin)) => name.get(..begin.len()).is_some_and(|found| found.eq_ignore_ascii_case(begin)),
        _ => name.eq_ignore_ascii_case(pattern),
    }
}

/// `COMMAND [subcommand …]`.
pub(super) fn command(arguments: Arguments<'_>, reply: &mut Reply<'_>) {
    let Some(subcommand) = arguments.get(1) else {
        reply.array(table::listed().count());
        return table::listed().for_each(|command| entry(command, reply));
    };
    match (subcommand.to_ascii_lowercase().as_slice(), arguments.len()) {
        (b"count", 2) => reply.integer(u64::try_from(table::listed().count()).unwrap_or(u64::MAX)),
        (b"list", 2) => {
            reply.array(table::listed().count());
            table::listed().for_each(|command| reply.text(command.name));
        }
        (b"info", _) => {
            reply.array(arguments.len() - 2);
            for name in arguments.from(2) {
                match listed(name) {
                    Some(command) => entry(command, reply),
                    None => reply.null(),
                }
            }
        }
        (b"docs", _) => docs(arguments, reply),
        (b"count" | b"list", _) => reply.error(&wrong_arity(arguments)),
        _ => help_or_unknown(arguments, reply),
    }
}

fn listed(name: &[u8]) -> Option<&'static Command> {
    table::find(name).filter(|command| !command.summary.is_empty())
}

/// `COMMAND DOCS [name …]`.
fn docs(arguments: Arguments<'_>, reply: &mut Reply<'_>) {
    let found: Vec<_> = match arguments.len() {
        2 => table::listed().collect(),
        _ => arguments.from(2).filter_map(listed).collect(),
    };
    reply.map(found.len());
    for command in found {
        reply.text(command.name);
        reply.map(2);
        reply.text("summary");
        reply.text(command.summary);
        reply.text("group");
        reply.text(if command.name.starts_with("seq.") { "sequent" } else { "generic" });
    }
}

/// A command as `COMMAND` lists it: with no categories, tips, key specifications and subcommands.
fn entry(command: &Command, reply: &mut Reply<'_>) {
    let (flag, keys) = command.keys();
    reply.array(10);
    reply.text(command.name);
    reply.signed(command.arity);
    reply.array(1);
    reply.simple(flag);
    for key in keys {
        reply.signed(key);
    }
    (0..4).for_each(|_| reply.array(0));
}

/// `TIME`.
pub(super) fn time(context: &Context, reply: &mut Reply<'_>) {
    let now_ms = context.service.engine().clock().wall_ms();
    reply.array(2);
    reply.text(&(now_ms / 1000).to_string());
    reply.text(&(now_ms % 1000 * 1000).to_string());
}
