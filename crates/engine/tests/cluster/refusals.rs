//! Starts that are refused: before anything is touched, naming what was found and what was expected.

use std::fs;

use sequent_engine::{ClusterHandle, CreatePolicy, Engine, OpenError, Options};

use super::{Place, once};

#[tokio::test]
async fn a_changed_layout_is_refused() {
    let mut place = Place::with("auto_create = [\"*\"]\n[ring]\nshard_bits = 1\nmemory_bits = 3\n");
    let first = place.take("order", 4).await;
    assert_eq!(first, [1, 2, 3, 4]);
    place.say("[ring]\nshard_bits = 2\nmemory_bits = 0\n");
    let error = place.refused().await;
    assert!(error.contains("ring.shard_bits is 2: the ledger's layout has 1"), "{error}");
    assert!(error.contains("ring.memory_bits is 0: the ledger's layout has 3"), "{error}");
    let at = |word: &str| error.find(word).unwrap();
    assert!(
        at("`sequent resize`") < at("newer configuration") && at("newer configuration") < at("recover"),
        "{error}"
    );
    place.say("cluster = \"other\"\n");
    let error = place.refused().await;
    assert!(!error.contains("recover"), "{error}");
    assert!(error.contains("cluster is \"other\": the ledger's layout has \"embedded\""), "{error}");
    place.say("auto_create = [\"*\"]\n");
    let next = place.take("order", 1).await;
    assert!(next[0] > 4, "absent bits are the ledger's: {next:?}");
}

#[tokio::test]
async fn a_slot_outside_the_ledgers_ring_is_refused() {
    let mut place = Place::with("auto_create = [\"*\"]\n[ring]\nshard_bits = 1\n");
    place.take("order", 1).await;
    let shard =
        |slot: u8| format!("[[shard]]\nslot = {slot}\nstore = \"sqlite\"\npath = \"shard-{slot}.db\"\n");
    place.say(&(shard(0) + &shard(3)));
    let error = place.refused().await;
    assert!(error.contains("slot 3 is configured, and the ring has slots 0 to 1"), "{error}");
}

#[tokio::test]
async fn a_conflicting_definition_is_refused_showing_both() {
    let sequence =
        |version: u8, rest: &str| format!("[[sequence]]\nname = \"a\"\nversion = {version}\n{rest}");
    let mut place = Place::with(&sequence(2, "end = 5000000\n"));
    assert_eq!(place.take("a", 1).await, [1]);
    place.say(&sequence(2, "end = 6000000\n"));
    let error = place.refused_after_a_look().await;
    assert!(error.contains("version 2 is in the ledger with another content"), "{error}");
    assert!(error.contains("\"end\":5000000") && error.contains("\"end\":6000000"), "{error}");
    place.say(&sequence(3, "start = 7\n"));
    let error = place.refused_after_a_look().await;
    assert!(error.contains("changes start or step"), "{error}");
    place.say(&sequence(1, "end = 9000000\n"));
    assert_eq!(place.take("a", 1).await, [2], "a lower version is ignored");
    place.say(&sequence(3, "end = 6000000\n"));
    assert_eq!(place.take("a", 1).await, [3], "a higher one is taken");
    let cluster = ClusterHandle::open(&place.config(), &Options::default()).await.unwrap();
    let listed = cluster.list().await.unwrap();
    assert_eq!((listed[0].version, listed[0].end), (3, 6_000_000));
    cluster.close().await;
}

#[tokio::test]
async fn spread_over_a_small_bound_is_refused_with_the_sum() {
    let place = Place::with("[[sequence]]\nname = \"a\"\nend = 300\nplacement = \"spread\"\n");
    let error = place.open().await.err().unwrap();
    assert_eq!(error.exit_code(), 3);
    let sum = "spread could skip 6 of 300 numbers (reserve 1 and lease 1 for 1 server, ceilings 4), and at most 1 % is \
               allowed: placement dense, a higher end, ";
    assert!(error.to_string().contains(sum), "{error}");
}

#[tokio::test]
async fn no_cluster_is_made_where_none_is_wanted() {
    let place = Place::new();
    let options = Options { create: CreatePolicy::Never, ..once() };
    let error = Engine::open(place.config(), options.clone()).await.err().unwrap();
    assert_eq!(error.exit_code(), 3);
    assert!(error.to_string().contains("SEQUENT_EMBEDDED=never"), "{error}");
    let error = ClusterHandle::open(&place.config(), &Options::default()).await.err().unwrap();
    assert!(matches!(error, OpenError::NoCluster(_)) && error.exit_code() == 1, "{error}");
    assert!(!place.data().exists(), "nothing was touched");
    place.take("order", 1).await;
    Engine::open(place.config(), options).await.unwrap().shutdown().await;
}

#[tokio::test]
async fn a_foreign_directory_is_refused() {
    let place = Place::new();
    fs::create_dir(place.data()).unwrap();
    fs::write(place.file("thesis.tex"), "x").unwrap();
    let error = place.refused().await;
    assert!(error.contains("holds \"thesis.tex\" and no cluster"), "{error}");
    fs::remove_file(place.file("thesis.tex")).unwrap();
    fs::create_dir(place.file("lost+found")).unwrap();
    fs::write(place.file(".keep"), "").unwrap();
    assert_eq!(place.take("order", 1).await, [1]);
}

#[tokio::test]
async fn a_directory_in_the_ledgers_place_is_refused() {
    let place = Place::new();
    fs::create_dir_all(place.file("ledger.db")).unwrap();
    assert!(place.refused().await.contains("ledger.db is a directory"));
}

#[tokio::test]
async fn a_shard_of_another_cluster_is_refused() {
    let (place, other) = (Place::new(), Place::new());
    place.take("order", 1).await;
    other.take("order", 1).await;
    fs::copy(other.file("shard-1.db"), place.file("shard-1.db")).unwrap();
    let error = place.refused_after_a_look().await;
    assert!(error.contains("slot 1: ") && error.contains("stamp"), "{error}");
}

#[tokio::test]
async fn swapped_shards_are_refused() {
    let place = Place::new();
    place.take("order", 8).await;
    fs::rename(place.file("shard-0.db"), place.file("aside")).unwrap();
    fs::rename(place.file("shard-1.db"), place.file("shard-0.db")).unwrap();
    fs::rename(place.file("aside"), place.file("shard-1.db")).unwrap();
    let error = place.refused_after_a_look().await;
    assert!(error.contains("slot 0: ") && error.contains("slot 1: "), "{error}");
    assert!(error.contains("slot=1") && error.contains("slot=0"), "found and expected: {error}");
}

#[tokio::test]
async fn a_marker_file_that_is_not_ours_is_refused() {
    let place = Place::new();
    place.take("order", 1).await;
    fs::write(place.file("home"), "garbage\n").unwrap();
    assert!(place.refused_after_a_look().await.contains("found \"garbage\\n\""));
}
