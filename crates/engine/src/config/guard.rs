//! `[guard]`: how far ahead ceilings are raised.

use std::time::Duration;

use super::Section;

/// `[guard]`.
#[derive(Debug, Clone)]
pub struct GuardPart {
    /// Consumption that a ceiling is raised ahead.
    pub ahead: Duration,
}

impl GuardPart {
    pub(super) fn read(mut section: Section<'_, '_>) -> Self {
        let ahead = section.duration("ahead_s", 1..=86_400, 600);
        section.finish();
        Self { ahead }
    }
}
