//! Infers the shape of every part, derived parts after their inputs, and reports parts that cannot be rendered.

use crate::{
    charset::Charset,
    checksum::Algorithm,
    error::Fault,
    number::NumberCodec,
    registry::{Function, Registry},
    settings::Settings,
    syntax::did_you_mean,
    template::{Call, Check, Ctx, Kind, Part, Seq, Template},
};

use super::part_shape::PartShape;

/// The functions of `fn` parts.
pub(super) fn functions(
    template: &Template,
    registry: &Registry,
    faults: &mut Vec<Fault>,
) -> Vec<Option<Function>> {
    let function = |part: &Part| match &part.kind {
        Kind::Call(call) => define(part, call, registry).map_err(|fault| faults.push(fault)).ok(),
        _ => None,
    };
    template.parts.iter().map(function).collect()
}

fn define(part: &Part, call: &Call, registry: &Registry) -> Result<Function, Fault> {
    match registry.define(&call.function, &call.args) {
        Some(Ok(function)) => Ok(function),
        Some(Err(what)) => Err(Fault::definition(
            part.column,
            format!("fn {}: {what}", call.function),
            "change the argument",
        )),
        None => {
            let names: Vec<&str> = registry.names().collect();
            let what = format!("fn {} is not registered: {} are", call.function, names.join(", "));
            let fix = match did_you_mean(&call.function, &names) {
                hint if hint.is_empty() => {
                    "a program of your own can register it: sequent_engine::register_function".to_owned()
                }
                hint => hint,
            };
            Err(Fault::definition(part.column, what, &fix))
        }
    }
}

/// The shapes of all parts, in the order of the template.
pub(super) fn shapes(
    template: &Template,
    settings: &Settings,
    codec: &NumberCodec,
    functions: &[Option<Function>],
    faults: &mut Vec<Fault>,
) -> Vec<PartShape> {
    let allowed = charset(&settings.charset, faults);
    let mut shapes: Vec<PartShape> = template
        .parts
        .iter()
        .map(|part| match &part.kind {
            Kind::Text(text) => {
                let count = text.chars().count();
                PartShape::new(count, count, Charset::of(text))
            }
            Kind::Seq(seq) => number(seq, codec),
            Kind::Ctx(ctx) => value(part, ctx, allowed.as_ref(), faults),
            Kind::Date(date) => {
                PartShape::new(date.pattern.width(), date.pattern.width(), date.pattern.charset())
            }
            Kind::Check(_) | Kind::Call(_) => PartShape::hidden(),
        })
        .collect();
    let left_to_right = left_to_right(template);
    for &at in &template.derived {
        let part = &template.parts[at];
        shapes[at] = match (&part.kind, &functions[at]) {
            (Kind::Check(check), _) => checked(template, part, check, at, &shapes, faults),
            (_, Some(function)) => called(part, function, left_to_right[at], faults),
            _ => PartShape::hidden(), // its fault has been reported
        };
    }
    if let Some(allowed) = allowed {
        check_charset(template, &shapes, &allowed, faults);
    }
    shapes
}

fn charset(written: &str, faults: &mut Vec<Fault>) -> Option<Charset> {
    if written.is_empty() {
        return None;
    }
    let class = Charset::class(&format!("[{written}]"));
    if class.is_none() {
        let what = format!("charset is {written:?}: characters and ranges such as A-Z0-9/- are allowed");
        faults.push(Fault::definition(1, what, "write a hyphen last"));
    }
    class
}

fn number(seq: &Seq, codec: &NumberCodec) -> PartShape {
    let mut charset = Charset::of(seq.alphabet.as_str());
    let padding = [seq.pad];
    charset.add(&Charset::of(std::str::from_utf8(&padding).unwrap_or_default()));
    PartShape::new(seq.width, codec.width_max(), charset)
}

/// The shape of a value. Characters outside the charset are refused when the value is given.
fn value(part: &Part, ctx: &Ctx, allowed: Option<&Charset>, faults: &mut Vec<Fault>) -> PartShape {
    if !ctx.show {
        return PartShape::hidden();
    }
    let charset = match allowed {
        Some(allowed) if ctx.map.is_none() => ctx.charset.shared(allowed),
        _ => ctx.charset.clone(),
    };
    if ctx.chars_min > ctx.chars_max || (charset.is_empty() && ctx.chars_max > 0) {
        let what =
            format!("ctx {} can have no value: re, len, max and charset contradict each other", ctx.name);
        faults.push(Fault::definition(part.column, what, "widen one of them"));
    }
    PartShape::new(ctx.chars_min, ctx.chars_max, charset)
}

