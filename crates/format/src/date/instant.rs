//! Parses instants and dates of callers. An invalid or contradictory one is refused and never moved to a nearby instant.

use jiff::{Timestamp, civil::DateTime};

use super::zone::Zone;

/// The error of a text that is not an instant: the same over every protocol.
pub const EXPECTED: &str = "an instant such as 2026-04-01T09:00:00+08:00 is expected, or a date or time of the zone such as 2026-04-01";

/// The error of an instant whose year, ISO year or fiscal year does not have four digits.
pub(crate) const YEARS_EXPECTED: &str = "years 1 to 9998 are allowed";

/// The error of a caller's date that cannot be parsed.
const DATE_EXPECTED: &str =
    "a date such as 2026-04-01 is allowed, or an instant such as 2026-04-01T09:00:00+08:00";

/// Offsets of RFC 3339 are shorter than a day.
const OFFSET_SECONDS: i64 = 24 * 3600;

/// Parses an instant of RFC 3339 with its offset, or a local date or time of `zone`. A zone in brackets must agree with the
/// offset. A local time that clocks show twice is the earlier instant; a date is its first instant. The error is the bound.
pub(crate) fn parse(text: &str, zone: &Zone) -> Result<Timestamp, String> {
    let (plain, named) = match text.split_once('[') {
        None => (text, None),
        Some((plain, rest)) => {
            let name = rest.strip_suffix(']').ok_or(EXPECTED)?;
            (plain, Some(Zone::new(name)?))
        }
    };
    refuse_leap_second(plain)?;
    let Ok(instant) = plain.parse::<Timestamp>() else {
        let local = plain.parse::<DateTime>().map_err(|_| EXPECTED)?;
        return local_instant((plain, local), named.as_ref().unwrap_or(zone));
    };
    // A time with `Z` has no local time to compare.
    let Ok(local) = plain.parse::<DateTime>() else { return Ok(instant) };
    let offset_s = local.duration_since(jiff::tz::Offset::UTC.to_datetime(instant)).as_secs();
    if offset_s.abs() >= OFFSET_SECONDS {
        return Err("an offset from -23:59 to +23:59 is expected".to_owned());
    }
    match named {
        Some(named) if named.local(instant) != local => Err(format!(
            "its offset and its zone contradict each other: clocks of {} show {} then",
            named.name(),
            named.rfc3339(instant)
        )),
        _ => Ok(instant),
    }
}

/// Parses a caller's own date as a local time. A date or time without offset is taken as written, even if clocks of `zone`
/// skipped it. An instant is converted to `zone`. The error is the bound.
pub(crate) fn parse_local(text: &str, zone: &Zone) -> Result<DateTime, String> {
    refuse_leap_second(text)?;
    if text.contains('[') || text.parse::<Timestamp>().is_ok() {
        return parse(text, zone).map(|instant| zone.local(instant));
    }
    text.parse().map_err(|_| DATE_EXPECTED.to_owned())
}

/// Refuses second 60, which the time parser would turn into second 59.
fn refuse_leap_second(text: &str) -> Result<(), String> {
    if shows_second_60(text) {
        return Err("seconds up to 59 are allowed: clocks here have no leap second".to_owned());
    }
    Ok(())
}

fn local_instant((text, local): (&str, DateTime), zone: &Zone) -> Result<Timestamp, String> {
    let instant = zone.instant(local).ok_or(YEARS_EXPECTED)?;
    // Clocks may skip midnight: then the day's first instant is later.
    let is_date = !text.contains(['T', 't', ' ']);
    let shown = zone.local(instant);
    if shown == local || is_date && shown.date() == local.date() {
        return Ok(instant);
    }
    Err(format!("clocks of {} never showed it: they were set forward over it, to {shown}", zone.name()))
}

/// Whether the time of day has second 60.
fn shows_second_60(text: &str) -> bool {
    let Some((_, time)) = text.split_once(['T', 't', ' ']) else { return false };
    let time = time.split(['.', ',', 'Z', 'z', '+', '-', '[']).next().unwrap_or_default();
    time.replace(':', "").get(4..6) == Some("60")
}
