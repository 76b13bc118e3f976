//! The shape of every part, derived ones after what they are made from; and whether they can be made at all.

use crate::{
    Fault, Function, Registry, Settings, Template,
    check::Algorithm,
    letters::Letters,
    numbering::Numbering,
    parse::nearest,
    prove::claim::missing,
    shape::Shape,
    template::{Call, Check, Ctx, Kind, Part, Seq},
};

/// The functions that parts name.
pub(super) fn functions(
    template: &Template,
    registry: &Registry,
    faults: &mut Vec<Fault>,
) -> Vec<Option<Function>> {
    let function = |part: &Part| match &part.kind {
        Kind::Call(call) => defined(part, call, registry).map_err(|fault| faults.push(fault)).ok(),
        _ => None,
    };
    template.parts.iter().map(function).collect()
}

fn defined(part: &Part, call: &Call, registry: &Registry) -> Result<Function, Fault> {
    match registry.define(&call.function, &call.args) {
        Some(Ok(function)) => Ok(function),
        Some(Err(what)) => {
            Err(missing(part.column, format!("fn {}: {what}", call.function), "change the argument"))
        }
        None => {
            let names: Vec<&str> = registry.names().collect();
            let what = format!("fn {} is not registered: {} are", call.function, names.join(", "));
            let mend = match nearest(&call.function, &names) {
                hint if hint.is_empty() => "register it when the program is built".to_owned(),
                hint => hint,
            };
            Err(missing(part.column, what, &mend))
        }
    }
}

/// The shapes of all parts, in the order of the template.
pub(super) fn of(
    template: &Template,
    settings: &Settings,
    numbering: &Numbering,
    functions: &[Option<Function>],
    faults: &mut Vec<Fault>,
) -> Vec<Shape> {
    let allowed = charset(&settings.charset, faults);
    let mut shapes: Vec<Shape> = template
        .parts
        .iter()
        .map(|part| match &part.kind {
            Kind::Text(text) => {
                let count = text.chars().count();
                Shape::new(count, count, Letters::of(text))
            }
            Kind::Seq(seq) => number(seq, numbering),
            Kind::Ctx(ctx) => value(part, ctx, allowed.as_ref(), faults),
            Kind::Date(date) => {
                Shape::new(date.pattern.width(), date.pattern.width(), date.pattern.letters())
            }
            Kind::Check(_) | Kind::Call(_) => Shape::hidden(),
        })
        .collect();
    let straight = straight(template);
    for &at in &template.derived {
        let part = &template.parts[at];
        shapes[at] = match (&part.kind, &functions[at]) {
            (Kind::Check(check), _) => checked(template, part, check, at, &shapes, faults),
            (_, Some(function)) => called(part, function, straight[at], faults),
            _ => Shape::hidden(), // its fault is told already
        };
    }
    if let Some(allowed) = allowed {
        within(template, &shapes, &allowed, faults);
    }
    shapes
}

fn charset(written: &str, faults: &mut Vec<Fault>) -> Option<Letters> {
    if written.is_empty() {
        return None;
    }
    let class = Letters::class(&format!("[{written}]"));
    if class.is_none() {
        let what = format!("charset is {written:?}: characters and ranges such as A-Z0-9/- are allowed");
        faults.push(missing(1, what, "write a hyphen last"));
    }
    class
}

fn number(seq: &Seq, numbering: &Numbering) -> Shape {
    let mut letters = Letters::of(seq.digits.as_str());
    let padding = [seq.pad];
    letters.add(&Letters::of(std::str::from_utf8(&padding).unwrap_or_default()));
    Shape::new(seq.width, numbering.width_max(), letters)
}

/// A value's shape; what the charset forbids is refused when the value is given.
fn value(part: &Part, ctx: &Ctx, allowed: Option<&Letters>, faults: &mut Vec<Fault>) -> Shape {
    if !ctx.show {
        return Shape::hidden();
    }
    let letters = match allowed {
        Some(allowed) if ctx.map.is_none() => ctx.letters.shared(allowed),
        _ => ctx.letters.clone(),
    };
    if ctx.chars_min > ctx.chars_max || (letters.is_empty() && ctx.chars_max > 0) {
        let what =
            format!("ctx {} can have no value: re, len, max and charset contradict each other", ctx.name);
        faults.push(missing(part.column, what, "widen one of them"));
    }
    Shape::new(ctx.chars_min, ctx.chars_max, letters)
}

