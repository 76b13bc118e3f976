//! `@{date,PATTERN,…}`.

use crate::{
    TemplateError,
    date::{MonthDay, Pattern},
    parse::{Args, Draft, ctx::is_name},
    template::{Date, Kind},
};

pub(super) fn draft(args: &mut Args) -> Result<Draft, TemplateError> {
    let pattern = args.needed("pattern", "@{date,yyyyMMdd}")?;
    let zone = match (args.take("tz"), args.take("zone")) {
        (Some(tz), Some(_)) => return Err(tz.fault("tz", "zone says it already")),
        (tz, zone) => tz.or(zone),
    };
    let at = args.take("at").filter(|at| at.value != "issue");
    if let Some(at) = at.as_ref().filter(|at| !is_name(&at.value)) {
        return Err(at.fault("at", "issue, or the name of a value, is allowed"));
    }
    let fiscal = args.take("fy");
    let first = match &fiscal {
        None => MonthDay::default(),
        Some(fy) => {
            let fault = || fy.fault("fy", "MM-DD is allowed, but not 02-29, which most years lack");
            MonthDay::parse(&fy.value).ok_or_else(fault)?
        }
    };
    let tokens = Pattern::new(&pattern.value, first)
        .map_err(|error| TemplateError::new(pattern.column + error.at, error.what).hint(error.hint))?;
    let kind = Kind::Date(Date { pattern: tokens, at: at.map(|at| at.value) });
    Ok(Draft { zone, fiscal, ..Draft::plain(args.column, None, kind) })
}
