//! The keys with which a shard or the ledger names its store: the kind, and a file or a server.

use std::{path::PathBuf, time::Duration};

use sequent_backend::{
    kinds::{Kind, Medium, Role},
    net::{CodeTables, DRIVERS},
};

use super::{code_tables::CodeTablesSection, server::ServerSection};
use crate::config::{
    Place, ServerPlace,
    reading::{
        Section, section,
        setting::{Setting, text},
    },
};

/// The default file of the ledger.
pub(super) const LEDGER_FILE: &str = "ledger.db";

section! {
    /// A store or ledger: its kind, and a file or [the keys of a server](#servers).
    pub(crate) struct PlaceSection(section, role: Role) {
        /// The kind: [stores](../operating/stores.md), [ledgers](../operating/ledger.md).
        store: Option<&'static Kind> = kind(role),

        /// Only `sqlite`: the file, relative to the data directory.
        path: Option<PathBuf> = file(role)
            .only_if(is_file(store), "only store = \"sqlite\" has one"),
    }
}

impl PlaceSection {
    /// The kind and the location. Both are `None` after a fault; without a kind all other keys pass unchecked.
    pub(crate) fn place(
        section: &mut Section<'_, '_>,
        role: Role,
        attempt_timeout: Duration,
    ) -> (Option<&'static Kind>, Option<Place>) {
        let Self { store, path } = Self::read(section, role);
        let built_in = store.filter(|kind| kind.is_built_in());
        if let (Some(kind), None) = (store, built_in) {
            let bound = format!("not built into this version, {} are", here(role));
            section.fault("store", format!("{:?}", kind.word), bound);
        }
        let Some(kind) = built_in else {
            section.pass_over(|section| {
                section.read("", file(role));
                if role == Role::Store {
                    CodeTablesSection::read(section, true);
                }
                for driver in DRIVERS {
                    ServerSection::read(section, driver, attempt_timeout);
                }
            });
            return (store, None);
        };
        let code_tables = match role {
            Role::Store => CodeTablesSection::read(section, kind.has_code_tables()).tables(),
            Role::Ledger => CodeTables::default(),
        };
        let place = match kind.medium {
            Medium::Memory => Some(Place::Memory),
            Medium::File => path.map(Place::Sqlite),
            Medium::Server(driver) => {
                ServerPlace::read(section, kind, driver, attempt_timeout).map(|mut server| {
                    server.options.code_tables = code_tables;
                    Place::Server(Box::new(server))
                })
            }
        };
        (store, place)
    }
}

fn is_file(kind: Option<&'static Kind>) -> bool {
    kind.is_some_and(|kind| matches!(kind.medium, Medium::File))
}

fn kind(role: Role) -> Setting<Option<&'static Kind>> {
    let known = Kind::words(role, false).join(", ");
    let words =
        Kind::words(role, false).iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    let kind = text("store").expecting(format!("{} are built into this version", here(role)));
    let named = move |word: String| {
        Kind::named(role, &word).ok_or_else(|| Some(format!("unknown, {known} are known")))
    };
    let kind = kind.then(named).allowed(words);
    match role {
        Role::Store => kind.required(),
        Role::Ledger => kind.or_else(Kind::named(role, "sqlite"), "\"sqlite\""),
    }
}

fn file(role: Role) -> Setting<Option<PathBuf>> {
    let file =
        text("path").expecting("the path of the shard's file is expected, relative to the data directory");
    let file = match role {
        Role::Store => file.required(),
        Role::Ledger => file.or_else(Some(LEDGER_FILE.to_owned()), "\"ledger.db\""),
    };
    file.map(|path| path.map(PathBuf::from))
}

/// The kinds in this build, for messages.
fn here(role: Role) -> String {
    Kind::words(role, true).join(", ")
}
