//! Settings of a MySQL server: durability, and reasons to refuse it.

use std::collections::BTreeMap;

use sequent_core::{Durability, DurabilityClass, Fact, FactClass, Why};

use crate::net::{Cause, Fault};

/// Reads the settings below. Those unknown to a server are left out of its answer.
pub(super) const ASK: &str = "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('version', 'version_comment', \
    'server_id', 'hostname', 'port', 'read_only', 'innodb_read_only', 'log_bin', 'binlog_format', 'sync_binlog', \
    'innodb_flush_log_at_trx_commit', 'innodb_flush_method', 'innodb_doublewrite', 'innodb_autoinc_lock_mode', \
    'auto_increment_increment', 'auto_increment_offset', 'lower_case_table_names', 'max_allowed_packet')";

/// The default `max_allowed_packet`, in bytes, if the server does not report it.
const PACKET_LEAST: u64 = 1 << 20;

/// A server's settings, read when a connection was opened.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings(BTreeMap<String, String>);

impl Settings {
    pub(super) fn new(rows: Vec<(String, String)>) -> Self {
        Self(rows.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect())
    }

    pub(super) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    pub(super) fn is_mariadb(&self) -> bool {
        let named = |name: &str| self.get(name).to_ascii_lowercase().contains("mariadb");
        named("version") || named("version_comment")
    }

    /// The engine's name and version, for operators.
    pub(super) fn engine(&self) -> String {
        let name = if self.is_mariadb() { "MariaDB" } else { "MySQL" };
        format!("{name} {}", self.get("version"))
    }

    /// Fails for a server whose log format can't log our writes. A read-only server is unavailable, until it is
    /// promoted or replaced.
    pub(super) fn admit(&self) -> Result<(), Fault> {
        for name in ["read_only", "innodb_read_only"] {
            let value = self.get(name);
            if !is_off(value) {
                let cause = format!(
                    "{name} is {value}, expected OFF: is it a replica? promote it, or name the primary"
                );
                return Err(Fault::away(Cause::from(cause).told(Why::ReadOnly)));
            }
        }
        if self.logs() && self.get("binlog_format").eq_ignore_ascii_case("statement") {
            let cause =
                "binlog_format is STATEMENT, expected ROW or MIXED: InnoDB writes nothing at READ COMMITTED";
            return Err(Fault::refused(cause));
        }
        Ok(())
    }

    /// Fails for a server whose `AUTO_INCREMENT` has steps other than 1, or forgets its value at a restart.
    pub(super) fn admit_auto_increment(&self) -> Result<(), Fault> {
        let increment = self.get("auto_increment_increment");
        if increment != "1" {
            return Err(Fault::refused(format!("auto_increment_increment is {increment}, expected 1")));
        }
        let (least, what) =
            if self.is_mariadb() { ([10, 2, 4], "MariaDB 10.2.4") } else { ([8, 0, 0], "MySQL 8.0") };
        if self.version() < least {
            let cause = format!(
                "{} forgets AUTO_INCREMENT at a restart: expected {what} or later; kind mysql-row needs none",
                self.engine()
            );
            return Err(Fault::refused(cause));
        }
        Ok(())
    }

    /// Fails for a server without `SKIP LOCKED`.
    pub(super) fn admit_skip_locked(&self) -> Result<(), Fault> {
        let (least, what) =
            if self.is_mariadb() { ([10, 6, 0], "MariaDB 10.6") } else { ([8, 0, 1], "MySQL 8.0.1") };
        if self.version() < least {
            let cause = format!("{} has no SKIP LOCKED: a ledger needs {what} or later", self.engine());
            return Err(Fault::refused(cause));
        }
        Ok(())
    }

    /// The settings that let a crash undo acknowledged writes.
    pub(super) fn losses(&self) -> Vec<Fact> {
        let fact = |name: &str, expected: &str, causes: &str| {
            let fact = Fact::new(FactClass::Loses, name, self.get(name)).expected(expected).causes(causes);
            fact.mend(match name {
                "innodb_flush_log_at_trx_commit" | "sync_binlog" => {
                    format!("SET GLOBAL {name} = {expected}, and in the server's option file")
                }
                // No version can change it at run time.
                _ => format!("set {name} = {expected} in the server's option file, and restart it"),
            })
        };
        let flush = self.get("innodb_flush_log_at_trx_commit");
        let doublewrite = self.get("innodb_doublewrite").to_ascii_uppercase();
        let mut found = Vec::new();
        // 3 is MariaDB's: as 1, with one more flush for the group.
        if !matches!(flush, "1" | "3") {
            let what = if flush == "0" { "the server or its machine" } else { "the server's machine" };
            let causes = format!("a crash of {what} takes back the commits of about the last second");
            found.push(fact("innodb_flush_log_at_trx_commit", "1", &causes));
        }
        if self.logs() && self.get("sync_binlog") != "1" {
            let causes =
                "after a crash of its machine InnoDB rolls back the commits that the binary log lacks";
            found.push(fact("sync_binlog", "1", causes));
        }
        if matches!(doublewrite.as_str(), "OFF" | "0" | "DETECT_ONLY") {
            let causes = "a page that a crash tore can't be mended, and takes commits with it";
            found.push(fact("innodb_doublewrite", "ON", causes));
        }
        if matches!(self.get("innodb_flush_method"), "nosync" | "littlesync") {
            let causes = "a crash of its machine takes back commits, for nothing waits for the disk";
            found.push(fact("innodb_flush_method", "fsync", causes));
        }
        found
    }

