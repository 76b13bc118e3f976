//! URLs, options, faults, connection pool and calls, shared by all engines on servers.

mod call;
mod code_tables;
mod driver;
mod fault;
pub(crate) mod files;
mod hex;
mod missing;
mod options;
mod pool;
mod retry;
mod schema_name;
mod setting_error;
mod siblings;
mod url;

pub(crate) use call::{Connection, Connections, Lent, Run, Terms, TxMode};
pub use code_tables::{CodeTables, KeepRows, SlotTables, TableFormat};
pub use driver::{DRIVERS, Driver, Tls};
pub(crate) use driver::{ETCD, MEMCACHED, MONGODB, MYSQL, POSTGRES, REDIS};
#[cfg(any(feature = "mongodb", feature = "mysql"))]
pub(crate) use fault::is_tls;
pub(crate) use fault::{Cause, Fault, cause_of, refused};
pub(crate) use hex::hex;
pub(crate) use missing::missing;
pub use options::ServerOptions;
pub(crate) use options::token;
pub use pool::Pool;
pub(crate) use pool::{Purpose, Server, not_within, within};
pub(crate) use retry::{ON_FILES, ON_REVISIONS, Retry};
pub use schema_name::SchemaName;
pub use setting_error::SettingError;
pub use siblings::Owner;
pub(crate) use siblings::{SLOTS_MAX, sibling};
pub use url::{Host, ServerUrl};
