//! `sequent completions`: shell completions for commands and options.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::{args::Cli, failure::Failure, output};

const EXAMPLES: &str = "\
Examples:
  sequent completions zsh > ~/.zfunc/_sequent
  sequent completions fish > ~/.config/fish/completions/sequent.fish
  source <(sequent completions bash)";

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        // Written to memory first: the generator panics if a write fails, and a reader may go away.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "sequent", &mut script);
        output::write(|out| out.write_all(&script))
    }
}
