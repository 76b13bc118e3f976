//! S11: uniform over many active keys, beside one key; and what a key costs in memory.

use sequent_benches::Row;

use crate::{
    callers::{Names, runtime, unary},
    child::Server,
    filling::fill,
    load::{Target, check, wrk},
    plan::{Cost, Loading, Plan},
    serve::SEQUENT,
};

/// Paths of `keys` names, drawn uniformly; the same work for wrk whatever `keys` is.
fn uniform(keys: u64) -> String {
    format!(
        "wrk.method = \"POST\"\nmath.randomseed(os.time())\nlocal format, random = string.format, math.random\n\
         request = function()\n  \
         return format(\"POST /v1/sequences/key-%07d/next HTTP/1.1\\r\\nhost: localhost\\r\\n\\r\\n\", random(0, {last}))\nend\n",
        last = keys - 1
    )
}

pub(crate) fn run(
    plan: &Plan,
    (rows, costs, notes): (&mut Vec<Row>, &mut Vec<Cost>, &mut Vec<(&'static str, f64)>),
) -> Result<(), String> {
    if plan.wants("S11") {
        check("wrk", "wrk")?;
    }
    let (many, one) = (Server::start(SEQUENT)?, Server::start(SEQUENT)?);
    let (empty, cpu) = (many.rss()?, many.cpu()?);
    fill(&many, plan, "first")?;
    let filled = (many.rss()?, many.cpu()?);
    // Of a key that has been asked twice, some numbers are kept ready: from here on it is in use.
    fill(&many, plan, "second")?;
    #[allow(clippy::cast_precision_loss, reason = "bytes and microseconds of a key")]
    let each = |total: u64| total as f64 / plan.keys as f64;
    let spent = u64::try_from(filled.1.saturating_sub(cpu).as_micros()).unwrap_or(u64::MAX);
    notes.push(("S11: us of processor time for the first number of a key", each(spent)));
    let spent = many.cpu()?.saturating_sub(filled.1).as_micros();
    notes.push(("S11: us of processor time for the second", each(u64::try_from(spent).unwrap_or(u64::MAX))));
    notes.push((
        "S11: bytes an active key, with its rows in the ledger and its cells in four stores, all in this process",
        each(many.rss()?.saturating_sub(empty)),
    ));
    if plan.wants("S11") {
        let http = |keys: u64| {
            let script = uniform(keys);
            move |server: &Server| wrk(Target::plain(server.addresses[1]), &script, plan.load)
        };
        let loads: (Loading<'_>, Loading<'_>) = (&http(plan.keys), &http(1));
        plan.pair(("S11", 0.8), (&many, &one), loads, (&mut *rows, &mut *costs))?;
    }
    if plan.wants("S11-grpc") {
        let runtime = runtime()?;
        let callers = plan.load.connections * plan.load.streams;
        let grpc = |keys: u64| {
            let (runtime, names) = (&runtime, Names::Uniform(keys));
            move |server: &Server| runtime.block_on(unary(server.addresses[0], callers, names, plan.load))
        };
        let loads: (Loading<'_>, Loading<'_>) = (&grpc(plan.keys), &grpc(1));
        plan.pair(("S11-grpc", 0.8), (&many, &one), loads, (rows, costs))?;
    }
    Ok(())
}
