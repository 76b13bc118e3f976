//! What a process has cost.

use std::time::Duration;

/// Clock ticks a second in `/proc`: the same on every Linux for people (`USER_HZ`).
const TICKS: f64 = 100.0;

/// Processor time so far of a process, `self` for this one.
pub fn cpu_of(process: &str) -> Result<Duration, String> {
    let path = format!("/proc/{process}/stat");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    // Behind the name in parentheses, user and system time are the 12th and 13th field.
    let fields = text.rsplit_once(')').map(|(_, rest)| rest.split_whitespace()).into_iter().flatten();
    let ticks: u64 = fields.skip(11).take(2).flat_map(str::parse::<u64>).sum();
    #[allow(clippy::cast_precision_loss, reason = "ticks of a bench")]
    Ok(Duration::from_secs_f64(ticks as f64 / TICKS))
}
