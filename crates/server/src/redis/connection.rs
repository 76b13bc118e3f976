//! One connection, from its first byte to its close.

use std::{io, ops::ControlFlow, sync::Arc};

use bytes::{Buf, BytesMut};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::{sleep, timeout},
};
use tracing::Instrument;

use crate::{
    auth::ConnectionAuth,
    connection::{
        ConnectionContext, activity::Activity, ended::EndReason, max_age, poll_on_wake::PollOnWake,
    },
    limits::{
        BODY_FREE, REDIS_CHECK_EVERY, REDIS_COMMAND_CHECKS_MAX, REDIS_IDLE_CHECKS_MAX, WRITE_STALL,
        pending_quota::{ConnectionShare, PendingPermit},
    },
    redis::{
        context::Context,
        execute::{self, Executor},
        request::RequestParser,
        session::Session,
        wire::{Progress, Wire},
    },
};

/// Why a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// Nothing more can be told the peer: it leaves its replies unread, or the place is needed.
    Now(EndReason),
    /// Its replies are written first, and it is told that this is the end.
    Graceful(Option<EndReason>),
}

/// Serves a connection until its peer leaves, sends what is no request, is idle for too long, makes room for another, or
/// the server closes. Returns why, if it ended on account of its peer.
pub(crate) async fn serve<I: AsyncRead + AsyncWrite + Unpin>(
    context: Arc<Context>,
    io: I,
    (share, auth): (Arc<ConnectionShare>, Arc<ConnectionAuth>),
    ConnectionContext { phases, closes_at, unread, activity, is_crowded, .. }: ConnectionContext,
) -> Option<EndReason> {
    let (open, id) = (context.open_connection(), context.next_id());
    let has_certificate = auth.has_certificate();
    let span = tracing::debug_span!("connection", api = "redis", id);
    let mut connection = Connection {
        wire: Wire::new(io, unread.clone()),
        parser: RequestParser::default(),
        executor: Executor::new(Session::new(id, Arc::clone(&share), auth), context),
        share,
        pending: None,
        is_closing: false,
        activity: Arc::clone(&activity),
        checks: Checks::default(),
    };
    let overdue = unread.overdue();
    // The protocol has no way to announce an end. A token is looked at with each command, a certificate only here.
    let ages = has_certificate.then(max_age);
    let leaves = Arc::clone(&activity);
    let mut ends = PollOnWake::new(async move {
        tokio::select! {
            () = phases.wait_until(closes_at) => Ending::Graceful(None),
            () = sleep(ages.unwrap_or_default()), if ages.is_some() => Ending::Graceful(None),
            () = overdue => Ending::Now(EndReason::Unread),
            () = activity.asked_to_end() => Ending::Now(EndReason::MadeRoom),
            () = activity.without_request(), if is_crowded => Ending::Now(EndReason::Slow),
        }
    });
    let served = async {
        let ended = connection.run(&mut ends).await;
        // It would be told in the place of whoever waits below.
        drop(ends);
        match ended {
            Ok(Ending::Graceful(reason)) => {
                tokio::select! {
                    biased;
                    late = connection.finish() => reason.or(late),
                    () = leaves.asked_to_end() => Some(EndReason::MadeRoom),
                }
            }
            Ok(Ending::Now(reason)) => Some(reason),
            Err(error) => left_unread(&error),
        }
    };
    let reason = served.instrument(span).await;
    drop(open);
    reason
}

/// Why a connection ended whose replies could not be written: its peer took none for [`WRITE_STALL`], or has left.
fn left_unread(error: &io::Error) -> Option<EndReason> {
    tracing::debug!(%error, "connection ended");
    (error.kind() == io::ErrorKind::TimedOut).then_some(EndReason::Unread)
}

struct Connection<I> {
    wire: Wire<I>,
    parser: RequestParser,
    executor: Executor,
    share: Arc<ConnectionShare>,
    /// The permit of a command of which a part has arrived.
    pending: Option<PendingPermit>,
    /// Whether the server closes: a command that has begun to arrive, and what comes with its rest, are the last.
    is_closing: bool,
    activity: Arc<Activity>,
    checks: Checks,
}

/// What was found at the looks at a connection, one each [`REDIS_CHECK_EVERY`]. It needs no clock.
#[derive(Debug, Default)]
struct Checks {
    /// Whether anything was read since the last look.
    has_read: bool,
    /// Looks in a row at which nothing had been read.
    idle: u32,
    /// Looks in a row at which the same command was incomplete.
    incomplete: u32,
}

