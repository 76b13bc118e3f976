//! Properties of any template and any text, for the fuzz targets and for the test `fuzzing`, which runs them without a fuzzer.

use std::sync::LazyLock;

use sequent_format::{CounterSpec, Format, Settings, Template, Timestamp, Values};

/// Numbers at the ends of widths.
const NUMBERS: [u64; 6] = [1, 9, 10, 99, 1000, i64::MAX as u64];

/// Values of requests, tried in turn. One is a date for `date` parts.
const VALUES: [&str; 4] = ["7", "AB", "0001", "2026-04-01"];

/// The templates that decode the texts.
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
    let accepted = |text| {
        let settings = Settings { unique: sequent_format::Unique::Period, ..Settings::default() };
        Template::parse(text).expect("it parses").analyze(&settings).expect("it is accepted")
    };
    TEMPLATES.map(accepted).into()
});

/// Uses any text as a template. It is accepted or refused, without a panic or a hang. An accepted template renders, and its texts
/// decode. Returns the outcome (`Err` if refused): inputs with new messages are mutated further.
pub fn template(text: &str) -> Result<String, String> {
    let template = match Template::parse(text) {
        Ok(template) => template,
        Err(error) => {
            assert!(error.column >= 1 && error.column <= text.chars().count() + 1, "{error}");
            return Err(error.to_string());
        }
    };
    let format = match template.analyze(&Settings::default()) {
        Ok(format) => format,
        Err(error) => return Err(error.to_string()),
    };
    let mut became = String::new();
    for shift in 0..VALUES.len() {
        let names = template.values().into_iter().enumerate();
        let values: Values = names.map(|(at, name)| (name, VALUES[(at + shift) % VALUES.len()])).collect();
        match format.context(Timestamp::UNIX_EPOCH, &values) {
            Ok(context) => {
                for number in NUMBERS {
                    rendered(&format, &context, number, &mut became);
                }
            }
            Err(error) => became.push_str(&error.to_string()),
        }
    }
    Ok(became)
}

/// Checks that the text of a number decodes, and that similar texts are decoded or refused.
fn rendered(format: &Format, context: &sequent_format::RenderContext, number: u64, became: &mut String) {
    // A number that the counter gives: others do not decode.
    let CounterSpec { start, step, .. } = format.counter_spec();
    let number = start + number.saturating_sub(start) / step * step;
    let text = match context.text(number) {
        Ok(text) => text,
        Err(error) => return became.push_str(&error.to_string()),
    };
    let parsed = format.decode(&text).expect("a rendered text decodes");
    let same = format.counter_spec().wrap.is_some() || parsed.number == number;
    assert!(same && parsed.text == text, "{text:?}: {parsed:?}");
    let middle = (0..=text.len() / 2).rev().find(|cut| text.is_char_boundary(*cut)).unwrap_or(0);
    let (left, right) = text.split_at(middle);
    for near in [format!("{left}9{right}"), format!("{right}{left}"), left.to_owned()] {
        reads_back(format, &near);
    }
}

/// Decodes any text with some templates. It is decoded or refused, without a panic or a hang. Returns the outcome as [`template`]
/// does.
pub fn text(text: &str) -> Result<String, String> {
    let became: Vec<String> = FORMATS.iter().map(|format| reads_back(format, text)).collect();
    let words = became.join("\n");
    if became.iter().any(String::is_empty) { Ok(words) } else { Err(words) }
}

/// The error of a text; empty if it decodes.
fn reads_back(format: &Format, text: &str) -> String {
    match format.decode(text) {
        // Crockford's base 32 accepts O for 0; the decoded text has the template's spelling.
        Ok(parsed) => {
            let again = format.decode(&parsed.text).expect("its own spelling decodes");
            assert_eq!(again, parsed, "{text:?}");
            String::new()
        }
        Err(error) => error.to_string(),
    }
}
