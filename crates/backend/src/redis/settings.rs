//! Durability of a Redis server by its settings.

use sequent_core::{Durability, DurabilityClass, Fact, FactClass};

/// The settings that decide the durability class.
pub(super) const ASKED: [&str; 6] =
    ["appendonly", "appendfsync", "no-appendfsync-on-rewrite", "save", "maxmemory", "maxmemory-policy"];

/// The durability class of a server with these settings. If the server does not report them (managed ones seldom do),
/// it counts as volatile.
///
/// - Without the append-only file, a restart loses everything since the last snapshot: volatile.
/// - `appendfsync always` answers after the write is on disk: durable. `everysec` may lose about the last second if the
///   machine fails: lossy. `always` counts as `everysec` if a rewrite of the file suspends it
///   (`no-appendfsync-on-rewrite`). `no` leaves the write to the kernel, which takes up to half a minute: volatile.
/// - An eviction policy for keys without a time to live may remove any counter at any time: volatile. Counters have no
///   time to live.
pub(super) fn durability(settings: Vec<(String, String)>) -> Durability {
    let get = |name: &str| value_of(&settings, name);
    let class = match (get("appendonly"), get("appendfsync")) {
        _ if evicts(&settings) => DurabilityClass::Volatile,
        ("yes", "always") if get("no-appendfsync-on-rewrite") == "no" => DurabilityClass::Durable,
        ("yes", "always" | "everysec") => DurabilityClass::Lossy,
        _ => DurabilityClass::Volatile,
    };
    Durability { class, settings }
}

/// Placeholder for a setting that the server does not report.
pub(super) const NOT_TOLD: &str = "not told";

/// Facts about the settings that permit a loss, and about those not reported.
pub(super) fn facts(settings: &[(String, String)]) -> Vec<Fact> {
    let get = |name: &str| value_of(settings, name);
    let fact = |class, name: &str, expected: &str, causes: &str| {
        let fact = Fact::new(class, name, get(name)).expected(expected).causes(causes);
        fact.mend(format!("CONFIG SET {name} {expected}, and in the server's file"))
    };
    let mut found = Vec::new();
    if get("appendonly") == NOT_TOLD {
        let fact = Fact::new(FactClass::Untold, "CONFIG GET", NOT_TOLD).expected("the right to ask");
        let fact = fact.causes("the store is taken for volatile, whatever it keeps");
        found.push(fact.mend("give the user +config|get, where the provider allows it"));
        return found;
    }
    if get("appendonly") != "yes" {
        let causes = "a restart forgets everything since the last snapshot";
        found.push(fact(FactClass::Loses, "appendonly", "yes", causes));
    } else if get("appendfsync") != "always" {
        let lost = if get("appendfsync") == "no" { "half a minute" } else { "about the last second" };
        let causes = format!("a crash of its machine takes back {lost}");
        found.push(fact(FactClass::Loses, "appendfsync", "always", &causes));
    } else if get("no-appendfsync-on-rewrite") != "no" {
        let causes = "while its log is written anew, a crash of its machine takes back what was answered";
        found.push(fact(FactClass::Loses, "no-appendfsync-on-rewrite", "no", causes));
    }
    if evicts(settings) {
        let causes = "any counter may go at any moment once memory is full";
        found.push(fact(FactClass::Forgets, "maxmemory-policy", "noeviction", causes));
    } else if get("maxmemory-policy").starts_with("allkeys") {
        let causes = "nothing as long as maxmemory is 0; any counter may go once it is not";
        found.push(fact(FactClass::Note, "maxmemory-policy", "noeviction", causes));
    }
    found
}

/// Whether keys without a time to live may be evicted.
fn evicts(settings: &[(String, String)]) -> bool {
    let policy = value_of(settings, "maxmemory-policy");
    policy.starts_with("allkeys") && value_of(settings, "maxmemory") != "0"
}

fn value_of<'a>(settings: &'a [(String, String)], name: &str) -> &'a str {
    settings.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value.as_str())
}

/// The value of a line of `INFO`.
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
    fn each_setting_that_forgets_is_named() {
        let names = |pairs: &[(&str, &str)]| -> Vec<(FactClass, String)> {
            let settings: Vec<_> = pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
            facts(&settings).into_iter().map(|fact| (fact.class, fact.name)).collect()
        };
        let always = [("appendonly", "yes"), ("appendfsync", "always"), ("no-appendfsync-on-rewrite", "no")];
        assert_eq!(names(&always), []);
        let found = |class, name: &str| vec![(class, name.to_owned())];
        assert_eq!(names(&[("appendonly", "no")]), found(FactClass::Loses, "appendonly"));
        let second = [("appendonly", "yes"), ("appendfsync", "everysec")];
        assert_eq!(names(&second), found(FactClass::Loses, "appendfsync"));
        assert_eq!(names(&[("appendonly", NOT_TOLD)]), found(FactClass::Untold, "CONFIG GET"));
        let with =
            |memory| [&always[..], &[("maxmemory", memory), ("maxmemory-policy", "allkeys-lru")]].concat();
        assert_eq!(names(&with("100")), found(FactClass::Forgets, "maxmemory-policy"));
        assert_eq!(names(&with("0")), found(FactClass::Note, "maxmemory-policy"));
    }

    #[test]
    fn a_field_is_known_by_its_whole_name() {
        let info = "# Replication\r\nmaster_replid2:00\r\nmaster_replid:ab\r\n";
        assert_eq!((field(info, "master_replid"), field(info, "role")), (Some("ab"), None));
    }
}
