//! `sequent man`: the manual, generated from the same definitions as `--help`.

use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_mangen::Man as Page;

use crate::{args::Cli, failure::Failure, output};

const EXAMPLES: &str = "\
Examples:
  sequent man | man -l -                 read it
  sequent man --dir /usr/share/man/man1  write a page for each command";

/// Print the manual
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Man {
    /// Write a page for each command into this directory instead
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let mut command = Cli::command();
        command.build();
        if let Some(dir) = &self.dir {
            return clap_mangen::generate_to(command, dir)
                .map_err(|error| Failure::file("write the manual to", dir, &error));
        }
        output::write(|out| Page::new(command).render(out))
    }
}
