//! What keys are called: everything is under `sequent/<cluster>/<slot>/`.

use sequent_core::Key;

use crate::net::Owner;

/// Where a key's cell is, and its witness. A cluster's name holds no `/`, and what follows `cell/` or `witness/` is the
/// key, byte for byte.
pub(super) struct CellNames {
    pub(super) cell: Vec<u8>,
    pub(super) witness: Vec<u8>,
}

impl CellNames {
    pub(super) fn of(owner: &Owner, key: &Key) -> Self {
        Self::ending(owner, key.as_str())
    }

    /// What the names of all cells begin with, and those of all witnesses.
    pub(super) fn prefixes(owner: &Owner) -> Self {
        Self::ending(owner, "")
    }

    fn ending(owner: &Owner, end: &str) -> Self {
        let name = |what: &str| format!("sequent/{owner}/{what}/{end}").into_bytes();
        Self { cell: name("cell"), witness: name("witness") }
    }

    /// Both, as the scripts have them.
    pub(super) fn each(&self) -> [&[u8]; 2] {
        [&self.cell, &self.witness]
    }
}

/// Where the shard's own stamp and mark are: in one key, so that no eviction parts them.
pub(super) fn shard_name(owner: &Owner) -> Vec<u8> {
    format!("sequent/{owner}/shard").into_bytes()
}
