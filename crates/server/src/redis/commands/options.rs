//! Options of `SEQ.NEXT` and `SEQ.LEASE`: `[COUNT n] [WITH name value …] [AT instant] [ABOVE number]`.

use sequent_engine::{INSTANT_EXPECTED, Values};

use crate::{
    auth::Caller,
    error::ApiError,
    redis::{
        commands::text,
        request::{Arguments, integer},
    },
    service::NumberRequest,
};

/// Error text for an unknown option.
const KNOWN: &str = "no such option: COUNT, WITH, AT and ABOVE are known";

/// Options of a request for numbers, valid in form.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct NumberOptions {
    pub(super) count: Option<u64>,
    pub(super) at: String,
    values: Vec<(String, String)>,
    above: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Count,
    With,
    At,
    Above,
}

impl Word {
    fn of(argument: &[u8]) -> Option<Self> {
        let words = [(Self::Count, "count"), (Self::With, "with"), (Self::At, "at"), (Self::Above, "above")];
        words
            .into_iter()
            .find(|(_, name)| argument.eq_ignore_ascii_case(name.as_bytes()))
            .map(|(word, _)| word)
    }
}

impl NumberOptions {
    /// Reads the arguments from one on. Pairs behind `WITH` end where another option follows; the first pair is never
    /// taken for one, so a value may be named like an option.
    pub(super) fn read(arguments: Arguments<'_>, from: usize) -> Result<Self, ApiError> {
        let (mut options, mut at) = (Self::default(), from);
        while let Some(argument) = arguments.get(at) {
            let missing = || {
                ApiError::field(shown(argument).to_lowercase(), "missing", "a value is expected behind it")
            };
            let word =
                Word::of(argument).ok_or_else(|| ApiError::field("option", &shown(argument), KNOWN))?;
            at += 1;
            let value = arguments.get(at).ok_or_else(missing)?;
            match word {
                Word::Count => once(&mut options.count, whole(value), ("count", value))?,
                Word::Above => once(&mut options.above, whole(value), ("above", value))?,
                Word::At => options.set_at(value)?,
                Word::With => at = options.add_pairs(arguments, at)?,
            }
            if word != Word::With {
                at += 1;
            }
        }
        Ok(options)
    }

    /// The values of the template.
    pub(super) fn values(&self) -> Values {
        self.values.iter().cloned().collect()
    }

    /// The request for numbers of `name`.
    pub(super) fn request<'a>(
        &'a self,
        (name, caller): (&'a str, &'a Caller),
        values: &'a Values,
    ) -> NumberRequest<'a> {
        NumberRequest {
            name: ("name", name),
            count: self.count.unwrap_or(1),
            timeout: None,
            values,
            at: &self.at,
            above: self.above.unwrap_or(0),
            caller,
        }
    }

    fn set_at(&mut self, value: &[u8]) -> Result<(), ApiError> {
        let value = text("at", value)?;
        if !self.at.is_empty() {
            return Err(ApiError::field("at", value, "it was said before: say it once"));
        }
        if value.is_empty() {
            return Err(ApiError::field("at", value, format!("{INSTANT_EXPECTED}; without it now counts")));
        }
        value.clone_into(&mut self.at);
        Ok(())
    }

    /// Adds the pairs from `at` on. Returns where they end.
    fn add_pairs(&mut self, arguments: Arguments<'_>, mut at: usize) -> Result<usize, ApiError> {
        loop {
            let Some(name) = arguments.get(at) else { return Ok(at) };
            let name = text("values", name)?;
            let value = arguments.get(at + 1).ok_or_else(|| {
                ApiError::field(format!("values.{name}"), "missing", "a value is expected behind its name")
            })?;
            let value = text("values", value)?;
            if self.values.iter().any(|(known, _)| known == name) {
                let field = format!("values.{name}");
                return Err(ApiError::field(field, value, "it was said before: say it once"));
            }
            self.values.push((name.to_owned(), value.to_owned()));
            at += 2;
            if arguments.get(at).and_then(Word::of).is_some() {
                return Ok(at);
            }
        }
    }
}

/// A whole number of an option, not yet checked against a bound.
fn whole<T: TryFrom<i64>>(value: &[u8]) -> Option<T> {
    integer(value).filter(|number| *number >= 0).and_then(|number| T::try_from(number).ok())
}

fn once<T>(
    option: &mut Option<T>,
    value: Option<T>,
    (field, shown_value): (&'static str, &[u8]),
) -> Result<(), ApiError> {
    let value = value.ok_or_else(|| {
        let bound = format!("a whole number is expected: 0 to {}", i64::MAX);
        ApiError::field(field, &shown(shown_value), bound)
    })?;
    match option.replace(value) {
        Some(_) => Err(ApiError::field(field, &shown(shown_value), "it was said before: say it once")),
        None => Ok(()),
    }
}

fn shown(argument: &[u8]) -> String {
    String::from_utf8_lossy(argument).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redis::request::RequestParser;

    fn read(line: &str) -> Result<NumberOptions, ApiError> {
        let (mut parser, mut input) = (RequestParser::default(), format!("{line}\n").into_bytes());
        parser.parse(&mut input).unwrap().unwrap();
        NumberOptions::read(parser.arguments(&input), 2)
    }

    #[test]
    fn options_come_in_any_order_and_a_value_may_be_named_like_one() {
        let options = read("SEQ.NEXT repair with area 010 shop 7 at 2026-04-01 COUNT 3 above 9").unwrap();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(options.values, [pair("area", "010"), pair("shop", "7")]);
        assert_eq!((options.count, options.at.as_str(), options.above), (Some(3), "2026-04-01", Some(9)));
        let options = read("SEQ.NEXT repair WITH at 5 WITH count 6").unwrap();
        assert_eq!(options.values, [pair("at", "5"), pair("count", "6")]);
        assert_eq!(options.count, None);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_bound() {
        for (line, expected) in [
            ("COUNT", r#"count is "missing": a value is expected behind it"#),
            ("COUNT x", r#"count is "x": a whole number is expected: 0 to"#),
            ("COUNT -1", r#"count is "-1": a whole number"#),
            ("COUNT 1 COUNT 1", r#"count is "1": it was said before"#),
            ("CUONT 1", r#"option is "CUONT": no such option: COUNT"#),
            ("WITH", r#"with is "missing""#),
            ("WITH area", r#"values.area is "missing""#),
            ("WITH a 1 a 2", r#"values.a is "2": it was said before"#),
            ("AT ''", r#"at is "": an instant"#),
            ("ABOVE 9223372036854775808", r#"above is "9223372036854775808""#),
        ] {
            let error = read(&format!("SEQ.NEXT x {line}")).unwrap_err();
            assert!(error.text().starts_with(expected), "{line}: {}", error.text());
        }
    }
}
