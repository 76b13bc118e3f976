//! The number in a text: its alphabet, width, padding, overflow and obfuscation.

pub(crate) mod alphabet;
mod codec;

pub(crate) use alphabet::{Alphabet, crockford_canonical};
pub(crate) use codec::NumberCodec;
