//! Functions for `@{fn,NAME,…}`. A program registers its own in code; none is looked up by name at run time elsewhere.

use std::{
    collections::BTreeMap,
    fmt::{self, Write},
    ops::RangeInclusive,
    sync::Arc,
};

/// The functions that templates may name. Two are built in: `mod` (`by=`, `w=`: the remainder of the digits) and `last` (`n=`: the
/// last ASCII characters).
///
/// ```
/// use sequent_format::{Function, Registry, Settings, Template, Timestamp, Values};
/// let registry = Registry::default().with("SiteCheck", |_args| {
///     Ok(Function::new(1..=1, "A-Z", |input, out| {
///         let sum: u32 = input.bytes().map(u32::from).sum();
///         out.write_char(char::from_u32(u32::from('A') + sum % 26).unwrap_or('A'))
///     }))
/// });
/// let template = Template::parse("X@{seq,w=4}@{SiteCheck,over=left}")?;
/// let format = template.analyze(&Settings { registry, ..Settings::default() })?;
/// assert_eq!(format.context(Timestamp::UNIX_EPOCH, &Values::new())?.text(1)?, "X0001V");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Registry(BTreeMap<String, Arc<Define>>);

/// Binds the arguments that a template names to a function, or fails with what is wrong with them.
type Define = dyn Fn(&Arguments<'_>) -> Result<Function, String> + Send + Sync;

/// Writes the text of a function for its input.
type Call = dyn Fn(&str, &mut dyn Write) -> fmt::Result + Send + Sync;

/// A function with bound arguments, and the lengths and characters that its texts have.
#[derive(Clone)]
pub struct Function {
    pub(crate) chars: RangeInclusive<usize>,
    pub(crate) charset: String,
    call: Arc<Call>,
}

/// The named arguments of a `fn`.
#[derive(Debug, Clone, Copy)]
pub struct Arguments<'a>(pub(crate) &'a [(String, String)]);

impl Registry {
    /// Adds a function, or replaces the one of that name. It must be pure: if the same input ever gives another text, texts can no
    /// longer be decoded.
    #[must_use]
    pub fn with(
        mut self,
        name: &str,
        define: impl Fn(&Arguments<'_>) -> Result<Function, String> + Send + Sync + 'static,
    ) -> Self {
        self.0.insert(name.to_owned(), Arc::new(define));
        self
    }

    /// Whether a function of this name is registered.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The registered names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub(crate) fn define(&self, name: &str, args: &[(String, String)]) -> Option<Result<Function, String>> {
        self.0.get(name).map(|define| define(&Arguments(args)))
    }
}

impl Function {
    /// A function whose texts have `chars` characters of `charset`, which is written as between the brackets of a regular expression.
    /// If a text is different, rendering fails with [`RenderError::Function`](crate::RenderError::Function).
    pub fn new(
        chars: RangeInclusive<usize>,
        charset: &str,
        call: impl Fn(&str, &mut dyn Write) -> fmt::Result + Send + Sync + 'static,
    ) -> Self {
        Self { chars, charset: charset.to_owned(), call: Arc::new(call) }
    }

    pub(crate) fn call(&self, input: &str, out: &mut dyn Write) -> fmt::Result {
        (self.call)(input, out)
    }
}

impl Arguments<'_> {
    /// An argument.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// An argument as a number within bounds.
    pub fn number(&self, name: &str, bounds: RangeInclusive<u64>) -> Result<u64, String> {
        let text = self.get(name).unwrap_or_default();
        let number = text.parse().ok().filter(|number| bounds.contains(number));
        number
            .ok_or_else(|| format!("{name} is {text:?}: {} to {} are allowed", bounds.start(), bounds.end()))
    }

    /// Fails if there is an argument that is not in `names`.
    pub fn only(&self, names: &[&str]) -> Result<(), String> {
        match self.0.iter().find(|(name, _)| !names.contains(&name.as_str())) {
            Some((name, _)) => Err(format!("it takes no {name}: {} are allowed", names.join(", "))),
            None => Ok(()),
        }
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self(BTreeMap::new()).with("mod", remainder).with("last", last)
    }
}

/// The digits of the input as a number, modulo `by`, in `w` digits (by default as many as the highest remainder has).
fn remainder(args: &Arguments<'_>) -> Result<Function, String> {
    args.only(&["by", "w"])?;
    let by = args.number("by", 2..=1_000_000_000)?;
    let needed = (by - 1).checked_ilog10().unwrap_or(0) as usize + 1;
    let width = match args.get("w") {
        Some(_) => usize::try_from(args.number("w", needed as u64..=19)?).unwrap_or(needed),
        None => needed,
    };
    Ok(Function::new(width..=width, "0-9", move |input, out| {
        let digits = input.bytes().filter(u8::is_ascii_digit).map(|byte| u64::from(byte - b'0'));
        let rest = digits.fold(0, |rest, digit| (rest * 10 + digit) % by);
        write!(out, "{rest:0width$}")
    }))
}

/// The last `n` printable ASCII characters of the input; others are skipped. Zeros are put in front if it has fewer.
fn last(args: &Arguments<'_>) -> Result<Function, String> {
    args.only(&["n"])?;
    let count = usize::try_from(args.number("n", 1..=64)?).unwrap_or(1);
    Ok(Function::new(count..=count, "!-~", move |input, out| {
        let printable = || input.chars().filter(char::is_ascii_graphic);
        let found = printable().count();
        (found..count).try_for_each(|_| out.write_char('0'))?;
        printable().skip(found.saturating_sub(count)).try_for_each(|c| out.write_char(c))
    }))
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Function({:?}, [{}])", self.chars, self.charset)
    }
}
