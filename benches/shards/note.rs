//! A line beside the ratios: what it is about, and its figures by name.

use std::fmt;

use serde_json::{Map, Value};

/// Figures that belong together.
pub(crate) struct Note {
    about: String,
    figures: Vec<(&'static str, f64)>,
}

impl Note {
    pub(crate) fn new(about: impl Into<String>, figures: Vec<(&'static str, f64)>) -> Self {
        Self { about: about.into(), figures }
    }

    pub(crate) fn json(&self) -> Value {
        let mut figures = Map::new();
        figures.insert("about".to_owned(), self.about.clone().into());
        figures.extend(self.figures.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())));
        Value::Object(figures)
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.about)?;
        for (at, (name, value)) in self.figures.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            match value {
                value if value.abs() >= 1000.0 => write!(f, "{comma} {name} {value:.0}")?,
                value => write!(f, "{comma} {name} {value:.4}")?,
            }
        }
        Ok(())
    }
}

/// The middle of some figures.
pub(crate) fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN)
}
