//! Parses `@{check,ALGORITHM,over=…}` and `@{fn,NAME,…}`. A kind like a class name is a function of that name.

use crate::{
    checksum,
    error::TemplateError,
    template::{Call, Check, Inputs, Kind, Placed},
};

use super::{args::Args, parsed_part::ParsedPart, suggest::did_you_mean};

/// A check digit of an older rule engine, over the number alone: `n * 9 % 31 % 10`.
pub(super) const CHECKSUM_CLASS: &str = "com.jd.coo.sa.sn.expression.CheckSumExpression";

/// The name by which `over=` refers to the number, whatever its label is.
pub(super) const NUMBER: &str = "seq";

/// `@{com.jd.coo.sa.sn.expression.CheckSumExpression}` is `@{check,plain,over=seq}`.
pub(super) fn parse_checksum_class(args: &mut Args) -> Result<ParsedPart, TemplateError> {
    let column = args.column;
    let plain = checksum::named("plain");
    let algorithm = plain.ok_or_else(|| TemplateError::new(column, "check has no plain"))?;
    let inputs = args.take("over").unwrap_or(Placed { column, value: NUMBER.to_owned() });
    let inputs = (inputs.value != "left").then_some(inputs);
    let kind = Kind::Check(Check { algorithm, inputs: Inputs::Left });
    Ok(ParsedPart { inputs, ..ParsedPart::new(column, None, kind) })
}

pub(super) fn parse_check(args: &mut Args) -> Result<ParsedPart, TemplateError> {
    let word = args.required("algorithm", "@{check,damm}")?;
    let alphabet = args.take("alphabet");
    let algorithm = match &alphabet {
        None => checksum::named(&word.value),
        Some(own) => checksum::over_alphabet(&word.value, &own.value)
            .map_err(|what| TemplateError::new(own.column, what))?,
    };
    let algorithm = algorithm.ok_or_else(|| {
        let names: Vec<&str> = checksum::names().collect();
        word.error("check", format!("{} are allowed", names.join(", ")))
            .hint(suggest_algorithm(&word.value, &names))
    })?;
    let inputs = args.take("over").filter(|over| over.value != "left");
    let kind = Kind::Check(Check { algorithm, inputs: Inputs::Left });
    Ok(ParsedPart { inputs, ..ParsedPart::new(args.column, None, kind) })
}

/// `class` is the kind if it is like a class name.
pub(super) fn parse_call(args: &mut Args, class: Option<&str>) -> Result<ParsedPart, TemplateError> {
    let function = match class {
        Some(name) => name.to_owned(),
        None => args.required("function", "@{fn,NAME,over=left}")?.value,
    };
    let inputs = args.take("over").filter(|over| over.value != "left");
    let kind = Kind::Call(Call { function, args: args.rest(), inputs: Inputs::Left });
    Ok(ParsedPart { inputs, ..ParsedPart::new(args.column, None, kind) })
}

/// A hint for an unknown algorithm: a similar name, or how to write a check that has another name here.
fn suggest_algorithm(word: &str, names: &[&str]) -> String {
    match word.to_ascii_lowercase().as_str() {
        "iban" => {
            "an IBAN's digits are mod97-10 over its bank, its account and then its country, each named: \
                   @{key,DE,id=c}@{check,mod97-10,over=b+n+c}@{ctx,b,len=8,re=[0-9]+}@{seq,n,w=10,over=error}"
                .to_owned()
        }
        _ => did_you_mean(word, names),
    }
}
