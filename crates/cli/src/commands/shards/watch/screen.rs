//! A look drawn over the one before, as much of it as the window has room for.

use std::io::{self, Write};

use serde_json::Value;

use super::words::{head, row, serves, slots};
use crate::output;

/// Where the screen begins.
pub(super) const HOME: &str = "\x1b[H";

/// What is wider than the window is cut, and moves no line below.
pub(super) const NO_WRAP: &str = "\x1b[?7l";
pub(super) const WRAP: &str = "\x1b[?7h";

/// Clears what is left of a line, and of the screen below.
pub(super) const REST_OF_LINE: &str = "\x1b[K";
pub(super) const REST_OF_SCREEN: &str = "\x1b[J";

/// Lines above the rows of a screen: about the whole, an empty one, and what the columns are.
const SCREEN_HEAD: usize = 3;

/// How many lines the window has room for, where it has a size. The cursor stands on the last one: written on, it would scroll.
pub(super) fn lines_max() -> usize {
    terminal_size::terminal_size().map_or(usize::MAX, |(_, height)| usize::from(height.0).saturating_sub(1))
}

/// Draws it anew.
pub(super) fn draw(out: &mut dyn Write, look: &Value, lines_max: usize) -> io::Result<()> {
    write!(out, "{HOME}{NO_WRAP}")?;
    for line in lines(look, lines_max) {
        writeln!(out, "{line}{REST_OF_LINE}")?;
    }
    write!(out, "{REST_OF_SCREEN}{WRAP}")
}

fn lines(look: &Value, lines_max: usize) -> Vec<String> {
    let all = slots(look).count();
    let rows: Vec<Vec<String>> =
        with_room(look, lines_max).into_iter().map(|slot| row(slot).into()).collect();
    let mut lines = vec![head(look), String::new()];
    if all > 0 {
        lines.extend(output::table(&["slot", "state", "store", "evictions", "rescues", "last cause"], &rows));
    }
    let more = all - rows.len();
    if more > 0 {
        lines.push(format!("… and {more} more"));
    }
    // A window of a few lines has no room for what is above the rows.
    lines.truncate(lines_max);
    lines
}

/// As many slots as there is room for: where that is not every one, those that can't serve come first.
fn with_room(look: &Value, lines_max: usize) -> Vec<&Value> {
    let mut shown: Vec<&Value> = slots(look).collect();
    if shown.len().saturating_add(SCREEN_HEAD) > lines_max {
        shown.sort_by_key(|slot| (serves(slot), slot["state"] == "empty"));
        // A line is left for how many more there are.
        shown.truncate(lines_max.saturating_sub(SCREEN_HEAD + 1));
    }
    shown
}
