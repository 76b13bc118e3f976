//! What must hold of any template and of any text, for the fuzz targets and for the test `fuzzing`, which runs the same
//! without a fuzzer.

use std::sync::LazyLock;

use sequent_format::{Counter, Format, Settings, Template, Timestamp, Values};

/// Numbers at the ends of widths, where overflow begins.
const NUMBERS: [u64; 6] = [1, 9, 10, 99, 1000, i64::MAX as u64];

/// Values that a template's words may take, tried in turn; a date among them, for those that want one.
const VALUES: [&str; 4] = ["7", "AB", "0001", "2026-04-01"];

/// Templates that texts are held against.
const TEMPLATES: [&str; 7] = [
    "@{date,yyyyMMdd}@{seq,w=5}",
    "@{ctx,a,re=[A-Z]+}-@{date,FS-FE,fy=04-01}-@{seq,w=4}@{check,mod37-36}",
    "@{ctx,a,re=[0-9]*}/@{ctx,b,re=[0-9A-Z]*}-@{seq}@{date,yyyyDDDHH}",
    "C@{seq,id=c,w=4,radix=32c}@{check,crockford,over=c}",
    "RF@{check,rf,over=n}@{seq,id=n,w=12}",
    "@{ctx,a,map=AC:京;BO:上海}@{date,GGGG-'W'WW}@{seq,w=3,pad=*}",
    "@{ctx,win,len=1}@{seq,queue,w=3,over=wrap,reuse_after=1d,reset=day}@{fn,last,n=2,over=left}",
];

static FORMATS: LazyLock<Vec<Format>> = LazyLock::new(|| {
    let proven = |text| {
        let settings = Settings { unique: sequent_format::Unique::Period, ..Settings::default() };
        Template::parse(text).expect("it is read").prove(&settings).expect("it is proven")
    };
    TEMPLATES.map(proven).into()
});

/// Any text as a template: read and proven, or refused, without a panic or a runaway. What is accepted renders, and what
/// it renders reads back. Returns what became of it, `Err` where it was refused: inputs with other words are worth more tries.
pub fn template(text: &str) -> Result<String, String> {
    let template = match Template::parse(text) {
        Ok(template) => template,
        Err(error) => {
            assert!(error.column >= 1 && error.column <= text.chars().count() + 1, "{error}");
            return Err(error.to_string());
        }
    };
    let format = match template.prove(&Settings::default()) {
        Ok(format) => format,
        Err(error) => return Err(error.to_string()),
    };
    let mut became = String::new();
    for shift in 0..VALUES.len() {
        let names = template.values().into_iter().enumerate();
        let values: Values = names.map(|(at, name)| (name, VALUES[(at + shift) % VALUES.len()])).collect();
        match format.issue(Timestamp::UNIX_EPOCH, &values) {
            Ok(issue) => NUMBERS.iter().for_each(|number| rendered(&format, &issue, *number, &mut became)),
            Err(error) => became.push_str(&error.to_string()),
        }
    }
    Ok(became)
}

/// A number's text reads back, and a text that is nearly one is read or refused.
fn rendered(format: &Format, issue: &sequent_format::Issue, number: u64, became: &mut String) {
    // One that the counter gives: others are nobody's.
    let Counter { start, step, .. } = format.counter();
    let number = start + number.saturating_sub(start) / step * step;
    let text = match issue.text(number) {
        Ok(text) => text,
        Err(error) => return became.push_str(&error.to_string()),
    };
    let parsed = format.invert(&text).expect("what was rendered reads back");
    let same = format.counter().wrap.is_some() || parsed.number == number;
    assert!(same && parsed.text == text, "{text:?}: {parsed:?}");
    let middle = (0..=text.len() / 2).rev().find(|cut| text.is_char_boundary(*cut)).unwrap_or(0);
    let (left, right) = text.split_at(middle);
    for near in [format!("{left}9{right}"), format!("{right}{left}"), left.to_owned()] {
        reads_back(format, &near);
    }
}

/// Any text under some templates: read, or refused, without a panic or a runaway. What is read is the template's own
/// spelling of it. Returns what became of it, as [`template`] does.
pub fn text(text: &str) -> Result<String, String> {
    let became: Vec<String> = FORMATS.iter().map(|format| reads_back(format, text)).collect();
    let words = became.join("\n");
    if became.iter().any(String::is_empty) { Ok(words) } else { Err(words) }
}

/// What is wrong with a text; empty where it was read.
fn reads_back(format: &Format, text: &str) -> String {
    match format.invert(text) {
        // Readers of Crockford's digits may write O for 0: the text that is given back is the template's own.
        Ok(parsed) => {
            let again = format.invert(&parsed.text).expect("its own spelling reads back");
            assert_eq!(again, parsed, "{text:?}");
            String::new()
        }
        Err(error) => error.to_string(),
    }
}
