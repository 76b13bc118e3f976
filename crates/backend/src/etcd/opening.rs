//! What a new connection does before anything is asked on it: it finds the ledger, or makes one, and tells whether the run
//! that the ledger names still goes on.

use sequent_core::LedgerId;
use serde_json::json;

use super::{
    gateway::{Op, Span, Txn},
    link::Link,
    options::Target,
    run::{Run, Sight},
    value::{self, Answers},
};
use crate::wire::Fault;

/// How often others may be before us with the same.
const ROUNDS_MAX: usize = 16;

/// The version of what is written; another one can't be read.
const FORMAT: u64 = 1;

/// The ledger as it is known by.
#[derive(serde::Deserialize)]
pub(super) struct About {
    pub(super) id: String,
    format: u64,
}

/// The token of the run that goes on, or of another that begins now.
pub(super) async fn settle(link: &mut Link, target: &Target) -> Result<String, Fault> {
    for _ in 0..ROUNDS_MAX {
        // In this order: a member tells the term of what it has applied last, and what is read from a quorum is read of a
        // leader whose term has come to that.
        let held = read(link, target).await?;
        let seen = link.sight().await?;
        if let Some((run, _)) = &held
            && run.goes_on(&seen)
        {
            return Ok(run.token.clone());
        }
        let token = token(link);
        let txn = match held {
            Some((_, revision)) => another(link, token.clone(), seen, revision),
            None => first(link, token.clone(), seen),
        };
        if link.carry_out(&txn).await?.answer.succeeded {
            return Ok(token);
        }
    }
    Err(Fault::away("others make it speak anew, over and over"))
}

/// The token of the run that goes on; of one that has ended, a token that nobody knows.
pub(super) async fn found(link: &mut Link, target: &Target) -> Result<String, Fault> {
    let Some((run, _)) = read(link, target).await? else { return Err(missing(target)) };
    let seen = link.sight().await?;
    Ok(if run.goes_on(&seen) { run.token } else { "unknown".to_owned() })
}

/// The run in force, and the revision that left it; `None` where a ledger may be made.
async fn read(link: &mut Link, target: &Target) -> Result<Option<(Run, u64)>, Fault> {
    let names = link.names();
    let reads = ["about", "run"].map(|what| Op::Read(Span::one(names.only(what))));
    let mut answers = Answers::of(link.carry_out(&Txn::read(reads.into())).await?);
    let Some(about) = answers.one() else {
        return if target.may_create() { Ok(None) } else { Err(missing(target)) };
    };
    let about: About = value::of("ledger", &about)?;
    if about.format != FORMAT {
        let cause = format!("format of the ledger: found {}, expected {FORMAT}", about.format);
        return Err(Fault::refused(cause));
    }
    let run =
        answers.one().ok_or_else(|| Fault::refused("the ledger's run is gone: restore it from a copy"))?;
    Ok(Some((value::of("run", &run)?, run.mod_revision)))
}

fn missing(target: &Target) -> Fault {
    Fault::refused(if target.is_used() {
        "the ledger was removed while this process used it, and no new one is made in its place: restore it"
    } else {
        "no ledger is there, and none may be made"
    })
}

/// A random name of 128 bits.
pub(super) fn token(link: &Link) -> String {
    format!("{:016x}{:016x}", link.entropy().bits(), link.entropy().bits())
}

fn first(link: &Link, token: String, seen: Sight) -> Txn {
    let names = link.names();
    let about = json!({"format": FORMAT, "id": LedgerId::random(link.entropy()).to_string()});
    let then = vec![
        Op::Put(names.only("about"), about.to_string()),
        Op::Put(names.only("run"), value::text(&Run { token, seen })),
    ];
    Txn { unchanged: vec![(names.only("about"), 0), (names.only("run"), 0)], then, otherwise: Vec::new() }
}

fn another(link: &Link, token: String, seen: Sight, revision: u64) -> Txn {
    let name = link.names().only("run");
    let then = vec![Op::Put(name.clone(), value::text(&Run { token, seen }))];
    Txn { unchanged: vec![(name, revision)], then, otherwise: Vec::new() }
}
