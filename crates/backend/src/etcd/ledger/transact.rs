//! Optimistic transactions on etcd: read, decide, write if unchanged; retried within bounds.

use std::time::Duration;

use sequent_core::ErrorKind;

use crate::{
    etcd::{
        answers::Answers,
        client::{Op, Txn, Unchanged},
        connection::Connection,
    },
    net::Fault,
};

/// Time limit of all tries. It is below the 1 s limit of an attempt, so that a call is reported as contended.
const BUSY_WAIT_MAX: Duration = Duration::from_millis(800);

/// The most tries of a call. Each failed try means that another call succeeded. Usually the time limit ends the tries
/// first.
const TRIES_MAX: u32 = 256;

/// Number of tries without a pause. They decide on what the failed write before has read.
const HASTY_TRIES: u32 = 2;

/// The longest pause before the first try after the hasty ones. It doubles up to sixteenfold, and each pause is random
/// up to it.
const BUSY_PAUSE_MAX: Duration = Duration::from_millis(1);

const DOUBLINGS_MAX: u32 = 4;

/// The most reads that are sent along with a write, to be done if the write fails: a late client then sees the newer
/// state at once. With more of them, each successful write would be twice as long for nothing.
const READS_SENT_MAX: usize = 16;

/// A write, and the comparisons that it needs.
#[derive(Debug, Default)]
pub(super) struct Change {
    pub(super) unchanged: Vec<Unchanged>,
    pub(super) ops: Vec<Op>,
}

/// The outcome of a decision.
pub(super) enum Step<T> {
    /// Nothing to write.
    Done(T),
    /// A change to write, and the value to return once it is written.
    Write(Change, T),
}

/// Reads, decides, and writes if nothing that was compared has changed; otherwise decides again on newer data. Returns
/// the decision's value.
pub(super) async fn transact<T>(
    connection: &mut Connection,
    reads: &[Op],
    mut decide: impl FnMut(Answers) -> Result<Step<T>, Fault>,
) -> Result<T, Fault> {
    let until = connection.env().clock.now() + BUSY_WAIT_MAX;
    let mut answers = look(connection, reads.to_vec()).await?;
    for tried in 1..=TRIES_MAX {
        let (change, value) = match decide(answers)? {
            Step::Done(value) => return Ok(value),
            Step::Write(change, value) => (change, value),
        };
        // A try after a pause has to read after that pause. Data read before it is what others have overwritten
        // meanwhile, and a call that fell behind would never catch up.
        let is_sent = reads.len() <= READS_SENT_MAX && tried <= HASTY_TRIES;
        let otherwise = if is_sent { reads.to_vec() } else { Vec::new() };
        answers = connection.txn(&Txn { unchanged: change.unchanged, then: change.ops, otherwise }).await?;
        if answers.succeeded {
            return Ok(value);
        }
        if connection.env().clock.now() >= until {
            break;
        }
        if tried > HASTY_TRIES {
            tokio::time::sleep(pause_before(tried, connection)).await;
        }
        if !is_sent {
            answers = look(connection, reads.to_vec()).await?;
        }
    }
    Err(Fault::answer(ErrorKind::Contended, format!("others wrote before it, {TRIES_MAX} times at most")))
}

fn pause_before(tried: u32, connection: &Connection) -> Duration {
    let doublings = tried.saturating_sub(HASTY_TRIES + 1).min(DOUBLINGS_MAX);
    (BUSY_PAUSE_MAX * (1 << doublings)).mul_f64(connection.env().entropy.fraction())
}

/// Runs one transaction that only reads.
pub(super) async fn look(connection: &mut Connection, reads: Vec<Op>) -> Result<Answers, Fault> {
    connection.txn(&Txn::read(reads)).await
}
