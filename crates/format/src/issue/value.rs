//! Values, checked before a number is consumed: case, list or expression, length, characters.

use crate::{
    Format, ValueError, Values,
    date::{
        Moment,
        instant::{self, YEARS_EXPECTED},
    },
    issue::Known,
    letters::named,
    template::{Ctx, Date, Kind},
};

/// The texts that values give, and what of them partitions the counter.
pub(super) fn texts(format: &Format, values: &Values) -> Result<Known, ValueError> {
    let mut known = Known::default();
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
                let moment = moment(format, name, given(values, name)?)?;
                let mut text = String::new();
                let fault = |bound| ValueError::new(name, given(values, name).unwrap_or_default(), bound);
                pattern.render(&moment, &mut text).map_err(fault)?;
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

/// What the counter's key holds, and what the text shows.
fn value(format: &Format, at: usize, ctx: &Ctx, given: &str) -> Result<(String, String), ValueError> {
    let fault = |bound: String| ValueError::new(&ctx.name, given, bound);
    let key = ctx.case.apply(given);
    if let Some(map) = &ctx.map {
        let text = map.text(&key).map(str::to_owned).ok_or_else(|| {
            let known: Vec<&str> = map.values().take(20).collect();
            fault(format!("{} are allowed", known.join(", ")))
        })?;
        return Ok((key, text));
    }
    shown(format, at, ctx, &key).map_err(fault)?;
    Ok((key.clone(), key))
}

/// Whether a text is one that a value can have; the error is the bound.
pub(crate) fn shown(format: &Format, at: usize, ctx: &Ctx, text: &str) -> Result<(), String> {
    let chars = text.chars().count();
    if chars < ctx.chars_min || chars > ctx.chars_max {
        let allowed = if ctx.chars_min == ctx.chars_max {
            format!("{} characters are allowed", ctx.chars_min)
        } else {
            format!("{} to {} characters are allowed", ctx.chars_min, ctx.chars_max)
        };
        return Err(allowed);
    }
    // An expression may let blanks in; those at an end are seen by nobody.
    if text.starts_with(' ') || text.ends_with(' ') {
        return Err("a blank is not allowed first or last".to_owned());
    }
    // Most of what shows a text shows two of them as one.
    if text.contains("  ") {
        return Err("one blank after another is not allowed".to_owned());
    }
    // A hidden value is in no text, but it is in the counter's key, and in logs.
    let letters = if ctx.show { &format.shapes()[at].letters } else { &ctx.letters };
    if let Some(c) = text.chars().find(|c| !letters.contains(*c)) {
        return Err(format!("{} is not allowed there", named(c)));
    }
    match &ctx.re {
        Some(re) if !re.matches(text) => Err(format!("{} is allowed", re.as_str())),
        _ => Ok(()),
    }
}

/// A date by a caller: `2026-04-01`, a local time, or an instant with its offset, which the zone makes local.
fn moment(format: &Format, name: &str, given: &str) -> Result<Moment, ValueError> {
    let fault = |bound| ValueError::new(name, given, bound);
    let local = instant::read_local(given, format.zone()).map_err(fault)?;
    Moment::new(local).ok_or_else(|| fault(YEARS_EXPECTED.to_owned()))
}
