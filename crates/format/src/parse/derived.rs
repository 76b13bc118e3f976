//! `@{check,ALG,over=…}` and `@{fn,NAME,…}`; a class-like name is a function of that name.

use crate::{
    TemplateError, check,
    parse::{Args, Draft, nearest},
    template::{Call, Check, Inputs, Kind},
};

pub(super) fn check(args: &mut Args) -> Result<Draft, TemplateError> {
    let word = args.needed("algorithm", "@{check,damm}")?;
    let alphabet = args.take("alphabet");
    let algorithm = match &alphabet {
        None => check::named(&word.value),
        Some(own) => check::over_alphabet(&word.value, &own.value)
            .map_err(|what| TemplateError::new(own.column, what))?,
    };
    let algorithm = algorithm.ok_or_else(|| {
        let names: Vec<&str> = check::names().collect();
        word.fault("check", format!("{} are allowed", names.join(", "))).hint(meant(&word.value, &names))
    })?;
    let inputs = args.take("over").filter(|over| over.value != "left");
    let kind = Kind::Check(Check { algorithm, inputs: Inputs::Left });
    Ok(Draft { inputs, ..Draft::plain(args.column, None, kind) })
}

pub(super) fn call(args: &mut Args, class: Option<&str>) -> Result<Draft, TemplateError> {
    let function = match class {
        Some(name) => name.to_owned(),
        None => args.needed("function", "@{fn,NAME,over=left}")?.value,
    };
    let inputs = args.take("over").filter(|over| over.value != "left");
    let kind = Kind::Call(Call { function, args: args.rest(), inputs: Inputs::Left });
    Ok(Draft { inputs, ..Draft::plain(args.column, None, kind) })
}

/// The check digits that a word is probably about: a near one, or for what many ask for, how it is written.
fn meant(word: &str, names: &[&str]) -> String {
    match word.to_ascii_lowercase().as_str() {
        "iban" => {
            "an IBAN's digits are mod97-10 over its bank, its account and then its country, each named: \
                   @{key,DE,id=c}@{check,mod97-10,over=b+n+c}@{ctx,b,len=8,re=[0-9]+}@{seq,n,w=10,over=error}"
                .to_owned()
        }
        _ => nearest(word, names),
    }
}
