//! `sequent doctor`: faults of stores, ledger and their servers, with effects and repairs.

use clap::Args;
use sequent_admin::doctor::{self, Checkup, Finding, PlaceReport, Site};
use sequent_engine::{Reason, config::Faults};
use sequent_server::TlsFiles;

use crate::{
    failure::Failure,
    open_cluster::Cluster,
    output,
    server_discovery::{Said, Servers},
};

const EXAMPLES: &str = "\
Examples:
  sequent doctor --config sequent.toml    everything, place by place
  sequent doctor --quiet                  only what was found, not what is fine
  sequent doctor --json                   one object with places and findings

Reads each store and the ledger, all at once, each within ten seconds, beside servers that run: stamps, the \
settings by which a crash loses what was acknowledged, evictions and times to live, auto_increment_*, the \
user's rights, each counter against its ceiling, the ledger's marks, versions, clocks, modes of files. It takes no number and \
changes nothing: on SQL servers it reads in read-only transactions.

docs/operating/doctor.md lists every finding by its id, with what it means and what to do.

The servers of this cluster that run on the data directory are asked for their state. A server that does not answer is named, and \
one that gives nothing before an operator acts is a warning.

Severities: error (something can repeat or lose numbers as it is now, or other users can read a secret), warning (nothing repeats, but something \
does not serve, leaves numbers out, or is open to more people than it should be), info.

Exit codes: 0 no error was found; 1 there is one; 4 there is none, but a place could not be examined \
(the report names it).";

/// Examine stores, ledger and servers, and say how to repair faults
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Doctor {
    /// Leave out what is as it should be
    #[arg(short, long)]
    quiet: bool,
}

impl Doctor {
    pub(crate) async fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        let peers = Servers::of(cluster, None)?;
        let (config, options) = cluster.opening()?;
        let (checkup, said) = tokio::join!(doctor::examine(&config, &options), peers.ask());
        let troubled = said.iter().filter_map(|said| {
            let trouble = said.status()?["trouble"].as_str()?;
            Some(Finding::of_server(said.admin(), trouble))
        });
        let unfit = TlsFiles::read(&config.tls).err().map(|faults| Finding::of_tls(one_line(&faults)));
        let refused = said.iter().filter_map(|said| {
            let why = said.status()?["tls"]["reload_refused"].as_str()?;
            let why = why.lines().map(str::trim).collect::<Vec<_>>().join(" ");
            Some(Finding::of_tls(format!("the server at {} has refused them: {why}", said.admin())))
        });
        let checkup = checkup?.with(troubled).with(unfit.into_iter().chain(refused));
        if cluster.json() {
            let mut report = serde_json::to_value(&checkup)
                .map_err(|error| Failure::failed(format!("the report can't be written as JSON: {error}")))?;
            report["servers"] = said.iter().map(Said::as_json).collect();
            output::json(&report)?;
        } else {
            let mut lines = self.text(&checkup);
            let summary = lines.pop();
            if !self.quiet || said.iter().any(|said| said.silence().is_some()) {
                lines.extend(peers.told(&said));
                lines.push(String::new());
            }
            lines.extend(summary);
            output::lines(lines)?;
        }
        verdict(&checkup)
    }

    fn text(&self, checkup: &Checkup) -> Vec<String> {
        let mut lines = Vec::new();
        for place in &checkup.places {
            let own = checkup.findings.iter().filter(|finding| finding.place == place.place);
            let own: Vec<&Finding> = own.collect();
            if self.quiet && own.is_empty() {
                continue;
            }
            lines.push(head(place));
            lines.extend(own.into_iter().flat_map(told));
            if !self.quiet {
                lines.extend(place.fine.iter().map(|fine| format!("  ok       {fine}")));
            }
            lines.push(String::new());
        }
        let whole: Vec<&Finding> =
            checkup.findings.iter().filter(|finding| finding.place == Site::Ring).collect();
        if !whole.is_empty() {
            lines.push(format!("ring  {}", checkup.cluster));
            lines.extend(whole.into_iter().flat_map(told));
            lines.push(String::new());
        }
        lines.push(summary(checkup));
        lines
    }
}

/// What is wrong with files, in one line.
fn one_line(faults: &Faults) -> String {
    let faults: Vec<String> = faults.0.iter().map(ToString::to_string).collect();
    faults.join("; ")
}

/// A place in one line.
fn head(place: &PlaceReport) -> String {
    let PlaceReport { place, store, address, version, durability, .. } = place;
    let parts = [Some(*store), Some(address.as_str()), version.as_deref(), *durability];
    format!("{place}  {}", parts.into_iter().flatten().collect::<Vec<_>>().join("  "))
}

/// A finding, and below it what it means and what to do.
fn told(Finding { kind, severity, found, means, advice, .. }: &Finding) -> [String; 3] {
    [
        format!("  {:<8} {}: {found}", severity.as_str(), kind.row().id),
        format!("           means: {means}"),
        format!("           advice: {advice}"),
    ]
}

fn summary(checkup: &Checkup) -> String {
    let Checkup { cluster, errors, warnings, infos, places, unreached, .. } = checkup;
    let seen = places.len() - unreached.len();
    let many = |count: &usize, word: &str| format!("{count} {word}{}", if *count == 1 { "" } else { "s" });
    format!(
        "{cluster}: {}, {}, {}; {seen} of {} examined",
        many(errors, "error"),
        many(warnings, "warning"),
        many(infos, "note"),
        many(&places.len(), "place"),
    )
}

/// The exit for scripts. An error outranks a place that could not be examined.
fn verdict(checkup: &Checkup) -> Result<(), Failure> {
    if checkup.errors > 0 {
        let text = format!(
            "{} by which numbers can repeat or be lost, or a secret be read: see above",
            checkup.errors
        );
        return Err(Failure::failed(format!("findings: {text}")));
    }
    if checkup.unreached.is_empty() {
        return Ok(());
    }
    let reason = if checkup.unreached.contains(&Site::Ledger) {
        Reason::LedgerUnavailable
    } else {
        Reason::NoShardAvailable
    };
    let names: Vec<String> = checkup.unreached.iter().map(ToString::to_string).collect();
    Err(Failure::reason(reason, format!("could not be examined: {}", names.join(", "))))
}
