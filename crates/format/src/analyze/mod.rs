//! Checks a template against the rules S1 to S8. All rules are checked and all faults are reported.
//!
//! Suggested reading order: [`analysis`] (what the rules work with), [`rules`] (one file per rule), [`check_coverage`] and [`lints`]
//! (warnings).

pub(crate) mod analysis;
mod check_coverage;
mod lints;
pub(crate) mod part_shape;
pub(crate) mod rules;
mod shape_inference;

use crate::{error::AnalysisError, format::Format, settings::Settings, template::Template};

use analysis::Analysis;
use rules::{
    book_run, capacity, cipher_space, key_visible, max_length, period_visible, reset_reuse, reset_unit,
    unambiguous_split,
};

impl Template {
    /// Checks that texts are unique if numbers are, and that each text can be decoded. The error lists all broken rules.
    pub fn analyze(&self, settings: &Settings) -> Result<Format, AnalysisError> {
        let analysis = Analysis::new(self, settings).map_err(|faults| AnalysisError { faults })?;
        let mut faults = Vec::new();
        let split_plan = unambiguous_split::check(&analysis, &mut faults);
        key_visible::check(&analysis, &mut faults);
        period_visible::check(&analysis, &mut faults);
        reset_unit::check(&analysis, &mut faults);
        max_length::check(&analysis, &mut faults);
        reset_reuse::check(&analysis, &mut faults);
        cipher_space::check(&analysis, &mut faults);
        book_run::check(&analysis, &mut faults);
        capacity::check(&analysis, &mut faults);
        let Some(split_plan) = split_plan.filter(|_| faults.is_empty()) else {
            faults.sort_by_key(|fault| fault.rule);
            return Err(AnalysisError { faults });
        };
        let warnings = reset_unit::warnings(&analysis)
            .into_iter()
            .chain(reset_reuse::warnings(&analysis))
            .chain(book_run::warnings(&analysis))
            .chain(check_coverage::warnings(&analysis))
            .chain(lints::warnings(&analysis))
            .collect();
        let left_to_right = shape_inference::left_to_right(self);
        Ok(Format::new(analysis, split_plan, left_to_right, warnings))
    }
}
