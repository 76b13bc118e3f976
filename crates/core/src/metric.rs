//! Descriptions of metrics: what the page of metrics says, and `# HELP`.

use crate::word_enum;

/// A metric's name and meaning.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    /// Its part of the page.
    pub group: MetricGroup,
    /// Its name, unit included.
    pub name: &'static str,
    /// Counter, gauge or histogram.
    pub kind: MetricKind,
    /// The labels of its series; none contains a key, a tenant or an address.
    pub labels: &'static [Label],
    /// The meaning, in whole sentences.
    pub meaning: &'static str,
}

impl Metric {
    /// A counter.
    pub const fn counter(
        group: MetricGroup,
        name: &'static str,
        labels: &'static [Label],
        meaning: &'static str,
    ) -> Self {
        Self { group, name, kind: MetricKind::Counter, labels, meaning }
    }

    /// A gauge.
    pub const fn gauge(
        group: MetricGroup,
        name: &'static str,
        labels: &'static [Label],
        meaning: &'static str,
    ) -> Self {
        Self { group, name, kind: MetricKind::Gauge, labels, meaning }
    }

    /// A histogram.
    pub const fn histogram(
        group: MetricGroup,
        name: &'static str,
        labels: &'static [Label],
        meaning: &'static str,
    ) -> Self {
        Self { group, name, kind: MetricKind::Histogram, labels, meaning }
    }
}

word_enum! {
    /// The type of a metric, as the text format of Prometheus calls it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum MetricKind {
        /// Only increases, from zero at the start.
        Counter = "counter",
        /// Increases and decreases.
        Gauge = "gauge",
        /// A distribution of values.
        Histogram = "histogram",
    }
}

/// A label of a metric's series.
#[derive(Debug, Clone, Copy)]
pub struct Label {
    /// Its name.
    pub name: &'static str,
    /// All its values; none if the configuration or the cluster decides.
    pub values: fn() -> Vec<&'static str>,
}

impl Label {
    /// A label whose values the configuration or the cluster decides.
    pub const fn open(name: &'static str) -> Self {
        Self { name, values: Vec::new }
    }

    /// A label with these values.
    pub const fn of(name: &'static str, values: fn() -> Vec<&'static str>) -> Self {
        Self { name, values }
    }
}

word_enum! {
    /// A part of the page of metrics, in its order, with its heading.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum MetricGroup {
        /// Requests and connections.
        Apis = "APIs",
        /// Principals, TLS and the audit log.
        Access = "Principals, TLS and audit",
        /// Active keys, their reservoirs and refills.
        Reservoirs = "Keys and reservoirs",
        /// What is left of sequences.
        Capacity = "Capacity",
        /// Slots and their stores.
        Slots = "Slots",
        /// Epochs, ceilings, and what the guard has caught.
        Guard = "Guard",
        /// The ledger.
        Ledger = "Ledger",
        /// The process and its runtime.
        Process = "Process",
        /// Programs that use the client.
        Sdk = "SDK",
    }
}

/// The metrics of a crate as one table: of each its type, the constant by which code names it, its name, its labels and its
/// meaning.
#[macro_export]
macro_rules! metric_table {
    (
        $(#[$about:meta])*
        pub static $table:ident;

        $($group:ident {
            $($kind:ident $constant:ident $name:literal [$($label:ident),*] $meaning:literal;)+
        })+
    ) => {
        $($(pub(crate) const $constant: &str = $name;)+)+

        $(#[$about])*
        pub static $table: &[$crate::Metric] = &[
            $($($crate::Metric {
                group: $crate::MetricGroup::$group,
                name: $constant,
                kind: $crate::MetricKind::$kind,
                labels: &[$($label),*],
                meaning: $meaning,
            },)+)+
        ];
    };
}
