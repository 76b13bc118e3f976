//! What a person sees while a bench runs: a bar with rate and latency, and each event as it comes.

use std::{io::IsTerminal, time::Duration};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{
    schedule::Schedule,
    summary,
    tally::{Tallies, Tally},
};

/// How often the figures are renewed.
pub(crate) const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The bar on standard error, if that is a terminal; lines otherwise.
#[derive(Clone)]
pub(crate) struct Progress {
    bar: ProgressBar,
    length: Length,
}

/// What the bar's length means.
#[derive(Clone, Copy)]
enum Length {
    Requests,
    Milliseconds,
    Unknown,
}

impl Progress {
    /// A bar as long as the work, if that is known.
    pub(crate) fn new(count: Option<u64>, duration: Option<Duration>) -> Self {
        let (length, steps) = match (count, duration) {
            (Some(count), _) => (Length::Requests, Some(count)),
            (None, Some(duration)) => {
                (Length::Milliseconds, Some(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)))
            }
            (None, None) => (Length::Unknown, None),
        };
        let target = if std::io::stderr().is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(steps, target);
        let template = match length {
            Length::Unknown => "{spinner} {elapsed} {msg}",
            Length::Requests | Length::Milliseconds => "{bar:30} {percent:>3}% {elapsed} {msg}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self { bar, length }
    }

    /// Says something that happened, above the bar.
    pub(crate) fn say(&self, line: &str) {
        if self.bar.is_hidden() {
            crate::output::say(line);
        } else {
            self.bar.println(line);
        }
    }

    /// Renews the figures once a second, for ever.
    pub(crate) async fn run(&self, schedule: &Schedule, tallies: &Tallies) {
        if self.bar.is_hidden() {
            return std::future::pending().await;
        }
        let mut looked = schedule.elapsed();
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let (window, requests) = tallies.since_last();
            let elapsed = schedule.elapsed();
            match self.length {
                Length::Requests => self.bar.set_position(requests),
                Length::Milliseconds => {
                    self.bar.set_position(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX));
                }
                Length::Unknown => self.bar.tick(),
            }
            self.bar.set_message(figures(&window, elapsed.saturating_sub(looked)));
            looked = elapsed;
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Rate and latency of one window.
fn figures(window: &Tally, length: Duration) -> String {
    let rate = summary::whole(summary::per_second(window.numbers, length.as_secs_f64()));
    let at = |percentile| summary::duration(window.latency.value_at_percentile(percentile));
    let errors = match window.error_count() {
        0 => String::new(),
        count => format!(", {count} failed"),
    };
    format!("{rate}/s p50 {} p99 {} p99.9 {} max {}{errors}", at(50.0), at(99.0), at(99.9), at(100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_are_those_of_the_window() {
        let mut window = Tally::default();
        window.done(300, Duration::from_nanos(70));
        window.failed("DRAINING", String::new, Duration::from_nanos(90));
        assert_eq!(
            figures(&window, Duration::from_secs(2)),
            "150/s p50 70 ns p99 90 ns p99.9 90 ns max 90 ns, 1 failed"
        );
    }
}
