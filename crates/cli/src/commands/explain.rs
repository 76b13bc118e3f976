//! `sequent explain`: the origin of a number.

use clap::Args;
use sequent_admin::{DenseOrigin, EpochReport, Explained, Origin, SpreadOrigin};

use crate::{
    failure::Failure,
    open_cluster::{Cluster, sequence_name},
    template_values::values_of,
};

const EXAMPLES: &str = "\
Examples:
  sequent explain order 4711
  sequent explain order 4711 --json
  sequent explain repair 20261122-010-00001    by its text, where the sequence has a template
  sequent explain parcel 00001 --with area=010    where the text does not tell a value that has a counter of its own

Says which slot, raw id and epoch gave the number, or that none can have given it; of a dense sequence, whether its counter in \
the ledger has passed the number. It takes no number.";

/// Say where a number came from
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Explain {
    /// The sequence
    name: String,
    /// The number, or its text if the sequence has a template
    #[arg(allow_hyphen_values = true)]
    number: String,
    /// A value that has counters of its own and that the text does not contain: --with area=010
    #[arg(long = "with", value_name = "NAME=VALUE")]
    with: Vec<String>,
}

impl Explain {
    pub(crate) async fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        let name = sequence_name(&self.name)?;
        let with = values_of(&self.with)?;
        let explained = cluster.admin().await?.explain_text(&name, &self.number, &with).await?;
        cluster.show(&explained, || lines(&explained))
    }
}

fn lines(explained: &Explained) -> Vec<String> {
    let Explained { sequence, number, origin, verdict } = explained;
    let mut lines = vec![format!("sequence  {sequence}"), format!("number    {number}")];
    match origin {
        Origin::Spread(SpreadOrigin { encoded, slot, raw, low, epoch }) => lines.extend([
            format!("encoded   {encoded}"),
            format!("slot      {slot}"),
            format!("raw id    {raw}"),
            format!("low bits  {low}"),
            format!("epoch      {}", epoch.as_ref().map_or_else(|| "none".to_owned(), epoch_text)),
        ]),
        Origin::Dense(DenseOrigin { ordinal, given }) => lines.extend([
            "placement dense".to_owned(),
            format!("ordinal   {ordinal}"),
            format!(
                "given     {}",
                given.map_or_else(|| "no such counter".to_owned(), |given| given.to_string())
            ),
        ]),
    }
    lines.push(verdict.clone());
    lines
}

fn epoch_text(epoch: &EpochReport) -> String {
    let state = if epoch.in_force { "in force" } else { "ended" };
    format!("{} ({state}; raw ids above {}, up to {})", epoch.epoch, epoch.base, epoch.ceiling)
}
