//! The rules that make a template's texts unique: a file each, all checked, all faults reported.

mod capacity;
mod checked;
mod claim;
mod s1;
mod s2;
mod s3;
mod s4;
mod s5;
mod s6;
mod s7;
mod s8;
mod s9;
mod shapes;
mod unfit;

pub(crate) use claim::Claim;
pub(crate) use s1::{Cut, Decoding};
pub(crate) use s9::distinct;
pub(crate) use shapes::straight;

use crate::{Format, ProofError, Settings, Template};

/// Proves a template, or says all that is wrong with it.
pub(crate) fn template(template: &Template, settings: &Settings) -> Result<Format, ProofError> {
    let claim = Claim::new(template, settings).map_err(|faults| ProofError { faults })?;
    let mut faults = Vec::new();
    let decoding = s1::check(&claim, &mut faults);
    s2::check(&claim, &mut faults);
    s3::check(&claim, &mut faults);
    s4::check(&claim, &mut faults);
    s5::check(&claim, &mut faults);
    s6::check(&claim, &mut faults);
    s7::check(&claim, &mut faults);
    s8::check(&claim, &mut faults);
    capacity::check(&claim, &mut faults);
    let Some(decoding) = decoding.filter(|_| faults.is_empty()) else {
        faults.sort_by_key(|fault| fault.rule);
        return Err(ProofError { faults });
    };
    let warnings = s4::warnings(&claim).into_iter().chain(s6::warnings(&claim)).chain(s8::warnings(&claim));
    let warnings = warnings.chain(checked::warnings(&claim)).chain(unfit::warnings(&claim)).collect();
    Ok(Format::proven(claim, decoding, warnings))
}
