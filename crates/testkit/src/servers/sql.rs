//! Servers that speak SQL: statements of an administrator, through the server's own client.

use std::{path::Path, process::Command};

use super::{engine::Engine, server::Server, tool};

/// A server of SQL.
pub trait Sql: Engine {
    /// How URLs of drivers begin.
    const SCHEME: &'static str;
    /// The database that is there from the start.
    const DATABASE: &'static str;
    /// The administrator, and its password where one is asked for.
    const ADMIN: (&'static str, &'static str);

    /// The server's client, logged in as administrator over the socket in `folder`, with statements as its input; it
    /// prints rows in lines, columns with tabs between them, no heads, and ends at the first error.
    fn client(folder: &Path, port: u16) -> Command;
}

impl<E: Sql> Server<E> {
    /// As its administrator, in a database that is there.
    pub fn url(&self) -> String {
        self.url_as(E::ADMIN.0, E::ADMIN.1)
    }

    /// As somebody whom a test has created; MariaDB knows this machine as `'user'@'127.0.0.1'`, not as localhost.
    pub fn url_as(&self, user: &str, password: &str) -> String {
        let colon = if password.is_empty() { "" } else { ":" };
        format!("{}://{user}{colon}{password}@{}/{}", E::SCHEME, self.address(), E::DATABASE)
    }

    /// Runs statements as administrator, each committed by itself: rows in lines, columns with tabs between them.
    ///
    /// # Panics
    ///
    /// If one fails.
    pub async fn sql(&self, statements: &str) -> String {
        self.try_sql(statements).await.unwrap_or_else(|why| panic!("{why}\nof: {statements}"))
    }

    /// The same, where a failure is of interest: what the client said.
    pub async fn try_sql(&self, statements: &str) -> Result<String, String> {
        tool::run(E::client(&self.folder(), self.port()), statements).await
    }
}
