//! Rendering into a buffer with enough capacity allocates nothing.

#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::alloc::System;

use sequent_format::{Settings, Template, Timestamp, Values};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The only test of this process, since allocations of other tests would be counted.
#[test]
fn rendering_allocates_nothing() {
    let templates = [
        "@{date,yyyyMMdd}@{seq,w=8}@{check,damm}",
        "@{ctx,a,re=[A-Z]+}-@{date,GGGG-'W'WW}-@{seq,w=4,radix=36}@{check,mod37-36}",
        "RF@{check,rf,over=n}@{seq,id=n,w=12}",
        "@{ctx,a,map=AB:京}@{seq,w=3,over=wrap,reuse_after=1d,id=n}@{check,mod97-10,over=n+a}",
    ];
    let at: Timestamp = "2026-04-01T12:00:00Z".parse().unwrap();
    for template in templates {
        let format = Template::parse(template).unwrap().analyze(&Settings::default()).unwrap();
        let values = if template.contains("ctx") { Values::new().with("a", "AB") } else { Values::new() };
        let context = format.context(at, &values).unwrap();
        let mut out = String::with_capacity(256);
        let region = Region::new(GLOBAL);
        for number in 1..1000 {
            out.clear();
            context.render(number, &mut out).unwrap();
        }
        let change = region.change();
        assert_eq!((change.allocations, change.reallocations), (0, 0), "{template}: {change:?}");
    }
}
