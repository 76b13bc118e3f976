//! Settings of the tables of `mysql-auto-increment`: their names, whose tables may count, and which rows are kept.

use std::{fmt, str::FromStr};

use sequent_core::SlotIndex;

use super::SettingError;

/// Settings of the tables in which a slot counts by `AUTO_INCREMENT`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CodeTables {
    /// How they are named.
    pub names: TableFormat,
    /// Whether tables that another program made are counted in. Otherwise they are refused.
    pub adopt: bool,
    /// Which rows are kept. Rows of tables that another program made are always kept.
    pub keep: KeepRows,
}

/// The format of table names: `%s` stands for the sequence, `%d` for the slot, and a database of the same server may
/// come first: `shop.%s_code_%d`.
///
/// Two keys never have the same table: the slot's digits follow another character, and neither the format nor a
/// sequence that can be held contains the `~` that separates a later generation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableFormat {
    database: Option<String>,
    before: String,
    between: String,
    after: String,
}

impl Default for TableFormat {
    fn default() -> Self {
        let (before, between, after) = (String::new(), "_code_".to_owned(), String::new());
        Self { database: None, before, between, after }
    }
}

/// The tables of a ring's slots, as its configuration says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotTables {
    /// How many slots the ring has.
    pub slots: SlotIndex,
    /// The slots whose tables are in the same database as this slot's, itself among them.
    pub together: Vec<SlotIndex>,
}

impl TableFormat {
    /// The longest format without its database, in characters. What is left of MySQL's 64 is for the sequence.
    pub const LENGTH_MAX: usize = 32;

    /// The longest name of a database in MySQL and MariaDB.
    pub const DATABASE_LENGTH_MAX: usize = 64;

    /// The database that the tables are in; `None`: the shard's own.
    pub fn database(&self) -> Option<&str> {
        self.database.as_deref()
    }

    /// The name of a sequence's table, without its database.
    pub fn table(&self, sequence: &str, slot: SlotIndex, generation: Option<&str>) -> String {
        let Self { before, between, after, .. } = self;
        let generation = generation.map(|generation| format!("~{generation}")).unwrap_or_default();
        format!("{before}{sequence}{between}{slot}{after}{generation}")
    }

    /// The names of a sequence's tables, for LIKE: each of them fits, and others may.
    pub fn like(&self, sequence: &str) -> String {
        let Self { before, between, after, .. } = self;
        format!("{before}{sequence}{between}%{after}")
    }

    /// Sequence and slot of a table of the first generation; `None` if it is no table of this format.
    ///
    /// ```
    /// let format = sequent_backend::net::TableFormat::default();
    /// assert_eq!(format.parts("sto_code_3"), Some(("sto", 3)));
    /// assert_eq!(format.parts("sto_code_03"), None);
    /// ```
    pub fn parts<'a>(&self, table: &'a str) -> Option<(&'a str, SlotIndex)> {
        let inner = table.strip_prefix(&*self.before)?.strip_suffix(&*self.after)?;
        let (sequence, slot) = inner.rsplit_once(&*self.between)?;
        let slot = slot.parse().ok()?;
        (!sequence.is_empty() && self.table(sequence, slot, None) == table).then_some((sequence, slot))
    }
}

impl fmt::Display for TableFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { database, before, between, after } = self;
        let database = database.as_ref().map(|database| format!("{database}.")).unwrap_or_default();
        write!(f, "{database}{before}%s{between}%d{after}")
    }
}

impl FromStr for TableFormat {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        let expected = "\"%s_code_%d\" is expected: %s for the sequence, then a letter or `_` or more, %d for the slot, \
            A-Z a-z 0-9 _ around them, and before all a database with a dot if it is another one";
        let fault = || SettingError(expected.to_owned());
        let (database, table) = match text.split_once('.') {
            Some((database, table)) => (Some(database), table),
            None => (None, text),
        };
        let (before, rest) = table.split_once("%s").ok_or_else(fault)?;
        let (between, after) = rest.split_once("%d").ok_or_else(fault)?;
        let is_plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_separated = between.chars().last().is_some_and(|last| !last.is_ascii_digit());
        if !is_separated || ![before, between, after].into_iter().all(is_plain) {
            return Err(fault());
        }
        let is_database = |name: &str| {
            let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '$'));
            is_plain && (1..=Self::DATABASE_LENGTH_MAX).contains(&name.len())
        };
        if !database.is_none_or(is_database) {
            return Err(fault());
        }
        if table.len() > Self::LENGTH_MAX {
            let (length, bound) = (table.len(), Self::LENGTH_MAX);
            return Err(SettingError(format!("has {length} characters: at most {bound} are allowed")));
        }
        let [before, between, after] = [before, between, after].map(str::to_owned);
        Ok(Self { database: database.map(str::to_owned), before, between, after })
    }
}

