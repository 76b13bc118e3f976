//! Privileges of the PostgreSQL role: missing ones and excess ones.

use sequent_core::{Fact, FactClass};

use super::{connection::Connection, session::texts};
use crate::{
    net::Fault,
    sql::{SqlSession, Value},
};

/// Role attributes that permit everything, or permit creating such roles.
const ATTRIBUTES: &str = "SELECT a.name FROM pg_roles r, LATERAL (VALUES ('SUPERUSER', r.rolsuper), \
    ('CREATEROLE', r.rolcreaterole), ('CREATEDB', r.rolcreatedb), ('REPLICATION', r.rolreplication), \
    ('BYPASSRLS', r.rolbypassrls)) AS a (name, held) WHERE r.rolname = current_user AND a.held";

/// The missing privileges. Each is queried by itself, because a list asks whether any one of them is granted.
const LACKING: &str = "SELECT w.right || ' on ' || w.name FROM (SELECT t.name, unnest(string_to_array(t.rights, ', ')) \
    AS right FROM unnest($1::text[], $2::text[]) AS t (name, rights)) AS w \
    WHERE NOT has_table_privilege(current_user, w.name, w.right) ORDER BY 1";

/// Reads the privileges of this connection's role.
pub(super) async fn facts(connection: &mut Connection) -> Result<Vec<Fact>, Fault> {
    let needed = connection.tables.needed;
    let held = joined(connection, ATTRIBUTES, Vec::new()).await?;
    let (names, rights) = (needed.iter().map(|(name, _)| *name), needed.iter().map(|(_, rights)| *rights));
    let lacking = joined(connection, LACKING, vec![texts(names), texts(rights)]).await?;
    let mut facts = Vec::new();
    if !held.is_empty() {
        let fact = Fact::new(FactClass::Excess, "role attributes", held).expected("LOGIN alone");
        let fact = fact.causes("whoever gets hold of this login can change counters, or other databases");
        facts.push(
            fact.mend("ALTER ROLE … NO…, or give the servers a role of their own: see docs/operating/stores/postgres.md"),
        );
    }
    if !lacking.is_empty() {
        let fact = Fact::new(FactClass::Lacks, "privileges", format!("no {lacking}"));
        let fact = fact.expected("those of docs/operating/stores/postgres.md");
        let fact = fact.causes("the verbs that need them fail");
        facts.push(fact.mend("GRANT them: see docs/operating/stores/postgres.md"));
    }
    Ok(facts)
}

async fn joined(connection: &mut Connection, sql: &str, params: Vec<Value>) -> Result<String, Fault> {
    let rows = connection.rows(sql, params).await?;
    let texts = rows.into_iter().map(|mut row| row.text()).collect::<Result<Vec<_>, _>>()?;
    Ok(texts.join(", "))
}
