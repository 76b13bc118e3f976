//! redis-rs, which is driven in this process.

use std::net::SocketAddr;

use redis::{Client, Connection, RedisResult};

use crate::driver::{Taken, Takes};

/// A client that connects anew after an error, since a connection of redis-rs does not.
pub(crate) struct Rust {
    client: Client,
    connection: Option<Connection>,
}

impl Rust {
    pub(crate) fn start(to: SocketAddr, resp: u8) -> Self {
        let client = Client::open(format!("redis://{to}/?protocol=resp{resp}")).unwrap();
        Self { client, connection: None }
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
