//! The kinds of stores and ledgers, as a section of the configuration names them.

use sequent_backend::kinds::{Kind, Medium, Role};

use crate::config::{Place, ServerPlace, TableReader};

/// The kind that `section` names. An unknown name and a kind that is not built in are different faults.
pub(crate) fn known(section: &mut TableReader<'_, '_>, word: &str, role: Role) -> Option<&'static Kind> {
    let Some(kind) = Kind::named(role, word) else {
        let known = Kind::words(role, false).join(", ");
        section.fault("store", format!("{word:?}"), format!("unknown, {known} are known"));
        return None;
    };
    if !kind.is_built_in() {
        let bound = format!("not built into this version, {} are", built_in(role));
        section.fault("store", format!("{word:?}"), bound);
    }
    Some(kind)
}

/// The location of a kind's data, by the settings of `section` and `file`. `None` if a fault left no location, or if
/// the kind is not built in.
pub(crate) fn place(
    section: &mut TableReader<'_, '_>,
    kind: Option<&'static Kind>,
    attempt: std::time::Duration,
    file: impl FnOnce(&mut TableReader<'_, '_>) -> Option<String>,
) -> Option<Place> {
    let Some(kind) = kind.filter(|kind| kind.is_built_in()) else {
        section.pass_over();
        return None;
    };
    match kind.medium {
        Medium::Memory => Some(Place::Memory),
        Medium::File => file(section).map(|path| Place::Sqlite(path.into())),
        Medium::Server(driver) => {
            let server = ServerPlace::read(section, kind, driver, attempt);
            server.map(|server| Place::Server(Box::new(server)))
        }
    }
}

/// The kinds in this build, for messages.
pub(crate) fn built_in(role: Role) -> String {
    let here = Kind::words(role, true);
    match here.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => here.concat(),
    }
}
