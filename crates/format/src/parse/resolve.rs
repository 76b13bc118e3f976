//! What concerns a template as a whole: one number, one zone, one fiscal year, names, and who is made from whom.

use crate::{
    TemplateError,
    date::MonthDay,
    parse::{Draft, Placed, nearest},
    template::{Inputs, Kind, Part, Template},
};

pub(super) fn template(text: &str, mut drafts: Vec<Draft>) -> Result<Template, TemplateError> {
    let seq = the_number(&drafts)?;
    // A label is for people: it names the part only where nothing else is called so.
    let label = drafts[seq].part.id.clone();
    if drafts.iter().filter(|draft| draft.part.id == label).count() > 1 && is_label(&drafts[seq].part) {
        drafts[seq].part.id = None;
    }
    names_once(&drafts)?;
    let zone = the_same("tz", drafts.iter().filter_map(|draft| draft.zone.as_ref()))?;
    one_fiscal_year_each(&mut drafts)?;
    let inputs: Result<Vec<Option<Inputs>>, TemplateError> = drafts
        .iter()
        .map(|draft| draft.inputs.as_ref().map(|over| inputs(over, &drafts)).transpose())
        .collect();
    let inputs = inputs?;
    let mut parts: Vec<Part> = drafts.into_iter().map(|draft| draft.part).collect();
    for (part, inputs) in parts.iter_mut().zip(inputs) {
        match (&mut part.kind, inputs) {
            (Kind::Check(check), Some(inputs)) => check.inputs = inputs,
            (Kind::Call(call), Some(inputs)) => call.inputs = inputs,
            _ => {}
        }
    }
    let derived = in_order(&parts)?;
    Ok(Template::new(text, parts, seq, derived, zone.map(|zone| zone.value)))
}

/// The place of the one `seq`.
fn the_number(drafts: &[Draft]) -> Result<usize, TemplateError> {
    let mut places = (0..drafts.len()).filter(|at| matches!(drafts[*at].part.kind, Kind::Seq(_)));
    let first = places.next().ok_or_else(|| {
        TemplateError::new(1, "template has no seq: all its texts would be alike").hint("add @{seq,w=6}")
    })?;
    match places.next() {
        None => Ok(first),
        Some(second) => Err(TemplateError::new(drafts[second].part.column, "template has a second seq")
            .hint("a definition has one counter: keep one seq")),
    }
}

fn is_label(part: &Part) -> bool {
    matches!(&part.kind, Kind::Seq(seq) if seq.label == part.id)
}

/// An id, and a value's name in a `ctx`, belong to one part.
fn names_once(drafts: &[Draft]) -> Result<(), TemplateError> {
    for (at, draft) in drafts.iter().enumerate() {
        for other in &drafts[..at] {
            let (one, two) = (&draft.part, &other.part);
            if one.id.is_some() && one.id == two.id {
                let what = format!("id {:?} is given twice", one.id.as_deref().unwrap_or_default());
                return Err(TemplateError::new(one.column, what).hint("give one of them an id= of its own"));
            }
            if let (Kind::Ctx(one), Kind::Ctx(two)) = (&one.kind, &two.kind)
                && one.name == two.name
            {
                let what = format!("ctx {:?} is given twice", one.name);
                return Err(TemplateError::new(draft.part.column, what).hint("a value is shown once"));
            }
            // A caller's date may be shown by several parts, but one name can't be a text and a date at once.
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

/// One instant, one zone, one fiscal year a request: parts that name one must agree.
fn the_same<'a>(
    field: &str,
    given: impl Iterator<Item = &'a Placed<String>>,
) -> Result<Option<Placed<String>>, TemplateError> {
    let mut first: Option<&Placed<String>> = None;
    for placed in given {
        match first {
            Some(before) if before.value != placed.value => {
                return Err(placed
                    .fault(field, format!("another part says {}", before.value))
                    .hint("a template has one: period and text come from the same clock"));
            }
            _ => first = Some(placed),
        }
    }
    Ok(first.cloned())
}

/// All that shows one date counts fiscal years alike: the parts of the instant of issue with the number, and those of each
/// date by a caller.
fn one_fiscal_year_each(drafts: &mut [Draft]) -> Result<(), TemplateError> {
    let mut dates: Vec<Option<String>> = drafts.iter().map(date_of).collect();
    dates.sort();
    dates.dedup();
    for date in dates {
        let of_it = |draft: &&Draft| date_of(draft) == date;
        let named = drafts.iter().filter(of_it).filter_map(|draft| draft.fiscal.as_ref());
        let Some(fiscal) = the_same("fy", named)? else { continue };
        let first = MonthDay::parse(&fiscal.value);
        let first = first.ok_or_else(|| fiscal.fault("fy", "MM-DD is allowed, but not 02-29"))?;
        for draft in drafts.iter_mut().filter(|draft| date_of(draft) == date) {
            match &mut draft.part.kind {
                Kind::Date(date) => date.pattern.fiscal = first,
                Kind::Seq(seq) => seq.fiscal = Some(first),
                _ => {}
            }
        }
    }
    Ok(())
}

/// Which date a part is about: a caller's, by its name, or that of issue.
fn date_of(draft: &Draft) -> Option<String> {
    match &draft.part.kind {
        Kind::Date(date) => date.at.clone(),
        _ => None,
    }
}

/// The places that `over=a+b` names, each once: what is read twice takes a check's promise away, since a slip in it counts
/// twice and may undo itself.
fn inputs(over: &Placed<String>, drafts: &[Draft]) -> Result<Inputs, TemplateError> {
    let mut places = Vec::new();
    for name in over.value.split('+').map(str::trim) {
        let at = place(over, name, drafts)?;
        if places.contains(&at) {
            let twice = over.fault("over", format!("{name:?} is named twice, which hides slips in it"));
            return Err(twice.hint("name each part once"));
        }
        places.push(at);
    }
    Ok(Inputs::Parts(places))
}

/// The place of the part that `over=` calls so.
fn place(over: &Placed<String>, name: &str, drafts: &[Draft]) -> Result<usize, TemplateError> {
    let at = drafts.iter().position(|draft| draft.part.id.as_deref() == Some(name));
    at.ok_or_else(|| {
        let ids: Vec<&str> = drafts.iter().filter_map(|draft| draft.part.id.as_deref()).collect();
        let known = if ids.is_empty() { "none has an id".to_owned() } else { ids.join(", ") };
        over.fault("over", format!("no part is called {name:?} (left, or of: {known})"))
            .hint(nearest(name, &ids))
    })
}

/// Derived parts, each after those it reads.
fn in_order(parts: &[Part]) -> Result<Vec<usize>, TemplateError> {
    let mut left: Vec<usize> = (0..parts.len()).filter(|at| parts[*at].inputs().is_some()).collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        let ready = left.iter().position(|at| {
            let inputs = parts[*at].inputs().map(|inputs| inputs.places(*at)).unwrap_or_default();
            inputs.iter().all(|input| !left.contains(input))
        });
        let Some(ready) = ready else {
            let at = left[0];
            let what = format!("{} is made from itself, by way of others", parts[at].label());
            return Err(TemplateError::new(parts[at].column, what).hint("break the circle: change an over="));
        };
        order.push(left.remove(ready));
    }
    Ok(order)
}
