//! A parsed template: its parts and their options, before any rule is checked.

mod match_bounds;
mod match_lengths;
mod part;
mod placed;
mod value_map;
mod value_regex;

pub(crate) use part::{Call, Check, Ctx, Date, Inputs, Kind, Overflow, Part, ResetWord, Seq};
pub(crate) use placed::Placed;
pub(crate) use value_map::ValueMap;
pub(crate) use value_regex::ValueRegex;

use std::fmt;

/// A parsed template. [`Template::analyze`] turns it into a [`Format`](crate::Format), which renders.
///
/// ```
/// use sequent_format::{Settings, Template, Timestamp, Values};
/// let template = Template::parse("@{date,yyyyMMdd}@{seq,w=5}")?;
/// let order = template.analyze(&Settings { zone: "Asia/Shanghai".into(), ..Settings::default() })?;
/// let at: Timestamp = "2017-03-04T09:00:00+08:00".parse()?;
/// assert_eq!(order.context(at, &Values::new())?.text(1)?, "2017030400001");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Template {
    pub(crate) text: String,
    pub(crate) parts: Vec<Part>,
    /// The index of the one `seq` part.
    pub(crate) seq: usize,
    /// The indexes of parts computed from others, each after its inputs.
    pub(crate) derived: Vec<usize>,
    /// The zone that its date parts name.
    pub(crate) zone: Option<String>,
}

impl Template {
    /// The template as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The name of the key that obfuscates its numbers (`obf=ff1:NAME`), if any.
    pub fn key_name(&self) -> Option<&str> {
        self.seq().1.obfuscated.as_ref().map(|name| name.value.as_str())
    }

    /// The names of the values that a request gives, in the order of the template.
    pub fn values(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for name in self.parts.iter().filter_map(Part::value_name) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The `seq` part.
    pub(crate) fn seq(&self) -> (&Part, &Seq) {
        let part = &self.parts[self.seq];
        match &part.kind {
            Kind::Seq(seq) => (part, seq),
            _ => unreachable!("the parser sets `seq` to the index of a seq part"),
        }
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
