//! Parses `@{date,PATTERN,…}`.

use crate::{
    date::{MonthDay, Pattern},
    error::TemplateError,
    template::{Date, Kind},
};

use super::{args::Args, ctx::is_name, parsed_part::ParsedPart};

pub(super) fn parse(args: &mut Args) -> Result<ParsedPart, TemplateError> {
    let pattern = args.required("pattern", "@{date,yyyyMMdd}")?;
    let zone = match (args.take("tz"), args.take("zone")) {
        (Some(tz), Some(_)) => return Err(tz.error("tz", "zone says it already")),
        (tz, zone) => tz.or(zone),
    };
    let at = args.take("at").filter(|at| at.value != "issue");
    if let Some(at) = at.as_ref().filter(|at| !is_name(&at.value)) {
        return Err(at.error("at", "issue, or the name of a value, is allowed"));
    }
    let fiscal = args.take("fy");
    let first = match &fiscal {
        None => MonthDay::default(),
        Some(fy) => {
            let error = || fy.error("fy", "MM-DD is allowed, but not 02-29, which most years lack");
            MonthDay::parse(&fy.value).ok_or_else(error)?
        }
    };
    let parsed = Pattern::parse(&pattern.value, first)
        .map_err(|error| TemplateError::new(pattern.column + error.at, error.what).hint(error.hint))?;
    let kind = Kind::Date(Date { pattern: parsed, at: at.map(|at| at.value) });
    Ok(ParsedPart { zone, fiscal, ..ParsedPart::new(args.column, None, kind) })
}
