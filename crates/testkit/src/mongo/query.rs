//! Which documents a query finds: equality, `$type`, `$lte` and `$in`.

use bson::{Bson, Document};

use super::commands::Failure;

/// Whether a query finds a document.
pub(super) fn finds(query: &Document, document: &Document) -> Result<bool, Failure> {
    for (field, wanted) in query {
        if field.starts_with('$') || field.contains('.') {
            return Err(Failure::unknown(&format!("query {field}")));
        }
        let held = document.get(field);
        let fits = match wanted {
            Bson::Document(operators) if is_operators(operators) => fits_all(operators, held)?,
            Bson::Null => matches!(held, None | Some(Bson::Null)),
            wanted => held.map_or(Ok(false), |held| same(held, wanted))?,
        };
        if !fits {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_operators(wanted: &Document) -> bool {
    wanted.keys().next().is_some_and(|key| key.starts_with('$'))
}

fn fits_all(operators: &Document, held: Option<&Bson>) -> Result<bool, Failure> {
    for (operator, bound) in operators {
        let fits = match (operator.as_str(), bound, held) {
            ("$type", Bson::String(name), held) if name == "long" => matches!(held, Some(Bson::Int64(_))),
            ("$lte", bound, Some(held)) => match (whole(held), whole(bound)) {
                (Some(held), Some(bound)) => held <= bound,
                // Another type is not compared, it is not found; of doubles the double knows too little.
                (None, Some(_)) if !matches!(held, Bson::Double(_)) => false,
                _ => return Err(Failure::unknown(&format!("$lte of {held:?} and {bound:?}"))),
            },
            ("$lte", _, None) => false,
            ("$in", Bson::Array(any), Some(held)) => {
                let mut found = false;
                for wanted in any {
                    found |= same(held, wanted)?;
                }
                found
            }
            _ => return Err(Failure::unknown(&format!("{operator}: {bound:?}"))),
        };
        if !fits {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Equality, for which the width of an integer does not matter.
fn same(held: &Bson, wanted: &Bson) -> Result<bool, Failure> {
    match (held, wanted) {
        (Bson::Double(_), _) | (_, Bson::Double(_)) => Err(Failure::unknown("equality of doubles")),
        _ => match (whole(held), whole(wanted)) {
            (Some(held), Some(wanted)) => Ok(held == wanted),
            _ => Ok(held == wanted),
        },
    }
}

fn whole(value: &Bson) -> Option<i64> {
    match value {
        Bson::Int32(value) => Some(i64::from(*value)),
        Bson::Int64(value) => Some(*value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use super::*;

    #[test]
    fn what_is_known_is_compared_and_what_is_not_is_an_error() {
        let cell = doc! { "_id": "a", "epoch": -5_i64, "open": true, "v": 7_i64, "n": 3 };
        for (query, found) in [
            (doc! {}, true),
            (doc! { "_id": "a", "epoch": -5_i64, "open": true }, true),
            (doc! { "epoch": -5_i32 }, true),
            (doc! { "epoch": 5_i64 }, false),
            (doc! { "stamp": Bson::Null }, true),
            (doc! { "v": Bson::Null }, false),
            (doc! { "v": { "$lte": 7_i64, "$type": "long" } }, true),
            (doc! { "v": { "$lte": 6_i64 } }, false),
            (doc! { "n": { "$type": "long" } }, false),
            (doc! { "gone": { "$lte": 6_i64 } }, false),
            (doc! { "_id": { "$in": ["b", "a"] } }, true),
        ] {
            assert_eq!(finds(&query, &cell).ok(), Some(found), "{query}");
        }
        for query in [
            doc! { "v": { "$gt": 1_i64 } },
            doc! { "$or": [] },
            doc! { "v": { "$type": "int" } },
            doc! { "v": 7.0 },
            doc! { "a.b": 1 },
            doc! { "v": { "$lte": 1.0 } },
        ] {
            assert!(finds(&query, &cell).is_err(), "{query}");
        }
    }
}