impl<I: AsyncRead + AsyncWrite + Unpin> Connection<I> {
    async fn run<F>(&mut self, ends: &mut PollOnWake<F>) -> io::Result<Ending>
    where
        F: Future<Output = Ending>,
    {
        let mut check = PollOnWake::new(sleep(REDIS_CHECK_EVERY));
        loop {
            match self.answer_until(ends).await {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(reason)) => return Ok(Ending::Graceful(reason)),
                Err(ended) => return ended,
            }
            if self.is_closing && self.wire.input.is_empty() {
                return Ok(Ending::Graceful(None));
            }
            tokio::select! {
                biased;
                progress = self.wire.progress() => match progress? {
                    Progress::Read => self.checks.has_read = true,
                    Progress::Written => {}
                    // It may still read.
                    Progress::End => return Ok(Ending::Graceful(None)),
                },
                ending = &mut *ends => match ending {
                    Ending::Graceful(_) => self.is_closing = true,
                    Ending::Now(_) => return Ok(ending),
                },
                () = &mut check => {
                    check = PollOnWake::new(sleep(REDIS_CHECK_EVERY));
                    if let Some(reason) = self.overdue() {
                        return Ok(Ending::Graceful(Some(reason)));
                    }
                }
            }
        }
    }

    /// Runs the commands that have arrived, unless the connection has to end at once.
    async fn answer_until<F>(
        &mut self,
        ends: &mut PollOnWake<F>,
    ) -> Result<ControlFlow<Option<EndReason>>, io::Result<Ending>>
    where
        F: Future<Output = Ending>,
    {
        let mut is_closing = self.is_closing;
        let flow = {
            let mut answer = std::pin::pin!(self.answer());
            loop {
                tokio::select! {
                    biased;
                    flow = answer.as_mut() => break flow,
                    ending = &mut *ends => match ending {
                        Ending::Graceful(_) => is_closing = true,
                        Ending::Now(_) => return Err(Ok(ending)),
                    },
                }
            }
        };
        self.is_closing = is_closing;
        flow.map_err(Err)
    }

    /// Runs the commands that have arrived. A break ends the connection.
    async fn answer(&mut self) -> io::Result<ControlFlow<Option<EndReason>>> {
        // Taken out, so that the arguments of a command can be borrowed while it runs.
        let mut input = std::mem::take(&mut self.wire.input);
        let flow = self.answer_all(&mut input).await;
        self.wire.input = input;
        flow
    }

    async fn answer_all(&mut self, input: &mut BytesMut) -> io::Result<ControlFlow<Option<EndReason>>> {
        let mut has_run = false;
        while !self.wire.is_full() {
            let length = match self.parser.parse(input) {
                Ok(Some(length)) => length,
                // What has arrived since the server began to close was the last.
                Ok(None) if self.is_closing && has_run => return Ok(ControlFlow::Break(None)),
                Ok(None) => return Ok(self.wait_for_rest(input)),
                Err(error) => {
                    execute::write_error(&mut self.wire.output, &error.text());
                    return Ok(ControlFlow::Break(Some(EndReason::Protocol)));
                }
            };
            (self.pending, self.checks.incomplete) = (None, 0);
            self.activity.begin();
            let arguments = self.parser.arguments(input);
            let (flow, commands) = if self.executor.is_exec(arguments) {
                (self.executor.execute_queue(&mut self.wire).await?, 1)
            } else {
                self.executor.run_beside_writes(arguments, (&input[..], length), &mut self.wire).await?
            };
            input.advance(length * commands);
            if flow.is_break() {
                return Ok(flow);
            }
            has_run = true;
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The rest of a command has not arrived. What has arrived of all such commands together is bounded.
    fn wait_for_rest(&mut self, input: &BytesMut) -> ControlFlow<Option<EndReason>> {
        if input.len() <= BODY_FREE {
            return ControlFlow::Continue(());
        }
        let mut reserve = || {
            let permit = match self.pending.take() {
                Some(permit) => permit,
                None => self.share.acquire()?,
            };
            self.pending.insert(permit).reserve(input.len())
        };
        match reserve() {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                execute::write_error(&mut self.wire.output, &error.resp());
                ControlFlow::Break(Some(EndReason::Flood))
            }
        }
    }

    /// The reason to end if the peer has left a command incomplete, or the connection idle, for too long.
    fn overdue(&mut self) -> Option<EndReason> {
        let checks = &mut self.checks;
        checks.idle = if std::mem::take(&mut checks.has_read) { 0 } else { checks.idle + 1 };
        // A transaction that is open holds memory, as a command does of which a part has arrived.
        let is_open = self.executor.session.transaction.is_some() && checks.idle > 0;
        let is_incomplete = is_open || !self.wire.input.is_empty();
        checks.incomplete = if is_incomplete { checks.incomplete + 1 } else { 0 };
        if checks.incomplete > REDIS_COMMAND_CHECKS_MAX {
            let limit = REDIS_CHECK_EVERY * REDIS_COMMAND_CHECKS_MAX;
            let text = format!(
                "ERR Protocol error: the rest of a command or transaction did not arrive within about {limit:?}"
            );
            execute::write_error(&mut self.wire.output, &text);
            return Some(EndReason::Slow);
        }
        (checks.idle >= REDIS_IDLE_CHECKS_MAX).then_some(EndReason::Idle)
    }

    /// Writes the replies, and closes so that the peer can read them. Returns why that failed, on account of the peer.
    async fn finish(&mut self) -> Option<EndReason> {
        let ended = async {
            let written = async {
                self.wire.flush().await?;
                self.wire.shutdown().await
            };
            // A peer that reads little by little is not waited for longer.
            timeout(WRITE_STALL, written).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
        };
        if let Err(error) = ended.await {
            return left_unread(&error);
        }
        // Time is up for a peer that goes on sending and does not close: the connection is closed under it.
        let _late = timeout(WRITE_STALL, self.wire.discard()).await.is_err();
        None
    }
}

#[cfg(test)]
mod tests;
