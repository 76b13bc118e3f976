//! Tables `owner_code_0` to `owner_code_N`, or of another format, that together count one sequence: a number is
//! `(id << n | index) << m | low` there, with m memory bits of the program that counts.

use std::collections::BTreeMap;

use sequent_core::{Layout, SlotIndex};
use sequent_engine::foreign::{COUNTING_TABLES, TableFormat};

use super::{OldCounter, shapes::NUMBER_MAX};

/// The most tables of one owner: 2^10.
pub const TABLES_MAX: usize = 1024;

/// The most memory bits of an old program.
pub const MEMORY_BITS_MAX: u32 = 16;

/// The tables of an owner, by their index.
type OfOwner = BTreeMap<SlotIndex, OldCounter>;

/// The same counters, with the tables of an owner as one counter.
pub(super) fn joined(counters: Vec<OldCounter>, memory_bits: u32, names: &TableFormat) -> Vec<OldCounter> {
    let mut owners: BTreeMap<String, OfOwner> = BTreeMap::new();
    let mut others = Vec::new();
    for counter in counters {
        match names.parts(&counter.name) {
            Some((owner, index)) if counter.source == COUNTING_TABLES && usize::from(index) < TABLES_MAX => {
                add(owners.entry(owner.to_owned()).or_default(), index, counter);
            }
            _ => others.push(counter),
        }
    }
    others.extend(owners.into_iter().map(|(owner, tables)| one(owner, &tables, (memory_bits, names))));
    others
}

/// Adds a table, which only one of several databases may have.
fn add(tables: &mut OfOwner, index: SlotIndex, counter: OldCounter) {
    let is_there = tables.contains_key(&index);
    let fault = || Err(format!("table {} is in two databases: one is expected", counter.name));
    let next = if is_there { fault() } else { counter.next.clone() };
    tables.insert(index, OldCounter { next, ..counter });
}

fn one(name: String, tables: &OfOwner, (memory_bits, names): (u32, &TableFormat)) -> OldCounter {
    let table = |index| names.table(&name, index, None);
    let next = highest(table, tables, memory_bits).map(|highest| highest + 1);
    let shard_bits = tables.len().checked_ilog2().and_then(|bits| u8::try_from(bits).ok());
    let layout = shard_bits.zip(u8::try_from(memory_bits).ok());
    let encoded = layout.and_then(|(shard_bits, memory_bits)| Layout::new(shard_bits, memory_bits).ok());
    let (source, tables) = (format!("{}…", table(0)), Some(tables.len()));
    OldCounter { source, name, next, step: 1, end: None, encoded, tables, texts: None, note: None }
}

/// The highest number of all tables.
fn highest(name: impl Fn(SlotIndex) -> String, tables: &OfOwner, memory_bits: u32) -> Result<u64, String> {
    let count = tables.keys().next_back().map_or(1, |last| last + 1);
    if let Some(missing) = (0..count).find(|index| !tables.contains_key(index)) {
        return Err(format!(
            "table {} is missing: tables 0 to {} are expected; name each database that has some",
            name(missing),
            count - 1
        ));
    }
    if !count.is_power_of_two() {
        return Err(format!("{count} tables are found: 1, 2, 4 and so on to {TABLES_MAX} are expected"));
    }
    let mut highest = 0;
    for (index, table) in tables {
        let id = table.next.clone()?.saturating_sub(1);
        let encoded = (i128::from(id) << count.trailing_zeros()) | i128::from(*index);
        // All numbers of the last id, which the program may have in memory.
        let number = ((encoded + 1) << memory_bits) - 1;
        if number >= NUMBER_MAX {
            return Err(format!("its highest number is {number}: at most {} is allowed", NUMBER_MAX - 1));
        }
        // A table without ids has given nothing.
        highest = if id == 0 { highest } else { highest.max(u64::try_from(number).unwrap_or(highest)) };
    }
    Ok(highest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(name: &str, last: u64) -> OldCounter {
        let (source, name) = ("ids".to_owned(), name.to_owned());
        let (encoded, tables, texts, note) = (None, None, None, None);
        OldCounter { source, name, next: Ok(last + 1), step: 1, end: None, encoded, tables, texts, note }
    }

    fn joined(counters: Vec<OldCounter>, memory_bits: u32) -> Vec<OldCounter> {
        super::joined(counters, memory_bits, &TableFormat::default())
    }

    #[test]
    fn tables_of_another_format_are_one_counter() {
        let names: TableFormat = "t_%s_seq_%d".parse().unwrap();
        let joined = super::joined(
            vec![ids("t_sto_seq_0", 5), ids("t_sto_seq_1", 7), ids("sto_code_0", 1)],
            0,
            &names,
        );
        let found: Vec<_> =
            joined.iter().map(|counter| (&*counter.source, &*counter.name, counter.tables)).collect();
        assert_eq!(found, [("ids", "sto_code_0", None), ("t_sto_seq_0…", "sto", Some(2))]);
        assert_eq!(joined[1].next, Ok((7 << 1 | 1) + 1));
        let missing = super::joined(vec![ids("t_sto_seq_1", 7)], 0, &names);
        assert!(missing[0].next.as_ref().unwrap_err().starts_with("table t_sto_seq_0 is missing"));
    }

    #[test]
    fn the_tables_of_an_owner_are_one_counter() {
        let tables =
            [("sto_code_0", 5), ("sto_code_1", 7), ("sto_code_2", 7), ("sto_code_3", 0), ("orders", 9)];
        let joined = joined(tables.map(|(name, last)| ids(name, last)).to_vec(), 0);
        let found: Vec<_> = joined.into_iter().map(|counter| (counter.name, counter.next)).collect();
        assert_eq!(found, [("orders".to_owned(), Ok(10)), ("sto".to_owned(), Ok(31))]);
    }

    #[test]
    fn a_missing_table_is_named() {
        let joined = joined(vec![ids("sto_code_0", 1), ids("sto_code_3", 1)], 0);
        let expected =
            "table sto_code_1 is missing: tables 0 to 3 are expected; name each database that has some";
        assert_eq!(joined[0].next, Err(expected.to_owned()));
    }

    #[test]
    fn a_table_in_two_databases_is_refused() {
        let joined = joined(vec![ids("sto_code_0", 1), ids("sto_code_1", 1), ids("sto_code_0", 5)], 0);
        let expected = "table sto_code_0 is in two databases: one is expected";
        assert_eq!((joined.len(), &joined[0].next), (1, &Err(expected.to_owned())));
    }

    #[test]
    fn all_numbers_of_the_last_id_are_given() {
        let tables = || vec![ids("sto_code_0", 5), ids("sto_code_1", 4)];
        assert_eq!(joined(tables(), 3)[0].next, Ok((((5 << 1) << 3) | 7) + 1));
        assert_eq!(joined(tables(), 3)[0].encoded, Layout::new(1, 3).ok());
        assert_eq!(joined(tables(), 0)[0].next, Ok((5 << 1) + 1));
    }

    #[test]
    fn one_table_gives_its_ids_themselves_and_none_gave_nothing() {
        assert_eq!(joined(vec![ids("sto_code_0", 41)], 0)[0].next, Ok(42));
        assert_eq!(joined(vec![ids("sto_code_0", 0), ids("sto_code_1", 0)], 3)[0].next, Ok(1));
    }
}
