//! Parses a template's text into its parts.
//!
//! Suggested reading order: [`lexer`] (text and parts), [`args`], [`part`] and a file for each kind of part, [`resolve`] (references
//! between parts).

mod args;
mod ctx;
mod date;
mod derived;
mod lexer;
mod parsed_part;
mod part;
mod resolve;
mod seq;
mod suggest;

pub use suggest::{did_you_mean, most_similar};

use std::str::FromStr;

use crate::{
    error::TemplateError,
    limits::RE_WEIGHT_MAX,
    template::{Kind, Template},
};

impl Template {
    /// Parses a template. The error has a column, what was found, and what to write instead.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let (mut parts, mut weight) = (Vec::new(), 0_usize);
        for token in lexer::tokens(text)? {
            let parsed = part::parse(token)?;
            if let Kind::Ctx(ctx) = &parsed.part.kind
                && let Some(re) = &ctx.re
            {
                weight = weight.saturating_add(re.weight);
                // Checked for each part, so that no further expression is compiled above the limit.
                if weight > RE_WEIGHT_MAX {
                    let what = format!(
                        "all re up to {:?} weigh {weight}: at most {RE_WEIGHT_MAX} are allowed for one template",
                        re.as_str()
                    );
                    let hint = "name ranges such as [0-9A-Z] in place of \\w, and repeat them less";
                    return Err(TemplateError::new(parsed.part.column, what).hint(hint));
                }
            }
            parts.push(parsed);
        }
        resolve::template(text, parts)
    }
}

impl FromStr for Template {
    type Err = TemplateError;

    fn from_str(text: &str) -> Result<Self, TemplateError> {
        Self::parse(text)
    }
}
