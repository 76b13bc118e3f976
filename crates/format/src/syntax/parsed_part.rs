//! A parsed part before its references to other parts are resolved.

use crate::template::{Kind, Part, Placed};

/// A part, with the names of the parts that it reads. They may stand after it.
pub(super) struct ParsedPart {
    pub(super) part: Part,
    pub(super) inputs: Option<Placed<String>>,
    pub(super) zone: Option<Placed<String>>,
    pub(super) fiscal: Option<Placed<String>>,
}

impl ParsedPart {
    /// A part that names no inputs, no zone and no fiscal year.
    pub(super) fn new(column: usize, id: Option<String>, kind: Kind) -> Self {
        Self { part: Part { column, id, kind }, inputs: None, zone: None, fiscal: None }
    }
}
