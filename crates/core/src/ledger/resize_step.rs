//! How far a change of the layout is: planned, fenced, in force. The rows are rebased while it is fenced.

use crate::{Layout, Transitions};

/// The legal transitions of a resize.
pub static RESIZE_TRANSITIONS: Transitions = Transitions::new(
    "resize",
    &[("InForce", "Planned"), ("Planned", "InForce"), ("Planned", "Fenced"), ("Fenced", "InForce")],
);

/// The step that a change of the layout has reached, with the next layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResizeStep {
    /// No change is under way.
    InForce,
    /// A change is noted, and nothing else differs. It can be withdrawn.
    Planned(Layout),
    /// The old layout is refused, and the counters' rows are being rebased. The change can only be finished.
    Fenced(Layout),
}

impl ResizeStep {
    /// Reads the two fields in which ledgers store it; `None` if they contradict each other.
    pub const fn from_stored(next: Option<Layout>, is_fenced: bool) -> Option<Self> {
        match (next, is_fenced) {
            (None, false) => Some(Self::InForce),
            (Some(next), false) => Some(Self::Planned(next)),
            (Some(next), true) => Some(Self::Fenced(next)),
            (None, true) => None,
        }
    }

    /// The next layout, during a change.
    pub const fn next(self) -> Option<Layout> {
        match self {
            Self::InForce => None,
            Self::Planned(next) | Self::Fenced(next) => Some(next),
        }
    }

    /// Whether the old layout is already refused.
    pub const fn is_fenced(self) -> bool {
        matches!(self, Self::Fenced(_))
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::InForce => "InForce",
            Self::Planned(_) => "Planned",
            Self::Fenced(_) => "Fenced",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{LayoutPage, LayoutRecord};

    fn page() -> LayoutPage {
        let layout = Layout::new(1, 0).unwrap();
        LayoutPage::of(&LayoutRecord { cluster: "shop".parse().unwrap(), layout, generation: 1 })
    }

    #[test]
    #[cfg_attr(not(debug_assertions), ignore = "transitions are seen where debug assertions are on")]
    fn each_transition_is_seen() {
        let (page, next) = (page(), Layout::new(2, 0).unwrap());
        let planned = page.planned(next);
        assert_eq!(planned.withdrawn(), Some(page.clone()));
        let fenced = planned.fenced().unwrap();
        assert_eq!((fenced.withdrawn(), fenced.fenced()), (None, None), "it can only be finished");
        assert_eq!((page.fenced(), page.settled(), planned.settled()), (None, None, None));
        assert_eq!(fenced.settled().unwrap().layout, next);
        assert_eq!(RESIZE_TRANSITIONS.unseen(), []);
    }

    #[test]
    #[cfg_attr(not(debug_assertions), ignore = "transitions are checked where debug assertions are on")]
    #[should_panic(expected = "resize: no transition leads from Fenced to Planned")]
    fn no_plan_replaces_a_fenced_change() {
        let next = Layout::new(2, 0).unwrap();
        let _ = page().planned(next).fenced().unwrap().planned(next);
    }

    #[test]
    fn a_stored_step_is_read_as_it_was_written() {
        let next = Layout::new(2, 0).unwrap();
        for step in [ResizeStep::InForce, ResizeStep::Planned(next), ResizeStep::Fenced(next)] {
            assert_eq!(ResizeStep::from_stored(step.next(), step.is_fenced()), Some(step));
        }
        assert_eq!(ResizeStep::from_stored(None, true), None, "a fence without a change");
    }
}
