//! JSON of the response to `next`, written by hand into one buffer.
//!
//! Numbers are strings: many JSON readers round integers above 2^53. A sequence name needs no escaping.

/// Size of a response without its numbers, in bytes. Only an estimate for the first allocation.
pub(super) const ENVELOPE_BYTES: usize = 200;

/// Size of one number with its quotes, in bytes. Only an estimate for the first allocation.
pub(super) const NUMBER_BYTES: usize = 12;

/// Writes everything before the first number.
pub(super) fn push_head(text: &mut String, name: &str) {
    text.push_str("{\"sequence\":\"");
    text.push_str(name);
    text.push_str("\",\"numbers\":[");
}

/// Writes the version and the end of the object.
pub(super) fn push_tail(text: &mut String, version: u32) {
    text.push_str(",\"version\":");
    push_number(text, version.into());
    text.push('}');
}

/// Writes the decimal digits of a number.
pub(super) fn push_number(text: &mut String, number: u64) {
    text.push_str(itoa::Buffer::new().format(number));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_the_number() {
        for number in [0, 9, 10, 1_000_000, u64::MAX] {
            let mut text = String::new();
            push_number(&mut text, number);
            assert_eq!(text, number.to_string());
        }
    }
}
