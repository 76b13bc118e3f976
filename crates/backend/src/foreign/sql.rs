//! Reading of tables, common to the SQL engines.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
};

use sequent_core::{BoxFuture, SourceError};

use super::{
    COUNTERS_MAX, COUNTING_TABLES, Look, MAXIMA, SEQUENCES, Source, Table, TextRow, Wanted, check_count,
    counter, counters, refused, refused_counter,
};
use crate::net::Fault;

/// The types of columns whose maximum is that of their numbers. A decimal with a fraction is refused when it is read.
const NUMBER_TYPES: [&str; 8] =
    ["tinyint", "smallint", "mediumint", "int", "integer", "bigint", "decimal", "numeric"];

/// Tables of another program, in a place that names them.
pub(super) struct SqlSource<T: Tables>(pub(super) T::Place);

impl<T: Tables> Source for SqlSource<T> {
    fn read<'a>(&'a self, wanted: &'a Wanted) -> BoxFuture<'a, Result<Vec<Table>, SourceError>> {
        Box::pin(async move {
            let read = async {
                let mut tables = T::open(&self.0).await?;
                let read = read(&mut tables, wanted).await;
                tables.close().await;
                read
            };
            read.await.map_err(|fault: Fault| fault.into_error(T::CONTEXT))
        })
    }
}

/// A connection to tables of another program.
pub(super) trait Tables: Send + Sized {
    /// What is said in front of an error.
    const CONTEXT: &'static str;

    /// Types of numbers whose text lacks digits, or is none.
    const WITHOUT_DIGITS: &'static [&'static str] = &[];

    /// Where the tables are.
    type Place: Send + Sync;

    /// Lists table, column, `1` if the column counts by itself, the column's type, and `1` if it is of a view, in the order of the
    /// tables' columns.
    const COLUMNS: &'static str;

    /// Connects. Nothing is written.
    fn open(place: &Self::Place) -> impl Future<Output = Result<Self, Fault>> + Send;

    /// Closes the connection. The reading is over: a failed farewell loses nothing.
    fn close(self) -> impl Future<Output = ()> + Send {
        async { drop(self) }
    }

    /// The rows of a statement.
    fn rows(&mut self, sql: &str) -> impl Future<Output = Result<Vec<TextRow>, Fault>> + Send;

    /// The first value of a statement's first row.
    fn value(&mut self, sql: &str) -> impl Future<Output = Result<Option<String>, Fault>> + Send {
        async move {
            Ok(self.rows(sql).await?.into_iter().next().and_then(|row| row.into_iter().next()).flatten())
        }
    }

    /// An expression as text.
    fn text(expression: &str) -> String;

    /// A name as an identifier.
    fn quoted(name: &str) -> String {
        format!("\"{}\"", name.replace('"', "\"\""))
    }

    /// The highest id that a column which counts by itself has given, though its row may be deleted since.
    fn last_id(
        &mut self,
        table: &str,
        column: &str,
    ) -> impl Future<Output = Result<Option<String>, Fault>> + Send;

    /// The type of a column's values that are no whole numbers: the maximum of texts is not that of the numbers in them. `declared`
    /// is the column's type.
    fn other_type(
        &mut self,
        _table: &str,
        _column: &str,
        declared: &str,
    ) -> impl Future<Output = Result<Option<String>, Fault>> + Send {
        let is_number = NUMBER_TYPES.iter().any(|known| known.eq_ignore_ascii_case(declared));
        std::future::ready(Ok((!is_number).then(|| declared.to_owned())))
    }

    /// Sequences that are no tables, as rows of [`COUNTER_COLUMNS`](super::COUNTER_COLUMNS).
    fn sequences(&mut self) -> impl Future<Output = Result<Vec<TextRow>, Fault>> + Send {
        std::future::ready(Ok(Vec::new()))
    }
}

/// The columns of a table.
#[derive(Default)]
struct Columns {
    /// As the engine has them.
    names: Vec<String>,
    /// The type of each.
    types: Vec<String>,
    /// They are a view's, which shows rows of other tables.
    is_view: bool,
    /// The one that counts by itself.
    counting: Option<String>,
}

impl Columns {
    fn lower(&self) -> Vec<String> {
        self.names.iter().map(|name| name.to_ascii_lowercase()).collect()
    }
}

