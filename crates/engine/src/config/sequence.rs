//! `[[sequence]]`: definitions that the file brings.

use sequent_core::{Block, SequenceName};

use super::Section;
use crate::definition::{Body, Placement};

/// A definition as the file has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SequencePart {
    /// The name.
    pub name: SequenceName,
    /// From 1; a higher one replaces a lower one.
    pub version: u32,
    /// What the sequence gives.
    pub body: Body,
}

impl SequencePart {
    pub(super) fn read(mut section: Section<'_, '_>) -> Option<Self> {
        let name = section.demanded("name", "1 to 128 of A-Z a-z 0-9 _ . : - are allowed");
        let name = name.and_then(|text| match text.parse::<SequenceName>() {
            Ok(name) => Some(name),
            Err(error) => {
                section.fault("name", format!("{text:?}"), error.to_string());
                None
            }
        });
        let version = section.integer("version", 1..=u64::from(u32::MAX), 1);
        let placement = section.text("placement");
        let start = section.integer("start", 1..=Block::NUMBER_MAX, 1);
        let step = section.integer("step", 1..=Block::NUMBER_MAX, 1);
        let end = section.integer_opt("end", 1..=Block::NUMBER_MAX);
        let fits = section.text("fits");
        if fits.is_none() {
            section.default_shown("fits", "\"js\"".to_owned());
        }
        for to_come in ["template", "zone"] {
            if let Some(text) = section.text(to_come) {
                let bound = "texts are not built into this version: leave the key out to get numbers";
                section.fault(to_come, format!("{text:?}"), bound);
            }
        }
        let body = Body::check(placement.as_deref(), start, step, end, fits.as_deref());
        let body = match body {
            Ok(body) => Some(body),
            Err(fault) => {
                section.fault(fault.field, fault.value, fault.bound);
                None
            }
        };
        if placement.is_none() {
            section.default_shown("placement", format!("{:?}", Placement::Spread.as_str()));
        }
        section.finish();
        Some(Self { name: name?, version: u32::try_from(version).ok()?, body: body? })
    }
}
