//! Parses `@{seq,NAME,…}`, and its older spelling `@{bean,ref=NAME,…}`.

use std::time::Duration;

use crate::{
    charset::Case,
    date::{MonthDay, Reset},
    error::TemplateError,
    limits::{NUMBER_MAX, WIDTH_MAX},
    number::Alphabet,
    template::{Kind, Overflow, Placed, ResetWord, Seq},
};

use super::{args::Args, ctx::CASES, parsed_part::ParsedPart};

/// The words of `over=`.
#[derive(Clone, Copy)]
enum OverWord {
    Widen,
    Error,
    Wrap,
}

const OVER: [(&str, OverWord); 3] =
    [("widen", OverWord::Widen), ("error", OverWord::Error), ("wrap", OverWord::Wrap)];

pub(super) fn parse(args: &mut Args, kind: &str) -> Result<ParsedPart, TemplateError> {
    let by_ref = args.take("ref");
    let is_ref = by_ref.is_some();
    let label = match (args.bare(), by_ref) {
        (Some(bare), Some(_)) => return Err(bare.error("name", "ref= names it already")),
        (None, None) if kind == "bean" => {
            return Err(TemplateError::new(args.column, "bean names no ref").hint("write @{bean,ref=order}"));
        }
        (bare, by_ref) => bare.or(by_ref).map(|label| label.value),
    };
    let alphabet = alphabet(args)?;
    let width = args.count("w", 1, WIDTH_MAX)?.unwrap_or(1);
    let over = overflow(args)?;
    let width_max = width_max(args, &alphabet, width, over)?;
    let start = args.number("start", 0, NUMBER_MAX)?.unwrap_or(1);
    let step = args.number("step", 1, NUMBER_MAX)?.unwrap_or(1);
    let end = end(args, start)?;
    let reset = reset(args)?;
    let fiscal = args.take("fy");
    let seq = Seq {
        label: label.clone(),
        is_ref,
        pad: pad(args, &alphabet)?,
        width,
        width_max,
        start,
        step,
        end,
        over,
        reset,
        fiscal: fiscal.as_ref().and_then(|fiscal| MonthDay::parse(&fiscal.value)),
        warn_percent: warn(args)?,
        obfuscated: obfuscated(args)?,
        alphabet,
    };
    Ok(ParsedPart { fiscal, ..ParsedPart::new(args.column, label, Kind::Seq(Box::new(seq))) })
}

fn alphabet(args: &mut Args) -> Result<Alphabet, TemplateError> {
    let radix = args.take("radix");
    let case = args.word("case", &CASES)?;
    let alphabet = match &radix {
        None => Alphabet::decimal(),
        Some(word) => Alphabet::named(&word.value).map_err(|what| TemplateError::new(word.column, what))?,
    };
    let (mapped, column) = match case {
        None | Some(Placed { value: Case::Keep, .. }) => return Ok(alphabet),
        Some(Placed { value: Case::Upper, column }) => (alphabet.mapped(u8::to_ascii_uppercase), column),
        Some(Placed { value: Case::Lower, column }) => (alphabet.mapped(u8::to_ascii_lowercase), column),
    };
    let what = "case makes two digits of this alphabet equal: two numbers would share a text";
    mapped.ok_or_else(|| TemplateError::new(column, what).hint("leave case out, or take radix=36"))
}

fn pad(args: &mut Args, alphabet: &Alphabet) -> Result<u8, TemplateError> {
    let Some(pad) = args.take("pad") else { return Ok(alphabet.zero()) };
    match pad.value.as_bytes() {
        [byte] if byte.is_ascii_graphic() || *byte == b' ' => Ok(*byte),
        _ => Err(pad.error("pad", "one visible character of ASCII, or a blank in quotes, is allowed")),
    }
}

