//! A transaction that rests on what it has read: tried again, within bounds, where others wrote meanwhile.

use std::time::Duration;

use sequent_core::ErrorKind;

use crate::{
    etcd::{
        connection::Connection,
        gateway::{Op, Txn, Unchanged},
        value::Answers,
    },
    net::Fault,
};

/// How long a call tries against others: below an attempt's limit of 1 s, so that it is said to be contended.
const BUSY_WAIT_MAX: Duration = Duration::from_millis(800);

/// How many tries a call has in all. At each that fails another call has succeeded; as a rule the time is over first.
const TRIES_MAX: u32 = 256;

/// So many tries come at once, resting on what the one before read as it failed.
const HASTY_TRIES: u32 = 2;

/// The longest pause before a try that is not hasty; before later ones it doubles, up to sixteen times as much. The real
/// one is random up to this.
const BUSY_PAUSE_MAX: Duration = Duration::from_millis(1);

const DOUBLINGS_MAX: u32 = 4;

/// So many reads are sent with a write, to be done where it is not: whoever comes late then sees at once what was written
/// before it. Of more, each write would be sent twice as long for nothing.
const READS_SENT_MAX: usize = 16;

/// What is to be written, if what it rests on is unchanged.
#[derive(Debug, Default)]
pub(super) struct Change {
    pub(super) unchanged: Vec<Unchanged>,
    pub(super) ops: Vec<Op>,
}

/// What comes of what was read.
pub(super) enum Step<T> {
    /// Nothing is to be written.
    Done(T),
    /// This is.
    Write(Change, T),
}

/// Reads, decides, and writes if nothing that the decision rests on has moved; otherwise decides anew. Returns what was
/// decided, and the revision of it.
pub(super) async fn transact<T>(
    connection: &mut Connection,
    reads: &[Op],
    mut decide: impl FnMut(Answers) -> Result<Step<T>, Fault>,
) -> Result<(T, u64), Fault> {
    let until = connection.env().clock.now() + BUSY_WAIT_MAX;
    let mut answers = Answers::of(connection.txn(&Txn::read(reads.to_vec())).await?);
    for tried in 1..=TRIES_MAX {
        let revision = answers.revision;
        let (change, value) = match decide(answers)? {
            Step::Done(value) => return Ok((value, revision)),
            Step::Write(change, value) => (change, value),
        };
        // Whoever pauses reads after it: what was read before is what the others have written over meanwhile, and a call
        // that once fell behind them would lose to them for ever.
        let is_sent = reads.len() <= READS_SENT_MAX && tried <= HASTY_TRIES;
        let otherwise = if is_sent { reads.to_vec() } else { Vec::new() };
        answers = Answers::of(
            connection.txn(&Txn { unchanged: change.unchanged, then: change.ops, otherwise }).await?,
        );
        if answers.succeeded {
            return Ok((value, answers.revision));
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

/// One transaction that reads.
pub(super) async fn look(connection: &mut Connection, reads: Vec<Op>) -> Result<Answers, Fault> {
    Ok(Answers::of(connection.txn(&Txn::read(reads)).await?))
}
