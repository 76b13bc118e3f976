//! Parsing of a text: the template that applies, and the error if none does.

use std::fmt;

use sequent_format::{DecodeErrorKind, Decoded, Format, ObfuscationKey, Template};

use super::{Former, Texts};
use crate::error::{EngineError, reason::Reason};

/// The reason why a text can't be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadFault {
    /// No version writes it like this; the fault by the version in force.
    Text(String),
    /// No readable version writes it like this, and a version whose key of `obf` is missing may. The text names both.
    Key(String),
}

impl fmt::Display for ReadFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(bound) | Self::Key(bound) => f.write_str(bound),
        }
    }
}

impl Texts {
    /// The formats that texts of this definition may have: the one in force, then those of earlier versions, the
    /// latest first.
    pub fn readers(&self) -> impl Iterator<Item = Format> + '_ {
        self.formats().map(|(_, format)| format)
    }

    /// The same, each with its version, and `None` for the one in force.
    pub fn formats(&self) -> impl Iterator<Item = (Option<u32>, Format)> + '_ {
        let before = self.before.iter().rev();
        let before = before
            .filter_map(|former| Some((Some(former.version), former.proven().ok()?.format().cloned()?)));
        self.format().map(|format| (None, format.clone())).into_iter().chain(before)
    }

    /// The meaning of a text, by the template that writes it exactly like this, the one in force first. A text that
    /// none writes is parsed as people type it (Crockford's O for 0), if all templates that parse it find the same
    /// number. The error is that of the version in force, unless the text may belong to a version whose key is
    /// missing.
    ///
    /// ```
    /// use sequent_engine::Texts;
    /// let coupon = Texts::new("C@{seq,w=4,radix=32c,over=error}").proven()?;
    /// assert_eq!(coupon.read("Co01a").map(|read| (read.number, read.text)), Ok((42, "C001A".to_owned())));
    /// assert!(coupon.read("D001A").is_err());
    /// # Ok::<(), sequent_core::FieldFault>(())
    /// ```
    pub fn read(&self, text: &str) -> Result<Decoded, ReadFault> {
        let mut said = None;
        let mut typed: Option<Decoded> = None;
        let mut other = None;
        for format in self.readers() {
            match format.decode(text) {
                Ok(read) if read.text == text => return Ok(read),
                Ok(read) => match &typed {
                    Some(first) if *first != read => drop(other.get_or_insert(read)),
                    _ => typed = Some(read),
                },
                Err(error) => drop(said.get_or_insert_with(|| error.to_string())),
            }
        }
        if let Some(bound) = self.keyless(text) {
            return Err(ReadFault::Key(bound));
        }
        match (typed, other) {
            (Some(read), None) => Ok(read),
            (Some(one), Some(other)) => Err(ReadFault::Text(format!(
                "no template writes it so, and it may stand for {:?} or, by another version, for {:?}: type it as it was \
                 printed",
                one.text, other.text
            ))),
            (None, _) => Err(ReadFault::Text(said.unwrap_or_else(|| "no template reads it".to_owned()))),
        }
    }

    /// The versions that can't be read here and may have written a text, with the reason; `None` without any.
    fn keyless(&self, text: &str) -> Option<String> {
        let unread = |former: &&Former| former.proven().is_err() && former.texts.may_write(text);
        let unread: Vec<&Former> = self.before.iter().filter(unread).collect();
        let fault = unread.first()?.proven().err()?;
        let versions: Vec<String> = unread.iter().map(|former| former.told()).collect();
        Some(format!(
            "no version that can be read here writes it so, and it may be of {}, which can't be: {fault}",
            versions.join(" or ")
        ))
    }

    /// Whether a text has the shape of a template whose key is missing. With any other key, lengths, characters,
    /// values and dates are parsed correctly; only the number is wrong.
    fn may_write(&self, text: &str) -> bool {
        let Some(format) = self.with_any_key() else { return true };
        let by_shape = [DecodeErrorKind::Shape, DecodeErrorKind::Value, DecodeErrorKind::Date];
        format.decode(text).err().is_none_or(|error| !by_shape.contains(&error.kind))
    }

    /// The same template with an arbitrary key instead of its own.
    fn with_any_key(&self) -> Option<Format> {
        let read = Template::parse(&self.template).ok()?;
        let mut settings = self.settings();
        let any = ObfuscationKey::new(&[0; ANY_KEY_BYTES]).ok()?;
        settings.keys.insert(read.key_name()?.to_owned(), any);
        read.analyze(&settings).ok()
    }
}

