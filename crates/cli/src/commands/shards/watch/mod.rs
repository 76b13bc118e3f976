//! `sequent shards --watch`: the same again and again, until it is told to stop.

mod lines;
mod look;
mod screen;
mod words;

#[cfg(test)]
mod tests;

use std::{
    io::{self, IsTerminal},
    time::Duration,
};

use serde_json::Value;
use tokio::time::MissedTickBehavior;

use self::{lines::Said, look::Watched};
use crate::{cluster::Cluster, failure::Failure, output, peers::Peers};

/// From one look to the next.
const EVERY: Duration = Duration::from_secs(1);

/// Shows slots until ctrl-c, or until nobody reads any more.
pub(super) async fn watch(cluster: &Cluster, peers: &Peers) -> Result<(), Failure> {
    let watched = Watched::pick(cluster, peers).await?;
    let shown = Shown::new(cluster.json());
    tokio::select! {
        ended = forever(&watched, shown) => ended,
        stopped = tokio::signal::ctrl_c() => stopped.map_err(|error| Failure::failed(format!("no signals: {error}"))),
    }
}

async fn forever(watched: &Watched, mut shown: Shown) -> Result<(), Failure> {
    let mut ticks = tokio::time::interval(EVERY);
    // A look that took long is not made up for by looks without a pause.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        shown.show(&watched.look().await)?;
    }
}

/// How looks are shown.
enum Shown {
    /// One object a line.
    Json,
    /// Drawn anew each time.
    Screen,
    /// A line for each slot that changed, and one for the whole now and then.
    Lines(Said),
}

impl Shown {
    fn new(json: bool) -> Self {
        match (json, io::stdout().is_terminal()) {
            (true, _) => Self::Json,
            (false, true) => Self::Screen,
            (false, false) => Self::Lines(Said::default()),
        }
    }

    fn show(&mut self, look: &Value) -> Result<(), Failure> {
        match self {
            Self::Json => output::json(look),
            Self::Screen => output::write(|out| screen::draw(out, look, screen::lines_max())),
            Self::Lines(said) => output::lines(said.lines(look)),
        }
    }
}
