//! Parses one part: chooses the parser of its kind.

use crate::{charset::is_visible, error::TemplateError, template::Kind};

use super::{
    args::Args, ctx, date, derived, lexer::Token, parsed_part::ParsedPart, seq, suggest::did_you_mean,
};

/// The kinds of parts. A name like a class (`SomeCheckSumExpression`, `shop.Checksum`) is a function.
const KINDS: [&str; 9] = ["seq", "key", "ctx", "date", "check", "fn", "bean", "ownerKey", "var"];

/// Parses one token of the template.
pub(super) fn parse(token: Token) -> Result<ParsedPart, TemplateError> {
    let (column, kind, args) = match token {
        Token::Text { column, text } => return Ok(ParsedPart::new(column, None, Kind::Text(text))),
        Token::Part { column, kind, args } => (column, kind, args),
    };
    let mut args = Args::new(column, &kind, args)?;
    let id = args.take("id").map(|id| id.value);
    let mut parsed = match kind.as_str() {
        "seq" | "bean" => seq::parse(&mut args, &kind),
        "key" | "ownerKey" => key(&mut args, &kind),
        "ctx" | "var" => ctx::parse(&mut args),
        "date" => date::parse(&mut args),
        "check" => derived::parse_check(&mut args),
        "fn" => derived::parse_call(&mut args, None),
        derived::CHECKSUM_CLASS => derived::parse_checksum_class(&mut args),
        class if is_class(class) => derived::parse_call(&mut args, Some(class)),
        _ if args.has_only("value") => key(&mut args, &kind),
        other => {
            let what = format!("{other:?} is no kind of part: {} are allowed", KINDS[..6].join(", "));
            return Err(TemplateError::new(column, what).hint(suggest_kind(other)));
        }
    }?;
    // A text that has a name of its own is referred to by it.
    let own = (!KINDS.contains(&kind.as_str()) && matches!(parsed.part.kind, Kind::Text(_))).then_some(kind);
    parsed.part.id = id.or(parsed.part.id).or(own);
    args.finish()?;
    Ok(parsed)
}

/// Words that people try for a part, with the part that they mean.
const SYNONYMS: [(&str, &str); 19] = [
    ("serial", "seq"),
    ("number", "seq"),
    ("num", "seq"),
    ("no", "seq"),
    ("n", "seq"),
    ("counter", "seq"),
    ("count", "seq"),
    ("id", "seq"),
    ("increment", "seq"),
    ("year", "date,yyyy"),
    ("month", "date,yyyyMM"),
    ("day", "date,yyyyMMdd"),
    ("time", "date,yyyyMMddHHmmss"),
    ("yyyy", "date,yyyy"),
    ("yyyyMM", "date,yyyyMM"),
    ("yyyyMMdd", "date,yyyyMMdd"),
    ("prefix", "key"),
    ("param", "ctx"),
    ("checksum", "check"),
];

/// A hint for an unknown kind of part. A word that resembles no kind may be the name of a value.
fn suggest_kind(word: &str) -> String {
    if let Some((_, part)) = SYNONYMS.iter().find(|(other, _)| *other == word) {
        return format!("did you mean {part}?");
    }
    match did_you_mean(word, &KINDS) {
        hint if hint.is_empty() => {
            format!("did you mean seq, for the number? A value by the caller is @{{ctx,{word}}}")
        }
        hint => hint,
    }
}

/// Whether a kind looks like a class name of an older rule engine.
fn is_class(kind: &str) -> bool {
    let words = kind.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$'));
    words && (kind.starts_with(|c: char| c.is_ascii_uppercase()) || kind.contains('.'))
}

/// `@{key,TEXT}`, `@{ownerKey,value=TEXT}`, `@{NAME,value=TEXT}`: literal text, which `over=` may name.
fn key(args: &mut Args, kind: &str) -> Result<ParsedPart, TemplateError> {
    let example = if kind == "key" { "@{key,SN}" } else { "@{ownerKey,value=SN}" };
    let text = match args.take("value") {
        Some(text) => text,
        None => args.required("text", example)?,
    };
    if text.value.is_empty() || !text.value.chars().all(|c| c == ' ' || is_visible(c)) {
        return Err(text.error("text", "visible characters are allowed, one at least"));
    }
    Ok(ParsedPart::new(args.column, None, Kind::Text(text.value)))
}
