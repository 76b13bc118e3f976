//! The rules, one file each. The id of a rule (S1 to S9) is part of its error messages.
//!
//! | id | file | an accepted template guarantees |
//! |---|---|---|
//! | S1 | [`unambiguous_split`] | a text can be split into its parts in one way only |
//! | S2 | [`key_visible`] | the text shows the values that partition the counter |
//! | S3 | [`period_visible`] | the date in the text determines the period |
//! | S4 | [`reset_unit`] | the counter resets with the finest unit shown, at most daily unless asked for |
//! | S5 | [`max_length`] | the longest text fits into `maxlen` |
//! | S6 | [`reset_reuse`] | numbers wrap per period, or after a stated time |
//! | S7 | [`cipher_space`] | an obfuscated number has enough texts to hide among |
//! | S8 | [`book_run`] | the numbers of a book never wrap |
//! | S9 | [`namespace_disjoint`] | two templates of one namespace never render the same text |
//! | – | [`capacity`] | there is a number to render |

pub(super) mod book_run;
pub(super) mod capacity;
pub(super) mod cipher_space;
pub(super) mod key_visible;
pub(super) mod max_length;
mod namespace_disjoint;
pub(super) mod period_visible;
pub(super) mod reset_reuse;
pub(super) mod reset_unit;
pub(crate) mod unambiguous_split;
