//! Metrics of the client, through the `metrics` facade.

pub(crate) mod client_metrics;
pub(crate) mod gauge_share;
pub(crate) mod metric_table;
