//! MySQL and MariaDB ledger, in one database.

mod count;
mod masters;
mod schema;
mod session;
mod statements;

use super::server::MysqlServer;
use crate::{
    ledger::CoreLedger,
    net::{Pool, ServerOptions},
};

/// A ledger in one MySQL or MariaDB database, for one server or many.
pub type MysqlLedger = CoreLedger<Pool<MysqlServer>>;

impl MysqlLedger {
    /// The ledger in the options' database.
    pub fn new(options: ServerOptions) -> Self {
        Self::on(Pool::new(MysqlServer { options, tables: &schema::TABLES }))
    }
}
