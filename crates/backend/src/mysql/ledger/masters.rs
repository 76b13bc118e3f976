//! Detection of a second master: the server also replicates writes from elsewhere, so its data changes under its
//! clients.

use crate::{mysql::connection::Connection, net::Fault, sql::SqlSession};

/// MariaDB shows this to every user: the default connection's state, and the number of running ones.
const MARIADB: &str = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Slave_running', 'Slaves_running')";

/// MySQL shows this to users who may read the table. Channels of group replication are not another master.
const MYSQL: &str = "SELECT CHANNEL_NAME, SERVICE_STATE FROM performance_schema.replication_connection_status \
    WHERE SERVICE_STATE = 'ON' AND CHANNEL_NAME NOT LIKE 'group_replication%'";

/// Signs that a writable server is a running replica; `None` also if it does not report its state. Servers that can't
/// be written to are refused elsewhere.
pub(super) async fn other_master(connection: &mut Connection) -> Result<Option<String>, Fault> {
    let is_mariadb = connection.settings.is_mariadb();
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
