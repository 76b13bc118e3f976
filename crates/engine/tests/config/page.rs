//! The tables of `docs/reference/config.md` are what the sections of the configuration say.
//!
//! `SEQUENT_GENERATE=1` writes them instead of comparing.

use std::{env, fs, path::Path};

use sequent_engine::config::reference;

/// The heading before the tables; they go to the page's end.
const HEADING: &str = "\n## Keys\n";

#[test]
fn the_tables_of_the_page_are_those_of_the_sections() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/config.md");
    let page = fs::read_to_string(&file).unwrap();
    let (prose, _) = page.split_once(HEADING).expect("the page has a heading for the tables");
    let generated = format!("{prose}{HEADING}{}", reference());
    if env::var_os("SEQUENT_GENERATE").is_some() {
        fs::write(&file, generated).unwrap();
    } else {
        assert!(
            page == generated,
            "config.md is stale: SEQUENT_GENERATE=1 cargo test -p sequent-engine --test config"
        );
    }
}
