//! `sequent recover`: an operator names what was lost, and the cluster goes on above it. An action that could
//! give a number twice needs a confirmation.

mod help;
mod text;

use std::{collections::BTreeSet, time::Duration};

use clap::Args;
use sequent_admin::{Admin, BUMP_MAX, CopyMade, LossEstimate, NamedLoss, RecoveryPlan};
use sequent_core::{SlotIndex, ledger::Loss};
use sequent_engine::{Timestamp, config::Config};

use self::{
    help::EXAMPLES,
    text::{answer_lines, foretell, listed, refusal},
};
use crate::{
    failure::Failure,
    open_cluster::Cluster,
    output,
    server_discovery::{Said, Servers},
};

/// The interval at which servers call the ledger.
const RAISED_WITHIN: Duration = Duration::from_secs(2);

/// Go on after the ledger, or the whole directory, was copied or restored
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("loss"))]
pub(crate) struct Recover {
    /// No counter is more than N raw ids above its ceiling in the present state, including the slots left out
    #[arg(long, group = "loss", value_name = "N", value_parser = clap::value_parser!(u64).range(1..=BUMP_MAX))]
    bump: Option<u64>,
    /// The present state is a copy of this instant (RFC 3339): computes the bump, prints it, and does nothing
    /// without --yes
    #[arg(long, group = "loss", value_name = "INSTANT", requires = "at_most_per_second")]
    since: Option<String>,
    /// Nothing was given since the data was copied or moved, and no other copy is in use: does nothing without --yes
    #[arg(long, group = "loss")]
    moved: bool,
    /// With --since: the most numbers a second that the busiest sequence was asked for since the copy, by all
    /// callers together
    #[arg(long, value_name = "N", requires = "since", conflicts_with_all = ["moved", "bump"], value_parser = clap::value_parser!(u64).range(1..=BUMP_MAX))]
    at_most_per_second: Option<u64>,
    /// Confirm after reading the output: numbers repeat if the answer is not true
    #[arg(long, requires = "loss")]
    yes: bool,
    /// A slot whose store can't be read, and does not come back before this is done
    #[arg(long, value_name = "SLOT")]
    without: Vec<SlotIndex>,
}

