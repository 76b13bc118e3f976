//! Checks the values of a request before a number is consumed: case, map or expression, length, characters.

use crate::{
    charset::describe,
    date::{
        LocalDateTime,
        instant::{self, YEARS_EXPECTED},
    },
    error::ValueError,
    format::Format,
    template::{Ctx, Date, Kind},
    values::Values,
};

use super::known_parts::KnownParts;

/// The texts of all values, and those values that partition the counter.
pub(super) fn resolve(format: &Format, values: &Values) -> Result<KnownParts, ValueError> {
    let mut known = KnownParts::default();
    for (at, part) in format.template().parts.iter().enumerate() {
        let text = match &part.kind {
            Kind::Text(text) => text.clone(),
            Kind::Ctx(ctx) => {
                let (key, text) = value(format, at, ctx, given(values, &ctx.name)?)?;
                if ctx.by {
                    known.partition.push((ctx.name.clone(), key));
                }
                if ctx.show { text } else { String::new() }
            }
            Kind::Date(Date { at: Some(name), pattern }) => {
                let local = local_date(format, name, given(values, name)?)?;
                let mut text = String::new();
                let error = |bound| ValueError::new(name, given(values, name).unwrap_or_default(), bound);
                pattern.render(&local, &mut text).map_err(error)?;
                known.partition.push((name.clone(), text.clone()));
                text
            }
            _ => String::new(),
        };
        known.texts.push(text);
    }
    Ok(known)
}

fn given<'a>(values: &'a Values, name: &str) -> Result<&'a str, ValueError> {
    values.get(name).ok_or_else(|| ValueError::missing(name))
}

/// The value in the counter's key, and its text.
fn value(format: &Format, at: usize, ctx: &Ctx, given: &str) -> Result<(String, String), ValueError> {
    let error = |bound: String| ValueError::new(&ctx.name, given, bound);
    let key = ctx.case.apply(given);
    if let Some(map) = &ctx.map {
        let text = map.text(&key).map(str::to_owned).ok_or_else(|| {
            let known: Vec<&str> = map.values().take(20).collect();
            error(format!("{} are allowed", known.join(", ")))
        })?;
        return Ok((key, text));
    }
    check_value(format, at, ctx, &key).map_err(error)?;
    Ok((key.clone(), key))
}

/// Whether a text is a value of this part. The error is the bound.
pub(crate) fn check_value(format: &Format, at: usize, ctx: &Ctx, text: &str) -> Result<(), String> {
    let chars = text.chars().count();
    if chars < ctx.chars_min || chars > ctx.chars_max {
        let allowed = if ctx.chars_min == ctx.chars_max {
            format!("{} characters are allowed", ctx.chars_min)
        } else {
            format!("{} to {} characters are allowed", ctx.chars_min, ctx.chars_max)
        };
        return Err(allowed);
    }
    // An expression may allow blanks, but nobody sees one at an end.
    if text.starts_with(' ') || text.ends_with(' ') {
        return Err("a blank is not allowed first or last".to_owned());
    }
    // HTML and most other viewers show two blanks as one.
    if text.contains("  ") {
        return Err("one blank after another is not allowed".to_owned());
    }
    // A hidden value is not in the text, but it is in the counter's key and in logs.
    let charset = if ctx.show { &format.shapes()[at].charset } else { &ctx.charset };
    if let Some(c) = text.chars().find(|c| !charset.contains(*c)) {
        return Err(format!("{} is not allowed there", describe(c)));
    }
    match &ctx.re {
        Some(re) if !re.matches(text) => Err(format!("{} is allowed", re.as_str())),
        _ => Ok(()),
    }
}

/// A caller's date: `2026-04-01`, a local time, or an instant with its offset, which is converted to the zone.
fn local_date(format: &Format, name: &str, given: &str) -> Result<LocalDateTime, ValueError> {
    let error = |bound| ValueError::new(name, given, bound);
    let local = instant::parse_local(given, format.zone()).map_err(error)?;
    LocalDateTime::new(local).ok_or_else(|| error(YEARS_EXPECTED.to_owned()))
}
