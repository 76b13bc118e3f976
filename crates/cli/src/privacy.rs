//! What other users of the machine get of this process: none of its files, and no core dump.

use rustix::{fs::Mode, process::umask};

/// Files and directories of this process are its user's alone, and a crash leaves no copy of its memory, which holds
/// passwords. A reader of a SQLite file could stop the shard by a lock.
pub(crate) fn protect() {
    umask(Mode::RWXG | Mode::RWXO);
    #[cfg(target_os = "linux")]
    // If it is refused, `ulimit -c` and `LimitCORE=` remain.
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::process::{DumpableBehavior, dumpable_behavior};

    #[test]
    fn a_crash_leaves_no_copy_of_the_memory() {
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::Dumpable);
        super::protect();
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
    }
}
