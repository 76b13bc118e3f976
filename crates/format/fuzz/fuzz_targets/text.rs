//! Any text under some templates: read, or refused, without a panic or a runaway; what is read renders to the same text.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use sequent_format::{Format, Settings, Template};

const TEMPLATES: [&str; 6] = [
    "@{date,yyyyMMdd}@{seq,w=5}",
    "@{ctx,a,re=[A-Z]+}-@{date,FS-FE,fy=04-01}-@{seq,w=4}@{check,mod37-36}",
    "@{ctx,a,re=[0-9]*}/@{ctx,b,re=[0-9A-Z]*}-@{seq}@{date,yyyyDDDHH}",
    "C@{seq,id=c,w=4,radix=32c}@{check,crockford,over=c}",
    "RF@{check,rf,over=n}@{seq,id=n,w=12}",
    "@{ctx,a,map=AC:京;BO:上海}@{date,GGGG-'W'WW}@{seq,w=3,pad=*}",
];

static FORMATS: LazyLock<Vec<Format>> = LazyLock::new(|| {
    let proven =
        |text| Template::parse(text).expect("it is read").prove(&Settings::default()).expect("it is proven");
    TEMPLATES.map(proven).into()
});

fuzz_target!(|text: &str| {
    for format in FORMATS.iter() {
        if let Ok(parsed) = format.invert(text) {
            // Readers of Crockford's digits may write O for 0: the text that is given back is the template's own.
            let again = format.invert(&parsed.text).expect("its own spelling reads back");
            assert_eq!(again, parsed);
        }
    }
});
