//! Mutated templates and texts, for as many seconds of processor time as `SEQUENT_FUZZ_SECONDS` says (5): none panics,
//! and none takes long. The same targets as those of `fuzz/`, for a toolchain without a fuzzer.
//!
//! What it finds it prints, escaped, so that it can be pasted into a test.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail as tests do")]

#[allow(unreachable_pub, reason = "a crate of its own to the fuzzer")]
#[path = "../../fuzz/src/lib.rs"]
mod targets;

mod mutate;
mod pool;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use proptest::test_runner::{RngAlgorithm, TestRng};
use rustix::time::{ClockId, clock_gettime};

use mutate::Mutator;
use pool::Pool;

/// Seconds of processor time for each target.
const SECONDS: u64 = 5;

/// The most processor time that one input may take: a hundred times what any has taken in a build for tests.
const INPUT_MAX: Duration = Duration::from_secs(2);

/// Templates to begin with.
const TEMPLATES: [&str; 12] = [
    "@{date,yyyyMMdd}@{seq,order,w=5}",
    "@{ctx,prefix,len=1}@{date,yyMMdd}@{ctx,infix,len=1}@{seq,doc,w=6}@{ctx,suffix,len=1}",
    "@{ownerKey,value=SN}-@{bean,ref=sequence,id=s,w=8}-@{check,damm,over=s}",
    "@{var,createSite,re=[0-9]+}-@{date,yyyyMMddHH}@{seq,send,w=7,reset=hour}",
    "FA@{date,yyMM}-@{seq,fa,w=4,reset=year}",
    "RR@{seq,s10,id=n,w=8,over=error}@{check,s10,over=n}GB",
    "@{ctx,region,len=6}@{date,yyyyMMdd,at=birth}@{seq,w=3,over=error}@{check,mod11-2}",
    "INV/@{date,FS-FE,fy=04-01}/@{seq,gst,w=6,over=error}",
    "@{date,GGGG-'W'WW}-@{seq,plan,w=3,radix=36,case=lower,pad=\"*\"}",
    "@{ctx,a,map=AC:京;BO:上海,by=no}@{seq,w=3,start=5,step=2,end=99,warn=90%}",
    "@{fn,last,n=2,over=n}@{fn,mod,by=97,over=n}@@@{seq,id=n,radix=\"01\",wmax=20}",
    "@{ctx,a,case=upper,max=9,re=\"[A-Z]{2,3}(x|y)*\"}.@{seq,radix=32c,id=c,tz=UTC}",
];

/// Texts to begin with.
const TEXTS: [&str; 9] = [
    "2017030400001",
    "AB-26-27-00011",
    "010/6541-12026091",
    "C016JD",
    "RF18539007547034",
    "京2026-W53**1",
    "A00101",
    "9223372036854775807",
    "",
];

/// Processor time of this thread so far: what a busy machine does not lengthen.
fn spent() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// What became of an input: `Err` where it was refused.
type Target = fn(&str) -> Result<String, String>;

/// Mutates what it has found so far, and keeps what came to something new.
fn fuzz(name: &str, begin: &[&str], target: Target) {
    let (seconds, seed) = (number("SEQUENT_FUZZ_SECONDS", SECONDS), number("SEQUENT_FIRST_SEED", 20_260_401));
    println!(
        "{name}: seed {seed} (SEQUENT_FIRST_SEED), {seconds} s of processor time (SEQUENT_FUZZ_SECONDS)"
    );
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut mutator = Mutator::new(TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let (mut pool, mut longest) = (Pool::of(begin), (Duration::ZERO, String::new()));
    let (mut tried, mut accepted) = (0_u64, 0_u64);
    let until = spent() + Duration::from_secs(seconds);
    while spent() < until {
        let input = mutator.mutate(&pool);
        let before = spent();
        let became = catch_unwind(AssertUnwindSafe(|| target(&input)));
        let took = spent().saturating_sub(before);
        let became = became.unwrap_or_else(|_| panic!("{name}: it panics on {input:?}"));
        assert!(took < INPUT_MAX, "{name}: {took:?} on {input:?}");
        if took > longest.0 {
            longest = (took, input.chars().take(120).collect());
        }
        tried += 1;
        accepted += u64::from(became.is_ok());
        pool.meet(input, &became);
    }
    let (kept, (took, longest)) = (pool.found(), longest);
    println!(
        "{name}: {tried} inputs, {accepted} accepted, {kept} kept, the longest took {took:?}: {longest:?}"
    );
    assert!(kept > 0 && accepted > 0, "it found nothing new: {tried} inputs, {kept} kept");
}

#[test]
fn any_template_is_read_or_refused_and_what_it_renders_reads_back() {
    fuzz("template", &TEMPLATES, targets::template);
}

#[test]
fn any_text_is_read_or_refused() {
    fuzz("text", &TEXTS, targets::text);
}
