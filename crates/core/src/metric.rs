//! Descriptions of metrics: what the page of metrics says, and `# HELP`.

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

/// The type of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    /// Only increases, from zero at the start.
    Counter,
    /// Increases and decreases.
    Gauge,
    /// A distribution of values.
    Histogram,
}

impl MetricKind {
    /// The type's name in the text format of Prometheus.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
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

/// A part of the page of metrics, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricGroup {
    /// Requests and connections.
    Apis,
    /// Principals, TLS and the audit log.
    Access,
    /// Active keys, their reservoirs and refills.
    Reservoirs,
    /// What is left of sequences.
    Capacity,
    /// Slots and their stores.
    Slots,
    /// Epochs, ceilings, and what the guard has caught.
    Guard,
    /// The ledger.
    Ledger,
    /// The process and its runtime.
    Process,
    /// Programs that use the client.
    Sdk,
}

impl MetricGroup {
    /// All groups.
    pub const ALL: [Self; 9] = [
        Self::Apis,
        Self::Access,
        Self::Reservoirs,
        Self::Capacity,
        Self::Slots,
        Self::Guard,
        Self::Ledger,
        Self::Process,
        Self::Sdk,
    ];

    /// The heading.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Apis => "APIs",
            Self::Access => "Principals, TLS and audit",
            Self::Reservoirs => "Keys and reservoirs",
            Self::Capacity => "Capacity",
            Self::Slots => "Slots",
            Self::Guard => "Guard",
            Self::Ledger => "Ledger",
            Self::Process => "Process",
            Self::Sdk => "SDK",
        }
    }
}
