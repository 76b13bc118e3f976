//! redis-rs, which is driven in this process.

use std::{fs, net::SocketAddr};

use redis::{Client, Connection, RedisResult, TlsCertificates};

use crate::{
    driver::{Taken, Takes},
    server::Access,
};

/// A client that connects anew after an error, since a connection of redis-rs does not.
pub(crate) struct Rust {
    client: Client,
    connection: Option<Connection>,
}

impl Rust {
    pub(crate) fn start(to: SocketAddr, resp: u8, access: &Access) -> Self {
        let scheme = if access.authority.is_some() { "rediss" } else { "redis" };
        let url = format!("{scheme}://default:{}@{to}/?protocol=resp{resp}", access.token);
        let client = match &access.authority {
            None => Client::open(url),
            Some(authority) => {
                let root_cert = Some(fs::read(authority).unwrap());
                Client::build_with_tls(url, TlsCertificates { client_tls: None, root_cert })
            }
        };
        Self { client: client.unwrap(), connection: None }
    }

    fn run(&mut self, what: &str) -> RedisResult<Vec<u64>> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            None => self.connection.insert(self.client.get_connection()?),
        };
        let (word, count) = what.split_once(' ').unwrap_or((what, "1"));
        if word == "one" {
            return redis::cmd("INCR").arg("order").query(connection).map(|number| vec![number]);
        }
        let mut pipeline = redis::pipe();
        if word == "transaction" {
            pipeline.atomic();
        }
        for _ in 0..count.parse().unwrap() {
            // What `incr` of its commands sends.
            pipeline.cmd("INCRBY").arg("order").arg(1);
        }
        pipeline.query(connection)
    }
}

impl Takes for Rust {
    fn take(&mut self, what: &str) -> Taken {
        self.run(what).map_err(|error| {
            self.connection = None;
            error.to_string()
        })
    }
}
