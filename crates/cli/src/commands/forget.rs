//! `sequent forget`: takes a definition out of use for good.

use clap::Args;
use sequent_core::Key;
use sequent_engine::{ForgetReport, Pace, report::SequenceReport};
use serde::Serialize;

use crate::{
    failure::Failure,
    open_cluster::{Cluster, sequence_name},
    output,
    server_discovery::Servers,
};

const EXAMPLES: &str = "\
Examples:
  sequent forget test-42                 what it is, and who uses it: nothing is done
  sequent forget test-42 --yes

For names that a first use has defined by mistake, and sequences that are over. Requests for the name are refused from \
then on, by every server within two seconds, and nobody can define it again: so no number and no text of it is given \
twice. This can't be undone. Its counters are left as they are; those of periods that are over go by retain_periods.

A sequence that a running server uses, or that the configuration names, is refused.";

/// Take a sequence out of use for good
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Forget {
    /// The sequence
    name: String,
    /// Do it
    #[arg(long)]
    yes: bool,
}

/// What is told before and after.
#[derive(Serialize)]
struct Told<'a> {
    done: Option<ForgetReport>,
    sequence: &'a str,
    version: u32,
    definition: &'a str,
    counters: usize,
}

impl Forget {
    pub(crate) async fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        let name = sequence_name(&self.name)?;
        let config = cluster.config()?;
        if config.sequences.iter().any(|part| part.name == name) {
            let bound =
                "a sequence that the configuration does not name is expected: take it out there first";
            return Err(Failure::argument("name", name.as_str(), bound));
        }
        for said in Servers::of(cluster, None)?.ask().await {
            let keys = said.status().and_then(|status| status["keys"].as_array());
            let of_name = |key: &&serde_json::Value| {
                key["key"].as_str().is_some_and(|key| Key::from_stored(key).sequence() == name.as_str())
            };
            if let Some(key) = keys.and_then(|keys| keys.iter().find(of_name)) {
                let (admin, key) = (said.admin(), &key["shown"]);
                let bound = format!(
                    "a sequence that nobody uses is expected, and server {admin} has {key} in use; it lets go of a key \
                     ten minutes after the last request"
                );
                return Err(Failure::argument("name", name.as_str(), bound));
            }
        }
        let engine = cluster.engine(config, Pace::Once).await?;
        let told = async {
            let report = engine.cluster().show(&name).await?;
            let done = if self.yes { Some(engine.forget(&name).await?) } else { None };
            Ok::<_, Failure>((report, done))
        };
        let told = told.await;
        engine.shutdown().await;
        let (report, done) = told?;
        let is_done = done.is_some();
        if cluster.json() {
            let (summary, counters) = (&report.summary, report.counters.len() + report.dense.len());
            output::report(&Told {
                done,
                sequence: &summary.sequence,
                version: summary.version,
                definition: &report.definition,
                counters,
            })?;
        } else {
            output::lines(lines(&report, done.as_ref()))?;
        }
        if is_done {
            return Ok(());
        }
        Err(Failure::unconfirmed(format!(
            "nothing was done: `sequent forget {name} --yes` forgets it for good"
        )))
    }
}

fn lines(report: &SequenceReport, done: Option<&ForgetReport>) -> Vec<String> {
    let SequenceReport { summary, definition, counters, dense, .. } = report;
    let said = match done {
        Some(ForgetReport { already: true, .. }) => "was forgotten already",
        Some(_) => "is forgotten: nobody gets a number of it any more, and the name is not used again",
        None => "would be forgotten: nobody gets a number of it any more, and the name is not used again",
    };
    vec![
        format!("sequence    {}", summary.sequence),
        format!("version     {}", summary.version),
        format!("definition  {definition}"),
        format!("counters    {} are left as they are", counters.len() + dense.len()),
        format!("{} {said}", summary.sequence),
    ]
}
