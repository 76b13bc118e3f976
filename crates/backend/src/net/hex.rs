//! Hexadecimal digits.

use std::fmt::Write;

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut digits, byte| {
        // Writing to a `String` never fails.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}
