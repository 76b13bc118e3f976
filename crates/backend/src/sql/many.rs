//! One statement over many rows, in the form that an engine takes best.

use super::{SqlRow, SqlSession, Value};

/// How many rows one statement names where it lists them: few sizes, so that each connection prepares few statements.
const SIZES: [usize; 4] = [256, 32, 4, 1];

/// A statement over many rows.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Many {
    /// Each row is named in the statement, so many at a time.
    #[cfg_attr(
        not(any(feature = "mysql", feature = "sqlite")),
        allow(dead_code, reason = "engines list rows")
    )]
    Listed {
        /// What stands before the rows.
        before: &'static str,
        /// One row.
        each: &'static str,
        /// What stands between two.
        between: &'static str,
        /// What stands after them.
        after: &'static str,
    },
    /// The same of rows that share their first value, which is given once, before the rest of each.
    #[cfg_attr(not(feature = "mysql"), allow(dead_code, reason = "one engine lists them so"))]
    Grouped {
        /// What stands before the rows, the first value in it.
        before: &'static str,
        /// The rest of a row.
        each: &'static str,
        /// What stands between two.
        between: &'static str,
        /// What stands after them.
        after: &'static str,
    },
    /// The statement is given a column of values for each of a row's.
    #[cfg_attr(not(feature = "postgres"), allow(dead_code, reason = "one engine takes columns"))]
    Columns(&'static str),
}

impl Many {
    /// Runs the statement; returns how many rows it touched. Without rows, nothing is run.
    pub(crate) async fn execute<S: SqlSession>(
        self,
        session: &mut S,
        rows: Vec<Vec<Value>>,
    ) -> Result<u64, S::Fault> {
        let mut touched = 0;
        for (sql, params) in self.statements(rows) {
            touched += session.execute(&sql, params).await?;
        }
        Ok(touched)
    }

    /// Runs the statement, and returns what it found.
    pub(crate) async fn rows<S: SqlSession>(
        self,
        session: &mut S,
        rows: Vec<Vec<Value>>,
    ) -> Result<Vec<SqlRow>, S::Fault> {
        let mut found = Vec::new();
        for (sql, params) in self.statements(rows) {
            found.append(&mut session.rows(&sql, params).await?);
        }
        Ok(found)
    }

    fn statements(self, rows: Vec<Vec<Value>>) -> Vec<(String, Vec<Value>)> {
        match self {
            Self::Columns(_) if rows.is_empty() => Vec::new(),
            Self::Columns(sql) => vec![(sql.to_owned(), columns(rows))],
            Self::Listed { before, each, between, after } => {
                listed(None, rows, [before, each, between, after])
            }
            Self::Grouped { before, each, between, after } => grouped(rows)
                .into_iter()
                .flat_map(|(first, rows)| listed(Some(&first), rows, [before, each, between, after]))
                .collect(),
        }
    }
}

fn listed(
    first: Option<&Value>,
    rows: Vec<Vec<Value>>,
    [before, each, between, after]: [&str; 4],
) -> Vec<(String, Vec<Value>)> {
    let (mut statements, mut rows) = (Vec::new(), rows.into_iter());
    while let Some(size) = SIZES.into_iter().find(|size| *size <= rows.len()) {
        let sql = format!("{before}{}{after}", vec![each; size].join(between));
        let rest = rows.by_ref().take(size).flatten();
        statements.push((sql, first.cloned().into_iter().chain(rest).collect()));
    }
    statements
}

/// Rows by their first value, each without it, in the order in which the values come.
fn grouped(rows: Vec<Vec<Value>>) -> Vec<(Value, Vec<Vec<Value>>)> {
    let mut groups: Vec<(Value, Vec<Vec<Value>>)> = Vec::new();
    for row in rows {
        let mut values = row.into_iter();
        let Some(first) = values.next() else { continue };
        match groups.last_mut() {
            Some((group, rows)) if *group == first => rows.push(values.collect()),
            _ => groups.push((first, vec![values.collect()])),
        }
    }
    groups
}

/// Rows as columns.
fn columns(rows: Vec<Vec<Value>>) -> Vec<Value> {
    let mut columns: Vec<Value> = Vec::new();
    for row in rows {
        for (at, value) in row.into_iter().enumerate() {
            match (columns.get_mut(at), value) {
                (Some(Value::Ints(column)), Value::Int(number)) => column.push(number),
                (Some(Value::Texts(column)), Value::Text(text)) => column.push(text),
                (Some(Value::ManyBytes(column)), Value::Bytes(bytes)) => column.push(bytes),
                (None, Value::Int(number)) => columns.push(Value::Ints(vec![number])),
                (None, Value::Text(text)) => columns.push(Value::Texts(vec![text])),
                (None, Value::Bytes(bytes)) => columns.push(Value::ManyBytes(vec![bytes])),
                // A column has one type, and no holes.
                _ => {}
            }
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTED: Many = Many::Listed { before: "IN (", each: "?", between: ", ", after: ")" };

    fn rows(count: i64) -> Vec<Vec<Value>> {
        (0..count).map(|number| vec![Value::Int(number)]).collect()
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
        let grouped = Many::Grouped { before: "a = ? AND b IN (", each: "?", between: ", ", after: ")" };
        let rows = [(1, 7), (1, 8), (1, 9), (1, 10), (2, 7)].map(|(a, b)| vec![Value::Int(a), Value::Int(b)]);
        let first = [1, 7, 8, 9, 10].map(Value::Int).to_vec();
        let second = [2, 7].map(Value::Int).to_vec();
        let expected =
            [("a = ? AND b IN (?, ?, ?, ?)".to_owned(), first), ("a = ? AND b IN (?)".to_owned(), second)];
        assert_eq!(grouped.statements(rows.to_vec()), expected);
    }

    #[test]
    fn columns_are_given_whole() {
        let rows = vec![vec![Value::Int(1), Value::from("a")], vec![Value::Int(2), Value::from("b")]];
        let columns = vec![Value::Ints(vec![1, 2]), Value::Texts(vec!["a".to_owned(), "b".to_owned()])];
        assert_eq!(Many::Columns("x").statements(rows), [("x".to_owned(), columns)]);
        assert!(Many::Columns("x").statements(Vec::new()).is_empty());
    }
}
