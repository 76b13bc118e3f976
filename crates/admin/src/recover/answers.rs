//! The possible answers to a lost, copied or restored ledger: what each one means, which number it gives
//! next, and its risk. The safe one comes first. Nothing is changed.

use sequent_core::{MarkPlace, ledger::Loss};
use sequent_engine::{OpenError, data::Unjudged};
use serde::Serialize;

use super::recovery_plan::PlannedKey;
use crate::{admin::Admin, cell_scan::Extent};

/// The possible answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answers {
    /// The least `--bump` that the cells prove; 0: none of them is above what the ledger permits.
    pub least: u64,
    /// The cell that proves it.
    pub proof: Option<String>,
    /// Why `--bump` needs a confirmation.
    pub cautions: Vec<String>,
    /// Why the present state can't be the newest one, according to a mark.
    pub not_newest: Option<String>,
    /// The answers, the safe one first.
    pub answers: Vec<Answer>,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// `bump`, `since` or `moved`.
    pub answer: &'static str,
    /// The command to type.
    pub command: String,
    /// What the operator asserts by it.
    pub means: String,
    /// What is lost if that is not true.
    pub at_stake: &'static str,
    /// Its effect on each key, ascending. Empty if that is not known yet.
    pub keys: Vec<PlannedKey>,
    /// Whether there are more keys.
    pub is_partial: bool,
}

impl Admin {
    /// The effect of each answer. `--bump` uses N if one was named or computed, else the least that cells
    /// prove. `cautions` are the caller's reasons against it. Changes nothing.
    ///
    /// # Errors
    ///
    /// Those of the ledger.
    pub async fn answers(&self, named: Option<u64>, mut cautions: Vec<String>) -> Result<Answers, OpenError> {
        let extent = self.extent().await?;
        let (least, proof) = (extent.least(), extent.proof());
        let n = named.or((least > 0).then_some(least));
        let planned = self.plan_of(Loss::Bump(n.unwrap_or(0)), &extent).await?;
        cautions.splice(0..0, planned.cautions);
        let keys = if n.is_some() { planned.keys } else { Vec::new() };
        let is_partial = planned.is_partial;
        let bump = bump(n, &cautions, (keys, is_partial));
        Ok(Answers {
            least,
            proof,
            cautions,
            not_newest: self.not_newest().await?,
            answers: vec![bump, since(), self.moved(&extent).await?],
        })
    }

    async fn moved(&self, extent: &Extent) -> Result<Answer, OpenError> {
        let planned = self.plan_of(Loss::Moved, extent).await?;
        Ok(Answer {
            answer: "moved",
            command: "sequent recover --moved --yes".to_owned(),
            means: "this is the newest state: no number was given after it was copied or moved, and no other copy of it is in use"
                .to_owned(),
            at_stake: "if the ledger was restored from a backup, numbers given since that backup are given again",
            keys: planned.keys,
            is_partial: planned.is_partial,
        })
    }

    async fn not_newest(&self) -> Result<Option<String>, OpenError> {
        let cluster = &self.0;
        let unjudged = cluster.home.as_deref().map(Unjudged);
        let home = unjudged.as_ref().map(|home| home as &dyn MarkPlace);
        let found = sequent_guard::not_newest(self.ledger(), &self.0.stores(), home, self.limit()).await?;
        Ok(found.map(|error| error.context().to_owned()))
    }
}

fn bump(n: Option<u64>, cautions: &[String], (keys, is_partial): (Vec<PlannedKey>, bool)) -> Answer {
    let shown = n.map_or_else(|| "N".to_owned(), |n| n.to_string());
    let yes = if cautions.is_empty() { "" } else { " --yes" };
    Answer {
        answer: "bump",
        command: format!("sequent recover --bump {shown}{yes}"),
        means: format!(
            "no counter has come more than {shown} raw ids further than this ledger permits: each goes on above that"
        ),
        at_stake: "the numbers in between are skipped. If a counter had come further, what it gave above N is given again: name \
                   more rather than less",
        keys,
        is_partial,
    }
}

fn since() -> Answer {
    Answer {
        answer: "since",
        command: "sequent recover --since INSTANT --at-most-per-second R".to_owned(),
        means: "the ledger is a copy of that instant, and no sequence was asked for more than R numbers a second since: computes \
                N of --bump, and does it with --yes"
            .to_owned(),
        at_stake: "if a sequence was asked faster, or the copy is older, numbers are given again",
        keys: Vec::new(),
        is_partial: false,
    }
}
