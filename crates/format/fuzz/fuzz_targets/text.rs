//! Fuzz target: any text decoded with some templates.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    drop(sequent_format_fuzz::text(text));
});
