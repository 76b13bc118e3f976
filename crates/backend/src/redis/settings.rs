//! What a server with these settings may lose of what it acknowledged.

use sequent_core::{Durability, DurabilityClass};

/// The settings that decide it.
pub(super) const ASKED: [&str; 6] =
    ["appendonly", "appendfsync", "no-appendfsync-on-rewrite", "save", "maxmemory", "maxmemory-policy"];

/// The class of a server with these settings. A server that does not tell them (managed ones seldom do) is taken for
/// volatile.
///
/// - Without the append-only file a restart forgets all since the last snapshot: volatile.
/// - `appendfsync always` answers after the disk has it: durable. `everysec` loses about the last second with the machine,
///   also where a rewrite of the file keeps `always` from the disk: lossy. `no` leaves it to the kernel, which takes half a
///   minute: volatile.
/// - A policy that evicts keys which have no time to live may forget any counter at any moment: volatile. Ours have none.
pub(super) fn durability(settings: Vec<(String, String)>) -> Durability {
    let get =
        |name: &str| settings.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value.as_str());
    let evicts = get("maxmemory-policy").starts_with("allkeys") && get("maxmemory") != "0";
    let class = match (get("appendonly"), get("appendfsync")) {
        _ if evicts => DurabilityClass::Volatile,
        ("yes", "always") if get("no-appendfsync-on-rewrite") == "no" => DurabilityClass::Durable,
        ("yes", "always" | "everysec") => DurabilityClass::Lossy,
        _ => DurabilityClass::Volatile,
    };
    Durability { class, settings }
}

/// The value of a line of INFO.
pub(super) fn field<'a>(info: &'a str, name: &str) -> Option<&'a str> {
    info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_forgotten_is_not_durable() {
        let sound = [
            ("appendonly", "yes"),
            ("appendfsync", "always"),
            ("no-appendfsync-on-rewrite", "no"),
            ("maxmemory", "0"),
            ("maxmemory-policy", "noeviction"),
        ];
        let class = |changes: &[(&str, &str)]| {
            let of = |name: &str, value: &str| {
                let changed = changes.iter().find(|(own, _)| *own == name).map_or(value, |(_, value)| *value);
                (name.to_owned(), changed.to_owned())
            };
            durability(sound.iter().map(|(name, value)| of(name, value)).collect()).class
        };
        assert_eq!(class(&[]), DurabilityClass::Durable);
        assert_eq!(
            class(&[("maxmemory", "1000"), ("maxmemory-policy", "volatile-lru")]),
            DurabilityClass::Durable
        );
        assert_eq!(
            class(&[("maxmemory-policy", "allkeys-lru")]),
            DurabilityClass::Durable,
            "nothing is ever full"
        );
        assert_eq!(class(&[("appendfsync", "everysec")]), DurabilityClass::Lossy);
        assert_eq!(class(&[("no-appendfsync-on-rewrite", "yes")]), DurabilityClass::Lossy);
        for volatile in [
            &[("appendonly", "no")][..],
            &[("appendfsync", "no")],
            &[("maxmemory", "1000"), ("maxmemory-policy", "allkeys-random")],
        ] {
            assert_eq!(class(volatile), DurabilityClass::Volatile, "{volatile:?}");
        }
        assert_eq!(durability(Vec::new()).class, DurabilityClass::Volatile, "a server that tells nothing");
    }

    #[test]
    fn a_field_is_known_by_its_whole_name() {
        let info = "# Replication\r\nmaster_replid2:00\r\nmaster_replid:ab\r\n";
        assert_eq!((field(info, "master_replid"), field(info, "role")), (Some("ab"), None));
    }
}
