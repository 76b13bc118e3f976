//! A checked template: its properties, its periods, and what it requires of its counter.

mod counter_spec;
mod period;

pub use counter_spec::{CounterSpec, Wrap};

use std::{fmt, sync::Arc};

use crate::{
    analyze::{analysis::Analysis, part_shape::PartShape, rules::unambiguous_split::SplitPlan},
    date::{MonthDay, Reset, Zone},
    error::Fault,
    number::NumberCodec,
    settings::Settings,
    template::{Kind, Template},
};

/// A checked template. It is cheap to clone. All its texts are unique if its numbers are, as
/// [`Settings::unique`] says.
#[derive(Clone)]
pub struct Format(Arc<Inner>);

struct Inner {
    analysis: Analysis,
    split_plan: SplitPlan,
    left_to_right: Vec<bool>,
    warnings: Vec<Fault>,
}

impl Format {
    pub(crate) fn new(
        analysis: Analysis,
        split_plan: SplitPlan,
        left_to_right: Vec<bool>,
        warnings: Vec<Fault>,
    ) -> Self {
        Self(Arc::new(Inner { analysis, split_plan, left_to_right, warnings }))
    }

    /// The longest text, in characters.
    pub fn max_len(&self) -> usize {
        self.shapes().iter().map(|shape| shape.max).sum()
    }

    /// The shortest text, in characters.
    pub fn min_len(&self) -> usize {
        self.shapes().iter().map(|shape| shape.min).sum()
    }

    /// How often the counter resets.
    pub fn reset(&self) -> Reset {
        self.0.analysis.reset
    }

    /// The name of the zone of dates and periods.
    pub fn zone_name(&self) -> &str {
        self.zone().name()
    }

    /// The names of the values that partition the counter, in the order of the key.
    pub fn partitioned_by(&self) -> Vec<&str> {
        let names = self.template().parts.iter().filter_map(|part| match &part.kind {
            Kind::Ctx(ctx) => ctx.by.then_some(ctx.name.as_str()),
            Kind::Date(date) => date.at.as_deref(),
            _ => None,
        });
        names.collect()
    }

    /// The fewest bytes of each value of the key, in the order of [`partitioned_by`](Self::partitioned_by). No key is shorter.
    ///
    /// ```
    /// use sequent_format::{Settings, Template};
    /// let format = Template::parse("@{ctx,a,len=3}@{ctx,b,map=ACME:AC;Bolt:B}-@{seq}")?.analyze(&Settings::default())?;
    /// assert_eq!(format.value_bytes_min().collect::<Vec<_>>(), [3, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn value_bytes_min(&self) -> impl Iterator<Item = usize> {
        self.template().parts.iter().filter_map(|part| match &part.kind {
            Kind::Ctx(ctx) => ctx.by.then(|| ctx.bytes_min()),
            Kind::Date(date) => date.at.as_ref().map(|_| date.pattern.width()),
            _ => None,
        })
    }

    /// Whether the text is the bare number: one counter, and decimal digits, possibly with leading zeros.
    pub fn renders_bare_number(&self) -> bool {
        self.reset() == Reset::Never && self.template().parts.len() == 1 && self.codec().is_bare()
    }

    /// Warnings: what is allowed, but probably not meant.
    pub fn warnings(&self) -> &[Fault] {
        &self.0.warnings
    }

    /// The template.
    pub fn template(&self) -> &Template {
        &self.0.analysis.template
    }

    /// The settings of the definition.
    pub fn settings(&self) -> &Settings {
        &self.0.analysis.settings
    }

    pub(crate) fn analysis(&self) -> &Analysis {
        &self.0.analysis
    }

    pub(crate) fn shapes(&self) -> &[PartShape] {
        &self.0.analysis.shapes
    }

    pub(crate) fn codec(&self) -> &NumberCodec {
        &self.0.analysis.codec
    }

    pub(crate) fn zone(&self) -> &Zone {
        &self.0.analysis.zone
    }

    pub(crate) fn fiscal(&self) -> MonthDay {
        self.0.analysis.fiscal
    }

    pub(crate) fn split_plan(&self) -> &SplitPlan {
        &self.0.split_plan
    }

    /// Whether a part can be rendered when it is reached from the left.
    pub(crate) fn is_left_to_right(&self, at: usize) -> bool {
        self.0.left_to_right[at]
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Format({}, {})", self.template(), self.zone_name())
    }
}
