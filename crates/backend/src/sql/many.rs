//! Statements over many rows, in the form that suits each engine.

use super::{SqlRow, SqlSession, Value};
use crate::net::Fault;

/// Rows named in one statement. There are few sizes, so that each connection prepares few statements.
const SIZES: [usize; 4] = [256, 32, 4, 1];

/// A statement over many rows.
///
/// In the text of all variants but `Columns`, one row stands between braces: `VALUES {(?, ?)}`. It is repeated, up to a
/// fixed number of rows at a time.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Many {
    /// Rows separated by commas.
    Listed(&'static str),
    /// Conditions separated by `OR`.
    AnyOf(&'static str),
    /// As `Listed`, for rows that share their first value. That value is given once per statement, before the rows.
    Grouped(&'static str),
    /// The statement takes one array per column.
    Columns(&'static str),
}

impl Many {
    /// Runs the statement and returns how many rows it touched. Without rows, nothing is run.
    pub(crate) async fn execute<S: SqlSession, const N: usize>(
        self,
        session: &mut S,
        rows: Vec<[Value; N]>,
    ) -> Result<u64, Fault> {
        let mut touched = 0;
        for (sql, params) in self.statements(rows) {
            touched += session.execute(&sql, params).await?;
        }
        Ok(touched)
    }

    /// Runs the statement and returns its rows.
    pub(crate) async fn rows<S: SqlSession, const N: usize>(
        self,
        session: &mut S,
        rows: Vec<[Value; N]>,
    ) -> Result<Vec<SqlRow>, Fault> {
        let mut found = Vec::new();
        for (sql, params) in self.statements(rows) {
            found.append(&mut session.rows(&sql, params).await?);
        }
        Ok(found)
    }

    fn statements<const N: usize>(self, rows: Vec<[Value; N]>) -> Vec<(String, Vec<Value>)> {
        match self {
            Self::Columns(_) if rows.is_empty() => Vec::new(),
            Self::Columns(sql) => vec![(sql.to_owned(), columns(rows))],
            Self::Listed(sql) => listed(sql, ", ", None, rows),
            Self::AnyOf(sql) => listed(sql, " OR ", None, rows),
            Self::Grouped(sql) => rows
                .chunk_by(|one, other| one.first() == other.first())
                .flat_map(|rows| {
                    let first = rows.first().and_then(|row| row.first());
                    listed(sql, ", ", first, rows.to_vec())
                })
                .collect(),
        }
    }
}

/// The statements that list these rows. A shared `first` value is given once per statement, and no row repeats it.
fn listed<const N: usize>(
    sql: &str,
    between: &str,
    first: Option<&Value>,
    rows: Vec<[Value; N]>,
) -> Vec<(String, Vec<Value>)> {
    let (before, rest) = sql.split_once('{').unwrap_or((sql, ""));
    let (each, after) = rest.split_once('}').unwrap_or((rest, ""));
    let (mut statements, mut rows) = (Vec::new(), rows.into_iter());
    let given = usize::from(first.is_some());
    while let Some(size) = SIZES.into_iter().find(|size| *size <= rows.len()) {
        let sql = format!("{before}{}{after}", vec![each; size].join(between));
        let mut params = Vec::with_capacity(size * N + given);
        params.extend(first.cloned());
        params.extend(rows.by_ref().take(size).flat_map(|row| row.into_iter().skip(given)));
        statements.push((sql, params));
    }
    statements
}

/// Turns rows into columns. Every value of a column has the same type, and none is null.
fn columns<const N: usize>(rows: Vec<[Value; N]>) -> Vec<Value> {
    let many = rows.len();
    let column = |value: &Value| match value {
        Value::Int(_) => Value::Ints(Vec::with_capacity(many)),
        Value::Bytes(_) => Value::ManyBytes(Vec::with_capacity(many)),
        _ => Value::Texts(Vec::with_capacity(many)),
    };
    let mut columns: Vec<Value> = rows.first().into_iter().flatten().map(column).collect();
    for row in rows {
        for (column, value) in columns.iter_mut().zip(row) {
            match (column, value) {
                (Value::Ints(column), Value::Int(number)) => column.push(number),
                (Value::Texts(column), Value::Text(text)) => column.push(text),
                (Value::ManyBytes(column), Value::Bytes(bytes)) => column.push(bytes),
                _ => {}
            }
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTED: Many = Many::Listed("IN ({?})");

    fn rows(count: i64) -> Vec<[Value; 1]> {
        (0..count).map(|number| [Value::Int(number)]).collect()
    }

    #[test]
    fn rows_are_listed_in_statements_of_few_sizes() {
        let statements = LISTED.statements(rows(256 + 32 + 5));
        let sizes: Vec<usize> = statements.iter().map(|(_, params)| params.len()).collect();
        assert_eq!(sizes, [256, 32, 4, 1]);
        assert_eq!(statements[2].0, "IN (?, ?, ?, ?)");
        assert_eq!(statements[3].1, [Value::Int(292)], "in their order");
        assert!(LISTED.statements(rows(0)).is_empty());
    }

    #[test]
    fn rows_that_share_their_first_value_are_a_statement() {
        let grouped = Many::Grouped("a = ? AND b IN ({?})");
        let rows = [(1, 7), (1, 8), (1, 9), (1, 10), (2, 7)].map(|(a, b)| [Value::Int(a), Value::Int(b)]);
        let first = [1, 7, 8, 9, 10].map(Value::Int).to_vec();
        let second = [2, 7].map(Value::Int).to_vec();
        let expected =
            [("a = ? AND b IN (?, ?, ?, ?)".to_owned(), first), ("a = ? AND b IN (?)".to_owned(), second)];
        assert_eq!(grouped.statements(rows.to_vec()), expected);
    }

    #[test]
    fn conditions_are_separated_by_or() {
        let any = Many::AnyOf("WHERE {(a = ? AND b = ?)}").statements(vec![[1, 2].map(Value::Int); 4]);
        assert_eq!(any[0].0, format!("WHERE {}", ["(a = ? AND b = ?)"; 4].join(" OR ")));
    }

    #[test]
    fn columns_are_given_whole() {
        let rows = vec![[Value::Int(1), Value::from("a")], [Value::Int(2), Value::from("b")]];
        let columns = vec![Value::Ints(vec![1, 2]), Value::Texts(vec!["a".to_owned(), "b".to_owned()])];
        assert_eq!(Many::Columns("x").statements(rows), [("x".to_owned(), columns)]);
        assert!(Many::Columns("x").statements::<1>(Vec::new()).is_empty());
    }
}
