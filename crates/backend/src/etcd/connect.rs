//! Instance check of a new etcd connection: finds or creates the ledger, and decides whether its run has ended.

use sequent_core::{Condition, LedgerId};

use super::{
    client::{Op, Span, Txn},
    connection::Connection,
    instance::{MemberState, Run},
};
use crate::{
    ledger::documents::{body, parsed},
    net::{Cause, Fault, Purpose, ServerOptions, token},
};

/// The most tries after other clients were faster.
const ROUNDS_MAX: usize = 16;

/// The version of the storage format. Another version can't be read.
const FORMAT: u64 = 2;

/// The record that identifies the ledger.
#[derive(serde::Serialize, serde::Deserialize)]
pub(super) struct About {
    pub(super) id: String,
    format: u64,
}

/// The token of the current run, or of a new run that begins now.
pub(super) async fn settle(
    connection: &mut Connection,
    options: &ServerOptions,
    purpose: Purpose,
) -> Result<String, Fault> {
    for _ in 0..ROUNDS_MAX {
        // The order matters. A member reports the term of the last entry that it applied. The linearizable read before
        // ensures that this is at least the leader's term.
        let held = read(connection).await?;
        if held.is_none() && !purpose.creates(options) {
            return Err(missing(purpose));
        }
        let seen = connection.member_state().await?;
        if let Some((run, _)) = &held
            && run.goes_on(&seen)
        {
            return Ok(run.token.clone());
        }
        let token = token(connection.env());
        let held_at = held.map_or(0, |(_, revision)| revision);
        let txn = begin(connection, token.clone(), seen, held_at);
        if connection.carry_out(&txn).await?.succeeded {
            return Ok(token);
        }
    }
    Err(Fault::away("others begin a new run, over and over"))
}

/// The token of the current run; if it has ended, a token that no client knows.
pub(super) async fn found(connection: &mut Connection) -> Result<String, Fault> {
    let Some((run, _)) = read(connection).await? else { return Err(missing(Purpose::Look)) };
    let seen = connection.member_state().await?;
    Ok(if run.goes_on(&seen) { run.token } else { "unknown".to_owned() })
}

/// The run on record, and the revision that wrote it; `None` without a ledger.
async fn read(connection: &mut Connection) -> Result<Option<(Run, u64)>, Fault> {
    let names = connection.names();
    let reads = ["about", "run"].map(|what| Op::Read(Span::one(names.only(what))));
    let mut answers = connection.carry_out(&Txn::read(reads.into())).await?;
    let Some(about) = answers.one() else { return Ok(None) };
    let about: About = parsed("about", &about.value)?;
    if about.format != FORMAT {
        let cause = format!("format of the ledger: found {}, expected {FORMAT}", about.format);
        return Err(Fault::refused(cause));
    }
    let gone = || Cause::from("the ledger's run is gone: restore it from a copy").with(Condition::RunMissing);
    let run = answers.one().ok_or_else(|| Fault::refused(gone()))?;
    Ok(Some((parsed("run", &run.value)?, run.mod_revision)))
}

fn missing(purpose: Purpose) -> Fault {
    let (text, condition) = if purpose == Purpose::Use {
        let text = "the ledger was removed while this process used it, and no new one is made in its place: restore it";
        (text, Condition::Removed)
    } else {
        ("no ledger is there, and none may be made", Condition::NeverMade)
    };
    Fault::refused(Cause::from(text).with(condition))
}

/// Writes a run in the place of the one that `held_at` wrote; 0: the first, together with the ledger.
fn begin(connection: &Connection, token: String, seen: MemberState, held_at: u64) -> Txn {
    let (run, about) = (connection.names().only("run"), connection.names().only("about"));
    let mut txn = Txn {
        unchanged: vec![(run.clone(), held_at)],
        then: vec![Op::Put(run, body(&Run { token, seen }))],
        otherwise: Vec::new(),
    };
    if held_at == 0 {
        let id = LedgerId::random(&*connection.env().entropy).to_string();
        txn.unchanged.push((about.clone(), 0));
        txn.then.push(Op::Put(about, body(&About { id, format: FORMAT })));
    }
    txn
}
