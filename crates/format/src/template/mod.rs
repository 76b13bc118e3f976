//! What a template says, once it is read: parts and their options. Nothing here is proven yet.

mod lengths;
mod part;
mod re;
mod values;

pub(crate) use part::{Call, Check, Ctx, Date, Inputs, Kind, Overflow, Part, ResetWord, Seq};
pub(crate) use re::Re;
pub(crate) use values::Map;

use std::{fmt, str::FromStr};

use crate::{Format, ProofError, Settings, TemplateError, parse, prove};

/// A template as it was read. It renders nothing until it is proven: see [`Template::prove`].
///
/// ```
/// use sequent_format::{Settings, Template, Timestamp, Values};
/// let template = Template::parse("@{date,yyyyMMdd}@{seq,w=5}")?;
/// let order = template.prove(&Settings { zone: "Asia/Shanghai".into(), ..Settings::default() })?;
/// let at: Timestamp = "2017-03-04T09:00:00+08:00".parse()?;
/// assert_eq!(order.issue(at, &Values::new())?.text(1)?, "2017030400001");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Template {
    text: String,
    pub(crate) parts: Vec<Part>,
    /// Where the one `seq` stands among the parts.
    pub(crate) seq: usize,
    /// Parts made from others, each after its inputs.
    pub(crate) derived: Vec<usize>,
    /// The zone that its date parts name.
    pub(crate) zone: Option<String>,
}

impl Template {
    /// Reads a template; the error says where, what and what to write instead.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        parse::template(text)
    }

    /// Proves that its texts are unique where its numbers are, and that each can be taken apart again.
    pub fn prove(&self, settings: &Settings) -> Result<Format, ProofError> {
        prove::template(self, settings)
    }

    /// The template as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The name of the key that hides its numbers (`obf=ff1:NAME`), where one does.
    pub fn key_name(&self) -> Option<&str> {
        self.seq().1.obfuscated.as_ref().map(|name| name.value.as_str())
    }

    /// Names of the values that a request gives with `with`, in the order of the template.
    pub fn values(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for name in self.parts.iter().filter_map(Part::value_name) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    pub(crate) fn new(
        text: &str,
        parts: Vec<Part>,
        seq: usize,
        derived: Vec<usize>,
        zone: Option<String>,
    ) -> Self {
        Self { text: text.to_owned(), parts, seq, derived, zone }
    }

    /// The `seq` and its place.
    pub(crate) fn seq(&self) -> (&Part, &Seq) {
        let part = &self.parts[self.seq];
        match &part.kind {
            Kind::Seq(seq) => (part, seq),
            _ => unreachable!("the parser sets `seq` to the place of a seq"),
        }
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Template {
    type Err = TemplateError;

    fn from_str(text: &str) -> Result<Self, TemplateError> {
        Self::parse(text)
    }
}
