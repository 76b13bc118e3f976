//! Runs commands: those of a pipeline, and those of a transaction.

use std::{io, ops::ControlFlow, sync::Arc};

use bytes::{Buf, BytesMut};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    task::{coop::consume_budget, yield_now},
};

use crate::{
    connection::ended::EndReason,
    limits::{REDIS_RUN_MAX, REDIS_TURN_MAX},
    redis::{
        commands::{self, Command, Verb, numbers},
        context::Context,
        reply::{ERROR, Protocol, Reply},
        request::{Arguments, RequestParser},
        session::Session,
        wire::Wire,
    },
};

/// Writes an error before the connection is closed.
pub(crate) fn write_error(output: &mut BytesMut, text: &str) {
    Reply::new(output, Protocol::Resp2).error(text);
}

/// Runs the commands of one connection.
pub(crate) struct Executor {
    pub(crate) session: Session,
    context: Arc<Context>,
    /// Bytes of commands and replies since the connection last gave way.
    turn: usize,
}

impl Executor {
    pub(crate) fn new(session: Session, context: Arc<Context>) -> Self {
        Self { session, context, turn: 0 }
    }

    /// Whether a command runs the queued ones.
    pub(crate) fn is_exec(&self, arguments: Arguments<'_>) -> bool {
        let is_named = arguments.get(0).is_some_and(|name| name.eq_ignore_ascii_case(b"exec"));
        is_named && arguments.len() == 1 && self.session.transaction.is_some()
    }

    /// Runs the first command of `input`, which is `length` bytes long, and those equal to it that follow if one take
    /// can answer them. Returns how many it has run.
    pub(crate) async fn run(
        &mut self,
        arguments: Arguments<'_>,
        input: &[u8],
        length: usize,
        output: &mut BytesMut,
    ) -> (ControlFlow<Option<EndReason>>, usize) {
        let Some(name) = arguments.get(0) else { return (ControlFlow::Continue(()), 1) };
        if is_http(arguments, input) {
            return (ControlFlow::Break(Some(EndReason::Protocol)), 1);
        }
        if self.session.transaction.is_none()
            && let Some(sequence) = numbers::single(arguments)
        {
            let count = copies(input, length).min(self.context.service.max_count()).max(1);
            let mut reply = Reply::new(output, self.session.protocol);
            numbers::incr((&self.context, &self.session), sequence, count, &mut reply).await;
            return (ControlFlow::Continue(()), usize::try_from(count).unwrap_or(1));
        }
        let flow = match commands::find(name) {
            Some(command) if command.verb == Verb::OtherProtocol => {
                // A browser was made to send this. An answer would help whoever made it do so.
                return (ControlFlow::Break(Some(EndReason::Protocol)), 1);
            }
            Some(command) => self.run_command(command, arguments, output).await,
            None => {
                self.refuse_command(&commands::unknown(arguments), output);
                ControlFlow::Continue(())
            }
        };
        (flow, 1)
    }

    /// The same, while earlier replies are written: what was given must not wait for what is not there yet. Then the
    /// connection gives way to others, if it is time.
    pub(crate) async fn run_beside_writes<I: AsyncRead + AsyncWrite + Unpin>(
        &mut self,
        arguments: Arguments<'_>,
        (input, length): (&[u8], usize),
        wire: &mut Wire<I>,
    ) -> io::Result<(ControlFlow<Option<EndReason>>, usize)> {
        let mut reply = wire.take_scratch();
        let (flow, count) = wire.write_beside(self.run(arguments, input, length, &mut reply)).await?;
        let is_error = reply.first() == Some(&ERROR);
        self.turn += length + reply.len();
        wire.put_scratch(reply);
        self.give_way(is_error, wire).await?;
        Ok((flow, count))
    }

    /// Gives way to other connections now and then, which also lets the connection hear that it has to end.
    async fn give_way<I: AsyncRead + AsyncWrite + Unpin>(
        &mut self,
        is_error: bool,
        wire: &mut Wire<I>,
    ) -> io::Result<()> {
        if self.turn >= REDIS_TURN_MAX {
            self.turn = 0;
            // Replies that nobody takes are then held in small pieces, and counted.
            wire.write_ready().await?;
            yield_now().await;
        } else if is_error {
            // Many who are refused would otherwise take the time of those who are given numbers.
            yield_now().await;
        } else {
            consume_budget().await;
        }
        Ok(())
    }