/// How many characters of a body an algorithm will read, at least and at most.
fn read_of(algorithm: &dyn Algorithm, inputs: &[usize], shapes: &[Shape]) -> (usize, usize) {
    let alphabet = Letters::of(algorithm.body());
    inputs.iter().map(|at| &shapes[*at]).fold((0, 0), |(low, high), shape| {
        let (all, none) =
            (shape.letters.without(&alphabet).is_empty(), shape.letters.shared(&alphabet).is_empty());
        (low + if all { shape.min } else { 0 }, high + if none { 0 } else { shape.max })
    })
}

/// Texts are known to the character, which matters where a body must have one length.
fn literal_count(algorithm: &dyn Algorithm, template: &Template, inputs: &[usize]) -> (usize, usize) {
    let texts = inputs.iter().filter_map(|at| match &template.parts[*at].kind {
        Kind::Text(text) => Some(text),
        _ => None,
    });
    let counts = texts.map(|text| {
        let read = text.chars().filter(|c| algorithm.body().contains(*c)).count();
        let mixed = read > 0 && read < text.chars().count();
        if mixed { (read, text.chars().count() - read) } else { (0, 0) }
    });
    counts.fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1))
}

fn checked(
    template: &Template,
    part: &Part,
    check: &Check,
    at: usize,
    shapes: &[Shape],
    faults: &mut Vec<Fault>,
) -> Shape {
    let algorithm = &*check.algorithm;
    let inputs = check.inputs.places(at);
    let (low, high) = read_of(algorithm, &inputs, shapes);
    let (more, less) = literal_count(algorithm, template, &inputs);
    let (low, high) = (low + more, high - less);
    match algorithm.body_length() {
        Some(length) if (low, high) != (length, length) => {
            let found = if low == high { format!("{low}") } else { format!("{low} to {high}") };
            let what =
                format!("check {} is over {length} characters, here there are {found}", algorithm.name());
            faults.push(missing(part.column, what, "name its input with over=, and fix its length"));
        }
        None if low == 0 => {
            let what = format!(
                "check {} may have nothing to check: it reads {}",
                algorithm.name(),
                algorithm.body()
            );
            faults.push(missing(part.column, what, "put it after its input, or name the input with over="));
        }
        _ => {}
    }
    Shape::new(algorithm.length(), algorithm.length(), Letters::of(algorithm.characters()))
}

fn called(part: &Part, function: &Function, straight: bool, faults: &mut Vec<Fault>) -> Shape {
    let letters = Letters::class(&format!("[{}]", function.letters));
    let Some(letters) = letters.filter(|_| function.chars.end() >= function.chars.start()) else {
        let what = format!(
            "{} promises [{}], {:?}: that is nothing",
            part.label(),
            function.letters,
            function.chars
        );
        faults.push(missing(part.column, what, "mend the function"));
        return Shape::hidden();
    };
    let shape = Shape::new(*function.chars.start(), *function.chars.end(), letters);
    if !straight && (shape.varies() || shape.letters.bytes_max() > 1) {
        let what = format!("{} stands before what it is made from, and its length varies", part.label());
        faults.push(missing(part.column, what, "put it after its input"));
    }
    shape
}

/// Which parts can be made when they are reached from the left: those that read only such parts, all before them.
pub(crate) fn straight(template: &Template) -> Vec<bool> {
    let mut straight = vec![true; template.parts.len()];
    for &at in &template.derived {
        let inputs = template.parts[at].inputs().map(|inputs| inputs.places(at)).unwrap_or_default();
        straight[at] = inputs.into_iter().all(|input| input < at && straight[input]);
    }
    straight
}

/// Nothing that a text may hold is outside the charset.
fn within(template: &Template, shapes: &[Shape], allowed: &Letters, faults: &mut Vec<Fault>) {
    for (part, shape) in template.parts.iter().zip(shapes) {
        let foreign = shape.letters.without(allowed);
        if let Some(c) = foreign.example() {
            let what = format!("{} may hold {c:?}, which the charset does not allow", part.label());
            faults.push(missing(part.column, what, "allow it, or change the part"));
        }
    }
}
