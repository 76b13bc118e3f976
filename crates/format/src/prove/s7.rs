//! S7: a permutation has enough texts to hide among, and its tweak can be told from the text.

use crate::{Fault, Rule, Unique, date::Facts, limits::OBFUSCATED_DOMAIN_MIN, prove::Claim, template::Ctx};

pub(super) fn check(claim: &Claim, faults: &mut Vec<Fault>) {
    let (part, seq) = claim.seq();
    if seq.obfuscated.is_none() {
        return;
    }
    let highest = seq.digits.highest(seq.width);
    if highest < OBFUSCATED_DOMAIN_MIN - 1 {
        let needed = seq.digits.width_of(OBFUSCATED_DOMAIN_MIN - 1);
        let what = format!(
            "{} digits make {} texts, so few that a list of them undoes obf: {OBFUSCATED_DOMAIN_MIN} are needed",
            seq.width,
            highest + 1
        );
        faults.push(Fault::new(Rule::S7, part.column, what, format!("write w={needed} or more")));
    }
    if seq.pad != seq.digits.zero() {
        let what =
            "obf permutes all digits of a text: padding with another character would show how many there are";
        faults.push(Fault::new(Rule::S7, part.column, what, "leave pad out"));
    }
    let told = |ctx: &Ctx| ctx.show && ctx.map.as_ref().is_none_or(|map| map.collision().is_none());
    let hidden =
        claim.settings.unique == Unique::Partition && claim.contexts().any(|(_, ctx)| ctx.by && !told(ctx));
    let untold = claim.settings.unique == Unique::Period && !claim.told().have(Facts::needed(claim.reset));
    if hidden || untold {
        let what = "obf hides each period and partition in a way of its own, which the text does not tell: no text could be read back";
        faults.push(Fault::new(Rule::S7, part.column, what, "show what the counter belongs to"));
    }
}
