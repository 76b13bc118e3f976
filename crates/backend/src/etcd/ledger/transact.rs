//! Optimistic transactions on etcd: read, decide, write if unchanged; retried within bounds.

use sequent_core::ErrorKind;

use crate::{
    etcd::{
        client::{Answers, Op, Txn, Unchanged},
        connection::Connection,
    },
    net::{Fault, ON_REVISIONS, Retry},
};

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
    let env = connection.env().clone();
    let mut retry = Retry::new(&ON_REVISIONS, &env);
    let mut answers = look(connection, reads.to_vec()).await?;
    loop {
        let (change, value) = match decide(answers)? {
            Step::Done(value) => return Ok(value),
            Step::Write(change, value) => (change, value),
        };
        // A try after a pause has to read after that pause. Data read before it is what others have overwritten
        // meanwhile, and a call that fell behind would never catch up.
        let is_sent = reads.len() <= READS_SENT_MAX && retry.is_hasty();
        let otherwise = if is_sent { reads.to_vec() } else { Vec::new() };
        answers = connection.txn(&Txn { unchanged: change.unchanged, then: change.ops, otherwise }).await?;
        if answers.succeeded {
            return Ok(value);
        }
        let lost = format!("others wrote before it, {} times at most", ON_REVISIONS.tries);
        retry.after(Fault::answer(ErrorKind::Contended, lost)).await?;
        if !is_sent {
            answers = look(connection, reads.to_vec()).await?;
        }
    }
}

/// Runs one transaction that only reads.
pub(super) async fn look(connection: &mut Connection, reads: Vec<Op>) -> Result<Answers, Fault> {
    connection.txn(&Txn::read(reads)).await
}
