//! Mutations of inputs: cut, join, double, and insert pieces of templates and texts.

use proptest::{prelude::Rng, test_runner::TestRng};

use super::pool::Pool;

/// Pieces of templates and texts, and characters with special properties.
const PIECES: [&str; 64] = [
    "@{",
    "}",
    ",",
    "=",
    "\"",
    "@",
    "@@",
    "@{seq}",
    "@{ctx,a}",
    "@{check,damm}",
    "seq",
    "ctx",
    "date",
    "check",
    "fn",
    "key",
    "over=left",
    "over=a+b",
    "over=wrap",
    "over=error",
    "re=",
    "(",
    ")*",
    "[a",
    "{9}",
    "{99}",
    "\\p{L}",
    "w=9",
    "w=0",
    "wmax=64",
    "radix=",
    "radix=62",
    "pad=",
    "start=",
    "step=",
    "end=",
    "9223372036854775807",
    "reset=hour",
    "reset=fy",
    "fy=02-29",
    "tz=Asia/Shanghai",
    "at=issue",
    "id=a",
    "len=3",
    "max=128",
    "case=upper",
    "map=a:b;",
    "by=no",
    "show=no",
    "obf=ff1:k",
    "yyyyMMdd",
    "GGGG-'W'WW",
    "FS-FE",
    "'",
    "京",
    "e\u{301}",
    "\u{202e}",
    "\u{200d}",
    "\u{feff}",
    "\u{10ffff}",
    "İ",
    "ß",
    "\0",
    "0",
];

/// The most changes of one input.
const CHANGES_MAX: usize = 6;

/// The longest range that is cut, doubled or joined, in bytes.
const STRETCH_MAX: usize = 24;

/// The longest input, in bytes: slightly over 64 KB.
const INPUT_MAX: usize = 70_000;

pub(crate) struct Mutator(TestRng);

impl Mutator {
    pub(crate) fn new(rng: TestRng) -> Self {
        Self(rng)
    }

    pub(crate) fn mutate(&mut self, pool: &Pool) -> String {
        let mut text = self.pick(pool).to_owned();
        // Mostly one change: nearly valid inputs reach the most code.
        let changes = 1 + self.below(CHANGES_MAX).min(self.below(CHANGES_MAX));
        for _ in 0..changes {
            self.change(&mut text, pool);
        }
        if text.len() > INPUT_MAX {
            text.truncate(boundary(&text, INPUT_MAX));
        }
        text
    }

    fn change(&mut self, text: &mut String, pool: &Pool) {
        let (at, to) = self.range(text);
        match self.below(32) {
            0..=8 => text.insert_str(at, self.piece()),
            9..=12 => text.replace_range(at..to, self.piece()),
            13..=16 => text.replace_range(at..to, ""),
            17..=20 => {
                let other = self.pick(pool).to_owned();
                let (from, end) = self.range(&other);
                text.insert_str(at, &other[from..end]);
            }
            21..=24 => text.insert_str(at, &text.clone()[at..to]),
            25..=27 => text.insert(at, self.letter()),
            28 | 29 => {
                // Replaces a character by a digit.
                let end = boundary(text, text.len().min(at + 1));
                let digit = char::from(b'0' + u8::try_from(self.below(10)).unwrap_or(0));
                text.replace_range(at..end, digit.encode_utf8(&mut [0; 4]));
            }
            30 => text.insert(at, char::from_u32(self.next() % 0x11_0000).unwrap_or('\u{fffd}')),
            // Seldom: most of these are refused for their length.
            _ => {
                let piece = text[at..to].to_owned();
                let times = 1 + self.below(INPUT_MAX / piece.len().max(1)).min(10_000);
                text.insert_str(at, &piece.repeat(times));
            }
        }
    }

    /// A range of a text, at character boundaries.
    fn range(&mut self, text: &str) -> (usize, usize) {
        let at = boundary(text, self.below(text.len() + 1));
        (at, boundary(text, at + self.below((text.len() - at).min(STRETCH_MAX) + 1)))
    }

    fn pick<'a>(&mut self, pool: &'a Pool) -> &'a str {
        let kind = self.bits();
        pool.pick(kind, self.bits())
    }

    fn piece(&mut self) -> &'static str {
        PIECES[self.below(PIECES.len())]
    }

    fn letter(&mut self) -> char {
        char::from(b' ' + u8::try_from(self.below(95)).unwrap_or(0))
    }

    fn below(&mut self, bound: usize) -> usize {
        self.bits() % bound.max(1)
    }

    fn bits(&mut self) -> usize {
        self.next() as usize
    }

    fn next(&mut self) -> u32 {
        self.0.next_u32()
    }
}

/// The last character boundary at or before an offset.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
