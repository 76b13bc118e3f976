//! The command line for clap: the options of every command, and the list of commands.

mod help;
#[cfg(test)]
mod page;
mod tls_flags;

use std::{path::PathBuf, sync::LazyLock};

use clap::{Args, Parser, Subcommand};

use crate::{
    commands::{
        advance, audit, bench, completions, config, define, dev, doctor, drain, evict, explain, forget,
        import, list, man, next, parse, preview, recover, rescue, resize, serve, shards, show, token,
    },
    logging::LogFormat,
};

/// The widest line of help. Longer lines are hard to read.
const WIDTH_MAX: usize = 100;

const EXAMPLES: &str = "\
Examples:
  sequent next order                 one number from the cluster in ./sequent-data
  sequent next order -n 5 --json     five of them, for a script
  sequent shards                     each slot with its state and cause
  sequent bench order                how fast, and whether any number repeats

Exit codes:
  0  done
  1  failed
  2  usage: an argument is wrong; nothing was touched
  3  configuration refused, or a person must decide (`sequent recover`, and what it does with --yes alone)
  4  try again";

/// The version, with the release of the bundled time zone data: servers with different releases may divide
/// days differently.
static LONG_VERSION: LazyLock<String> = LazyLock::new(|| {
    format!("{} (time zones {})", env!("CARGO_PKG_VERSION"), sequent_format::tzdb_version())
});

/// Unique business numbers from a cluster of stores that may fail
///
/// Without a server and without a configuration, the cluster is a directory: four SQLite shards and a SQLite
/// ledger. Results go to standard output, everything else to standard error.
#[derive(Debug, Parser)]
#[command(name = "sequent", version, long_version = LONG_VERSION.as_str(), max_term_width = WIDTH_MAX)]
#[command(help_template = help::TEMPLATE.as_str(), after_help = EXAMPLES)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) globals: Globals,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The options of every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Common options")]
pub(crate) struct Globals {
    /// Directory of the embedded cluster, ./sequent-data by default
    #[arg(long, global = true, value_name = "DIR", env = "SEQUENT_DATA", hide_env_values = true)]
    pub(crate) data: Option<PathBuf>,
    /// Configuration file (TOML)
    #[arg(long, global = true, value_name = "FILE", env = "SEQUENT_CONFIG", hide_env_values = true)]
    pub(crate) config: Option<PathBuf>,
    /// Set one key of the configuration, over environment and file
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// File with the token that is sent to servers; a token itself is never an argument
    #[arg(long, global = true, value_name = "FILE", env = "SEQUENT_TOKEN_FILE", hide_env_values = true)]
    pub(crate) token_file: Option<PathBuf>,
    /// Print JSON: results on standard output, errors on standard error
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Log more to standard error: -v what happens, -vv how, -vvv everything; or SEQUENT_LOG=filter
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Format of log lines: text, or json (one object a line)
    #[arg(long, global = true, value_name = "FORMAT", env = "SEQUENT_LOG_FORMAT", hide_env_values = true)]
    #[arg(value_enum, default_value_t = LogFormat::Text, hide_default_value = true, hide_possible_values = true)]
    pub(crate) log_format: LogFormat,
    #[command(flatten)]
    pub(crate) tls: tls_flags::TlsFlags,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Next(next::Next),
    Serve(serve::Serve),
    Dev(dev::Dev),
    List(list::List),
    Show(show::Show),
    Shards(shards::Shards),
    Doctor(doctor::Doctor),
    Evict(evict::Evict),
    Drain(drain::Drain),
    Rescue(rescue::Rescue),
    Recover(recover::Recover),
    Advance(advance::Advance),
    Import(import::Import),
    Resize(resize::Resize),
    Explain(explain::Explain),
    Define(define::Define),
    Forget(forget::Forget),
    Preview(preview::Preview),
    Parse(parse::Parse),
    Config(config::Config),
    Token(token::Token),
    Audit(audit::Audit),
    Bench(bench::Bench),
    Completions(completions::Completions),
    Man(man::Man),
}

impl Command {
    /// The name of a command that opens ledger or stores itself, and that no server answers.
    pub(crate) fn opens_stores(&self) -> Option<&'static str> {
        match self {
            Self::Shards(_) => Some("shards"),
            Self::Doctor(_) => Some("doctor"),
            Self::Evict(evict) if !evict.speech.admin.is_named() => Some("evict"),
            Self::Drain(drain) if !drain.speech.admin.is_named() => Some("drain"),
            Self::Rescue(rescue) if !rescue.speech.admin.is_named() => Some("rescue"),
            Self::Recover(_) => Some("recover"),
            Self::Advance(advance) if !advance.admin.is_named() => Some("advance"),
            Self::Import(_) => Some("import"),
            Self::Resize(_) => Some("resize"),
            Self::Explain(_) => Some("explain"),
            Self::Forget(forget) if !forget.admin.is_named() => Some("forget"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_shows_examples() {
        fn check(command: &clap::Command) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.starts_with("Examples:\n"), "{} has no examples", command.get_name());
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
    }
}
