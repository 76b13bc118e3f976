//! What an update makes of a document: `$set`, `$inc` and `$max`, the latter two of 64-bit integers.

use bson::{Bson, Document};

use super::commands::Failure;

/// The document that an update makes of another.
pub(super) fn updated(document: &Document, update: &Bson) -> Result<Document, Failure> {
    let Bson::Document(update) = update else {
        return Err(Failure::unknown("an update that is no document"));
    };
    let mut new = document.clone();
    for (operator, fields) in update {
        let Bson::Document(fields) = fields else {
            return Err(Failure::unknown(&format!("{operator}: {fields:?}")));
        };
        for (field, value) in fields {
            if field == "_id" || field.contains(['$', '.']) {
                return Err(Failure::unknown(&format!("an update of {field}")));
            }
            let value = changed(operator, new.get(field), value)?;
            new.insert(field, value);
        }
    }
    Ok(new)
}

fn changed(operator: &str, held: Option<&Bson>, value: &Bson) -> Result<Bson, Failure> {
    match (operator, held, value) {
        ("$set", _, value) => Ok(value.clone()),
        ("$inc" | "$max", None, Bson::Int64(value)) => Ok(Bson::Int64(*value)),
        ("$inc", Some(Bson::Int64(held)), Bson::Int64(value)) => {
            held.checked_add(*value).map(Bson::Int64).ok_or_else(|| {
                let text = format!("Failed to apply $inc operations to current value (NumberLong({held}))");
                Failure::new(2, "BadValue", &text)
            })
        }
        ("$max", Some(Bson::Int64(held)), Bson::Int64(value)) => Ok(Bson::Int64(*held.max(value))),
        (operator, held, value) => Err(Failure::unknown(&format!("{operator} of {held:?} and {value:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use super::*;

    #[test]
    fn what_is_known_is_done_and_what_is_not_is_an_error() {
        let cell = doc! { "_id": "a", "open": false, "v": 7_i64 };
        let made = |update: Document| updated(&cell, &Bson::Document(update));
        let new = made(doc! { "$inc": { "v": 3_i64 }, "$set": { "open": true }, "$max": { "mark": 2_i64 } });
        assert_eq!(new.ok(), Some(doc! { "_id": "a", "open": true, "v": 10_i64, "mark": 2_i64 }));
        let kept = made(doc! { "$max": { "v": 6_i64 } });
        assert_eq!(kept.ok(), Some(cell.clone()));
        for update in [
            doc! { "$inc": { "v": i64::MAX } },
            doc! { "$inc": { "v": 1 } },
            doc! { "$inc": { "v": 1.0 } },
            doc! { "$min": { "v": 1_i64 } },
            doc! { "$set": { "_id": 1 } },
            doc! { "v": 1_i64 },
        ] {
            assert!(made(update.clone()).is_err(), "{update}");
        }
        assert!(updated(&cell, &Bson::Array(vec![])).is_err(), "a pipeline");
    }
}
