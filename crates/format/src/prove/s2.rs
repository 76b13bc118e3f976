//! S2: what the counter belongs to can be told from the text, or two counters give one text.

use crate::{Fault, Rule, Unique, prove::Claim};

pub(super) fn check(claim: &Claim, faults: &mut Vec<Fault>) {
    if claim.settings.unique == Unique::Partition {
        return;
    }
    for (part, ctx) in claim.contexts().filter(|(_, ctx)| ctx.by) {
        let name = &ctx.name;
        if !ctx.show {
            let what = format!(
                "{name} is part of the counter's key but not of the text: {name}=A and {name}=B each count from {} and render alike",
                claim.seq().1.start
            );
            let mend = format!(
                "show {name}, or let it share one counter with by=no, or say unique=partition if texts may be alike"
            );
            faults.push(Fault::new(Rule::S2, part.column, what, mend));
        }
        if let Some((one, two, text)) = ctx.map.as_ref().and_then(|map| map.collision()) {
            let what = format!(
                "{name}={one:?} and {name}={two:?} have counters of their own but are both shown as {text:?}"
            );
            let mend = "give each a text of its own, or let them share one counter with by=no";
            faults.push(Fault::new(Rule::S2, part.column, what, mend));
        }
    }
}
