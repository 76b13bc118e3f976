//! Many counters in a few statements.

use std::collections::BTreeMap;

use mysql_async::Value;
use sequent_core::{
    Incarnation, Key, Life, SlotIndex,
    ledger::{Counter, PastLife, Row},
};

use super::{capped, kept};
use crate::mysql::{fault::Fault, link::Link};

/// How many counters one statement names: few sizes, so that each connection prepares few statements.
const SIZES: [usize; 4] = [256, 32, 4, 1];

/// A row as it is read.
pub(super) type Kept = (SlotIndex, Vec<u8>, i64, String, String, i64, i64, i64, i64);

/// The columns of [`Kept`].
pub(super) const COLUMNS: &str = "slot, k, life, store, ledger, base, ceiling, seen, opened_at";

/// Rows by counter, as read and as they shall be.
pub(super) type Sheet = BTreeMap<Counter, Row>;

/// The rows of these counters, those that there are.
pub(super) async fn read<'a>(
    link: &mut Link,
    counters: impl IntoIterator<Item = &'a Counter>,
) -> Result<Sheet, Fault> {
    let mut keys: BTreeMap<SlotIndex, Vec<&Key>> = BTreeMap::new();
    for Counter { slot, key } in counters {
        keys.entry(*slot).or_default().push(key);
    }
    let mut sheet = Sheet::new();
    for (slot, keys) in keys {
        for part in parts(&keys) {
            let marks = vec!["?"; part.len()].join(", ");
            let sql = format!("SELECT {COLUMNS} FROM sequent_counters WHERE slot = ? AND k IN ({marks})");
            let mut params: Vec<Value> = vec![slot.into()];
            params.extend(part.iter().map(|key| Value::from(key.as_str())));
            sheet.extend(link.rows::<Kept>(&sql, params).await?.into_iter().map(pair));
        }
    }
    Ok(sheet)
}

/// The rows of one key in all slots.
pub(super) async fn rows_of(link: &mut Link, key: &Key) -> Result<Sheet, Fault> {
    let sql = format!("SELECT {COLUMNS} FROM sequent_counters WHERE k = ?");
    Ok(link.rows::<Kept>(&sql, (key.as_str(),)).await?.into_iter().map(pair).collect())
}

/// Writes rows, whether there were any or not, moved by the call that will have the version `moved`.
pub(super) async fn write(link: &mut Link, rows: &Sheet, moved: u64) -> Result<(), Fault> {
    let rows: Vec<(&Counter, &Row)> = rows.iter().collect();
    for part in parts(&rows) {
        let marks = vec!["(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"; part.len()].join(", ");
        let sql = format!(
            "INSERT INTO sequent_counters ({COLUMNS}, moved) VALUES {marks} ON DUPLICATE KEY UPDATE \
            life = VALUES(life), store = VALUES(store), ledger = VALUES(ledger), base = VALUES(base), \
            ceiling = VALUES(ceiling), seen = VALUES(seen), opened_at = VALUES(opened_at), moved = VALUES(moved)"
        );
        let params: Vec<Value> = part.iter().flat_map(|(counter, row)| values(counter, row, moved)).collect();
        link.exec(&sql, params).await?;
    }
    Ok(())
}

/// Appends ended lives, in this order.
pub(super) async fn remember(link: &mut Link, ended: &[(Counter, PastLife)]) -> Result<(), Fault> {
    for part in parts(ended) {
        let marks = vec!["(?, ?, ?, ?, ?)"; part.len()].join(", ");
        let sql = format!("INSERT INTO sequent_history (slot, k, life, base, ceiling) VALUES {marks}");
        let values = |(Counter { slot, key }, past): &(Counter, PastLife)| -> [Value; 5] {
            let (base, ceiling) = (capped(past.base), capped(past.ceiling));
            [(*slot).into(), key.as_str().into(), past.life.to_stored().into(), base.into(), ceiling.into()]
        };
        link.exec(&sql, part.iter().flat_map(values).collect::<Vec<Value>>()).await?;
    }
    Ok(())
}

/// A row with its counter.
pub(super) fn pair((slot, key, life, store, ledger, base, ceiling, seen, opened_at): Kept) -> (Counter, Row) {
    let row = Row {
        life: Life::from_stored(life),
        store: Incarnation::new(store),
        ledger: Incarnation::new(ledger),
        base: kept(base),
        ceiling: kept(ceiling),
        seen: kept(seen),
        opened_at_ms: kept(opened_at),
    };
    (Counter { slot, key: Key::from_stored(&String::from_utf8_lossy(&key)) }, row)
}

fn values(Counter { slot, key }: &Counter, row: &Row, moved: u64) -> [Value; 10] {
    [
        (*slot).into(),
        key.as_str().into(),
        row.life.to_stored().into(),
        row.store.as_str().into(),
        row.ledger.as_str().into(),
        capped(row.base).into(),
        capped(row.ceiling).into(),
        capped(row.seen).into(),
        capped(row.opened_at_ms).into(),
        capped(moved).into(),
    ]
}

/// Splits into pieces of few sizes.
pub(super) fn parts<T>(mut all: &[T]) -> Vec<&[T]> {
    let mut parts = Vec::new();
    while let Some(size) = SIZES.into_iter().find(|size| *size <= all.len()) {
        let (part, rest) = all.split_at(size);
        parts.push(part);
        all = rest;
    }
    parts
}

#[cfg(test)]
mod tests {
    #[test]
    fn parts_are_of_few_sizes_and_leave_nothing_out() {
        let all: Vec<usize> = (0..(2 * 256 + 32 + 2 * 4 + 3)).collect();
        let parts = super::parts(&all);
        assert_eq!(parts.concat(), all);
        assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>(), [256, 256, 32, 4, 4, 1, 1, 1]);
    }
}