    /// The durability class by these settings.
    pub(super) fn durability(&self) -> Durability {
        let class = if self.losses().is_empty() { DurabilityClass::Durable } else { DurabilityClass::Lossy };
        let names = [
            "innodb_flush_log_at_trx_commit",
            "innodb_flush_method",
            "innodb_doublewrite",
            "log_bin",
            "sync_binlog",
        ];
        let settings = names.into_iter().filter(|name| self.0.contains_key(*name));
        let settings = settings.map(|name| (name.to_owned(), self.get(name).to_owned())).collect();
        Durability { class, settings }
    }

    /// Whether table names are folded to one case: `Order` and `order` would then be one table.
    pub(super) fn folds_names(&self) -> bool {
        self.get("lower_case_table_names") != "0"
    }

    /// The longest statement that the server accepts, in bytes.
    pub(super) fn packet_max(&self) -> u64 {
        self.get("max_allowed_packet").parse().unwrap_or(PACKET_LEAST)
    }

    fn logs(&self) -> bool {
        !is_off(self.get("log_bin"))
    }

    /// The version of `10.11.19-MariaDB-…` and `8.0.36` alike. Some MariaDB servers prefix `5.5.5-` for old clients.
    fn version(&self) -> [u32; 3] {
        let text = self.get("version");
        let text = text.strip_prefix("5.5.5-").filter(|_| self.is_mariadb()).unwrap_or(text);
        let mut parts = text.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
        [(); 3].map(|()| parts.next().unwrap_or(0))
    }
}

fn is_off(value: &str) -> bool {
    value.is_empty() || value == "0" || value.eq_ignore_ascii_case("off")
}

#[cfg(test)]
mod tests {
    use sequent_core::ErrorKind;

    use super::*;

    const SOUND: &[(&str, &str)] = &[
        ("version", "10.11.19-MariaDB"),
        ("innodb_flush_log_at_trx_commit", "1"),
        ("innodb_doublewrite", "ON"),
        ("log_bin", "OFF"),
        ("sync_binlog", "0"),
        ("auto_increment_increment", "1"),
        ("read_only", "OFF"),
    ];

    fn with(changes: &[(&str, &str)]) -> Settings {
        let rows = SOUND.iter().chain(changes).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Settings::new(rows.collect())
    }

    #[test]
    fn what_may_lose_commits_is_lossy() {
        assert_eq!(with(&[]).durability().class, DurabilityClass::Durable);
        assert_eq!(
            with(&[("log_bin", "ON"), ("sync_binlog", "1")]).durability().class,
            DurabilityClass::Durable
        );
        for lossy in [
            [("innodb_flush_log_at_trx_commit", "0")].as_slice(),
            &[("innodb_flush_log_at_trx_commit", "2")],
            &[("log_bin", "ON")],
            &[("innodb_doublewrite", "OFF")],
            &[("innodb_flush_method", "nosync")],
        ] {
            assert_eq!(with(lossy).durability().class, DurabilityClass::Lossy, "{lossy:?}");
        }
    }

    #[test]
    fn servers_that_repeat_ids_are_refused() {
        for (version, comment, taken) in [
            ("10.11.19-MariaDB-0+deb12u1", "Debian 12", true),
            ("5.5.5-10.6.4-MariaDB", "", true),
            ("10.2.4", "MariaDB Server", true),
            ("10.2.3-MariaDB", "", false),
            ("8.0.36", "MySQL Community Server", true),
            ("9.1.0", "MySQL", true),
            ("5.7.44-log", "MySQL", false),
        ] {
            let settings = with(&[("version", version), ("version_comment", comment)]);
            assert_eq!(settings.admit_auto_increment().is_ok(), taken, "{version}");
        }
        assert!(with(&[("auto_increment_increment", "2")]).admit_auto_increment().is_err());
    }

    #[test]
    fn servers_that_take_no_writes_are_away_and_those_that_cannot_log_them_refused() {
        let kind =
            |changes: &[(&str, &str)]| with(changes).admit().map_err(|fault| fault.into_error("open").kind());
        assert_eq!(kind(&[]), Ok(()));
        assert_eq!(kind(&[("read_only", "ON")]), Err(ErrorKind::Unavailable));
        assert_eq!(kind(&[("read_only", "NO_LOCK")]), Err(ErrorKind::Unavailable));
        assert_eq!(kind(&[("innodb_read_only", "ON")]), Err(ErrorKind::Unavailable));
        let statement = ("binlog_format", "STATEMENT");
        assert_eq!(kind(&[("log_bin", "ON"), statement]), Err(ErrorKind::Refused));
        assert_eq!(kind(&[("log_bin", "OFF"), statement]), Ok(()));
    }
}
