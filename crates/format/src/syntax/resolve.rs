//! Checks of the template as a whole: one `seq`, one zone, one fiscal year, unique names, and references between parts.

use crate::{
    date::MonthDay,
    error::TemplateError,
    template::{Inputs, Kind, Part, Placed, Template},
};

use super::{derived::NUMBER, parsed_part::ParsedPart, suggest::did_you_mean};

pub(super) fn template(text: &str, mut parsed: Vec<ParsedPart>) -> Result<Template, TemplateError> {
    let seq = find_seq(&parsed)?;
    // A label of `seq` is an id only if no other part has that id.
    let label = parsed[seq].part.id.clone();
    if parsed.iter().filter(|item| item.part.id == label).count() > 1 && is_label(&parsed[seq].part) {
        parsed[seq].part.id = None;
    }
    check_unique_names(&parsed)?;
    let zone = single_value("tz", parsed.iter().filter_map(|item| item.zone.as_ref()))?;
    unify_fiscal_years(&mut parsed)?;
    let inputs: Result<Vec<Option<Inputs>>, TemplateError> = parsed
        .iter()
        .map(|item| item.inputs.as_ref().map(|over| inputs(over, &parsed)).transpose())
        .collect();
    let inputs = inputs?;
    let mut parts: Vec<Part> = parsed.into_iter().map(|item| item.part).collect();
    for (part, inputs) in parts.iter_mut().zip(inputs) {
        match (&mut part.kind, inputs) {
            (Kind::Check(check), Some(inputs)) => check.inputs = inputs,
            (Kind::Call(call), Some(inputs)) => call.inputs = inputs,
            _ => {}
        }
    }
    let derived = dependency_order(&parts)?;
    Ok(Template { text: text.to_owned(), parts, seq, derived, zone: zone.map(|zone| zone.value) })
}

/// The index of the one `seq`.
fn find_seq(parsed: &[ParsedPart]) -> Result<usize, TemplateError> {
    let mut places = (0..parsed.len()).filter(|at| matches!(parsed[*at].part.kind, Kind::Seq(_)));
    let first = places.next().ok_or_else(|| {
        TemplateError::new(1, "template has no seq: all its texts would be equal").hint("add @{seq,w=6}")
    })?;
    match places.next() {
        None => Ok(first),
        Some(second) => Err(TemplateError::new(parsed[second].part.column, "template has a second seq")
            .hint("a definition has one counter: keep one seq")),
    }
}

fn is_label(part: &Part) -> bool {
    matches!(&part.kind, Kind::Seq(seq) if seq.label == part.id)
}

/// Checks that ids, and names of `ctx` values, are unique.
fn check_unique_names(parsed: &[ParsedPart]) -> Result<(), TemplateError> {
    for (at, item) in parsed.iter().enumerate() {
        for other in &parsed[..at] {
            let (one, two) = (&item.part, &other.part);
            if one.id.is_some() && one.id == two.id {
                let what = format!("id {:?} is given twice", one.id.as_deref().unwrap_or_default());
                return Err(TemplateError::new(one.column, what).hint("give one of them an id= of its own"));
            }
            if let (Kind::Ctx(one), Kind::Ctx(two)) = (&one.kind, &two.kind)
                && one.name == two.name
            {
                let what = format!("ctx {:?} is given twice", one.name);
                return Err(TemplateError::new(item.part.column, what).hint("a value is shown once"));
            }
            // Several parts may show one date of the caller, but a name cannot be a text and a date at once.
            let mixed = matches!(
                (&one.kind, &two.kind),
                (Kind::Ctx(_), Kind::Date(_)) | (Kind::Date(_), Kind::Ctx(_))
            );
            if let Some(name) = one.value_name().filter(|name| mixed && two.value_name() == Some(*name)) {
                let what =
                    format!("{name:?} names a ctx and a date: the caller gives one value under a name");
                return Err(TemplateError::new(one.column, what).hint("give one of them another name"));
            }
        }
    }
    Ok(())
}

