//! Definitions: the highest version of each counts.

use std::cmp::Ordering;

use sequent_core::{
    Key,
    ledger::{Advanced, Defined, Definition},
};

use super::Book;

impl Book {
    /// The catalog's version, and the definitions in force, ascending by name.
    pub fn definitions(&self) -> (u64, Vec<Definition>) {
        (self.catalog_version, self.definitions.values().cloned().collect())
    }

    /// Adds a definition, or says why not.
    pub fn define(&mut self, definition: &Definition, judged: Option<u32>) -> Defined {
        let held = self.definitions.get(&definition.name);
        if let Some(held) = held {
            match definition.version.cmp(&held.version) {
                Ordering::Less => return Defined::Older { held: held.clone() },
                Ordering::Equal if definition.body == held.body => return Defined::Same,
                Ordering::Equal => return Defined::Conflict { held: held.clone() },
                Ordering::Greater => {}
            }
        }
        if held.map(|held| held.version) != judged {
            return Defined::Moved { held: held.cloned() };
        }
        self.definitions.insert(definition.name.clone(), definition.clone());
        self.catalog_version += 1;
        Defined::Created
    }

    /// How far keys were advanced, ascending by key.
    pub fn advanced(&self) -> Vec<Advanced> {
        let note = |(key, to): (&Key, &u64)| Advanced { key: key.clone(), to: *to };
        self.advanced.iter().map(note).collect()
    }

    /// Notes how far a key is advanced; returns what is held.
    pub fn advance(&mut self, Advanced { key, to }: &Advanced) -> u64 {
        let held = self.advanced.entry(key.clone()).or_default();
        if *to > *held {
            *held = *to;
            self.catalog_version += 1;
        }
        *held
    }
}
