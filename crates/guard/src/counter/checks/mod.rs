//! Checks of a counter before it accepts a row, a cell or a block.

pub(super) mod jump;
pub(super) mod monotonicity;
pub(super) mod regression;
pub(super) mod row_plausibility;
