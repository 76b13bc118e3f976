//! The tables of templates.md: each row is a test.

use sequent_format::{ObfuscationKey, Placement, Settings, Template, Unique, Values};

use crate::support::{SHANGHAI, with, zone};

const PAGE: &str = include_str!("../../templates.md");

/// A row: template, request, text.
fn row(line: &str) -> Option<[&str; 3]> {
    let number = line.strip_prefix("| ")?.split(' ').next()?;
    number.parse::<u32>().ok()?;
    let code: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
    code.try_into().ok()
}

/// A request: settings, instant, number, values.
fn request(given: &str) -> (Settings, String, u64, Values) {
    let mut settings = zone(SHANGHAI);
    let (mut day, mut number, mut values) = ("2026-06-15".to_owned(), 0, Values::new());
    for (name, value) in given.split(' ').map(|pair| pair.split_once('=').unwrap()) {
        match name {
            "n" => number = value.parse().unwrap(),
            "at" => day = value.into(),
            "zone" => settings.zone = value.into(),
            "maxlen" => settings.maxlen = value.parse().unwrap(),
            "unique" if value == "period" => settings.unique = Unique::Period,
            "key" => drop(settings.keys.insert(value.to_owned(), nists_key())),
            name => values = values.with(name, value),
        }
    }
    let time = if day.contains('T') { day } else { day + "T12:00" };
    let offset = if settings.zone == SHANGHAI { "+08:00" } else { "+05:30" };
    (settings, format!("{time}:00{offset}"), number, values)
}

fn nists_key() -> ObfuscationKey {
    let bytes = 0x2B7E_1516_28AE_D2A6_ABF7_1588_09CF_4F3C_u128.to_be_bytes();
    ObfuscationKey::new(&bytes).unwrap()
}

#[test]
fn every_row_of_the_page_holds() {
    let rows: Vec<[&str; 3]> = PAGE.lines().filter_map(row).collect();
    assert_eq!(rows.len(), 23);
    for [template, given, text] in rows {
        let (settings, at, number, values) = request(given);
        let format = with(template, settings);
        let context = format.context(at.parse().unwrap(), &values).unwrap();
        assert_eq!(context.text(number).unwrap(), text, "{template}");
        assert_eq!(format.decode(text).unwrap().text, text, "{template}");
    }
}

#[test]
fn every_rule_refuses_its_row_and_accepts_the_fixed_template() {
    let lines: Vec<&str> = PAGE.lines().filter(|line| line.starts_with("| S")).collect();
    assert_eq!(lines.len(), 9);
    for (line, rule) in lines.into_iter().zip(1..) {
        let code: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
        let [refused, since, fixed] = code.try_into().unwrap();
        let mut settings = zone(SHANGHAI);
        settings.keys.insert("k1".to_owned(), nists_key());
        if rule == 8 {
            settings.placement = Placement::Book;
        }
        let fixed = with(fixed, settings.clone());
        let template = Template::parse(refused).unwrap();
        let error = if rule == 9 {
            let before = with("INV-@{seq,w=3}", settings.clone());
            fixed.distinct_from(&before).unwrap();
            with(refused, settings).distinct_from(&before).unwrap_err().to_string()
        } else {
            template.analyze(&settings).unwrap_err().to_string()
        };
        assert!(error.starts_with(&format!("S{rule}, column ")) && error.contains(since), "{line}: {error}");
    }
}

#[test]
fn every_algorithm_is_on_the_page() {
    let error = sequent_format::Template::parse("@{check,none}@{seq}").unwrap_err().what;
    let names = error.split_once(": ").unwrap().1.trim_end_matches(" are allowed");
    for name in names.split(", ") {
        assert!(
            name == "n*9%31%10"
                || PAGE.contains(&format!(" {name} "))
                || PAGE.contains(&format!("`{name} "))
                || PAGE.contains(&format!(" {name}`")),
            "{name}"
        );
    }
}