/// Reads what is wanted.
async fn read<T: Tables>(tables: &mut T, wanted: &Wanted) -> Result<Vec<Table>, Fault> {
    if let Some(pattern) = &wanted.pattern {
        return Err(
            refused(format!("pattern is {pattern:?}: a database has tables, name them by --table")).into()
        );
    }
    let found = columns(tables).await?;
    let mut sequences = tables.sequences().await?;
    let name_of = |row: &TextRow| row.first().cloned().flatten().unwrap_or_default();
    sequences.retain(|row| is_wanted(wanted, &name_of(row)));
    let mut read = Vec::new();
    let (mut ids, mut maxima) = (Vec::new(), Vec::new());
    // A view is read if it is named: its rows are those of tables.
    let is_read = |name: &str, columns: &Columns| {
        is_wanted(wanted, name) && !(columns.is_view && wanted.tables.is_empty())
    };
    let look = |name: &str, columns: &Columns| (wanted.look)(name, &columns.lower(), &wanted.table_names);
    let owner = |name: &str| wanted.table_names.parts(name).map(|(owner, _)| owner.to_owned());
    let counts =
        |name: &str, columns: &Columns| look(name, columns) == Look::Ids && columns.counting.is_some();
    let slot_tables = found.iter().filter(|(name, columns)| is_read(name, columns) && counts(name, columns));
    let owners: BTreeSet<String> = slot_tables.filter_map(|(name, _)| owner(name)).collect();
    let is_left_out = |(name, columns): &(&String, &Columns)| {
        !is_read(name, columns)
            && columns.counting.is_some()
            && owner(name).is_some_and(|owner| owners.contains(&owner))
    };
    if let Some((name, _)) = found.iter().find(is_left_out) {
        return Err(refused(format!(
            "table is {}: {name} is there, too, and has numbers of the same sequence: name it by --table as well",
            wanted.tables.join(", ")
        ))
        .into());
    }
    for (name, columns) in found.iter().filter(|(name, columns)| is_read(name, columns)) {
        // Without one of its owner's slot tables a sequence would begin too low.
        let is_slot_table = owner(name).is_some_and(|owner| owners.contains(&owner));
        let is_named = !wanted.tables.is_empty();
        match (look(name, columns), &columns.counting) {
            (Look::Rows, _) => read.push(whole(tables, name, columns).await?),
            (look, Some(counting)) if look == Look::Ids || is_slot_table || is_named => {
                ids.push(last_id(tables, name, counting).await?);
            }
            (_, None) if is_slot_table => ids.push(refused_counter(name, format!(
                "table {name} has no column that counts by itself, as others of its name have: write their highest number \
                 into a file, and import that"
            ))),
            _ if !is_named => {}
            _ => {
                let columns = columns.names.join(", ");
                return Err(refused(format!(
                    "table is {name:?}: its columns ({columns}) are those of no system that is known: name a column \
                     whose maximum counts, --column {name}.COLUMN"
                )).into());
            }
        }
    }
    for (table, column) in wanted.columns.iter().filter(|(table, _)| found.contains_key(table)) {
        maxima.push(maximum(tables, table, column, &found).await?);
    }
    read.extend(
        [(COUNTING_TABLES, ids), (MAXIMA, maxima), (SEQUENCES, sequences)]
            .into_iter()
            .filter(|(_, rows)| !rows.is_empty())
            .map(|(name, rows)| counters(name, rows)),
    );
    check_count(read.iter().map(|table| table.rows.len()).sum())?;
    Ok(read)
}

/// Whether a table or sequence of this name may be read.
fn is_wanted(wanted: &Wanted, name: &str) -> bool {
    if wanted.tables.is_empty() {
        return wanted.columns.is_empty() && !name.starts_with("sequent_");
    }
    wanted.tables.iter().any(|table| table == name)
}

async fn columns<T: Tables>(tables: &mut T) -> Result<BTreeMap<String, Columns>, Fault> {
    let mut found: BTreeMap<String, Columns> = BTreeMap::new();
    for row in tables.rows(T::COLUMNS).await? {
        let mut texts = row.into_iter().map(Option::unwrap_or_default);
        let mut next = || texts.next().unwrap_or_default();
        let (table, column, counts) = (next(), next(), next());
        let columns = found.entry(table).or_default();
        columns.types.push(next());
        columns.is_view = next() == "1";
        if counts == "1" {
            columns.counting = Some(column.clone());
        }
        columns.names.push(column);
    }
    Ok(found)
}

async fn whole<T: Tables>(tables: &mut T, name: &str, columns: &Columns) -> Result<Table, Fault> {
    let list: Vec<String> = columns.names.iter().map(|column| T::text(&T::quoted(column))).collect();
    // One row more than is held shows that there are too many.
    let sql = format!("SELECT {} FROM {} LIMIT {}", list.join(", "), T::quoted(name), COUNTERS_MAX + 1);
    let mut rows = tables.rows(&sql).await?;
    check_count(rows.len())?;
    let types = columns.types.iter().map(String::as_str);
    for (at, short) in types.enumerate().filter(|(_, declared)| T::WITHOUT_DIGITS.contains(declared)) {
        // With its type it is no number any more, so that a counter of it is refused.
        let values = rows.iter_mut().filter_map(|row| row.get_mut(at)?.as_mut());
        values.for_each(|value| *value = format!("{value} ({short})"));
    }
    Ok(Table { name: name.to_owned(), columns: columns.lower(), rows })
}

async fn last_id<T: Tables>(tables: &mut T, name: &str, column: &str) -> Result<TextRow, Fault> {
    let last = tables.last_id(name, column).await?;
    let highest = highest(tables, name, column).await?;
    let number = |text: &Option<String>| text.as_ref().and_then(|text| text.parse::<i128>().ok());
    let last = if number(&highest) > number(&last) { highest } else { last };
    Ok(counter(name, last))
}

async fn maximum<T: Tables>(
    tables: &mut T,
    table: &str,
    column: &str,
    found: &BTreeMap<String, Columns>,
) -> Result<TextRow, Fault> {
    let none = Columns::default();
    let columns = found.get(table).unwrap_or(&none);
    let mut both = columns.names.iter().zip(&columns.types);
    let Some((own, declared)) = both.find(|(name, _)| name.eq_ignore_ascii_case(column)) else {
        let expected = columns.names.join(", ");
        return Err(refused(format!("column is {column:?}: table {table} has {expected}")).into());
    };
    if let Some(other) = tables.other_type(table, own, declared).await? {
        return Err(refused(format!(
            "column is {column:?}: table {table} has values of type {other} in it, and the maximum of whole numbers is \
             expected: name a column of whole numbers, on a server also one of a view, or import a file with counter, \
             last_number, step"
        )).into());
    }
    Ok(counter(table, highest(tables, table, own).await?))
}

async fn highest<T: Tables>(tables: &mut T, table: &str, column: &str) -> Result<Option<String>, Fault> {
    let maximum = T::text(&format!("MAX({})", T::quoted(column)));
    tables.value(&format!("SELECT {maximum} FROM {}", T::quoted(table))).await
}
