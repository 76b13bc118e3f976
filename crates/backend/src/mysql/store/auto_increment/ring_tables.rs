//! Other tables of a key whose own table is adopted: those of an old program must be those of the ring's slots.
//!
//! A number of the old program is made of an id, the index of its table, and how many tables there are. In a ring with more
//! or fewer slots, equal numbers would come of different ids.

use std::collections::BTreeMap;

use sequent_core::SlotIndex;

use super::{shape::MADE_BY_US, table::KeyTable};
use crate::{
    mysql::connection::Connection,
    net::{Fault, SlotTables},
    sql::{SqlSession, Value},
};

/// Fails if the database has other tables of an old program than those of the slots. `is_first`: this slot knows of no id of
/// the key yet. Later, a missing table of another slot is that slot's loss.
pub(super) async fn check(
    connection: &mut Connection,
    table: &KeyTable<'_>,
    is_first: bool,
) -> Result<(), Fault> {
    let Some(ring) = table.tables.adopting_ring() else { return Ok(()) };
    // After a resize, tables have names that no old program knows.
    if table.key.as_str() != table.key.sequence() {
        return Ok(());
    }
    let found = read(connection, table).await?;
    let expected = |slot: &SlotIndex| is_first || *slot == table.tables.slot;
    other(ring, &found, expected).map_or(Ok(()), |why| Err(table.unfit(why).into()))
}

/// Whether this store made the table, for each index of the sequence's tables that this user can see.
type Found = BTreeMap<SlotIndex, bool>;

async fn read(connection: &mut Connection, table: &KeyTable<'_>) -> Result<Found, Fault> {
    let sql = "SELECT t.table_name, t.table_comment FROM information_schema.tables t \
        WHERE t.table_schema = COALESCE(?, DATABASE()) AND t.table_name LIKE ?";
    // `_` stands for any character there, so the names are compared again.
    let (names, owner) = (&table.tables.settings.names, table.key.sequence());
    let params = vec![Value::maybe_text(table.database()), (&*names.like(owner)).into()];
    let mut found = Found::new();
    for mut row in connection.rows(sql, params).await? {
        let (name, comment) = (row.text()?, row.maybe_text()?);
        if let Some((sequence, index)) = names.parts(&name)
            && sequence == owner
        {
            found.insert(index, comment.as_deref() == Some(MADE_BY_US));
        }
    }
    Ok(found)
}

/// Why these tables are not those of the ring, if any is an old program's.
fn other(ring: &SlotTables, found: &Found, expected: impl Fn(&SlotIndex) -> bool) -> Option<String> {
    if found.values().all(|is_ours| *is_ours) {
        return None;
    }
    let slots = ring.slots;
    let advice = "the numbers of both would repeat; give the ring as many slots as the old program has tables \
        (ring.shard_bits)";
    if let Some((last, _)) = found.last_key_value().filter(|(last, _)| **last >= slots) {
        return Some(format!("there is a table of index {last}, and the ring has {slots} slots: {advice}"));
    }
    let missing = ring.together.iter().find(|slot| !found.contains_key(*slot) && expected(slot))?;
    Some(format!("the table of slot {missing} is missing, and others are another program's: {advice}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(slots: SlotIndex, together: &[SlotIndex]) -> SlotTables {
        SlotTables { slots, together: together.to_vec() }
    }

    fn told(ring: &SlotTables, theirs: &[SlotIndex], ours: &[SlotIndex]) -> String {
        let found = theirs.iter().map(|slot| (*slot, false)).chain(ours.iter().map(|slot| (*slot, true)));
        other(ring, &found.collect(), |_| true).unwrap_or_default()
    }

    #[test]
    fn more_and_fewer_tables_than_slots_are_told() {
        let two = ring(2, &[0, 1]);
        assert_eq!(told(&two, &[0, 1], &[]), "");
        assert!(
            told(&two, &[0, 1, 2, 3], &[])
                .starts_with("there is a table of index 3, and the ring has 2 slots")
        );
        let four = ring(4, &[0, 1, 2, 3]);
        assert!(told(&four, &[0, 1], &[]).starts_with("the table of slot 2 is missing"));
        // Half of the tables are elsewhere.
        assert_eq!(told(&ring(4, &[0, 1]), &[0, 1], &[]), "");
        assert!(told(&ring(2, &[1]), &[1, 3], &[]).contains("index 3"));
    }

    #[test]
    fn tables_of_ours_alone_are_as_they_are() {
        let four = ring(4, &[0, 1, 2, 3]);
        for ours in [&[][..], &[0], &[0, 1, 2, 3], &[7]] {
            assert_eq!(told(&four, &[], ours), "");
        }
        assert!(!told(&four, &[0], &[1]).is_empty());
    }

    #[test]
    fn a_table_that_another_slot_lost_is_that_slots_matter() {
        let found = [(0, false), (1, false)].into();
        let four = ring(4, &[0, 1, 2, 3]);
        assert_eq!(other(&four, &found, |slot| *slot == 0), None);
        assert!(other(&four, &found, |slot| *slot == 2).is_some());
    }
}
