//! Rule S7: an obfuscated number has enough texts to hide among, and the text determines the tweak.

use crate::{
    analyze::analysis::Analysis,
    date::DateFields,
    error::{Fault, Rule},
    limits::OBFUSCATED_DOMAIN_MIN,
    settings::Unique,
    template::Ctx,
};

pub(in crate::analyze) fn check(analysis: &Analysis, faults: &mut Vec<Fault>) {
    let (part, seq) = analysis.seq();
    if seq.obfuscated.is_none() {
        return;
    }
    let highest = seq.alphabet.highest(seq.width);
    if highest < OBFUSCATED_DOMAIN_MIN - 1 {
        let needed = seq.alphabet.width_of(OBFUSCATED_DOMAIN_MIN - 1);
        let what = format!(
            "{} digits make {} texts, so few that a list of them undoes obf: {OBFUSCATED_DOMAIN_MIN} are needed",
            seq.width,
            highest + 1
        );
        faults.push(Fault::new(Rule::S7, part.column, what, format!("write w={needed} or more")));
    }
    if seq.pad != seq.alphabet.zero() {
        let what = "obf encrypts all digits of a text: padding with another character would show how many digits the number has";
        faults.push(Fault::new(Rule::S7, part.column, what, "leave pad out"));
    }
    let is_visible = |ctx: &Ctx| ctx.show && ctx.map.as_ref().is_none_or(|map| map.collision().is_none());
    let hidden = analysis.settings.unique == Unique::Partition
        && analysis.contexts().any(|(_, ctx)| ctx.by && !is_visible(ctx));
    let period_hidden = analysis.settings.unique == Unique::Period
        && !analysis.known_fields().contains(DateFields::required_by(analysis.reset));
    if hidden || period_hidden {
        let what = "obf hides each period and partition in a different way, and the text does not show which: no text could be decoded";
        faults.push(Fault::new(Rule::S7, part.column, what, "show period and partition"));
    }
}
