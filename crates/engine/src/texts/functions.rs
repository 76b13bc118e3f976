//! Functions that the program registered for the templates of this process.
//!
//! They belong to the process and not to an engine, as keys do: every reader of a definition needs them.

use std::sync::RwLock;

use sequent_format::{Arguments, Function, Registry};

use sequent_core::sync;

static REGISTERED: RwLock<Option<Registry>> = RwLock::new(None);

/// Registers a function for the templates of this process, under the name that templates use: `@{NAME,over=left}` if it
/// is like a class name, otherwise `@{fn,NAME,over=left}`. A program that builds its own server calls this before it reads a
/// configuration.
///
/// The function declares the length and the characters of its texts, and the proof that no two numbers share a text counts with
/// them. It must be pure, and each server of a cluster must register the same one: a server without it refuses the definition.
/// It runs after the parts that it reads, whatever their order in the template is.
///
/// # Errors
///
/// A function of this name is registered already.
///
/// ```
/// use sequent_engine::{Function, Texts, register_function};
/// register_function("SiteCheck", |_args| {
///     Ok(Function::new(1..=1, "A-Z", |input, out| {
///         let sum: u32 = input.bytes().map(u32::from).sum();
///         out.write_char(char::from_u32(u32::from('A') + sum % 26).unwrap_or('A'))
///     }))
/// })?;
/// assert!(Texts::new("X@{seq,w=4}@{SiteCheck}").proven().is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn register_function(
    name: &str,
    define: impl Fn(&Arguments<'_>) -> Result<Function, String> + Send + Sync + 'static,
) -> Result<(), String> {
    let mut registered = sync::write(&REGISTERED);
    let known = registered.clone().unwrap_or_default();
    if known.has(name) {
        return Err(format!("function {name:?} is registered already"));
    }
    *registered = Some(known.with(name, define));
    Ok(())
}

/// The built-in functions, and the registered ones.
pub(super) fn registered() -> Registry {
    sync::read(&REGISTERED).clone().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texts::Texts;

    #[test]
    fn a_registered_function_renders_and_a_name_is_registered_once() {
        let template = || Texts::new("@{date,yyyy}-@{seq,w=3}-@{fn,functions-test,over=seq}").proven();
        let refused = template().unwrap_err();
        assert!(refused.bound.contains("functions-test is not registered"), "{}", refused.bound);
        let define =
            |_: &Arguments<'_>| Ok(Function::new(4..=4, "0-9", |input, out| write!(out, "{input}0")));
        register_function("functions-test", define).unwrap();
        let proven = template().unwrap();
        let context = proven.format().unwrap();
        let context = context.context(sequent_format::Timestamp::UNIX_EPOCH, &<_>::default()).unwrap();
        assert_eq!(context.text(7).unwrap(), "1970-007-0070");
        for name in ["functions-test", "mod"] {
            assert_eq!(
                register_function(name, define).unwrap_err(),
                format!("function {name:?} is registered already")
            );
        }
    }
}
