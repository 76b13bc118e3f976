//! The page of commands says what `--help` says. `SEQUENT_GENERATE=1` writes it instead of comparing.

use std::{env, fmt::Write as _, fs, path::Path};

use clap::{Arg, Command, CommandFactory as _};

use super::Cli;

const PAGE: &str = "../../docs/reference/cli.md";

const HEAD: &str = "\
# Commands

Generated from the program by its test, `SEQUENT_GENERATE=1 cargo test -p sequent page_of_commands`: each command with its \
options, and the rest of its `--help`.

Results go to standard output, everything else to standard error. `sequent man` prints the manual, `sequent completions \
SHELL` completions. [Configuration](config.md#where-a-value-comes-from) says how files, variables and flags combine. [Exit \
codes](errors.md#exit-codes) are the same for all commands.

More about some of them: [doctor](../operating/doctor.md), [recover](../operating/recovery.md), \
[resize and advance](../operating/resize.md), [import](../using/moving-from/mysql.md), \
[forget](../operating/capacity.md#forget-a-name), [token](../operating/tokens.md), \
[by a server](../operating/tokens.md#operators), [audit](../operating/audit.md), [TLS](../operating/tls.md#clients).
";

/// An option or argument as a row of a table.
fn row(arg: &Arg) -> String {
    let shown = arg.to_string();
    let named = match (arg.get_short(), arg.is_positional()) {
        (Some(short), false) if arg.get_long().is_some() => format!("-{short}, {shown}"),
        _ => shown,
    };
    let mut says = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let defaults: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if !defaults.is_empty() && !arg.is_hide_default_value_set() && arg.get_action().takes_values() {
        write!(says, " [default: {}]", defaults.join(" ")).unwrap();
    }
    if let Some(variable) = arg.get_env() {
        write!(says, " [env: {}]", variable.to_string_lossy()).unwrap();
    }
    let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
    format!("| `{}` | {} |\n", cell(&named), cell(&says).replace('<', "&lt;"))
}

fn table<'a>(args: impl Iterator<Item = &'a Arg>) -> String {
    let rows: String = args.filter(|arg| !arg.is_hide_set()).map(row).collect();
    if rows.is_empty() { rows } else { format!("\n| option | |\n|---|---|\n{rows}") }
}

fn section(command: &Command, parent: &str, level: usize) -> String {
    let name = format!("{parent} {}", command.get_name());
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").trim();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut page = format!("\n{} {name}\n\n{about}.\n\n```text\n{usage}\n", "#".repeat(level));
    if let Some(rest) = command.get_after_help() {
        write!(page, "\n{}\n", rest.to_string().trim_end()).unwrap();
    }
    page.push_str("```\n");
    let is_common = |arg: &&Arg| arg.is_global_set() || matches!(arg.get_id().as_str(), "help" | "version");
    page.push_str(&table(command.get_arguments().filter(|arg| !is_common(arg))));
    page.extend(command.get_subcommands().map(|command| section(command, &name, level + 1)));
    page
}

#[test]
fn the_page_of_commands_is_what_help_says() {
    let mut root = Cli::command();
    root.build();
    let common = table(root.get_arguments().filter(|arg| arg.is_global_set()));
    let commands = root
        .get_subcommands()
        .filter(|command| command.get_name() != "help")
        .map(|command| section(command, "sequent", 2));
    let page = format!("{HEAD}\n## Options of every command\n{common}{}", commands.collect::<String>());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    if env::var_os("SEQUENT_GENERATE").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == page,
        "docs/reference/cli.md is stale: SEQUENT_GENERATE=1 cargo test -p sequent page_of_commands"
    );
}