/// Which rows of a code table are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum KeepRows {
    /// The newest rows; older ones are deleted as new ones are inserted.
    #[default]
    Newest,
    /// All of them.
    All,
    /// Those of so many days, and the newest ones.
    Days(u32),
}

impl KeepRows {
    /// The most days: a hundred years.
    pub const DAYS_MAX: u32 = 36_500;
}

impl fmt::Display for KeepRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Newest => f.write_str("purge"),
            Self::All => f.write_str("all"),
            Self::Days(days) => write!(f, "{days} days"),
        }
    }
}

impl FromStr for KeepRows {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        let days =
            |text: &str| text.strip_suffix(" days").or_else(|| text.strip_suffix(" day"))?.parse().ok();
        match text {
            "purge" => Ok(Self::Newest),
            "all" => Ok(Self::All),
            _ => match days(text) {
                Some(days) if (1..=Self::DAYS_MAX).contains(&days) => Ok(Self::Days(days)),
                _ => {
                    let most = Self::DAYS_MAX;
                    let text = "\"purge\", \"all\" and days, as \"30 days\", are allowed";
                    Err(SettingError(format!("{text}: 1 to {most} of them")))
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(text: &str) -> TableFormat {
        text.parse().unwrap()
    }

    #[test]
    fn names_are_made_by_the_format() {
        assert_eq!(TableFormat::default(), format("%s_code_%d"));
        assert_eq!(TableFormat::default().table("sto", 3, None), "sto_code_3");
        assert_eq!(format("seq.t_%s_no_%d_x").table("sto", 12, Some("2")), "t_sto_no_12_x~2");
        for text in ["seq.t_%s_no_%d_x", "%s_code_%d"] {
            assert_eq!(format(text).to_string(), text);
        }
        assert_eq!((format("seq.%s_%d").database(), format("%s_%d").database()), (Some("seq"), None));
    }

    #[test]
    fn names_are_taken_apart_by_the_format() {
        for text in ["%s_code_%d", "t_%s_no_%d_x", "%s_%d"] {
            for (sequence, slot) in [("sto", 0), ("a_code_1", 1023), ("a_1", 12)] {
                let table = format(text).table(sequence, slot, None);
                assert_eq!(format(text).parts(&table), Some((sequence, slot)), "{table}");
            }
        }
        for table in ["_code_1", "sto_code_", "sto_code_+1", "sto_code_01", "sto_code_1~2", "sto_code_99999"]
        {
            assert_eq!(format("%s_code_%d").parts(table), None, "{table}");
        }
    }

    #[test]
    fn no_two_keys_have_one_table() {
        let (sequences, slots) =
            (["a", "a1", "a_1", "a_code_1", "a_1_code", "a1_code_1"], [0, 1, 10, 11, 111]);
        for text in ["%s_%d", "%s_code_%d", "x%sx%d1", "%s_%d_1"] {
            let mut names = std::collections::BTreeSet::new();
            for sequence in sequences {
                for slot in slots {
                    for generation in [None, Some("1"), Some("11")] {
                        let name = format(text).table(sequence, slot, generation);
                        assert!(names.insert(name.clone()), "{text}: {name} twice");
                    }
                }
            }
        }
    }

    #[test]
    fn what_could_give_two_keys_one_table_or_leave_the_quotes_is_refused() {
        let long = format!("%s_{}_%d", "x".repeat(32));
        for text in
            ["", "code", "%s", "%d", "%s%d", "%s1%d", "%d_%s", "%s_%s_%d_%d", "%s`_%d", "%s~_%d", &long]
        {
            assert!(text.parse::<TableFormat>().is_err(), "{text}");
        }
        for text in [".%s_%d", "a.b.%s_%d", "a`.%s_%d", "%s.%d"] {
            assert!(text.parse::<TableFormat>().is_err(), "{text}");
        }
    }

    #[test]
    fn rows_are_kept_by_a_word_or_by_days() {
        for (text, keep) in
            [("purge", KeepRows::Newest), ("all", KeepRows::All), ("30 days", KeepRows::Days(30))]
        {
            assert_eq!((text.parse::<KeepRows>().unwrap(), keep.to_string()), (keep, text.to_owned()));
        }
        assert_eq!("1 day".parse::<KeepRows>().unwrap(), KeepRows::Days(1));
        for text in ["", "0 days", "36501 days", "30", "30d", "-1 days", "none"] {
            assert!(text.parse::<KeepRows>().is_err(), "{text}");
        }
    }
}
