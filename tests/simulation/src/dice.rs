//! Choices of a scenario, drawn from its seed.

use sequent_testkit::SeededEntropy;

/// One of `choices`, or `None` of none.
pub(crate) fn pick<'a, T>(dice: &SeededEntropy, choices: &'a [T]) -> Option<&'a T> {
    let index = usize::try_from(dice.below(choices.len() as u64)).unwrap_or(0);
    choices.get(index)
}

/// An index below `bound`.
pub(crate) fn index(dice: &SeededEntropy, bound: usize) -> usize {
    usize::try_from(dice.below(bound as u64)).unwrap_or(0)
}
