//! The tables that a store or a ledger needs, and making them.

use sequent_core::Entropy;

use super::{fault::Fault, link::Link};

/// What a database is used for.
#[derive(Debug)]
pub(super) struct Schema {
    /// For people: `store` or `ledger`.
    pub(super) word: &'static str,
    /// The tables by name, with the statement that makes each.
    pub(super) tables: &'static [(&'static str, &'static str)],
    /// The table whose time of making belongs to the incarnation.
    pub(super) anchor: &'static str,
    /// The table in memory that is empty after each start of the server.
    pub(super) boot: &'static str,
    /// How a store's ids are counted, noted by whoever came first: two ways in one database would each give the same ids.
    pub(super) way: Option<&'static str>,
    /// Makes the row that the anchor has from the start, from two random tokens, if nothing else is there.
    pub(super) beget: Option<&'static str>,
    /// Whether ids come from `AUTO_INCREMENT`.
    pub(super) auto_increment: bool,
    /// Whether verbs hold locks over several statements.
    pub(super) transactions: bool,
    /// Session settings besides the common ones, `, name = value` each.
    pub(super) session: &'static str,
}

/// What to do where tables are missing. A process makes them once, where it has not connected before.
const MAKE_THEM: &str = "restore them; where there is nothing to restore, a `sequent serve` that is started anew makes them, \
    and a slot that is out for this is then brought back by `sequent rescue SLOT --why TEXT`";

/// A table as the server describes it.
type Described = (String, Option<String>, Option<String>);

/// Sees to it that all tables are there, making missing ones if `create`; returns when the anchor was made.
pub(super) async fn settle(
    link: &mut Link,
    schema: &Schema,
    create: bool,
    entropy: &dyn Entropy,
) -> Result<String, Fault> {
    let found = describe(link).await?;
    if let Some(made) = check(schema, &found)? {
        if create {
            // Whoever makes the tables may not have come to the row yet.
            beget(link, schema, entropy).await?;
        }
        return Ok(made);
    }
    let missing = || {
        schema.tables.iter().map(|(name, _)| *name).filter(|name| !found.iter().any(|(is, ..)| is == name))
    };
    if !create {
        let names: Vec<&str> = missing().collect();
        let cause = format!(
            "tables {} of a {} are missing, and none may be made here: {MAKE_THEM}",
            names.join(", "),
            schema.word
        );
        return Err(Fault::refused(cause));
    }
    for (_, make) in schema.tables {
        link.text(make).await?;
    }
    beget(link, schema, entropy).await?;
    check(schema, &describe(link).await?)?
        .ok_or_else(|| Fault::refused("the tables that were made are not there"))
}

async fn beget(link: &mut Link, schema: &Schema, entropy: &dyn Entropy) -> Result<(), Fault> {
    let Some(sql) = schema.beget else { return Ok(()) };
    // A look waits for nobody; the insertion would wait for whoever holds the row.
    let there: Option<(u64,)> = link.row(&format!("SELECT 1 FROM {} LIMIT 1", schema.anchor), ()).await?;
    if there.is_none() {
        link.exec(sql, (token(entropy), token(entropy))).await?;
    }
    Ok(())
}

/// A text that nobody has had.
pub(super) fn token(entropy: &dyn Entropy) -> String {
    format!("{:016x}{:016x}", entropy.bits(), entropy.bits())
}

/// When the anchor was made, if all tables are there; refused if one would lose what it was told.
fn check(schema: &Schema, found: &[Described]) -> Result<Option<String>, Fault> {
    let mut anchor = None;
    for (name, _) in schema.tables {
        let Some((_, engine, made)) = found.iter().find(|(is, ..)| is == name) else { return Ok(None) };
        let expected = if *name == schema.boot { "MEMORY" } else { "InnoDB" };
        let engine = engine.as_deref().unwrap_or("none");
        if !engine.eq_ignore_ascii_case(expected) {
            return Err(Fault::refused(format!("table {name} is of engine {engine}, expected {expected}")));
        }
        if *name == schema.anchor {
            anchor.clone_from(made);
        }
    }
    Ok(Some(anchor.unwrap_or_default()))
}

async fn describe(link: &mut Link) -> Result<Vec<Described>, Fault> {
    let sql = "SELECT table_name, engine, CAST(create_time AS CHAR) FROM information_schema.tables \
        WHERE table_schema = DATABASE() AND table_name LIKE 'sequent\\_%'";
    link.rows(sql, ()).await
}

/// When the anchor was made, as it is now; `None` where it is gone.
pub(super) async fn made(link: &mut Link, schema: &Schema) -> Result<Option<String>, Fault> {
    check(schema, &describe(link).await?)
}

/// A name as it stands in a statement.
pub(super) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_quoted() {
        assert_eq!(super::quoted("a`b"), "`a``b`");
    }
}
