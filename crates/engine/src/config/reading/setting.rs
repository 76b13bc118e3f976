//! Settings: the key, the values that are allowed, and the default.

use std::{
    fmt::{Debug, Display},
    net::SocketAddr,
    ops::RangeInclusive,
    str::FromStr,
    time::Duration,
};

use toml::Value;

/// Reads a value. The error is a text of its own, or `None` for [`About::expected`].
pub(super) type Read<T> = Box<dyn Fn(&Value) -> Result<T, Option<String>>>;

/// A setting whose default is not said yet.
pub(crate) struct Values<T> {
    about: About,
    read: Read<T>,
}

/// A setting of a section.
pub(crate) struct Setting<T> {
    pub(super) about: About,
    pub(super) read: Read<T>,
    /// The value if the key is absent.
    pub(super) default: T,
    /// The value after a fault, so that reading goes on to the next fault.
    pub(super) after_fault: T,
}

/// The properties of a setting that do not depend on its type.
#[derive(Debug, Clone, Default)]
pub(crate) struct About {
    pub(crate) key: &'static str,
    pub(super) form: Form,
    /// The allowed values, for the reference page.
    pub(crate) allowed: String,
    /// The error text for a missing or another value.
    pub(super) expected: String,
    /// The default as TOML; `None` if the key must be there.
    pub(crate) default: Option<String>,
    /// Why the key has no use in this table, if so. It must not be there then.
    pub(crate) unused: Option<String>,
    /// Whether the value may hold a secret.
    pub(super) is_secret: bool,
}

/// What the text of a flag or a variable means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Form {
    /// A text as it is.
    Text,
    /// A list of texts, as in the file or separated by commas.
    Texts,
    /// A value as in the file.
    #[default]
    Other,
}

impl Form {
    /// The value that a text means; the text itself if it has another form. Quotes belong to the file's syntax: a quote
    /// inside a text of a list is a mistake.
    pub(super) fn value_of(self, text: String) -> Value {
        let written = format!("value = {text}").parse::<toml::Table>().ok();
        match (self, written.and_then(|mut table| table.remove("value"))) {
            (Self::Texts | Self::Other, Some(value)) => value,
            (Self::Texts, None) if !text.contains(['"', '\'']) => {
                let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
                Value::Array(parts.map(Value::from).collect())
            }
            _ => Value::String(text),
        }
    }
}

fn in_list(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

impl<T: 'static> Values<T> {
    fn new(
        key: &'static str,
        form: Form,
        expected: &str,
        read: impl Fn(&Value) -> Option<T> + 'static,
    ) -> Self {
        let about = About { key, form, expected: expected.to_owned(), ..About::default() };
        Self { about, read: Box::new(move |value| read(value).ok_or(None)) }
    }

    /// The error text for a missing or another value.
    pub(crate) fn expecting(mut self, expected: impl Into<String>) -> Self {
        self.about.expected = expected.into();
        self
    }

    /// The allowed values, for the reference page.
    pub(crate) fn allowed(mut self, allowed: impl Into<String>) -> Self {
        self.about.allowed = allowed.into();
        self
    }

    /// The value may hold a secret: it is printed masked.
    pub(crate) fn secret(mut self) -> Self {
        self.about.is_secret = true;
        self
    }

    /// A further step of reading. Its error is a text of its own, or `None` for the expected values.
    pub(crate) fn then<U: 'static>(
        self,
        next: impl Fn(T) -> Result<U, Option<String>> + 'static,
    ) -> Values<U> {
        let Self { about, read } = self;
        Values { about, read: Box::new(move |value| next(read(value)?)) }
    }

    /// The setting with a default.
    pub(crate) fn or(self, default: T) -> Setting<T>
    where
        T: Clone + Debug,
    {
        let shown = format!("{default:?}");
        self.or_shown(default, shown)
    }

    /// The setting with a default, and the latter as TOML.
    fn or_shown(mut self, default: T, shown: String) -> Setting<T>
    where
        T: Clone,
    {
        self.about.default = Some(shown);
        Setting { about: self.about, read: self.read, after_fault: default.clone(), default }
    }

    /// The setting that may be absent.
    pub(crate) fn optional(self) -> Setting<Option<T>> {
        self.or_else(None, "none")
    }

    /// The setting that may be absent, with its default as TOML. After a fault there is no value.
    pub(crate) fn or_else(mut self, default: Option<T>, shown: &str) -> Setting<Option<T>> {
        self.about.default = Some(shown.to_owned());
        Setting { default, ..self.required() }
    }

    /// The setting that must be there; `None` after a fault.
    pub(crate) fn required(self) -> Setting<Option<T>> {
        let Self { about, read } = self;
        Setting {
            about,
            read: Box::new(move |value| read(value).map(Some)),
            default: None,
            after_fault: None,
        }
    }
}

