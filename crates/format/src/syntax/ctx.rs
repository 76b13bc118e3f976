//! Parses `@{ctx,NAME,…}`, and its older spelling `@{var,NAME,…}`.

use crate::{
    charset::{Case, Charset, visible},
    error::TemplateError,
    limits::{VALUE_CHARS_DEFAULT, VALUE_CHARS_MAX},
    template::{Ctx, Kind, Placed, ValueMap, ValueRegex},
};

use super::{
    args::{Args, cut_short},
    parsed_part::ParsedPart,
};

/// The words of `case=`.
pub(super) const CASES: [(&str, Case); 3] =
    [("keep", Case::Keep), ("upper", Case::Upper), ("lower", Case::Lower)];

const YES_NO: [(&str, bool); 2] = [("yes", true), ("no", false)];

pub(super) fn parse(args: &mut Args) -> Result<ParsedPart, TemplateError> {
    let name = args.required("value", "@{ctx,area}")?;
    if !is_name(&name.value) {
        return Err(name.error("name", "letters, digits, _ . and - are allowed, 64 at most"));
    }
    let by = args.word("by", &YES_NO)?.is_none_or(|by| by.value);
    let show = args.word("show", &YES_NO)?.is_none_or(|show| show.value);
    let case = args.word("case", &CASES)?.map_or(Case::Keep, |case| case.value);
    let len = args.count("len", 1, VALUE_CHARS_MAX)?;
    let max = args.count("max", 1, VALUE_CHARS_MAX)?;
    if len.is_some() && max.is_some() {
        return Err(
            TemplateError::new(args.column, "len and max are both given").hint("len is exact: keep one")
        );
    }
    let re = args.take("re").map(|re| ValueRegex::new(&re.value).map_err(|what| invalid_re(&re, what)));
    let map = args
        .take("map")
        .map(|map| ValueMap::new(&map.value).map_err(|what| TemplateError::new(map.column, what)));
    let mut ctx = Ctx {
        name: name.value.clone(),
        by,
        show,
        case,
        re: re.transpose()?,
        map: map.transpose()?,
        chars_min: len.unwrap_or(1),
        chars_max: len.or(max).unwrap_or(VALUE_CHARS_DEFAULT),
        charset: case.apply_to_set(&visible()),
    };
    if ctx.map.is_some() {
        apply_map(&mut ctx, args.column, len, max)?;
    } else if ctx.re.is_some() {
        apply_re(&mut ctx, len, max);
    }
    Ok(ParsedPart::new(args.column, Some(name.value), Kind::Ctx(Box::new(ctx))))
}

fn invalid_re(re: &Placed<String>, what: String) -> TemplateError {
    TemplateError::new(re.column, what).hint(cut_short("re", &re.value).unwrap_or_default())
}

/// Whether a name can be a value's. Callers write it in requests.
pub(super) fn is_name(name: &str) -> bool {
    let is_allowed = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'));
    is_allowed && (1..=64).contains(&name.len())
}

/// The lengths and characters of a `ctx` with `map`: those of the texts in the map.
fn apply_map(
    ctx: &mut Ctx,
    column: usize,
    len: Option<usize>,
    max: Option<usize>,
) -> Result<(), TemplateError> {
    if ctx.re.is_some() {
        return Err(TemplateError::new(column, "re and map are both given")
            .hint("map is a closed list: leave re out"));
    }
    let Some(map) = &ctx.map else { return Ok(()) };
    let mut charset = Charset::none();
    let (mut low, mut high) = (usize::MAX, 0);
    for text in map.texts() {
        let chars = text.chars().count();
        if len.is_some_and(|len| chars != len) || chars > max.unwrap_or(VALUE_CHARS_MAX) {
            let bound = len.or(max).unwrap_or(VALUE_CHARS_MAX);
            return Err(TemplateError::new(
                column,
                format!("map has the text {text:?}: {bound} characters are allowed"),
            ));
        }
        (low, high) = (low.min(chars), high.max(chars));
        charset.add(&Charset::of(text));
    }
    if let Some(value) = map.values().find(|value| ctx.case.apply(value) != **value) {
        let what = format!("map has the value {value:?}, which case changes before the map is looked up");
        return Err(TemplateError::new(column, what).hint("write the map's values in that case"));
    }
    (ctx.chars_min, ctx.chars_max, ctx.charset) = (low, high, charset);
    Ok(())
}

/// The lengths and characters of a `ctx` with `re`: what `len` and `max` leave open, the expression narrows.
fn apply_re(ctx: &mut Ctx, len: Option<usize>, max: Option<usize>) {
    let Some(re) = &ctx.re else { return };
    ctx.chars_min = len.unwrap_or(re.bounds.min);
    ctx.chars_max = len.or(max).unwrap_or(re.bounds.max.min(VALUE_CHARS_DEFAULT));
    if len.is_none() {
        ctx.chars_max = ctx.chars_max.min(re.bounds.max);
    }
    let mut allowed = visible();
    allowed.add(&Charset::of(" "));
    // The case is applied before the expression is matched.
    ctx.charset = re.bounds.charset.shared(&ctx.case.apply_to_set(&allowed));
}