fn overflow(args: &mut Args) -> Result<Overflow, TemplateError> {
    let over = args.word("over", &OVER)?;
    let reuse_after = args.take("reuse_after");
    match (over.as_ref().map(|over| over.value), reuse_after) {
        (Some(OverWord::Wrap), after) => {
            Ok(Overflow::Wrap { reuse_after: after.map(|after| duration(&after)).transpose()? })
        }
        (_, Some(after)) => Err(after.error("reuse_after", "only over=wrap uses a text again")),
        (Some(OverWord::Error), None) => Ok(Overflow::Error),
        (_, None) => Ok(Overflow::Widen),
    }
}

fn width_max(
    args: &mut Args,
    alphabet: &Alphabet,
    width: usize,
    over: Overflow,
) -> Result<usize, TemplateError> {
    let given = args.take("wmax");
    if over != Overflow::Widen {
        return given.map_or(Ok(width), |given| Err(given.error("wmax", "only over=widen grows")));
    }
    // The widest number is i64::MAX: 19 decimal digits.
    let natural = alphabet.width_of(NUMBER_MAX).max(width);
    let Some(given) = given else { return Ok(natural) };
    let parsed = given.value.parse().ok().filter(|wmax| (width..=WIDTH_MAX).contains(wmax));
    parsed.ok_or_else(|| given.error("wmax", format!("w, {width}, to {WIDTH_MAX} are allowed")))
}

/// `end=`, also written `maxn=`.
fn end(args: &mut Args, start: u64) -> Result<Option<u64>, TemplateError> {
    let end = args.number("end", start, NUMBER_MAX)?;
    let maxn = args.number("maxn", start, NUMBER_MAX)?;
    match (end, maxn) {
        (Some(_), Some(_)) => {
            Err(TemplateError::new(args.column, "end and maxn are both given").hint("they are one: keep end"))
        }
        (end, maxn) => Ok(end.or(maxn)),
    }
}

fn reset(args: &mut Args) -> Result<Placed<ResetWord>, TemplateError> {
    let mut words: Vec<(&str, ResetWord)> = vec![("auto", ResetWord::Auto)];
    words.extend(Reset::WORDS.map(|(word, reset)| (word, ResetWord::Named(reset))));
    words.extend(["minute", "second"].map(|word| (word, ResetWord::TooFine(word))));
    let column = args.column;
    Ok(args.word("reset", &words)?.unwrap_or(Placed { column, value: ResetWord::Auto }))
}

fn warn(args: &mut Args) -> Result<Option<u8>, TemplateError> {
    let Some(warn) = args.take("warn") else { return Ok(None) };
    let percent = warn.value.strip_suffix('%').and_then(|digits| digits.parse().ok());
    let percent = percent.filter(|percent| (1..=100).contains(percent));
    percent.map(Some).ok_or_else(|| warn.error("warn", "1% to 100% are allowed"))
}

fn obfuscated(args: &mut Args) -> Result<Option<Placed<String>>, TemplateError> {
    let Some(obf) = args.take("obf") else { return Ok(None) };
    match obf.value.strip_prefix("ff1:").filter(|key| !key.is_empty()) {
        Some(key) => Ok(Some(Placed { column: obf.column, value: key.to_owned() })),
        None => Err(obf.error("obf", "ff1:KEYNAME is allowed")),
    }
}

/// The units of `reuse_after` in seconds. A month has 31 days and a year 366.
const UNITS: [(&str, u64); 5] =
    [("h", 3600), ("d", 86400), ("w", 7 * 86400), ("mo", 31 * 86400), ("y", 366 * 86400)];

fn duration(given: &Placed<String>) -> Result<Duration, TemplateError> {
    let end = given.value.find(|c: char| !c.is_ascii_digit()).unwrap_or(given.value.len());
    let (count, unit) = given.value.split_at(end);
    let seconds = UNITS.iter().find(|(word, _)| *word == unit.trim()).map(|(_, seconds)| *seconds);
    let count = count.parse().ok().filter(|count| (1..=1000).contains(count));
    let product = seconds.zip(count).map(|(seconds, count): (u64, u64)| Duration::from_secs(seconds * count));
    product
        .ok_or_else(|| given.error("reuse_after", "1 to 1000 of h, d, w, mo or y are allowed, such as 12mo"))
}
