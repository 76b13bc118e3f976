//! Help of `sequent` itself: its commands in groups, the newcomers' first.

use std::sync::LazyLock;

use clap::{Command as Parser, Subcommand, builder::Styles};

use super::Command;

/// Commands for newcomers.
const FIRST: [&str; 5] = ["next", "serve", "define", "shards", "doctor"];

/// The help page. Clap has no groups of commands, so the page contains them as text.
pub(super) static TEMPLATE: LazyLock<String> = LazyLock::new(|| {
    let commands = Command::augment_subcommands(Parser::new("sequent"));
    let first: Vec<_> = FIRST.iter().filter_map(|name| commands.find_subcommand(name)).collect();
    let others: Vec<_> =
        commands.get_subcommands().filter(|command| !FIRST.contains(&command.get_name())).collect();
    let width = commands.get_subcommands().map(|command| command.get_name().len()).max().unwrap_or(0);
    let groups = [group("First commands", &first, width), group("More commands", &others, width)].concat();
    let options = head("Options");
    format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}{options}\n{{options}}{{after-help}}"
    )
});

fn group(name: &str, commands: &[&Parser], width: usize) -> String {
    let literal = Styles::styled().get_literal().to_owned();
    let row = |command: &&Parser| {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        format!("  {literal}{:width$}{literal:#}  {about}\n", command.get_name())
    };
    let rows: String = commands.iter().map(row).collect();
    format!("{}\n{rows}\n", head(name))
}

fn head(name: &str) -> String {
    let style = Styles::styled().get_header().to_owned();
    format!("{style}{name}:{style:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_its_row_once() {
        let commands = Command::augment_subcommands(Parser::new("sequent"));
        for command in commands.get_subcommands() {
            let name = command.get_name();
            let rows = TEMPLATE.lines().filter(|line| line.contains(&format!("  \u{1b}[1m{name}"))).count();
            assert!(rows >= 1, "{name} is missing: {}", *TEMPLATE);
        }
        assert!(FIRST.iter().all(|name| commands.find_subcommand(name).is_some()));
    }
}
