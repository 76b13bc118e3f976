//! Rule S5: the longest text fits into `maxlen`.

use crate::{
    analyze::analysis::Analysis,
    error::{Fault, Rule},
    template::Kind,
};

pub(in crate::analyze) fn check(analysis: &Analysis, faults: &mut Vec<Fault>) {
    let chars: usize = analysis.shapes.iter().map(|shape| shape.max).fold(0, usize::saturating_add);
    let maxlen = analysis.settings.maxlen;
    if chars <= maxlen {
        return;
    }
    let what = format!("the longest text has {chars} characters: maxlen allows {maxlen}");
    let parts = analysis.template.parts.iter().zip(&analysis.shapes);
    let longest = parts.filter(|(_, shape)| shape.varies()).max_by_key(|(_, shape)| shape.max - shape.min);
    let Some((part, shape)) = longest else {
        return faults.push(Fault::new(Rule::S5, 1, what, "shorten it, or raise maxlen"));
    };
    let how = match &part.kind {
        Kind::Seq(_) => "over=error keeps it to w digits, wmax= to some more".to_owned(),
        Kind::Ctx(ctx) => format!("give {} a len= or max=", ctx.name),
        _ => "shorten it".to_owned(),
    };
    let fix = format!("{} may grow from {} to {} characters: {how}", part.label(), shape.min, shape.max);
    faults.push(Fault::new(Rule::S5, part.column, what, fix));
}