impl EngineError {
    /// The error for a text that can't be parsed: the caller's fault, or that of a server without the key.
    pub fn of_read(text: &str, fault: ReadFault) -> Self {
        match fault {
            ReadFault::Text(bound) => Self::invalid_text("text", text, bound),
            ReadFault::Key(_) => {
                Self::new(Reason::DefinitionConflict, format!("text can't be read: {fault}"))
            }
        }
    }
}

/// The length of the arbitrary key: that of AES-128.
const ANY_KEY_BYTES: usize = 16;

impl Former {
    /// The version in an error's sentence.
    fn told(&self) -> String {
        let read = Template::parse(&self.texts.template).ok();
        let key = read.as_ref().and_then(Template::key_name);
        let key = key.map_or_else(String::new, |key| format!(" (key {key:?})"));
        format!("version {}{key}", self.version)
    }
}

#[cfg(test)]
mod tests {
    use sequent_format::ObfuscationKey;

    use super::*;
    use crate::definition::Body;

    const HIDDEN: &str = "W@{seq,w=6,obf=ff1:reading-test}";

    fn body(template: &str) -> Body {
        Body::check(None, 1, 1, None, None, Some(Texts::new(template))).unwrap()
    }

    /// A definition with hidden numbers in an earlier version, as the ledger keeps it, and a text of that version.
    fn stored(hidden: &str, template: &str) -> (String, String) {
        assert!(crate::texts::obf_keys::hold("reading-test", &ObfuscationKey::new(&[3; 16]).unwrap()));
        let one = body(hidden);
        let context = one
            .format()
            .unwrap()
            .context(sequent_format::Timestamp::UNIX_EPOCH, &sequent_format::Values::new());
        let text = context.unwrap().text(42).unwrap();
        (body(template).after(1, &one).to_text(), text)
    }

    /// The definition on a server without the key, and on one with another key of that name.
    fn elsewhere(stored: &str) -> [Body; 2] {
        let none = stored.replace("ff1:reading-test", "ff1:reading-none");
        let at = stored.find("\"key_check\":\"").unwrap() + "\"key_check\":\"".len();
        let wrong = format!("{}0000000000000000{}", &stored[..at], &stored[at + 16..]);
        [none, wrong].map(|stored| Body::from_text(&stored).unwrap())
    }

    #[test]
    fn a_text_of_a_version_whose_key_is_not_at_hand_is_not_called_wrong() {
        let (stored, text) = stored(HIDDEN, "V@{seq,w=6}");
        assert_eq!(Body::from_text(&stored).unwrap().read(&text).map(|read| read.number), Ok(42));
        for (body, key) in elsewhere(&stored).iter().zip(["reading-none", "reading-test"]) {
            let Err(ReadFault::Key(why)) = body.read(&text) else { panic!("{text} was read") };
            assert!(why.contains(&format!("it may be of version 1 (key {key:?}), which can't be")), "{why}");
            assert!(why.contains("template is \"W@{seq,w=6,obf=ff1:"), "{why}");
        }
    }

    #[test]
    fn what_no_version_can_have_written_is_told_without_a_key() {
        let (stored, _) = stored(HIDDEN, "V@{seq,w=6}");
        for body in elsewhere(&stored) {
            assert_eq!(body.read("V000042").map(|read| read.number), Ok(42));
            for wrong in ["X000042", "W00042", "W00004A", ""] {
                assert!(matches!(body.read(wrong), Err(ReadFault::Text(_))), "{wrong:?}");
            }
        }
    }

    #[test]
    fn what_nobody_writes_so_is_not_guessed_where_a_hidden_version_may_write_it() {
        let (stored, text) = stored("CO@{seq,w=6,obf=ff1:reading-test}", "C@{seq,w=7,radix=32c,over=error}");
        assert_eq!(Body::from_text(&stored).unwrap().read(&text).map(|read| read.text), Ok(text.clone()));
        for body in elsewhere(&stored) {
            assert!(matches!(body.read(&text), Err(ReadFault::Key(_))), "an O for a 0, or version 1's own");
        }
    }
}
