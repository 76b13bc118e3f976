//! An error as a line of the protocol of Redis.

use crate::error::{ApiError, cut};

/// Limit on the text of an error, in bytes. Clients keep it in an exception, and log it.
const RESP_SHOWN_MAX: usize = 1024;

impl ApiError {
    /// The code of the table, the reason, and the text.
    pub(crate) fn resp(&self) -> String {
        format!("{} {}: {}", self.reason.resp(), self.reason.as_str(), cut(&self.text, RESP_SHOWN_MAX))
    }
}
