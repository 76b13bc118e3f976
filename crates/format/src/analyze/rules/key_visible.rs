//! Rule S2: the text shows the values that partition the counter. Otherwise two counters would render the same text.

use crate::{
    analyze::analysis::Analysis,
    error::{Fault, Rule},
    settings::Unique,
};

pub(in crate::analyze) fn check(analysis: &Analysis, faults: &mut Vec<Fault>) {
    if analysis.settings.unique == Unique::Partition {
        return;
    }
    for (part, ctx) in analysis.contexts().filter(|(_, ctx)| ctx.by) {
        let name = &ctx.name;
        if !ctx.show {
            let what = format!(
                "{name} is part of the counter's key but not of the text: {name}=A and {name}=B each count from {} and render the same texts",
                analysis.seq().1.start
            );
            let fix = format!(
                "show {name}, or let it share one counter with by=no, or set unique=partition if texts may repeat"
            );
            faults.push(Fault::new(Rule::S2, part.column, what, fix));
        }
        if let Some((one, two, text)) = ctx.map.as_ref().and_then(|map| map.collision()) {
            let what = format!(
                "{name}={one:?} and {name}={two:?} have counters of their own but are both shown as {text:?}"
            );
            let fix = "give each a text of its own, or let them share one counter with by=no";
            faults.push(Fault::new(Rule::S2, part.column, what, fix));
        }
    }
}
