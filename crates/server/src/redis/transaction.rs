//! Commands between `MULTI` and `EXEC`.
//!
//! They run in order, and each answers for itself, as in Redis. Other connections run between them: Sequent has no values
//! that a transaction would have to guard.

use bytes::{BufMut, BytesMut};

use crate::{
    error::ApiError,
    limits::{
        REDIS_COMMAND_MAX, REDIS_QUEUED_BYTES_MAX, REDIS_QUEUED_MAX,
        pending_quota::{ConnectionShare, PendingPermit},
    },
    redis::request::Arguments,
};

use std::sync::Arc;

/// Queued commands, as they would arrive in a pipeline.
pub(crate) struct Transaction {
    pub(crate) commands: BytesMut,
    pub(crate) count: usize,
    /// The first error of a command that was refused. `EXEC` then runs none.
    pub(crate) refusal: Option<String>,
    /// Gone once a command was refused: nothing is held any more.
    permit: Option<PendingPermit>,
}

impl Transaction {
    pub(crate) fn begin(share: &Arc<ConnectionShare>) -> Result<Self, ApiError> {
        let permit = Some(share.acquire()?);
        Ok(Self { commands: BytesMut::new(), count: 0, refusal: None, permit })
    }

    /// Notes that a command was refused: `EXEC` runs none, so the others are held no longer.
    pub(crate) fn abort(&mut self, text: &str) {
        if self.refusal.is_none() {
            (self.commands, self.permit, self.refusal) = (BytesMut::new(), None, Some(text.to_owned()));
        }
    }

    /// Queues a command. After a refusal it is not kept.
    pub(crate) fn push(&mut self, arguments: Arguments<'_>) -> Result<(), ApiError> {
        let Some(permit) = &mut self.permit else { return Ok(()) };
        let bytes: usize = self.commands.len() + arguments.from(0).map(<[u8]>::len).sum::<usize>();
        if self.count >= REDIS_QUEUED_MAX {
            let bound = format!("at most {REDIS_QUEUED_MAX} commands are allowed between MULTI and EXEC");
            return Err(ApiError::field("commands", &(self.count + 1).to_string(), bound));
        }
        if bytes > REDIS_QUEUED_BYTES_MAX {
            let bound = format!(
                "commands of at most {REDIS_QUEUED_BYTES_MAX} bytes are allowed between MULTI and EXEC"
            );
            return Err(ApiError::field("bytes", &bytes.to_string(), bound));
        }
        permit.reserve(bytes)?;
        let begin = self.commands.len();
        let mut digits = itoa::Buffer::new();
        let mut head = |commands: &mut BytesMut, kind: u8, number: usize| {
            commands.put_u8(kind);
            commands.extend_from_slice(digits.format(number).as_bytes());
            commands.extend_from_slice(b"\r\n");
        };
        head(&mut self.commands, b'*', arguments.len());
        for argument in arguments.from(0) {
            head(&mut self.commands, b'$', argument.len());
            self.commands.extend_from_slice(argument);
            self.commands.extend_from_slice(b"\r\n");
        }
        // An inline command is longer in this form, which the parser of `EXEC` must take.
        let length = self.commands.len() - begin;
        if length > REDIS_COMMAND_MAX + 2 {
            let bound = format!(
                "a command of at most {REDIS_COMMAND_MAX} bytes is allowed, with the length of each argument"
            );
            return Err(ApiError::field("bytes", &length.to_string(), bound));
        }
        self.count += 1;
        Ok(())
    }
}
