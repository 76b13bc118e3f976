//! `sequent config`: check a configuration, or show what is in force.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use sequent_core::{Clock as _, SystemClock};
use sequent_engine::{config::Shown, data::exposed_settings};
use sequent_server::TlsFiles;

use crate::{failure::Failure, open_cluster::Cluster, output};

const EXAMPLES: &str = "\
Examples:
  sequent config check sequent.toml
  sequent config show --config sequent.toml";

const EXAMPLES_CHECK: &str = "\
Examples:
  sequent config check sequent.toml
  sequent config check --config sequent.toml --json

Every fault is reported at once, each with line, key, value and bound. Exit code 3 if there is one. Reads the \
file, the files of [tls] and the environment, and touches nothing: what only the data can tell (another layout, a shard of another \
cluster) is refused when the cluster is opened. Warnings are of what is allowed and seldom wanted: connections \
without TLS to other hosts, principals that have expired or will soon, places on one host, secrets that other users can read.";

const EXAMPLES_SHOW: &str = "\
Examples:
  sequent config show
  sequent config show --config sequent.toml --set ring.slow_limit=5
  SEQUENT_RING_SLOW_LIMIT=5 sequent config show --json

A flag wins over the environment, the environment over the file, the file over the default. Secrets are not shown.";

/// Check or show the configuration
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, subcommand_required = true, arg_required_else_help = true)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Config {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Report every fault of a configuration
    #[command(after_help = EXAMPLES_CHECK)]
    Check {
        /// The file [default: that of --config]
        file: Option<PathBuf>,
    },
    /// Print each value in force with its origin
    #[command(after_help = EXAMPLES_SHOW)]
    Show,
}

impl Config {
    pub(crate) async fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        match &self.verb {
            Verb::Check { file } => check(cluster, file.as_ref().or_else(|| cluster.file())).await,
            Verb::Show => show(cluster),
        }
    }
}

async fn check(cluster: &Cluster, file: Option<&PathBuf>) -> Result<(), Failure> {
    let config = cluster.config_of(file)?;
    TlsFiles::read(&config.tls)?;
    let mut warnings: Vec<String> =
        config.cautions(SystemClock.wall_ms()).iter().map(ToString::to_string).collect();
    warnings.extend(exposed_settings(&config).await.iter().map(ToString::to_string));
    if cluster.json() {
        let report = serde_json::json!({ "file": file, "faults": [], "warnings": warnings });
        return output::json(&report);
    }
    let what = file.map_or_else(|| "environment and defaults".to_owned(), |file| file.display().to_string());
    let warnings = warnings.iter().map(|warning| format!("  warning  {warning}"));
    output::lines([format!("{what}: no faults")].into_iter().chain(warnings))
}

fn show(cluster: &Cluster) -> Result<(), Failure> {
    let config = cluster.config()?;
    if cluster.json() {
        let setting = |shown: &Shown| serde_json::json!({ "key": shown.key, "value": shown.value, "origin": shown.origin.to_string() });
        let settings: Vec<_> = config.shown().iter().map(setting).collect();
        return output::json(&serde_json::json!({ "data": config.data, "settings": settings }));
    }
    output::lines(config.shown())
}
