//! Values of SQL statements, common to all drivers.

use sequent_core::SourceError;

use crate::net::refused;

/// A parameter of a statement, or a value of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// Null as a number.
    Null,
    /// Null as text. Some drivers send the server a type even for null.
    NoText,
    /// A whole number.
    Int(i64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A column of whole numbers, for engines that take arrays.
    Ints(Vec<i64>),
    /// A column of texts.
    Texts(Vec<String>),
    /// A column of bytes.
    ManyBytes(Vec<Vec<u8>>),
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Int(bounded(number))
    }
}

impl From<u16> for Value {
    fn from(number: u16) -> Self {
        Self::Int(number.into())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl Value {
    /// Text, or null.
    pub(crate) fn maybe_text(text: Option<&str>) -> Self {
        text.map_or(Self::NoText, Into::into)
    }
}

/// A number as a table holds it. Anything above 2^63 - 1 becomes 2^63 - 1, which is above every counter's range.
pub(crate) fn bounded(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// A row, read from left to right.
#[derive(Debug)]
pub(crate) struct SqlRow(std::vec::IntoIter<Value>);

impl SqlRow {
    /// The row of these values.
    pub(crate) fn new(values: Vec<Value>) -> Self {
        Self(values.into_iter())
    }

    fn next(&mut self) -> Value {
        self.0.next().unwrap_or(Value::Null)
    }

    /// The next value as a number or null.
    pub(crate) fn maybe_int(&mut self) -> Result<Option<i64>, SourceError> {
        number(self.next())
    }

    /// The next value as a number.
    pub(crate) fn int(&mut self) -> Result<i64, SourceError> {
        self.maybe_int()?.ok_or_else(|| another("a number", &Value::Null))
    }

    /// The next value as a count or null. A negative value, which only an operator can have written, is read as 0.
    pub(crate) fn maybe_count(&mut self) -> Result<Option<u64>, SourceError> {
        Ok(self.maybe_int()?.map(|number| u64::try_from(number).unwrap_or(0)))
    }

    /// The next value as a count; null is 0.
    pub(crate) fn count(&mut self) -> Result<u64, SourceError> {
        Ok(self.maybe_count()?.unwrap_or(0))
    }

    /// The next value as a number in the range of `T`.
    pub(crate) fn small<T: TryFrom<i64>>(&mut self, what: &str) -> Result<T, SourceError> {
        let number = self.int()?;
        number.try_into().map_err(|_| refused(format!("{what} in the ledger is {number}")))
    }

    /// The next value as text or null.
    pub(crate) fn maybe_text(&mut self) -> Result<Option<String>, SourceError> {
        match self.next() {
            Value::Null | Value::NoText => Ok(None),
            Value::Text(text) => Ok(Some(text)),
            Value::Bytes(bytes) => {
                Ok(Some(String::from_utf8(bytes).map_err(|error| refused("a text").because(error))?))
            }
            other => Err(another("a text", &other)),
        }
    }

    /// The next value as a key. Another program may have written it: bytes that are not UTF-8 are replaced.
    pub(crate) fn key(&mut self) -> Result<String, SourceError> {
        match self.next() {
            Value::Bytes(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Value::Text(text) => Ok(text),
            other => Err(another("a key", &other)),
        }
    }

    /// Removes the last value, a number or null, and returns it.
    pub(crate) fn take_last(&mut self) -> Result<Option<i64>, SourceError> {
        number(self.0.next_back().unwrap_or(Value::Null))
    }

    /// The next value as text.
    pub(crate) fn text(&mut self) -> Result<String, SourceError> {
        self.maybe_text()?.ok_or_else(|| another("a text", &Value::Null))
    }
}

fn number(value: Value) -> Result<Option<i64>, SourceError> {
    match value {
        Value::Null => Ok(None),
        Value::Int(number) => Ok(Some(number)),
        other => Err(another("a number", &other)),
    }
}

/// Error for a value of the wrong type, which only an operator can have written.
fn another(expected: &str, found: &Value) -> SourceError {
    refused(format!("a column of a table of ours: found {found:?}, expected {expected}"))
}
