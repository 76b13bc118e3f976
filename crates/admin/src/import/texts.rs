//! Texts of other systems as templates.

use super::{OldCounter, OldTexts, shapes::Record};

/// The widest index.
const WIDTH_MAX: i128 = 64;

/// The dates of the seed's table, and the patterns of the same dates here.
const DATES: [(&str, &str); 6] = [
    ("", ""),
    ("yyyy", "yyyy"),
    ("yymm", "yyMM"),
    ("yyyymm", "yyyyMM"),
    ("yymmdd", "yyMMdd"),
    ("yyyymmdd", "yyyyMMdd"),
];

/// A row with prefix, date, infix, index and suffix.
pub(super) fn numbered(record: &Record<'_>, counter: OldCounter) -> OldCounter {
    let texts = texts_of(record);
    let (texts, fault) = match texts {
        Ok(texts) => (Some(texts), None),
        Err(fault) => (None, Some(fault)),
    };
    OldCounter { next: fault.map_or(counter.next, Err), texts, ..counter }
}

fn texts_of(record: &Record<'_>) -> Result<OldTexts, String> {
    let date_type = record.text("datetype").trim().to_ascii_lowercase();
    let known = DATES.iter().find(|(found, _)| *found == date_type);
    let (_, pattern) = known.ok_or_else(|| {
        let shown = record.shown("datetype");
        format!("datetype is {shown}: yyyy, yymm, yyyymm, yymmdd, yyyymmdd, or nothing is expected")
    })?;
    let width = record.number("indexlength")?;
    if !(1..=WIDTH_MAX).contains(&width) {
        return Err(format!("indexlength is {width}: 1 to {WIDTH_MAX} are allowed"));
    }
    let literal = |column| literal(column, record.text(column));
    let date = if pattern.is_empty() { String::new() } else { format!("@{{date,{pattern}}}") };
    let template =
        format!("{}{date}{}@{{seq,w={width}}}{}", literal("prefix")?, literal("infix")?, literal("suffix")?);
    let date = record.text("maxdate").trim();
    if !pattern.is_empty() && date.is_empty() && record.number("maxindex")? > 0 {
        let (date, index) = (record.shown("maxdate"), record.text("maxindex"));
        return Err(format!(
            "maxdate is {date}, and maxindex is {index}: the date of a counter that gave numbers is expected"
        ));
    }
    Ok(OldTexts { template, resets: !pattern.is_empty(), period: period(pattern, date)? })
}

/// The period of a date: with the century, which two digits leave out.
fn period(pattern: &str, date: &str) -> Result<Option<String>, String> {
    if pattern.is_empty() || date.is_empty() {
        return Ok(None);
    }
    if date.len() != pattern.len() || !date.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("maxdate is {date:?}: a date as {pattern} is expected"));
    }
    let century = if pattern.starts_with("yyyy") { "" } else { "20" };
    Ok(Some(format!("{century}{date}")))
}

/// A rule in a hash: `pre`, the date if `needTime` says so, and the number, which no date resets.
pub(super) fn rule(record: &Record<'_>, counter: OldCounter) -> OldCounter {
    let parts = needs_date(record).and_then(|needs| Ok((needs, literal("pre", record.text("pre"))?)));
    match parts {
        Ok((needs, pre)) => {
            let (date, reset) = if needs { ("@{date,yyyyMMdd}", ",reset=never") } else { ("", "") };
            let template = format!("{pre}{date}@{{seq{reset}}}");
            OldCounter { texts: Some(OldTexts { template, resets: false, period: None }), ..counter }
        }
        Err(fault) => OldCounter { next: Err(fault), ..counter },
    }
}

/// Whether the texts of a rule have a date.
fn needs_date(record: &Record<'_>) -> Result<bool, String> {
    match record.text("needtime").to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" | "" => Ok(false),
        _ => Err(format!("needTime is {}: true or false is expected", record.shown("needtime"))),
    }
}

/// Text that a template shows as it is.
fn literal<'a>(column: &str, text: &'a str) -> Result<&'a str, String> {
    if text.contains('@') {
        return Err(format!("{column} is {text:?}: an @ can't be taken over into a template"));
    }
    // Readers put it in place of such bytes.
    if text.contains('\u{fffd}') {
        return Err(format!("{column} is {text:?}: it has bytes that are not UTF-8"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use crate::import::shapes::tests::{read, table};

    const COLUMNS: &str = "code prefix datetype infix indexlength suffix maxdate maxindex";

    #[test]
    fn prefix_date_infix_index_and_suffix_become_a_template() {
        let cases = [
            (["T1", "P", "yyyy", "", "8", "", "2026", "12"], "P@{date,yyyy}@{seq,w=8}", Some("2026")),
            (
                ["T2", "", "yymmdd", "M", "6", "", "260305", "7"],
                "@{date,yyMMdd}M@{seq,w=6}",
                Some("20260305"),
            ),
            (["T3", "P", "yymmdd", "M", "6", "S", "NULL", "0"], "P@{date,yyMMdd}M@{seq,w=6}S", None),
            (["T4", "Q", "", "", "4", "", "", "9"], "Q@{seq,w=4}", None),
        ];
        for (row, template, period) in cases {
            let counter = read(&[table("sequencenumber", COLUMNS, &[&row])]).remove(0);
            let texts = counter.texts.unwrap();
            assert_eq!((texts.template.as_str(), texts.period.as_deref()), (template, period));
            assert_eq!(counter.next, Ok(row[7].parse::<u64>().unwrap() + 1));
        }
    }

    #[test]
    fn a_date_that_is_not_known_is_refused() {
        let row = ["T1", "P", "yyy", "", "8", "", "026", "12"];
        let fault = read(&[table("sequencenumber", COLUMNS, &[&row])]).remove(0).next.unwrap_err();
        assert!(fault.starts_with("datetype is \"yyy\": yyyy, "), "{fault}");
        let row = ["T1", "P", "yymm", "", "8", "", "202603", "12"];
        let fault = read(&[table("sequencenumber", COLUMNS, &[&row])]).remove(0).next.unwrap_err();
        assert_eq!(fault, "maxdate is \"202603\": a date as yyMM is expected");
    }

    #[test]
    fn a_counter_that_gave_numbers_has_a_date() {
        let row = ["T1", "P", "yymmdd", "M", "6", "S", "NULL", "41"];
        let fault = read(&[table("sequencenumber", COLUMNS, &[&row])]).remove(0).next.unwrap_err();
        let expected =
            "maxdate is NULL, and maxindex is 41: the date of a counter that gave numbers is expected";
        assert_eq!(fault, expected);
    }

    #[test]
    fn a_text_that_was_not_utf8_is_refused() {
        let row = ["T1", "P\u{fffd}", "", "", "8", "", "", "12"];
        let fault = read(&[table("sequencenumber", COLUMNS, &[&row])]).remove(0).next.unwrap_err();
        assert_eq!(fault, "prefix is \"P\u{fffd}\": it has bytes that are not UTF-8");
    }

    #[test]
    fn a_rule_counts_above_its_base() {
        let rule =
            table("rule:sto", "key base cur needtime pre", &[&["rule:sto", "100000", "42", "true", "QJ"]]);
        let counter = read(&[rule]).remove(0);
        assert_eq!(counter.next, Ok(100_043));
        assert_eq!(counter.texts.unwrap().template, "QJ@{date,yyyyMMdd}@{seq,reset=never}");
    }
}
