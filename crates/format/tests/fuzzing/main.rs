//! Mutation fuzzing: no template and no text panics or takes long. The targets are those of `fuzz/`, for toolchains without a
//! fuzzer. `SEQUENT_FUZZ_SECONDS` is the processor time (5 by default).
//!
//! A failing input is printed escaped, so that it can be pasted into a test.

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

/// The default processor time of each target, in seconds.
const SECONDS: u64 = 5;

/// The most processor time of one input: a hundred times the longest seen in a test build.
const INPUT_MAX: Duration = Duration::from_secs(2);

/// The initial templates.
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

/// The initial texts.
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

/// The processor time of this thread. A busy machine does not lengthen it.
fn spent() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The outcome of an input: `Err` if it was refused.
type Target = fn(&str) -> Result<String, String>;

/// Mutates the inputs found so far, and keeps those with a new outcome.
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
fn any_template_is_refused_or_its_texts_decode() {
    fuzz("template", &TEMPLATES, targets::template);
}

#[test]
fn any_text_is_decoded_or_refused() {
    fuzz("text", &TEXTS, targets::text);
}
