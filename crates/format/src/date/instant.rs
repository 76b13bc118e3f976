//! Instants as callers write them: what is no instant, or two at once, is refused and never bent to one near by.

use jiff::{Timestamp, civil::DateTime};

use crate::date::Zone;

/// What is told who writes no instant at all: in the same words at every door.
pub const EXPECTED: &str = "an instant such as 2026-04-01T09:00:00+08:00 is expected, or a date or time of the zone such as 2026-04-01";

/// What is told where an instant's year has not four digits, or those of its week or fiscal year.
pub(crate) const YEARS_EXPECTED: &str = "years 1 to 9998 are allowed";

/// What is told who writes no date of his own.
const DATE_EXPECTED: &str =
    "a date such as 2026-04-01 is allowed, or an instant such as 2026-04-01T09:00:00+08:00";

/// Offsets reach one second less than a day, as RFC 3339 writes them.
const OFFSET_SECONDS: i64 = 24 * 3600;

/// The instant of RFC 3339, with its offset and perhaps a zone in brackets that agrees; or a local date or time of `zone`,
/// the earlier one where clocks show it twice, and for a date its first instant. The error is the bound.
pub(crate) fn read(text: &str, zone: &Zone) -> Result<Timestamp, String> {
    let (plain, named) = match text.split_once('[') {
        None => (text, None),
        Some((plain, rest)) => {
            let name = rest.strip_suffix(']').ok_or(EXPECTED)?;
            (plain, Some(Zone::new(name)?))
        }
    };
    check_seconds(plain)?;
    let Ok(instant) = plain.parse::<Timestamp>() else {
        let local = plain.parse::<DateTime>().map_err(|_| EXPECTED)?;
        return of_local((plain, local), named.as_ref().unwrap_or(zone));
    };
    // One with a Z shows no local time.
    let Ok(local) = plain.parse::<DateTime>() else { return Ok(instant) };
    let offset_s = local.duration_since(jiff::tz::Offset::UTC.to_datetime(instant)).as_secs();
    if offset_s.abs() >= OFFSET_SECONDS {
        return Err("an offset from -23:59 to +23:59 is expected".to_owned());
    }
    match named {
        Some(named) if named.local(instant) != local => Err(format!(
            "its offset and its zone contradict each other: clocks of {} show {} then",
            named.name(),
            named.shown(instant)
        )),
        _ => Ok(instant),
    }
}

/// A caller's own date, as local clocks show it: a date or a time is one as it is, whatever clocks of `zone` did then; an
/// instant is what they show at it. The error is the bound.
pub(crate) fn read_local(text: &str, zone: &Zone) -> Result<DateTime, String> {
    check_seconds(text)?;
    if text.contains('[') || text.parse::<Timestamp>().is_ok() {
        return read(text, zone).map(|instant| zone.local(instant));
    }
    text.parse().map_err(|_| DATE_EXPECTED.to_owned())
}

/// Refuses a sixtieth second, which readers of times bend to the one before.
fn check_seconds(text: &str) -> Result<(), String> {
    if shows_second_60(text) {
        return Err("seconds up to 59 are allowed: clocks here have no leap second".to_owned());
    }
    Ok(())
}

fn of_local((text, local): (&str, DateTime), zone: &Zone) -> Result<Timestamp, String> {
    let instant = zone.instant(local).ok_or(YEARS_EXPECTED)?;
    // A day that begins late begins when it does.
    let is_date = !text.contains(['T', 't', ' ']);
    let shown = zone.local(instant);
    if shown == local || is_date && shown.date() == local.date() {
        return Ok(instant);
    }
    Err(format!("clocks of {} never showed it: they were set forward over it, to {shown}", zone.name()))
}

/// Whether the time of day names a sixtieth second.
fn shows_second_60(text: &str) -> bool {
    let Some((_, time)) = text.split_once(['T', 't', ' ']) else { return false };
    let time = time.split(['.', ',', 'Z', 'z', '+', '-', '[']).next().unwrap_or_default();
    time.replace(':', "").get(4..6) == Some("60")
}
