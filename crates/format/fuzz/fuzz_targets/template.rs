//! Any text as a template: read and proven, or refused, without a panic or a runaway; what is accepted renders and reads back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sequent_format::{Settings, Template, Timestamp, Values};

fuzz_target!(|text: &str| {
    let Ok(template) = Template::parse(text) else { return };
    let Ok(format) = template.prove(&Settings::default()) else { return };
    let values: Values = template.values().into_iter().map(|name| (name, "7")).collect();
    let Ok(issue) = format.issue(Timestamp::UNIX_EPOCH, &values) else { return };
    for number in [1, 9, 10, 99, 1000] {
        let Ok(text) = issue.text(number) else { continue };
        let parsed = format.invert(&text).expect("what was rendered reads back");
        let same = format.counter().wrap.is_some() || parsed.number == number;
        assert!(same && parsed.text == text, "{text:?}: {parsed:?}");
    }
});
