//! A disk without room, and nobody at work on it: what `sequent shards` says of a shard there, and of a whole cluster.

use std::{fs, io::Write, path::Path};

use crate::{
    place::Place,
    root::{self, SmallDisk},
};

/// The slot on the small disk.
const SLOT: u16 = 1;

/// What a message must say, whichever of SQLite's errors the full disk comes as.
const FULL: &str = "the disk may be full";

/// Until nothing more goes in. Once more before each look: whoever can't write takes its log with it, which leaves room.
fn fill(disk: &Path) {
    let name = fs::read_dir(disk).unwrap().count();
    let mut file = fs::File::create(disk.join(format!("filler-{name}"))).unwrap();
    while file.write_all(&[0; 512]).is_ok() {}
}

#[test]
fn shards_names_the_cause_of_the_slot_on_it() {
    if !root::can("mounting a small disk") {
        return;
    }
    let place = Place::new();
    let disk = place.path("small");
    let _mounted = SmallDisk::mount(&disk, 1024);
    let shards = (0..4).map(|slot| {
        let folder = if slot == SLOT { disk.clone() } else { place.data() };
        let path = folder.join(format!("shard-{slot}.db"));
        format!("[[shard]]\nslot = {slot}\nstore = \"sqlite\"\npath = {:?}\n", path.display().to_string())
    });
    let shards = shards.collect::<Vec<_>>().concat();
    let config = place.path("sequent.toml");
    fs::create_dir_all(place.data()).unwrap();
    fs::write(&config, format!("auto_create = [\"*\"]\n[ring]\nshard_bits = 2\n{shards}")).unwrap();
    let run = |args: &[&str]| place.run(&[args, &["--config", config.to_str().unwrap()]].concat());
    run(&["next", "order", "-n", "8"]).succeeded();

    fill(&disk);
    let ran = run(&["shards"]).succeeded();
    let line = |slot: u16| ran.out.lines().find(|line| line.starts_with(&format!("{slot} "))).unwrap();
    assert!(line(SLOT).contains("unreachable") && line(SLOT).contains(FULL), "{}", ran.out);
    assert!([0, 2, 3].iter().all(|slot| line(*slot).contains("open")), "{}", ran.out);
    fill(&disk);
    let slots = run(&["shards", "--json"]).succeeded().json()["slots"].clone();
    let cause = &slots[usize::from(SLOT)]["cause"];
    assert!(cause["detail"].as_str().is_some_and(|detail| detail.contains(FULL)), "{cause}");
    fill(&disk);
    run(&["next", "order", "-n", "8"]).succeeded();
}

#[test]
fn a_cluster_that_lies_on_it_whole_says_so() {
    if !root::can("mounting a small disk") {
        return;
    }
    let place = Place::new();
    let _mounted = SmallDisk::mount(&place.data(), 4 * 1024);
    assert_eq!(place.numbers(&["next", "order", "-n", "3"]), [1, 2, 3]);
    for command in ["shards", "list"] {
        fill(&place.data());
        let ran = place.run(&[command]);
        assert_eq!(ran.code, Some(4), "{ran:?}");
        assert!(ran.err.contains("ledger.db") && ran.err.contains(FULL), "{}", ran.err);
    }
    fill(&place.data());
    let ran = place.run(&["next", "order"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(4), ""), "{}", ran.err);
}
