//! A cluster whose last slot is a Redis server that keeps nothing, two servers, callers, and those who watch.

use sequent_testkit::servers::Redis;

use super::{
    load::Load,
    watch::{Hook, Watch},
};
use crate::server::Server;

/// Three files and a Redis; a slot that is out is tried once a second, and callers have patience with a busy machine.
/// The ledger is one machine's alone: both servers are on it.
const CONFIG: &str = "
cluster = \"live\"
[ring]
shard_bits = 2
rescue_after_max_s = 1
[reservoir]
reserve_ms = 1000
[limits]
deadline_ms = 10000
[[sequence]]
name = \"order\"
[ledger]
store = \"sqlite\"
path = \"ledger.db\"
single_server = true
";

/// All that takes part. Dropped in this order: those who ask before those who answer.
pub(crate) struct Scene {
    pub(crate) watch: Watch,
    pub(crate) load: Load,
    pub(crate) hook: Hook,
    pub(crate) servers: [Server; 2],
    pub(crate) redis: Redis,
}

impl Scene {
    /// Everything started, under load.
    pub(crate) async fn start() -> Self {
        let redis = Redis::start().await;
        let file =
            |slot| format!("[[shard]]\nslot = {slot}\nstore = \"sqlite\"\npath = \"shard-{slot}.db\"\n");
        let last = format!("[[shard]]\nslot = 3\nstore = \"redis\"\nurl = \"{}\"\n", redis.url());
        let config = [CONFIG.to_owned(), file(0), file(1), file(2), last].concat();
        let servers = tokio::task::block_in_place(|| {
            let first = Server::start(Some(&config));
            let second = first.another();
            [first, second]
        });
        let load = Load::start(&servers).await;
        let hook = Hook::start();
        let admins = servers.each_ref().map(|server| server.address("admin"));
        let watch = Watch::start(&admins, load.metrics(), hook.address());
        Self { watch, load, hook, servers, redis }
    }
}
