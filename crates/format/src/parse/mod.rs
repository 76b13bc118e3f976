//! From a template's text to its parts.
//!
//! Suggested reading order: [`lexer`] (texts and parts), [`args`], then a file a kind of part, and [`resolve`] (who reads whom).

mod args;
mod ctx;
mod date;
mod derived;
mod lexer;
mod resolve;
mod seq;

pub use args::nearest;
pub(crate) use args::{Args, Placed, cut_short};

use crate::{
    TemplateError,
    letters::Letters,
    limits::RE_WEIGHT_MAX,
    parse::lexer::Token,
    template::{Kind, Part, Template},
};

/// A part, with the names of those it reads, which may stand after it.
pub(crate) struct Draft {
    part: Part,
    inputs: Option<Placed<String>>,
    zone: Option<Placed<String>>,
    fiscal: Option<Placed<String>>,
}

/// The kinds of parts; class-like names (`SomeCheckSumExpression`, `shop.Checksum`) are functions besides.
const KINDS: [&str; 9] = ["seq", "key", "ctx", "date", "check", "fn", "bean", "ownerKey", "var"];

/// Reads a template.
pub(crate) fn template(text: &str) -> Result<Template, TemplateError> {
    let (mut drafts, mut weight) = (Vec::new(), 0_usize);
    for token in lexer::tokens(text)? {
        let draft = draft(token)?;
        if let Kind::Ctx(ctx) = &draft.part.kind
            && let Some(re) = &ctx.re
        {
            weight = weight.saturating_add(re.weight);
            // The first that is too much is the last that is looked at.
            if weight > RE_WEIGHT_MAX {
                let what = format!(
                    "all re up to {:?} weigh {weight}: at most {RE_WEIGHT_MAX} are allowed for one template",
                    re.as_str()
                );
                let hint = "name ranges such as [0-9A-Z] in place of \\w, and repeat them less";
                return Err(TemplateError::new(draft.part.column, what).hint(hint));
            }
        }
        drafts.push(draft);
    }
    resolve::template(text, drafts)
}

fn draft(token: Token) -> Result<Draft, TemplateError> {
    let (column, kind, args) = match token {
        Token::Text { column, text } => return Ok(Draft::plain(column, None, Kind::Text(text))),
        Token::Part { column, kind, args } => (column, kind, args),
    };
    let mut args = Args::new(column, &kind, args)?;
    let id = args.take("id").map(|id| id.value);
    let mut draft = match kind.as_str() {
        "seq" | "bean" => seq::draft(&mut args, &kind),
        "key" | "ownerKey" => key(&mut args, &kind),
        "ctx" | "var" => ctx::draft(&mut args),
        "date" => date::draft(&mut args),
        "check" => derived::check(&mut args),
        "fn" => derived::call(&mut args, None),
        class if is_class(class) => derived::call(&mut args, Some(class)),
        other => {
            let what = format!("{other:?} is no kind of part: {} are allowed", KINDS[..6].join(", "));
            return Err(TemplateError::new(column, what).hint(meant(other)));
        }
    }?;
    draft.part.id = id.or(draft.part.id);
    args.finish()?;
    Ok(draft)
}

/// Words that people try for a part, and what it is called.
const MEANT: [(&str, &str); 19] = [
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

/// The part that an unknown word was probably meant for, as a hint; a name that nobody would guess may be a value's.
fn meant(word: &str) -> String {
    if let Some((_, part)) = MEANT.iter().find(|(other, _)| *other == word) {
        return format!("did you mean {part}?");
    }
    match nearest(word, &KINDS) {
        hint if hint.is_empty() => {
            format!("did you mean seq, for the number? A value by the caller is @{{ctx,{word}}}")
        }
        hint => hint,
    }
}

/// Names of classes, as older rule engines write them.
fn is_class(kind: &str) -> bool {
    let words = kind.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$'));
    words && (kind.starts_with(|c: char| c.is_ascii_uppercase()) || kind.contains('.'))
}

/// `@{key,TEXT}`, `@{ownerKey,value=TEXT}`: an owner's key, shown as it is.
fn key(args: &mut Args, kind: &str) -> Result<Draft, TemplateError> {
    let example = if kind == "key" { "@{key,SN}" } else { "@{ownerKey,value=SN}" };
    let text = match args.take("value") {
        Some(text) => text,
        None => args.needed("text", example)?,
    };
    if text.value.is_empty() || !text.value.chars().all(|c| c == ' ' || Letters::is_visible(c)) {
        return Err(text.fault("text", "visible characters are allowed, one at least"));
    }
    Ok(Draft::plain(args.column, None, Kind::Text(text.value)))
}

impl Draft {
    fn plain(column: usize, id: Option<String>, kind: Kind) -> Self {
        Self { part: Part { column, id, kind }, inputs: None, zone: None, fiscal: None }
    }
}
