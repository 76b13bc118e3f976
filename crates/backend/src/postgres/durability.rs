//! Durability of a PostgreSQL server by its settings.

use sequent_core::{Durability, DurabilityClass, Fact, FactClass};

use super::connection::Connection;
use crate::{net::Fault, sql::SqlSession as _};

/// The durability class by the current settings of a commit.
pub(super) async fn durability(connection: &mut Connection) -> Result<Durability, Fault> {
    let anchor = connection.tables.anchor;
    let mut settings = connection.settings(&["fsync", "synchronous_commit", "full_page_writes"]).await?;
    let sql = "SELECT CASE relpersistence WHEN 'p' THEN 'permanent' ELSE 'unlogged' END \
        FROM pg_class WHERE oid = $1::text::regclass";
    let tables = connection.only(sql, vec![anchor.into()]).await?.text()?;
    settings.push((anchor.to_owned(), tables));
    Ok(Durability { class: class(&settings), settings })
}

fn class(settings: &[(String, String)]) -> DurabilityClass {
    let worst = settings.iter().filter_map(|(name, value)| Some(loss(name, value)?.0)).max();
    worst.unwrap_or(if settings.is_empty() { DurabilityClass::Volatile } else { DurabilityClass::Durable })
}

/// The loss that a setting's value permits, the value that it should have, and how to set it; `None` if it permits no
/// loss.
///
/// Without fsync, a power loss may leave damaged data, and a crash empties an unlogged table. Without full page writes,
/// a page may be torn. Without synchronous commit, an acknowledged commit may be lost.
fn loss(name: &str, value: &str) -> Option<(DurabilityClass, &'static str, &'static str)> {
    match (name, value) {
        ("fsync" | "full_page_writes", "on")
        | ("synchronous_commit", "on" | "remote_apply")
        | (_, "permanent") => None,
        ("fsync", _) => Some((
            DurabilityClass::Volatile,
            "on",
            "a crash of its machine may leave nothing that makes sense",
        )),
        ("synchronous_commit", _) => {
            Some((DurabilityClass::Lossy, "on", "a crash takes back commits that nobody waited for"))
        }
        ("full_page_writes", _) => Some((
            DurabilityClass::Lossy,
            "on",
            "a page that a crash of its machine tore can't be mended, and takes commits with it",
        )),
        _ => Some((DurabilityClass::Volatile, "permanent", "a crash empties the table")),
    }
}

/// Facts about the settings that let a crash undo acknowledged writes.
pub(super) fn losses(settings: &[(String, String)]) -> Vec<Fact> {
    let fact = |(name, value): &(String, String)| {
        let (_, expected, causes) = loss(name, value)?;
        let mend = match expected {
            "permanent" => format!("ALTER TABLE {name} SET LOGGED"),
            _ => format!("{name} = {expected} in postgresql.conf, and SELECT pg_reload_conf()"),
        };
        Some(Fact::new(FactClass::Loses, name, value).expected(expected).causes(causes).mend(mend))
    };
    settings.iter().filter_map(fact).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_lose_commits_is_not_durable() {
        let expected = [
            (["on", "on", "on", "permanent"], DurabilityClass::Durable),
            (["on", "remote_apply", "on", "permanent"], DurabilityClass::Durable),
            (["on", "off", "on", "permanent"], DurabilityClass::Lossy),
            (["on", "local", "on", "permanent"], DurabilityClass::Lossy),
            (["on", "on", "off", "permanent"], DurabilityClass::Lossy),
            (["off", "on", "on", "permanent"], DurabilityClass::Volatile),
            (["on", "on", "on", "unlogged"], DurabilityClass::Volatile),
        ];
        for (values, class) in expected {
            let names = ["fsync", "synchronous_commit", "full_page_writes", "cells"];
            let settings: Vec<_> = names.into_iter().zip(values).map(|(a, b)| (a.into(), b.into())).collect();
            assert_eq!(super::class(&settings), class, "{values:?}");
        }
    }
}
