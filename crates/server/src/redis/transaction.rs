//! Commands between `MULTI` and `EXEC`.
//!
//! They run in order, and each answers for itself, as in Redis. Other connections run between them: Sequent has no values
//! that a transaction would have to guard.

use bytes::{BufMut, BytesMut};

use crate::{
    error::ApiError,
    limits::{
        REDIS_QUEUED_BYTES_MAX, REDIS_QUEUED_MAX,
        pending_quota::{ConnectionShare, PendingPermit},
    },
    redis::request::Arguments,
};

use std::sync::Arc;

/// Queued commands, as they would arrive in a pipeline.
pub(crate) struct Transaction {
    pub(crate) commands: BytesMut,
    pub(crate) count: usize,
    /// Whether a command was refused. `EXEC` then runs none.
    pub(crate) is_refused: bool,
    permit: PendingPermit,
}

impl Transaction {
    pub(crate) fn begin(share: &Arc<ConnectionShare>) -> Result<Self, ApiError> {
        let permit = share.acquire()?;
        Ok(Self { commands: BytesMut::new(), count: 0, is_refused: false, permit })
    }

    /// Queues a command.
    pub(crate) fn push(&mut self, arguments: Arguments<'_>) -> Result<(), ApiError> {
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
        self.permit.reserve(bytes)?;
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
        self.count += 1;
        Ok(())
    }
}
