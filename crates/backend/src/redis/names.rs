//! Names of Redis keys: all begin with `sequent/<cluster>/<slot>/`.

use sequent_core::Key;

use crate::net::Owner;

/// The names of a key's cell and of its witness. A cluster's name contains no `/`, so the key is all after `cell/` or
/// `witness/`, byte for byte.
pub(super) struct CellNames {
    pub(super) cell: Vec<u8>,
    pub(super) witness: Vec<u8>,
}

impl CellNames {
    pub(super) fn of(owner: &Owner, key: &Key) -> Self {
        Self::ending(owner, key.as_str())
    }

    /// The prefixes of all cells and of all witnesses.
    pub(super) fn prefixes(owner: &Owner) -> Self {
        Self::ending(owner, "")
    }

    fn ending(owner: &Owner, end: &str) -> Self {
        let name = |what: &str| format!("sequent/{owner}/{what}/{end}").into_bytes();
        Self { cell: name("cell"), witness: name("witness") }
    }

    /// Cell and witness, in the order of the scripts' `KEYS`.
    pub(super) fn each(&self) -> [&[u8]; 2] {
        [&self.cell, &self.witness]
    }
}

/// The name of the key with the shard's stamp, mark and token. They share a key, so an eviction takes all or none.
pub(super) fn shard_name(owner: &Owner) -> Vec<u8> {
    format!("sequent/{owner}/shard").into_bytes()
}
