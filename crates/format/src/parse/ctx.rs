//! `@{ctx,NAME,…}`, and its older spelling `@{var,NAME,…}`.

use crate::{
    TemplateError,
    letters::{Case, Letters},
    limits::{VALUE_CHARS_DEFAULT, VALUE_CHARS_MAX},
    parse::{Args, Draft, Placed, cut_short},
    template::{Ctx, Kind, Map, Re},
};

/// The words of `case=`.
pub(super) const CASES: [(&str, Case); 3] =
    [("keep", Case::Keep), ("upper", Case::Upper), ("lower", Case::Lower)];

const YES_NO: [(&str, bool); 2] = [("yes", true), ("no", false)];

pub(super) fn draft(args: &mut Args) -> Result<Draft, TemplateError> {
    let name = args.needed("value", "@{ctx,area}")?;
    if !is_name(&name.value) {
        return Err(name.fault("name", "letters, digits, _ . and - are allowed, 64 at most"));
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
    let re = args.take("re").map(|re| Re::new(&re.value).map_err(|what| unread(&re, what)));
    let map =
        args.take("map").map(|map| Map::new(&map.value).map_err(|what| TemplateError::new(map.column, what)));
    let mut ctx = Ctx {
        name: name.value.clone(),
        by,
        show,
        case,
        re: re.transpose()?,
        map: map.transpose()?,
        chars_min: len.unwrap_or(1),
        chars_max: len.or(max).unwrap_or(VALUE_CHARS_DEFAULT),
        letters: Letters::visible().cased(case),
    };
    if ctx.map.is_some() {
        mapped(&mut ctx, args.column, len, max)?;
    } else if ctx.re.is_some() {
        matched(&mut ctx, len, max);
    }
    Ok(Draft::plain(args.column, Some(name.value), Kind::Ctx(Box::new(ctx))))
}

fn unread(re: &Placed<String>, what: String) -> TemplateError {
    TemplateError::new(re.column, what).hint(cut_short("re", &re.value).unwrap_or_default())
}

/// Names that callers write in `with`.
pub(super) fn is_name(name: &str) -> bool {
    let letters = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'));
    letters && (1..=64).contains(&name.len())
}

/// A closed list tells itself how long its texts are, and what they hold.
fn mapped(ctx: &mut Ctx, column: usize, len: Option<usize>, max: Option<usize>) -> Result<(), TemplateError> {
    if ctx.re.is_some() {
        return Err(TemplateError::new(column, "re and map are both given")
            .hint("map is a closed list: leave re out"));
    }
    let Some(map) = &ctx.map else { return Ok(()) };
    let mut letters = Letters::none();
    let (mut low, mut high) = (usize::MAX, 0);
    for text in map.texts() {
        let chars = text.chars().count();
        if len.is_some_and(|len| chars != len) || chars > max.unwrap_or(VALUE_CHARS_MAX) {
            let bound = len.or(max).unwrap_or(VALUE_CHARS_MAX);
            return Err(TemplateError::new(
                column,
                format!("map has the text {text:?}: it must keep to {bound}"),
            ));
        }
        (low, high) = (low.min(chars), high.max(chars));
        letters.add(&Letters::of(text));
    }
    if let Some(value) = map.values().find(|value| ctx.case.apply(value) != **value) {
        let what = format!("map has the value {value:?}, which case changes before the map is asked");
        return Err(TemplateError::new(column, what).hint("write the map's values in that case"));
    }
    (ctx.chars_min, ctx.chars_max, ctx.letters) = (low, high, letters);
    Ok(())
}

/// An expression narrows what `len` and `max` leave open.
fn matched(ctx: &mut Ctx, len: Option<usize>, max: Option<usize>) {
    let Some(re) = &ctx.re else { return };
    ctx.chars_min = len.unwrap_or(re.reach.min);
    ctx.chars_max = len.or(max).unwrap_or(re.reach.max.min(VALUE_CHARS_DEFAULT));
    if len.is_none() {
        ctx.chars_max = ctx.chars_max.min(re.reach.max);
    }
    let mut allowed = Letters::visible();
    allowed.add(&Letters::of(" "));
    // Values are put into their case before the expression sees them.
    ctx.letters = re.reach.letters.shared(&allowed.cased(ctx.case));
}