impl Recover {
    pub(crate) async fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        if let (Some(since), Some(at_most_per_s)) = (&self.since, self.at_most_per_second) {
            return self.work_out(cluster, (since, at_most_per_s)).await;
        }
        let Some(loss) = self.bump.map(Loss::Bump).or(self.moved.then_some(Loss::Moved)) else {
            return self.look(cluster).await;
        };
        let (config, options) = cluster.opening()?;
        let slots = self.slots();
        let done = Admin::recover_amid_resize(&config, &options, (loss, self.yes), &slots).await?;
        if let Some(done) = done {
            return done_amid_resize(cluster, &done).await;
        }
        let admin = match loss {
            Loss::Moved => cluster.admin().await?,
            Loss::Bump(bump) => {
                let (without, mut cautions) = (self.slots(), running(cluster).await?);
                cautions.extend(without.iter().map(|slot| {
                    format!("slot {slot} is not read, so only N prevents that its numbers are given again")
                }));
                let named = NamedLoss { bump, without, cautions, is_confirmed: self.yes };
                Admin::open_after_loss(&config, &options, &named).await?
            }
        };
        self.go_on(cluster, &admin, loss, None).await
    }

    /// The effect of each answer.
    async fn look(&self, cluster: &Cluster) -> Result<(), Failure> {
        let (config, options) = cluster.opening()?;
        Admin::check_layout(&config, &options).await?;
        let admin = cluster.admin().await?;
        self.not_done(cluster, &admin, None, (None, None)).await
    }

    fn slots(&self) -> BTreeSet<SlotIndex> {
        self.without.iter().copied().collect()
    }

    async fn work_out(&self, cluster: &Cluster, (since, at_most_per_s): (&str, u64)) -> Result<(), Failure> {
        let expected = "an instant of RFC 3339 is expected, such as 2026-11-20T03:00:00Z";
        let instant: Timestamp = since.parse().map_err(|_| Failure::argument("since", since, expected))?;
        let since_ms = u64::try_from(instant.as_millisecond())
            .map_err(|_| Failure::argument("since", since, "an instant after 1970 is expected"))?;
        let (config, options) = cluster.opening()?;
        Admin::check_layout(&config, &options).await?;
        let ahead = ceilings_ahead(&config);
        let admin = cluster.admin().await?;
        let copy = CopyMade { since_ms, at_most_per_s, ahead };
        let estimate = admin.loss_since(copy).await?;
        if self.yes {
            return self.go_on(cluster, &admin, Loss::Bump(estimate.bump), Some(&estimate)).await;
        }
        if !cluster.json() {
            output::lines(estimate.lines())?;
        }
        let loss = Some(Loss::Bump(estimate.bump));
        self.not_done(cluster, &admin, loss, (None, Some(&estimate))).await
    }

    /// Names the loss, and lists the state of the ledger afterwards.
    async fn go_on(
        &self,
        cluster: &Cluster,
        admin: &Admin,
        loss: Loss,
        estimate: Option<&LossEstimate>,
    ) -> Result<(), Failure> {
        if let Some(estimate) = estimate.filter(|_| !cluster.json()) {
            // Printed before it is done, so that it is known even if the command fails midway.
            output::lines(estimate.lines())?;
        }
        let marks = admin.marks().await;
        foretell(cluster, &marks, loss);
        admin.check_loss(loss, &self.slots()).await?;
        let mut plan = admin.recovery_plan(loss).await?;
        plan.cautions.extend(running(cluster).await?);
        if !self.yes && (loss == Loss::Moved || !plan.cautions.is_empty()) {
            return self.not_done(cluster, admin, Some(loss), (Some(&plan), None)).await;
        }
        let done = admin.recover_without(loss, &self.slots()).await?;
        let known = admin.cluster().list().await;
        if cluster.json() {
            let sequences = known.as_ref().ok();
            let mut said =
                serde_json::json!({ "done": done, "plan": plan, "marks": marks, "sequences": sequences });
            if let Some(estimate) = estimate {
                said["estimate"] = serde_json::json!(estimate);
            }
            output::json(&said)?;
        } else {
            output::lines([done])?;
            if let Ok(known) = &known {
                output::lines(listed(known))?;
            }
        }
        known.map(drop).map_err(Failure::from)
    }

    /// Prints the effect of each answer, and that nothing was done.
    async fn not_done(
        &self,
        cluster: &Cluster,
        admin: &Admin,
        loss: Option<Loss>,
        (plan, estimate): (Option<&RecoveryPlan>, Option<&LossEstimate>),
    ) -> Result<(), Failure> {
        let named = match loss {
            Some(Loss::Bump(bump)) => Some(bump),
            Some(Loss::Moved) | None => None,
        };
        let marks = admin.marks().await;
        if plan.is_none() {
            foretell(cluster, &marks, loss.unwrap_or(Loss::Bump(0)));
        }
        let mut answers = admin.answers(named, running(cluster).await?).await?;
        for answer in &mut answers.answers {
            if let ("since", Some(since)) = (answer.answer, &self.since) {
                let rate = self.at_most_per_second.map(|rate| format!(" --at-most-per-second {rate}"));
                answer.command = format!("sequent recover --since {since}{} --yes", rate.unwrap_or_default());
            }
            let without = self.without.iter().map(|slot| format!(" --without {slot}"));
            answer.command.extend(without.chain([cluster.flags()]));
        }
        let asked = match (&self.since, loss) {
            (Some(_), _) => Some("since"),
            (None, Some(Loss::Bump(_))) => Some("bump"),
            (None, Some(Loss::Moved)) => Some("moved"),
            (None, None) => None,
        };
        let refused = refusal(&answers, asked);
        if cluster.json() {
            let said = serde_json::json!({ "done": null, "plan": plan, "estimate": estimate, "marks": marks, "answers": answers });
            output::json(&said)?;
        } else {
            output::lines(answer_lines(&answers))?;
        }
        Err(Failure::unconfirmed(refused))
    }
}

/// How far a ceiling is ahead of what is given, at most, as a time: twice the sum of an outage and the
/// duration of a raise.
fn ceilings_ahead(config: &Config) -> Duration {
    (config.ledger.outage + RAISED_WITHIN + config.ring.attempt_timeout) * 2
}

/// The report after recovering a ledger from amid a resize. Until the resize is finished, the cluster can't
/// be opened.
async fn done_amid_resize(cluster: &Cluster, done: &str) -> Result<(), Failure> {
    let known = match cluster.admin().await {
        Ok(admin) => admin.cluster().list().await.ok(),
        Err(_) => None,
    };
    if cluster.json() {
        return output::json(&serde_json::json!({ "done": done, "sequences": known }));
    }
    output::lines([done.to_owned()])?;
    output::lines(known.iter().flat_map(|known| listed(known)))
}

/// The running servers, each a reason to ask for a confirmation.
async fn running(cluster: &Cluster) -> Result<Vec<String>, Failure> {
    let said = Servers::of(cluster, None)?.ask().await;
    let caution = |said: &Said| {
        let trouble = said.status().and_then(|status| status["trouble"].as_str());
        let trouble = trouble.map(|trouble| format!(", and says {trouble}"));
        let silence = said.silence().map(|why| format!(", and did not answer: {why}"));
        format!(
            "a server runs ({}{}): until it notices, which may take two seconds, it hands out what it holds ready; stop it \
             first, or add to N what it may hold of any one sequence",
            said.admin(),
            trouble.or(silence).unwrap_or_default()
        )
    };
    Ok(said.iter().map(caution).collect())
}
