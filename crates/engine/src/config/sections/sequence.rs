//! `[[sequence]]`: definitions in the file.

use sequent_core::{Block, SequenceName};
use sequent_format::limits::TEXT_CHARS_MAX;

use crate::{
    config::TableReader,
    definition::{Body, BodyFault, Effective, Placement},
    texts::{Texts, ZONE_DEFAULT},
};

/// Upper limit of the window for a caller's `at`: about three centuries.
const WINDOW_S_MAX: u64 = 10_000_000_000;

/// A definition as the file has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SequencePart {
    /// The name.
    pub name: SequenceName,
    /// The version, from 1; a higher one replaces a lower one.
    pub version: u32,
    /// The content: numbers, placement and texts.
    pub body: Body,
    /// When the version takes effect; `None`: now, unless that version waits already.
    pub effective: Option<Effective>,
}

impl SequencePart {
    pub(crate) fn read(mut section: TableReader<'_, '_>) -> Option<Self> {
        let name = section.demanded("name", "1 to 128 of A-Z a-z 0-9 _ . : - are allowed");
        let name = name.and_then(|text| match text.parse::<SequenceName>() {
            Ok(name) => Some(name),
            Err(error) => {
                section.fault("name", format!("{text:?}"), error.to_string());
                None
            }
        });
        let version = section.integer("version", 1..=u64::from(u32::MAX), 1);
        let placement = section.text("placement");
        let start = section.integer("start", 1..=Block::NUMBER_MAX, 1);
        let step = section.integer("step", 1..=Block::NUMBER_MAX, 1);
        let end = section.integer_opt("end", 1..=Block::NUMBER_MAX);
        let fits = section.text("fits");
        if fits.is_none() {
            section.default_shown("fits", "\"js\"".to_owned());
        }
        let effective = section.text("effective");
        let texts = texts(&mut section);
        let body = texts
            .and_then(|texts| Body::check(placement.as_deref(), start, step, end, fits.as_deref(), texts));
        let mut sound = |read: Result<_, BodyFault>| {
            read.map_err(|fault| section.fault(fault.field, fault.value, fault.bound)).ok()
        };
        let read = body.and_then(|body| {
            let effective = effective.map(|text| Effective::read(&text, &body)).transpose()?;
            Ok((body, effective))
        });
        let (body, effective) = sound(read).unzip();
        if placement.is_none() {
            let by_default = body.as_ref().map_or(Placement::Spread, Body::placement);
            section.default_shown("placement", format!("{:?}", by_default.as_str()));
        }
        section.finish();
        let effective = effective.flatten();
        Some(Self { name: name?, version: u32::try_from(version).ok()?, body: body?, effective })
    }
}

/// The texts' settings, if the table has a template. A key that needs a template is refused without one.
fn texts(section: &mut TableReader<'_, '_>) -> Result<Option<Texts>, BodyFault> {
    let template = section.text("template");
    let (zone, charset, unique) = (section.text("zone"), section.text("charset"), section.text("unique"));
    let maxlen = section.integer_opt("maxlen", 1..=TEXT_CHARS_MAX as u64);
    let window_s = section.integer_opt("window_s", 0..=WINDOW_S_MAX);
    // The check of the template gives the exact range of this value.
    let retain_periods = section.integer_opt("retain_periods", 0..=u64::from(u32::MAX));
    let Some(template) = template else {
        let there = [("zone", zone.is_some()), ("charset", charset.is_some()), ("unique", unique.is_some())];
        let there = there.into_iter().chain([("maxlen", maxlen.is_some()), ("window_s", window_s.is_some())]);
        let there = there.chain([("retain_periods", retain_periods.is_some())]);
        for (key, _) in there.filter(|(_, there)| *there) {
            section.fault(key, "there", "it belongs to a template, and there is none");
        }
        return Ok(None);
    };
    let texts = Texts::new(template).maxlen(maxlen.and_then(|length| usize::try_from(length).ok()));
    let retain_periods = retain_periods.and_then(|periods| u32::try_from(periods).ok());
    let texts = texts.charset(charset).window_s(window_s).retain_periods(retain_periods);
    let texts = texts.unique(unique.as_deref())?;
    if let Some(zone) = zone {
        return Ok(Some(texts.zone(zone)));
    }
    section.default_shown("zone", format!("{ZONE_DEFAULT:?}"));
    Ok(Some(texts))
}
