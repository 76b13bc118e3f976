//! How many keys fit into the memory that this process may use.

use std::{fs, path::Path};

/// Upper limit of the keys in one process, however much memory there is.
const LIVE_KEYS_MAX: usize = 1 << 20;

/// Lower limit: a process with less memory than this needs can't work at all.
const LIVE_KEYS_MIN: usize = 1024;

/// Memory that one key in use may need, in bytes. 7 KB were measured.
const KEY_BYTES: u64 = 8192;

/// Keys may use the memory divided by this; the rest is for connections, requests and the process itself.
const MEMORY_PARTS: u64 = 2;

/// Upper limit of the keys in use: half of the memory of the control group or the machine, at 8 KB each.
pub(super) fn live_keys_max() -> usize {
    keys_in(memory(Path::new("/sys/fs/cgroup"), Path::new("/proc")))
}

fn keys_in(memory: Option<u64>) -> usize {
    let Some(memory) = memory else { return LIVE_KEYS_MAX };
    let keys = memory / MEMORY_PARTS / KEY_BYTES;
    usize::try_from(keys).unwrap_or(LIVE_KEYS_MAX).clamp(LIVE_KEYS_MIN, LIVE_KEYS_MAX)
}

/// The least of the machine's memory and `memory.max` of this process's control group and the groups around it (cgroup
/// v2), in bytes; `None` if nothing is known.
fn memory(groups: &Path, proc: &Path) -> Option<u64> {
    let machine = fs::read_to_string(proc.join("meminfo")).ok().and_then(|text| total(&text));
    let own = fs::read_to_string(proc.join("self/cgroup")).unwrap_or_default();
    let own = own.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default();
    let around = Path::new(own).ancestors().map(|group| groups.join(group).join("memory.max"));
    let limits = around.filter_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok());
    limits.chain(machine).min()
}

/// The machine's memory, in bytes.
fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn keys_use_half_of_the_memory_at_most() {
        assert_eq!(keys_in(Some(GIB)), 65_536);
        assert_eq!((keys_in(Some(1)), keys_in(Some(u64::MAX))), (LIVE_KEYS_MIN, LIVE_KEYS_MAX));
        assert_eq!(keys_in(None), LIVE_KEYS_MAX);
    }

    #[test]
    fn the_narrowest_group_around_the_process_counts() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let found = || memory(&folder.path().join("groups"), &folder.path().join("proc"));
        assert_eq!(found(), None);
        write("proc/meminfo", "MemFree: 1 kB\nMemTotal:       8388608 kB\n");
        assert_eq!(found(), Some(8 * GIB));
        write("proc/self/cgroup", "4:memory:/elsewhere\n0::/shop.slice/sequent.service\n");
        write("groups/shop.slice/sequent.service/memory.max", "max\n");
        assert_eq!(found(), Some(8 * GIB));
        write("groups/shop.slice/memory.max", "2147483648\n");
        assert_eq!(found(), Some(2 * GIB), "of the group around it");
        // In a container, the group of the process is the root that it sees.
        write("proc/self/cgroup", "0::/\n");
        write("groups/memory.max", "1073741824\n");
        assert_eq!(found(), Some(GIB));
    }
}
