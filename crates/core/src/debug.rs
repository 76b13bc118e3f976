//! Values that logs and failed tests show as people write them: their `Debug` is their `Display`.

use crate::{Block, Epoch, InstanceId, Key, LedgerId, SequenceName, SourceError};

macro_rules! debug_as_display {
    ($($type:ty),+) => {
        $(impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        })+
    };
}

debug_as_display!(Block, Epoch, InstanceId, Key, LedgerId, SequenceName, SourceError);
