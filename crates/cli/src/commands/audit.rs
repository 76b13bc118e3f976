//! `sequent audit check`: whether a line of an audit log was changed or removed.

use std::{fs::File, io::BufReader, path::PathBuf};

use clap::{Args, Subcommand};
use sequent_server::AuditChain;
use serde_json::json;

use crate::{failure::Failure, open_cluster::Cluster};

const EXAMPLES: &str = "\
Examples:
  sequent audit check audit.jsonl
  sequent audit check audit.jsonl.2 audit.jsonl.1 audit.jsonl    rotated files, the oldest first";

const EXAMPLES_CHECK: &str = "\
Examples:
  sequent audit check audit.jsonl
  sequent audit check audit.jsonl.2 audit.jsonl.1 audit.jsonl    rotated files, the oldest first
  sequent audit check audit.jsonl --json

Each line has the SHA-256 of the line before it. Exit code 1, with the first line that does not follow the line before it, \
if one was changed, added or removed. Lines that were cut off at the end are not found by that: compare the last hash with \
that of the next file, or with a copy elsewhere.";

/// Check the audit log of a server
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, subcommand_required = true, arg_required_else_help = true)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Audit {
    #[command(subcommand)]
    verb: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Tell whether each line follows the line before it
    #[command(after_help = EXAMPLES_CHECK)]
    Check {
        /// The files of one log, the oldest first
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
    },
}

impl Audit {
    pub(crate) fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        let Command::Check { files } = self.verb;
        check(cluster, &files)
    }
}

fn check(cluster: &Cluster, files: &[PathBuf]) -> Result<(), Failure> {
    let mut chain = AuditChain::default();
    for path in files {
        let read = |error| Failure::file("read", path, &error);
        let file = BufReader::new(File::open(path).map_err(read)?);
        if let Err(broken) = chain.read(file).map_err(read)? {
            return Err(Failure::failed(format!("{} {broken}", path.display())));
        }
    }
    let (lines, torn) = (chain.lines(), chain.torn());
    let report = json!({ "lines": lines, "cut_short": torn, "first": chain.first(), "last": chain.last() });
    let mut said = vec![format!("{lines} lines, each follows the line before it")];
    said.extend(
        (torn > 0).then(|| format!("{torn} of them were cut short: their server was stopped amid them")),
    );
    said.extend(chain.first().map(|hash| format!("before the first  {hash}")));
    said.extend(chain.last().map(|hash| format!("the last          {hash}")));
    cluster.show(&report, || said)
}
