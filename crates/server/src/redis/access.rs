//! Who may run what: the seam for principals and tokens. There are none yet, so every peer may run every command.

use crate::redis::{commands::Command, session::Session};

/// Checks what `AUTH` and `HELLO … AUTH` say. The error is the text of the reply.
pub(crate) fn authenticate(_session: &mut Session, _password: &[u8]) -> Result<(), &'static str> {
    Err("ERR this server has no tokens: connect without a password")
}

/// Checks whether a connection may run a command. The error is the text of the reply.
#[allow(clippy::unnecessary_wraps, reason = "it will refuse once there are principals")]
pub(crate) fn may_run(_session: &Session, _command: &Command) -> Result<(), &'static str> {
    Ok(())
}
