//! The number type that all numbers must fit into, as its name in a definition.

use sequent_core::Fits;
use serde::{Deserialize, Deserializer, Serializer, de::Error};

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
pub(crate) fn serialize<S: Serializer>(fits: &Fits, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(fits.as_str())
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Fits, D::Error> {
    String::deserialize(from)?.parse().map_err(D::Error::custom)
}
