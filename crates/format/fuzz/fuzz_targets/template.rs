//! Fuzz target: any text as a template.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    drop(sequent_format_fuzz::template(text));
});
