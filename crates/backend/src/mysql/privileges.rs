//! Privileges of the MySQL user: missing ones and excess ones.

use sequent_core::{Fact, FactClass};

use super::connection::Connection;
use crate::{net::Fault, sql::SqlSession};

/// The privileges that a user needs on its database.
#[derive(Debug)]
pub(super) struct Needed {
    /// Always needed.
    pub(super) always: &'static [&'static str],
    /// Needed at times, to create tables.
    pub(super) at_times: &'static [&'static str],
}

/// Reads the privileges of this connection's user on its database.
pub(super) async fn facts(connection: &mut Connection, needed: &Needed) -> Result<Vec<Fact>, Fault> {
    let database = connection.only("SELECT DATABASE()", Vec::new()).await?.text()?;
    let rows = connection.rows("SHOW GRANTS", Vec::new()).await?;
    let lines = rows.into_iter().map(|mut row| row.text()).collect::<Result<Vec<_>, _>>()?;
    Ok(judged(lines.iter().map(String::as_str), &database, needed))
}

fn judged<'a>(lines: impl Iterator<Item = &'a str>, database: &str, needed: &Needed) -> Vec<Fact> {
    let (mut held, mut excess, mut unclear) = (Vec::new(), Vec::new(), false);
    for line in lines {
        let Some((rights, on)) = parse(line) else {
            // A role, or a form unknown to this version, may contain any privilege.
            unclear = true;
            continue;
        };
        let everywhere = on == "*.*";
        // A pattern, or a single table: its coverage is not evaluated.
        unclear |= !everywhere && (on.contains('%') || !on.ends_with(".*"));
        if !everywhere && unescaped(on) != format!("{database}.*") {
            continue;
        }
        let fits = |right: &str| needed.always.contains(&right) || needed.at_times.contains(&right);
        let is_more = |right: &&str| *right != "USAGE" && (everywhere || !fits(right));
        excess.extend(rights.iter().copied().filter(is_more).map(|right| format!("{right} on {on}")));
        held.extend(rights);
    }
    let all = |held: &[&str]| held.iter().any(|right| right.starts_with("ALL"));
    let lacks = needed.always.iter().filter(|right| !held.contains(*right));
    let lacks: Vec<&str> = lacks.copied().collect();
    let mut facts = Vec::new();
    if !excess.is_empty() {
        let rights = needed.always.iter().chain(needed.at_times).copied().collect::<Vec<_>>().join(", ");
        let fact = Fact::new(FactClass::Excess, "grants", excess.join(", "));
        let fact = fact.expected(format!("{rights} on {database}.* and nothing else"));
        let fact = fact.causes("whoever gets hold of this login can change counters, or other databases");
        facts.push(
            fact.mend(
                "REVOKE what is more, or give the servers a user of their own: see docs/operating/stores/mysql.md",
            ),
        );
    }
    if !lacks.is_empty() && !unclear && !all(&held) {
        let fact = Fact::new(FactClass::Lacks, "grants", format!("none of {}", lacks.join(", ")));
        let fact = fact.expected(format!("{} on {database}.*", needed.always.join(", ")));
        let fact = fact.causes("the verbs that need them fail");
        facts.push(fact.mend("GRANT them: see docs/operating/stores/mysql.md"));
    }
    facts
}

/// The privileges of one line of `SHOW GRANTS`, and what they are on: `` GRANT SELECT, INSERT ON `shard0`.* TO … ``
fn parse(line: &str) -> Option<(Vec<&str>, &str)> {
    let (rights, rest) = line.strip_prefix("GRANT ")?.split_once(" ON ")?;
    let (on, _) = rest.split_once(" TO ")?;
    // Column privileges (`SELECT (a, b)`) are split at their comma and match no known privilege.
    Some((rights.split(", ").collect(), on))
}

/// Database patterns escape literal `_` and `%`.
fn unescaped(on: &str) -> String {
    on.replace('`', "").replace("\\_", "_").replace("\\%", "%")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEEDED: Needed = Needed { always: &["SELECT", "UPDATE"], at_times: &["CREATE"] };

    fn found(lines: &[&str]) -> Vec<(FactClass, String)> {
        let facts = judged(lines.iter().copied(), "shard_0", &NEEDED);
        facts.into_iter().map(|fact| (fact.class, fact.found)).collect()
    }

    #[test]
    fn what_is_needed_is_enough_and_more_is_too_much() {
        let login = "GRANT USAGE ON *.* TO `sequent`@`%` IDENTIFIED BY PASSWORD '*x'";
        let enough = "GRANT SELECT, UPDATE, CREATE ON `shard\\_0`.* TO `sequent`@`%`";
        assert_eq!(found(&[login, enough]), []);
        let root = "GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION";
        assert_eq!(found(&[root]), [(FactClass::Excess, "ALL PRIVILEGES on *.*".to_owned())]);
        let more = "GRANT SELECT, UPDATE, DROP ON `shard_0`.* TO `sequent`@`%`";
        assert_eq!(found(&[more]), [(FactClass::Excess, "DROP on `shard_0`.*".to_owned())]);
        let elsewhere = "GRANT ALL PRIVILEGES ON `shard_1`.* TO `sequent`@`%`";
        assert_eq!(found(&[enough, elsewhere]), [], "another slot's");
    }

    #[test]
    fn what_is_lacking_is_told_unless_something_unknown_may_give_it() {
        let half = "GRANT SELECT ON `shard_0`.* TO `sequent`@`%`";
        assert_eq!(found(&[half]), [(FactClass::Lacks, "none of UPDATE".to_owned())]);
        for unclear in [
            "GRANT `writers` TO `sequent`@`%`",
            "GRANT UPDATE ON `shard_0`.`sequent_cells` TO `sequent`@`%`",
            "GRANT UPDATE ON `shard%`.* TO `sequent`@`%`",
        ] {
            assert_eq!(found(&[half, unclear]), [], "{unclear}");
        }
    }
}
