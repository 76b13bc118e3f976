//! What S10 is beside: an `INSERT` a number, in turn on each server, with nothing around it.

use mysql_async::{Opts, OptsBuilder, Pool, PoolConstraints, PoolOpts, prelude::Queryable};

use crate::fleet::{Fleet, SLOTS};

/// As many connections to each server as a store has.
const CONNECTIONS_MAX: usize = 16;

/// A pool a server, and a table of the store's own shape for each task.
#[derive(Clone)]
pub(crate) struct Bare(Vec<Pool>);

impl Bare {
    pub(crate) async fn open(fleet: &Fleet, name: &str, tasks: u64) -> Result<Self, String> {
        fleet.databases(name).await;
        let mut pools = Vec::new();
        for slot in 0..SLOTS {
            let opts = Opts::from_url(&fleet.url(Some(slot), name)).map_err(|error| error.to_string())?;
            // Nothing is asked of the server but the statement itself.
            let kept = PoolConstraints::new(CONNECTIONS_MAX, CONNECTIONS_MAX).unwrap_or_default();
            let ways = PoolOpts::default().with_constraints(kept).with_reset_connection(false);
            let opts = OptsBuilder::from_opts(opts).pool_opts(ways).prefer_socket(false).tcp_nodelay(true);
            let pool = Pool::new(opts);
            let mut conn = pool.get_conn().await.map_err(said)?;
            for task in 0..tasks {
                let table = format!(
                    "CREATE TABLE bare_{task} (
                        id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
                        f TINYINT NOT NULL,
                        generate_time DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3)
                    ) ENGINE = InnoDB"
                );
                conn.query_drop(table).await.map_err(said)?;
            }
            pools.push(pool);
        }
        Ok(Self(pools))
    }

    /// One id, from the server whose turn it is.
    pub(crate) async fn one(&self, task: u64, turn: u64) -> Result<u64, String> {
        let at = usize::try_from(turn).unwrap_or(0) % self.0.len();
        let mut conn = self.0[at].get_conn().await.map_err(said)?;
        conn.query_drop(format!("INSERT INTO bare_{task} (f) VALUES (1)")).await.map_err(said)?;
        conn.last_insert_id().ok_or_else(|| "no id came back".to_owned())
    }

    pub(crate) async fn close(self) {
        for pool in self.0 {
            // One that can't be closed well is gone all the same.
            let _ = pool.disconnect().await;
        }
    }
}

#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
fn said(error: mysql_async::Error) -> String {
    format!("a bare INSERT: {error}")
}
