//! `sequent`: the command line over the engine.
//!
//! Reading order: `args` (the command line), `commands` (one file each), `open_cluster` (how a cluster is
//! opened), `failure` (reasons and exit codes), `output` (results on standard output).
#![allow(clippy::doc_markdown, reason = "the comments on arguments are help texts, and show as they are")]

mod admin_client;
mod args;
mod commands;
mod failure;
mod logging;
mod open_cluster;
mod output;
mod privacy;
mod remote;
mod remote_definitions;
mod run_files;
mod runtime;
mod server_discovery;
mod sockets;
mod template_values;
mod terminal;
mod traces;

use std::{ffi::OsStr, process::ExitCode};

use clap::Parser;
use tokio::runtime::Builder;

use crate::{
    args::{Cli, Command},
    failure::Failure,
    open_cluster::Cluster,
    traces::Traces,
};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let json = cli.globals.json;
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(json),
    }
}

/// Reports of clap: help on standard output, mistakes on standard error in the common form.
fn usage(error: &clap::Error) -> ExitCode {
    match Failure::usage(error) {
        // The flags were not parsed, so `--json` is searched for here.
        Some(failure) => failure.report(std::env::args_os().any(|arg| arg == OsStr::new("--json"))),
        None => match output::text(&error.render()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => failure.report(false),
        },
    }
}

fn run(cli: Cli) -> Result<(), Failure> {
    // Manuals are for every user.
    if !matches!(cli.command, Command::Man(_) | Command::Completions(_)) {
        privacy::protect();
    }
    if cli.globals.token_file.as_ref().is_some_and(|file| file.to_string_lossy().starts_with("sqt_")) {
        let bound = "a file is expected: a token is never an argument, since other users can read arguments";
        return Err(Failure::argument("--token-file", "sqt_***", bound));
    }
    let quiet = match cli.command {
        // These commands report changes of slots while they run, with --json too.
        Command::Bench(_) | Command::Serve(_) => "info",
        // Standard error then has one JSON object or nothing.
        _ if cli.globals.json => "off",
        _ => "warn",
    };
    let (verbose, format) = (cli.globals.verbose, cli.globals.log_format);
    let cluster = Cluster::new(cli.globals);
    if let Some(command) = cli.command.opens_stores() {
        cluster.means_stores(command)?;
    }
    // Only a server has traces: a short command has no requests.
    let traces = match cli.command {
        Command::Serve(_) => Traces::of(&cluster.config()?.traces)?,
        _ => Traces::default(),
    };
    logging::start(verbose, quiet, format, &traces)?;
    match cli.command {
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
        Command::Config(command) => short(command.run(&cluster)),
        Command::Token(command) => command.run(&cluster),
        Command::Audit(command) => command.run(&cluster),
        Command::Bench(command) => command.run(&cluster),
        Command::Serve(command) => {
            let served = long(command.run(&cluster));
            traces.end();
            served
        }
        Command::Dev(command) => long(command.run(&cluster)),
        Command::Next(command) => short(command.run(&cluster)),
        Command::List(command) => short(command.run(&cluster)),
        Command::Show(command) => short(command.run(&cluster)),
        Command::Shards(command) => short(command.run(&cluster)),
        Command::Doctor(command) => short(command.run(&cluster)),
        Command::Evict(command) => short(command.run(&cluster)),
        Command::Drain(command) => short(command.run(&cluster)),
        Command::Rescue(command) => short(command.run(&cluster)),
        Command::Recover(command) => short(command.run(&cluster)),
        Command::Advance(command) => short(command.run(&cluster)),
        Command::Import(command) => short(command.run(&cluster)),
        Command::Resize(command) => short(command.run(&cluster)),
        Command::Explain(command) => short(command.run(&cluster)),
        Command::Define(command) => short(command.run(&cluster)),
        Command::Forget(command) => short(command.run(&cluster)),
        Command::Preview(command) => short(command.run(&cluster)),
        Command::Parse(command) => short(command.run(&cluster)),
    }
}

/// Runs a short command: one thread starts faster than many.
fn short(command: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    runtime::run(Builder::new_current_thread(), command)
}

/// Runs a server, with as many threads as there are cores.
fn long(command: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    runtime::run(Builder::new_multi_thread(), command)
}