impl<T: 'static> Setting<T> {
    pub(crate) fn map<U: 'static>(self, change: fn(T) -> U) -> Setting<U> {
        let Self { about, read, default, after_fault } = self;
        Setting {
            about,
            read: Box::new(move |value| read(value).map(change)),
            default: change(default),
            after_fault: change(after_fault),
        }
    }

    /// The setting where it is of use. Otherwise its default counts, and the key is refused with a reason.
    pub(crate) fn only_if(mut self, is_of_use: bool, otherwise: impl Into<String>) -> Self {
        self.about.unused = (!is_of_use).then(|| otherwise.into());
        self
    }
}

/// A whole number within bounds.
pub(crate) fn whole<T>(key: &'static str, allowed: RangeInclusive<T>) -> Values<T>
where
    T: TryFrom<i64> + PartialOrd + Display + 'static,
{
    let range = format!("{} to {}", allowed.start(), allowed.end());
    let read = move |value: &Value| {
        let number = T::try_from(value.as_integer()?).ok()?;
        allowed.contains(&number).then_some(number)
    };
    Values::new(key, Form::Other, &format!("{range} are allowed"), read).allowed(range)
}

/// A duration in milliseconds.
pub(crate) fn millis(key: &'static str, default: u64, allowed: RangeInclusive<u64>) -> Setting<Duration> {
    whole(key, allowed).or(default).map(Duration::from_millis)
}

/// A duration in seconds.
pub(crate) fn seconds(key: &'static str, default: u64, allowed: RangeInclusive<u64>) -> Setting<Duration> {
    whole(key, allowed).or(default).map(Duration::from_secs)
}

/// `true` or `false`; off by default.
pub(crate) fn switch(key: &'static str) -> Setting<bool> {
    let values = Values::new(key, Form::Other, "true and false are allowed", Value::as_bool);
    values.allowed("true, false").or(false)
}

/// A text.
pub(crate) fn text(key: &'static str) -> Values<String> {
    let read = |value: &Value| value.as_str().map(str::to_owned);
    Values::new(key, Form::Text, "a text is expected", read)
}

/// A text that is parsed; the error text is that of its type.
pub(crate) fn parsed<T>(key: &'static str) -> Values<T>
where
    T: FromStr<Err: Display> + 'static,
{
    text(key).then(|text| text.parse().map_err(|error: T::Err| Some(error.to_string())))
}

/// An address and port; loopback by default.
pub(crate) fn address(key: &'static str, port: u16) -> Setting<SocketAddr> {
    let default = SocketAddr::from(([127, 0, 0, 1], port));
    let address = text(key).expecting("an address and port, as \"127.0.0.1:7420\", is expected");
    let address = address.then(|text| text.parse().map_err(|_| None)).allowed("an address and port");
    address.or_shown(default, format!("\"{default}\""))
}

/// One of a few words; the first is the default.
pub(crate) fn choice<T: Copy>(key: &'static str, words: &'static [(&'static str, T)]) -> Setting<T> {
    let quoted: Vec<String> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
    let quoted = quoted.join(", ");
    let find =
        |text: String| words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).ok_or(None);
    let values = text(key).expecting(format!("{quoted} are allowed")).then(find);
    let (word, default) = words[0];
    values.allowed(quoted).or_shown(default, format!("{word:?}"))
}

/// A list of texts.
pub(crate) fn texts(key: &'static str) -> Values<Vec<String>> {
    let values = Values::new(key, Form::Texts, "a list of texts is expected: [\"a*\", \"b\"]", in_list);
    values.allowed("texts")
}
