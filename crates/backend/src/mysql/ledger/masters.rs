//! Whether this server takes writes from another master, too: then what it holds changes under whoever counts by it.

use crate::{mysql::connection::Connection, net::Fault, sql::SqlSession};

/// MariaDB tells it to everybody: of the default connection, and how many there are.
const MARIADB: &str = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Slave_running', 'Slaves_running')";

/// MySQL tells it to whoever may read this; a group's own channels are no other master.
const MYSQL: &str = "SELECT CHANNEL_NAME, SERVICE_STATE FROM performance_schema.replication_connection_status \
    WHERE SERVICE_STATE = 'ON' AND CHANNEL_NAME NOT LIKE 'group_replication%'";

/// What was found, of a server that can be written to and is a running replica; `None` also where it does not tell. Servers that can't
/// be written to are none of ours.
pub(super) async fn other_master(connection: &mut Connection) -> Result<Option<String>, Fault> {
    let is_mariadb = connection.settings().is_mariadb();
    let rows = match connection.rows(if is_mariadb { MARIADB } else { MYSQL }, Vec::new()).await {
        Err(Fault::Server(..) | Fault::Denied(_)) => return Ok(None),
        rows => rows?,
    };
    let told = rows.into_iter().map(|mut row| Ok((row.text()?, row.text()?)));
    let told = told.collect::<Result<Vec<(String, String)>, Fault>>()?;
    let runs = |(_, state): &(String, String)| {
        state.eq_ignore_ascii_case("on") || state.parse().is_ok_and(|many: u64| many > 0)
    };
    let said = told.into_iter().find(runs).map(|(name, state)| {
        let what = if is_mariadb { name } else { format!("replication channel '{name}'") };
        format!("{what} is {state}, and read_only is OFF")
    });
    Ok(said)
}
