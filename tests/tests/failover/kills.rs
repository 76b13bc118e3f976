//! A server killed amid its refills, again and again, with another one and the SDK going on.

use std::time::{Duration, Instant};

use crate::{harness::Harness, load::Load, scale::Scale, stalls::Stalls};

/// Next to nothing is kept ready, so that a refill is under way nearly all the time; what dies, dies in one.
const SETTINGS: &str = "
[ring]
shard_bits = 2
memory_bits = 0
rescue_after_max_s = 2
[reservoir]
at_risk_max = 64
[[sequence]]
name = \"order\"
";

/// Numbers between two kills.
const BETWEEN: u64 = 5000;

/// The moments of death are this much apart from each other, within a refill's time.
const STEP: Duration = Duration::from_micros(1700);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_killed_amid_its_refills_repeats_nothing() {
    let kills = Scale::from_environment().kills();
    let mut harness = Harness::start(SETTINGS).await;
    let stalls = Stalls::watch();
    let mut load = Load::start(&harness, true);
    load.more(BETWEEN).await;
    let calm = load.journal.turn();
    println!("calm: {}", calm.shown());
    for kill in 0..kills {
        load.more(BETWEEN).await;
        tokio::time::sleep(STEP * u32::try_from(kill % 10).unwrap()).await;
        harness.servers[1].kill();
        load.more(BETWEEN).await;
        let begun = Instant::now();
        harness.servers[1].restart();
        println!("kill {kill}: serves again after {:?}", begun.elapsed());
    }
    load.more(BETWEEN).await;
    load.stop();
    let phase = load.journal.turn();
    println!("{kills} kills: {}", phase.shown());
    println!("{} numbers, none twice", load.journal.bits.count());
    let faults = phase.faults(&calm.normal(), &stalls);
    assert!(faults.is_empty(), "{faults:#?}");
    for server in &mut harness.servers {
        assert_eq!(server.drain(), Some(0));
    }
}
