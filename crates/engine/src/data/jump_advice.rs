//! Advice about a counter that was set far ahead by hand: one table for `sequent doctor` and for quarantine notes.
//!
//! All servers are stopped first, because a running one may hold the wrong values in its grants. If no cell can be
//! trusted, the counter's position is unknown: it may have been ahead of the other slots, and `seen` is only what
//! servers reported last. Then only the numbers that callers hold can show it.

use sequent_core::Condition;

/// A cell far above a row that is in order.
const CELL: &str =
    "delete its cell: the counter then begins again above its ceiling; and find out who set it";

/// A row whose ceiling alone is far above all that is known of its counter.
const CEILING: &str = "find out who wrote it, and stop every server. If its cell is open, of the row's epoch, and not itself far above \
    the key's other slots, set `ceiling` in the ledger's row of that counter to the greatest of its `base`, its `seen` and its cell's \
    value. Otherwise nothing shows how far it was: delete the cell if there is one (a closed cell counts as gone), set `ceiling` to the \
    greatest of its `base`, its `seen` and the `ceiling`s of the key's other slots, and then, before anything is given, `sequent advance \
    NAME TO`, TO above the highest number that any caller has, or what it asks for. Then start the servers again";

/// A row that shows more than can have been taken.
const ROW: &str = "find out who wrote it, and stop every server, unless the other slots were out for so long. If its cell is open, of \
    the row's epoch, its store no old copy, and not itself far above the key's other slots, set `ceiling` in the ledger's row of that \
    counter, and `base` and `seen` where they are higher, to its cell's value. Otherwise nothing shows how far it was: delete the cell \
    if there is one (a closed cell counts as gone), set the three to the greatest `ceiling` of the key's other slots and of its ended \
    epochs (the ledger's history), and then, before anything is given, `sequent advance NAME TO`, TO above the highest number that any \
    caller has, or what it asks for. Then start the servers again";

/// A cell and its row, both of them.
const BOTH: &str = "find out who wrote them, and stop every server, unless the other slots were out for so long. Set both right at once: \
    delete its cell, and in the ledger's row of that counter set `ceiling`, and `base` and `seen` where they are higher, to the greatest \
    `ceiling` of the key's other slots and of its ended epochs (the ledger's history), but no lower than a `base` or `seen` that is not \
    far above these. Then, before anything is given, `sequent advance NAME TO`, TO above the highest number that any caller has, or what \
    it asks for. Then start the servers again";

/// A cell far ahead without a row in the ledger: it may be the only record.
const ROWLESS: &str = "if the ledger was lost, the value is right: leave the cell, and `sequent advance NAME TO --jump`, TO at least the \
    highest number that was given; otherwise find out who set it";

/// The advice about a jump, by the value that was found to be far ahead.
pub const fn jump_advice(condition: Option<Condition>) -> &'static str {
    match condition {
        Some(Condition::FarWithoutRow) => ROWLESS,
        Some(Condition::FarRowAndCell) => BOTH,
        Some(Condition::FarRow) => ROW,
        Some(Condition::FarCeiling) => CEILING,
        _ => CELL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_jump_has_its_own_advice() {
        for (condition, advice) in [
            (None, CELL),
            (Some(Condition::FarWithoutRow), ROWLESS),
            (Some(Condition::FarCeiling), CEILING),
            (Some(Condition::FarRow), ROW),
            (Some(Condition::FarRowAndCell), BOTH),
        ] {
            assert_eq!(jump_advice(condition), advice, "{condition:?}");
        }
    }

    #[test]
    fn a_cell_is_deleted_only_together_with_what_its_next_epoch_would_begin_above() {
        for advice in [CEILING, ROW, BOTH] {
            assert!(
                advice.contains("delete")
                    && advice.contains("`ceiling`")
                    && advice.contains("`sequent advance NAME TO`")
            );
        }
        assert!(!CELL.contains("advance"));
    }
}