/// The least and greatest number of characters that an algorithm reads.
fn read_of(algorithm: &Algorithm, inputs: &[usize], shapes: &[PartShape]) -> (usize, usize) {
    let alphabet = Charset::of(&algorithm.body);
    inputs.iter().map(|at| &shapes[*at]).fold((0, 0), |(low, high), shape| {
        let (all_read, none_read) =
            (shape.charset.without(&alphabet).is_empty(), shape.charset.shared(&alphabet).is_empty());
        (low + if all_read { shape.min } else { 0 }, high + if none_read { 0 } else { shape.max })
    })
}

/// Corrects the counts of `read_of` for literal text: it adds the characters that are read, and removes those that are skipped.
/// It matters for algorithms that require a length.
fn literal_count(algorithm: &Algorithm, template: &Template, inputs: &[usize]) -> (usize, usize) {
    let texts = inputs.iter().filter_map(|at| match &template.parts[*at].kind {
        Kind::Text(text) => Some(text),
        _ => None,
    });
    let counts = texts.map(|text| {
        let read = text.chars().filter(|c| algorithm.body.contains(*c)).count();
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
    shapes: &[PartShape],
    faults: &mut Vec<Fault>,
) -> PartShape {
    let algorithm = &*check.algorithm;
    let inputs = check.inputs.indexes(at);
    let (low, high) = read_of(algorithm, &inputs, shapes);
    let (more, less) = literal_count(algorithm, template, &inputs);
    let (low, high) = (low + more, high - less);
    match algorithm.body_length {
        Some(length) if (low, high) != (length, length) => {
            let found = if low == high { format!("{low}") } else { format!("{low} to {high}") };
            let what =
                format!("check {} is over {length} characters, here there are {found}", algorithm.name);
            faults.push(Fault::definition(
                part.column,
                what,
                "name its input with over=, and fix its length",
            ));
        }
        None if low == 0 => {
            let what =
                format!("check {} may have nothing to check: it reads {}", algorithm.name, algorithm.body);
            faults.push(Fault::definition(
                part.column,
                what,
                "put it after its input, or name the input with over=",
            ));
        }
        _ => {}
    }
    PartShape::new(algorithm.length, algorithm.length, Charset::of(&algorithm.characters))
}

fn called(part: &Part, function: &Function, left_to_right: bool, faults: &mut Vec<Fault>) -> PartShape {
    let charset = Charset::class(&format!("[{}]", function.charset));
    let Some(charset) = charset.filter(|_| function.chars.end() >= function.chars.start()) else {
        let what = format!(
            "{} promises [{}], {:?} characters: no text is so",
            part.label(),
            function.charset,
            function.chars
        );
        faults.push(Fault::definition(part.column, what, "fix the function"));
        return PartShape::hidden();
    };
    let shape = PartShape::new(*function.chars.start(), *function.chars.end(), charset);
    if !left_to_right && (shape.varies() || shape.charset.bytes_max() > 1) {
        let what = format!("{} stands before its input, and its length varies", part.label());
        faults.push(Fault::definition(part.column, what, "put it after its input"));
    }
    shape
}

/// Which parts can be rendered when they are reached from the left: those that read only such parts before them.
pub(super) fn left_to_right(template: &Template) -> Vec<bool> {
    let mut left_to_right = vec![true; template.parts.len()];
    for &at in &template.derived {
        let inputs = template.parts[at].inputs().map(|inputs| inputs.indexes(at)).unwrap_or_default();
        left_to_right[at] = inputs.into_iter().all(|input| input < at && left_to_right[input]);
    }
    left_to_right
}

/// Checks that no part may hold a character outside the charset of the definition.
fn check_charset(template: &Template, shapes: &[PartShape], allowed: &Charset, faults: &mut Vec<Fault>) {
    for (part, shape) in template.parts.iter().zip(shapes) {
        let outside = shape.charset.without(allowed);
        if let Some(c) = outside.example() {
            let what = format!("{} may hold {c:?}, which the charset does not allow", part.label());
            faults.push(Fault::definition(part.column, what, "allow it, or change the part"));
        }
    }
}