/// The value of an argument that a template has once. Parts that name it must agree.
fn single_value<'a>(
    field: &str,
    given: impl Iterator<Item = &'a Placed<String>>,
) -> Result<Option<Placed<String>>, TemplateError> {
    let mut first: Option<&Placed<String>> = None;
    for placed in given {
        match first {
            Some(before) if before.value != placed.value => {
                return Err(placed
                    .error(field, format!("another part says {}", before.value))
                    .hint("a template has one: period and text come from the same clock"));
            }
            _ => first = Some(placed),
        }
    }
    Ok(first.cloned())
}

/// Sets one fiscal year for all parts of one date: the parts of the instant of issue together with `seq`, and the parts of each
/// date by a caller.
fn unify_fiscal_years(parsed: &mut [ParsedPart]) -> Result<(), TemplateError> {
    let mut dates: Vec<Option<String>> = parsed.iter().map(date_of).collect();
    dates.sort();
    dates.dedup();
    for date in dates {
        let of_it = |item: &&ParsedPart| date_of(item) == date;
        let named = parsed.iter().filter(of_it).filter_map(|item| item.fiscal.as_ref());
        let Some(fiscal) = single_value("fy", named)? else { continue };
        let first = MonthDay::parse(&fiscal.value);
        let first = first.ok_or_else(|| fiscal.error("fy", "MM-DD is allowed, but not 02-29"))?;
        for item in parsed.iter_mut().filter(|item| date_of(item) == date) {
            match &mut item.part.kind {
                Kind::Date(date) => date.pattern.fiscal = first,
                Kind::Seq(seq) => seq.fiscal = Some(first),
                _ => {}
            }
        }
    }
    Ok(())
}

/// The date of a part: the name of a caller's date, or `None` for the instant of issue.
fn date_of(item: &ParsedPart) -> Option<String> {
    match &item.part.kind {
        Kind::Date(date) => date.at.clone(),
        _ => None,
    }
}

/// The parts that `over=a+b` names, each at most once. An error in a part that is read twice counts twice and may cancel out, so
/// the check would miss it.
fn inputs(over: &Placed<String>, parsed: &[ParsedPart]) -> Result<Inputs, TemplateError> {
    let mut indexes = Vec::new();
    for name in over.value.split('+').map(str::trim) {
        let at = index_of(over, name, parsed)?;
        if indexes.contains(&at) {
            let twice = over.error("over", format!("{name:?} is named twice, which hides errors in it"));
            return Err(twice.hint("name each part once"));
        }
        indexes.push(at);
    }
    Ok(Inputs::Parts(indexes))
}

/// The index of the part that `over=` names.
fn index_of(over: &Placed<String>, name: &str, parsed: &[ParsedPart]) -> Result<usize, TemplateError> {
    let by_id = parsed.iter().position(|item| item.part.id.as_deref() == Some(name));
    let number = |item: &ParsedPart| name == NUMBER && matches!(item.part.kind, Kind::Seq(_));
    let at = by_id.or_else(|| parsed.iter().position(number));
    at.ok_or_else(|| {
        let ids: Vec<&str> = parsed.iter().filter_map(|item| item.part.id.as_deref()).collect();
        let known = if ids.is_empty() { "none has an id".to_owned() } else { ids.join(", ") };
        over.error("over", format!("no part is called {name:?} (left, seq, or of: {known})"))
            .hint(did_you_mean(name, &ids))
    })
}

/// The indexes of derived parts, each after the parts that it reads.
fn dependency_order(parts: &[Part]) -> Result<Vec<usize>, TemplateError> {
    let mut left: Vec<usize> = (0..parts.len()).filter(|at| parts[*at].inputs().is_some()).collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        let ready = left.iter().position(|at| {
            let inputs = parts[*at].inputs().map(|inputs| inputs.indexes(*at)).unwrap_or_default();
            inputs.iter().all(|input| !left.contains(input))
        });
        let Some(ready) = ready else {
            let at = left[0];
            let what = format!("{} depends on itself through other parts", parts[at].label());
            return Err(TemplateError::new(parts[at].column, what).hint("break the cycle: change an over="));
        };
        order.push(left.remove(ready));
    }
    Ok(order)
}
