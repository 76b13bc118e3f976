//! `sequent explain`: where a number came from.

use clap::Args;
use sequent_engine::report::{Explained, LifeReport};

use crate::{
    cluster::{Cluster, sequence_name},
    failure::Failure,
    output,
};

const EXAMPLES: &str = "\
Examples:
  sequent explain order 4711
  sequent explain order 4711 --json

Says which slot, raw id and life gave the number, or that none can have given it. It takes no number.";

/// Say where a number came from
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Explain {
    /// The sequence
    name: String,
    /// The number
    #[arg(allow_hyphen_values = true)]
    number: String,
}

impl Explain {
    pub(crate) async fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        let name = sequence_name(&self.name)?;
        let number = self.number.parse().ok().filter(|&number| number > 0);
        let bound = format!("1 to {} are numbers", i64::MAX);
        let number = number.ok_or_else(|| Failure::argument("number", &self.number, bound))?;
        let explained = cluster.desk().await?.explain(&name, number).await?;
        if cluster.json() {
            return output::report(&explained);
        }
        output::lines(lines(&explained))
    }
}

fn lines(explained: &Explained) -> Vec<String> {
    let Explained { sequence, number, encoded, slot, raw, low, life, verdict } = explained;
    let mut lines = vec![
        format!("sequence  {sequence}"),
        format!("number    {number}"),
        format!("encoded   {encoded}"),
        format!("slot      {slot}"),
        format!("raw id    {raw}"),
        format!("low bits  {low}"),
        format!("life      {}", life.as_ref().map_or_else(|| "none".to_owned(), life_text)),
    ];
    lines.push(verdict.clone());
    lines
}

fn life_text(life: &LifeReport) -> String {
    let state = if life.in_force { "in force" } else { "ended" };
    format!("{} ({state}; raw ids above {}, up to {})", life.life, life.base, life.ceiling)
}
