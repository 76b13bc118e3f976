//! Saving ledger changes as etcd operations.

use super::{
    formats::{KeptDense, KeptMove, KeptPast, KeptRow, KeptServer, Losses},
    load::Loaded,
    transact::Change,
};
use crate::{
    etcd::{
        client::{Op, Span},
        instance::Run,
        keys::Names,
    },
    ledger::{Changes, Records, documents::body},
};

/// Versions for which the changed rows are kept: two hours at two calls a second. A write of dense numbers is a version
/// too.
const MOVES_KEPT: u64 = 16_384;

/// The operations of the changes, and the comparisons that they need.
pub(super) fn change(names: &Names, loaded: Loaded, rests_on_rows: bool) -> Change {
    let Loaded { records, losses, run, mut unchanged, version, catalog, .. } = loaded;
    let changes = &records.changes;
    let mut ops = Vec::new();
    session(names, &records, run, &mut ops);
    rows(names, &records, losses, &mut ops);
    let dense = changes.dense.iter().filter_map(|key| Some((key, *records.dense.get(key)?)));
    ops.extend(dense.map(|(key, count)| Op::Put(names.dense(key), body(&KeptDense::of(count, losses)))));
    expired(names, changes, &mut ops);
    documents(names, changes, &mut ops);
    if changes.floor.is_some() || changes.lost > 0 {
        let floor = changes.floor.unwrap_or(losses.floor);
        ops.push(Op::Put(names.only("losses"), body(&Losses { floor, ..losses }.and(changes.lost))));
    }
    if changes.version.is_some() || rests_on_rows {
        unchanged.push(version);
    }
    if changes.catalog.is_some() {
        unchanged.push(catalog);
    }
    Change { unchanged, ops }
}

fn session(names: &Names, records: &Records, run: Run, ops: &mut Vec<Op>) {
    let changes = &records.changes;
    if let Some((server, nonce)) = changes.nonce {
        let kept = KeptServer { nonce, seen_ms: records.clock_ms };
        ops.push(Op::Put(names.server(server), body(&kept)));
    }
    if let Some(token) = &changes.token {
        let run = Run { token: token.text.clone(), ..run };
        ops.push(Op::Put(names.only("run"), body(&run)));
    }
    if let Some(accepted) = &changes.accepted {
        ops.push(Op::Put(names.only("accepted"), body(&accepted.as_str())));
    }
    if let Some(version) = changes.version {
        ops.push(Op::Put(names.only("version"), version.to_string()));
    }
    if let Some(catalog) = changes.catalog {
        ops.push(Op::Put(names.only("catalog"), catalog.to_string()));
    }
}

fn rows(names: &Names, records: &Records, losses: Losses, ops: &mut Vec<Op>) {
    let (changes, version) = (&records.changes, records.next_version());
    let mut moves = Vec::new();
    for counter in &changes.rows {
        let name = names.row(counter);
        let Some(row) = records.rows.get(counter) else {
            ops.push(Op::Delete(Span::one(name)));
            continue;
        };
        ops.push(Op::Put(name.clone(), body(&KeptRow::of(row, losses))));
        moves.push(KeptMove::of(name, row));
    }
    for (at, (counter, past)) in changes.ended.iter().enumerate() {
        ops.push(Op::Put(names.past_epoch(counter, version, at), body(&KeptPast::of(past))));
    }
    if moves.is_empty() {
        return;
    }
    ops.push(Op::Put(names.moves_of(version), body(&moves)));
    if let Some(oldest) = version.checked_sub(MOVES_KEPT) {
        ops.push(Op::Delete(Span::under(names.moves()).to(names.moves_of(oldest))));
    }
}

fn expired(names: &Names, changes: &Changes, ops: &mut Vec<Op>) {
    for counter in &changes.expired {
        ops.push(Op::Delete(Span::one(names.row(counter))));
        ops.push(Op::Delete(Span::under(names.past(counter))));
    }
    for key in &changes.expired_dense {
        ops.push(Op::Delete(Span::one(names.dense(key))));
    }
}

fn documents(names: &Names, changes: &Changes, ops: &mut Vec<Op>) {
    let emptied = changes.emptied_folder().map(|folder| Span::under(names.only(folder)));
    let deleted = changes.deleted_documents().map(|name| Span::one(names.only(&name)));
    ops.extend(emptied.into_iter().chain(deleted).map(Op::Delete));
    let written = changes.written_documents().into_iter();
    ops.extend(written.map(|(name, text)| Op::Put(names.only(&name), text)));
}
