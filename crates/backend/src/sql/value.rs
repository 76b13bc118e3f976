//! Values of statements, the same for every driver.

use sequent_core::{ErrorKind, SourceError};

/// A value that a statement is given, or that a row holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// No number.
    Null,
    /// No text: drivers that tell the server of types tell it of this one.
    NoText,
    /// A whole number.
    Int(i64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A column of whole numbers, for engines that take one.
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
    /// A text, or none.
    pub(crate) fn maybe_text(text: Option<&str>) -> Self {
        text.map_or(Self::NoText, Into::into)
    }
}

/// A number as a table holds it: what is above 2^63 - 1 no counter can reach.
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

    /// The next value, a number or none.
    pub(crate) fn maybe_int(&mut self) -> Result<Option<i64>, SourceError> {
        match self.next() {
            Value::Null => Ok(None),
            Value::Int(number) => Ok(Some(number)),
            other => Err(another("a number", &other)),
        }
    }

    /// The next value, a number.
    pub(crate) fn int(&mut self) -> Result<i64, SourceError> {
        self.maybe_int()?.ok_or_else(|| another("a number", &Value::Null))
    }

    /// The next value, a count or none; below zero only by hand.
    pub(crate) fn maybe_count(&mut self) -> Result<Option<u64>, SourceError> {
        Ok(self.maybe_int()?.map(|number| u64::try_from(number).unwrap_or(0)))
    }

    /// The next value, a count.
    pub(crate) fn count(&mut self) -> Result<u64, SourceError> {
        Ok(self.maybe_count()?.unwrap_or(0))
    }

    /// The next value, a small number.
    pub(crate) fn small<T: TryFrom<i64>>(&mut self, what: &str) -> Result<T, SourceError> {
        let number = self.int()?;
        number.try_into().map_err(|_| refused(format!("{what} in the ledger is {number}")))
    }

    /// The next value, text or none.
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

    /// The next value, a key that other hands may have written: what is no text in it is replaced.
    pub(crate) fn key(&mut self) -> Result<String, SourceError> {
        match self.next() {
            Value::Bytes(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Value::Text(text) => Ok(text),
            other => Err(another("a key", &other)),
        }
    }

    /// Takes the last value away, a number or none.
    pub(crate) fn take_last(&mut self) -> Result<Option<i64>, SourceError> {
        match self.0.next_back().unwrap_or(Value::Null) {
            Value::Null => Ok(None),
            Value::Int(number) => Ok(Some(number)),
            other => Err(another("a number", &other)),
        }
    }

    /// The next value, text.
    pub(crate) fn text(&mut self) -> Result<String, SourceError> {
        self.maybe_text()?.ok_or_else(|| another("a text", &Value::Null))
    }
}

/// Only a person can have put it there.
fn another(expected: &str, found: &Value) -> SourceError {
    refused(format!("a column of a table of ours: found {found:?}, expected {expected}"))
}

fn refused(context: impl Into<String>) -> SourceError {
    SourceError::new(ErrorKind::Refused, context.into())
}