    async fn run_command(
        &mut self,
        command: &'static Command,
        arguments: Arguments<'_>,
        output: &mut BytesMut,
    ) -> ControlFlow<Option<EndReason>> {
        if let Err(text) = command.check(arguments) {
            self.refuse_command(&text, output);
            return ControlFlow::Continue(());
        }
        if let Some(transaction) = self.session.transaction.as_mut().filter(|_| command.is_queued()) {
            match transaction.push(arguments) {
                Ok(()) => Reply::new(output, self.session.protocol).simple("QUEUED"),
                Err(error) => self.refuse_command(&error.resp(), output),
            }
            return ControlFlow::Continue(());
        }
        commands::run(&self.context, &mut self.session, (command, arguments), output).await
    }

    /// The reply of a command that does not run. A transaction with such a command is not executed.
    fn refuse_command(&mut self, text: &str, output: &mut BytesMut) {
        if let Some(transaction) = &mut self.session.transaction {
            transaction.abort(text);
        }
        Reply::new(output, self.session.protocol).error(text);
    }

    /// Runs the queued commands in order. Replies are written as they come, within the bound on unread ones. A break with
    /// a reason ends the connection.
    pub(crate) async fn execute_queue<I>(
        &mut self,
        wire: &mut Wire<I>,
    ) -> io::Result<ControlFlow<Option<EndReason>>>
    where
        I: AsyncRead + AsyncWrite + Unpin,
    {
        let Some(mut transaction) = self.session.transaction.take() else {
            return Ok(ControlFlow::Continue(()));
        };
        if let Some(first) = transaction.refusal {
            let text =
                format!("EXECABORT Transaction discarded because of previous errors, the first: {first}");
            Reply::new(&mut wire.output, self.session.protocol).error(&text);
            return Ok(ControlFlow::Continue(()));
        }
        Reply::new(&mut wire.output, self.session.protocol).array(transaction.count);
        let (mut parser, input) = (RequestParser::default(), &mut transaction.commands);
        while !input.is_empty() {
            let Ok(Some(length)) = parser.parse(input) else {
                // The array would have fewer replies than it says.
                return Ok(ControlFlow::Break(Some(EndReason::Protocol)));
            };
            let arguments = parser.arguments(input);
            let (flow, count) = self.run_beside_writes(arguments, (&input[..], length), wire).await?;
            input.advance(length * count);
            if flow.is_break() {
                return Ok(flow);
            }
            if wire.is_full() {
                wire.flush().await?;
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Whether an inline request is the first line of HTTP, which a page can have a browser send, with commands in its body.
fn is_http(arguments: Arguments<'_>, input: &[u8]) -> bool {
    let is_version = |word: &[u8]| word.starts_with(b"HTTP/");
    input.first() != Some(&b'*') && arguments.from(arguments.len() - 1).any(is_version)
}

/// How many requests equal to the first, `length` bytes long, `input` begins with. An inline request was changed when it
/// was parsed, so it is not compared.
fn copies(input: &[u8], length: usize) -> u64 {
    let (first, rest) = input.split_at(length);
    if first.first() != Some(&b'*') {
        return 1;
    }
    let equal = rest.chunks_exact(length).take_while(|next| *next == first).zip(1..REDIS_RUN_MAX).count();
    u64::try_from(equal).map_or(1, |equal| equal + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_equal_requests_are_answered_together() {
        let one = b"*2\r\n$4\r\nINCR\r\n$1\r\na\r\n".as_slice();
        let other = b"*2\r\n$4\r\nINCR\r\n$1\r\nb\r\n".as_slice();
        assert_eq!(copies(one, one.len()), 1);
        assert_eq!(copies(&[one, one, one, other, one].concat(), one.len()), 3);
        assert_eq!(copies(&[one, one, &one[..9]].concat(), one.len()), 2);
        assert_eq!(copies(&one.repeat(5000), one.len()), REDIS_RUN_MAX);
        assert_eq!(copies(b"INCR a\nINCR a\n", 7), 1);
    }
}
