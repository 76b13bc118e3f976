//! What a person sees while a bench runs: a small table that is renewed, and each event as it comes; a line now and then
//! where there is no terminal.

use std::{io::IsTerminal, time::Duration};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{
    figures::{self, Span},
    schedule::Schedule,
    tally::Tallies,
};

/// How often the table is renewed.
const TABLE_EVERY: Duration = Duration::from_secs(1);

/// How often a line is said where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// A bar and the table on standard error, if that is a terminal; lines otherwise.
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
        let target = if std::io::stderr().is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        Self::on(target, count, duration)
    }

    fn on(target: ProgressDrawTarget, count: Option<u64>, duration: Option<Duration>) -> Self {
        let (length, steps) = match (count, duration) {
            (Some(count), _) => (Length::Requests, Some(count)),
            (None, Some(duration)) => {
                (Length::Milliseconds, Some(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)))
            }
            (None, None) => (Length::Unknown, None),
        };
        let bar = ProgressBar::with_draw_target(steps, target);
        let template = match length {
            Length::Unknown => "{spinner} {elapsed}\n{msg}",
            Length::Requests | Length::Milliseconds => "{bar:30} {percent:>3}% {elapsed}\n{msg}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self { bar, length }
    }

    /// Says something that happened, above the table.
    pub(crate) fn say(&self, line: &str) {
        if self.bar.is_hidden() {
            crate::output::say(line);
        } else {
            self.bar.println(line);
        }
    }

    /// Shows the figures again and again, for ever.
    pub(crate) async fn run(&self, schedule: &Schedule, tallies: &Tallies) {
        let every = if self.bar.is_hidden() { LINE_EVERY } else { TABLE_EVERY };
        let mut looked = schedule.elapsed();
        loop {
            tokio::time::sleep(every).await;
            let (window, total) = tallies.since_last();
            let elapsed = schedule.elapsed();
            let last = Span { tally: &window, length: elapsed.saturating_sub(looked) };
            if self.bar.is_hidden() {
                self.say(&format!("after {} s: {}", elapsed.as_secs(), figures::line(last)));
            } else {
                self.draw(last, Span { tally: &total, length: elapsed });
            }
            looked = elapsed;
        }
    }

    fn draw(&self, last: Span<'_>, all: Span<'_>) {
        match self.length {
            Length::Requests => self.bar.set_position(all.tally.requests),
            Length::Milliseconds => {
                self.bar.set_position(u64::try_from(all.length.as_millis()).unwrap_or(u64::MAX));
            }
            Length::Unknown => self.bar.tick(),
        }
        self.bar.set_message(figures::table(last, all));
    }

    /// Takes bar and table away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tally::Tally, *};
    use indicatif::TermLike;
    use std::{
        io,
        sync::{Arc, Mutex},
    };

    /// A terminal that keeps what is written.
    #[derive(Debug, Clone, Default)]
    struct Paper(Arc<Mutex<String>>);

    impl TermLike for Paper {
        fn width(&self) -> u16 {
            80
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(&format!("{text}\n"))
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
        }
        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_terminal_gets_a_table_below_the_bar() {
        let paper = Paper::default();
        let target = ProgressDrawTarget::term_like(Box::new(paper.clone()));
        let progress = Progress::on(target, Some(4), None);
        let mut tally = Tally::default();
        tally.done(8, Duration::from_micros(3));
        let span = |seconds| Span { tally: &tally, length: Duration::from_secs(seconds) };
        progress.draw(span(1), span(2));
        progress.bar.force_draw();
        let written = paper.0.lock().unwrap().clone();
        for words in ["25%", "numbers/s", "p99.9", "last second           8 ", "so far                4 "] {
            assert!(written.contains(words), "{words}: {written}");
        }
    }
}
