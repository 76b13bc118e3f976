//! `[[sequence]]`: definitions in the file.

use std::collections::BTreeMap;

use sequent_core::{Block, FieldFault, SequenceName};
use sequent_format::limits::TEXT_CHARS_MAX;

use crate::{
    config::{
        Fault,
        reading::{
            Reader, Section, section,
            setting::{parsed, text, whole},
        },
    },
    definition::{Body, BodyOptions, Effective, Placement, RESERVE_MS_MAX},
    stores::{self, Shard},
    texts::{Texts, ZONE_DEFAULT},
};

/// Upper limit of the window for a caller's `at`: about three centuries.
const WINDOW_S_MAX: u64 = 10_000_000_000;

/// The error text for a key of texts without a template.
const NO_TEMPLATE: &str = "it belongs to a template, and there is none";

section! {
    /// The definition of a sequence, one table each. A running server applies changes:
    /// [reload](../operating/install.md#reload).
    pub(crate) struct SequenceSection(section) {
        /// The name.
        name: Option<SequenceName> = parsed("name")
            .expecting("1 to 128 of A-Z a-z 0-9 _ . : - are allowed")
            .allowed("1 to 128 of `A-Z a-z 0-9 _ . : -`")
            .required(),

        /// A higher version replaces a lower one; the same version never changes. At most 1000 above the version in force.
        version: u32 = whole("version", 1..=u32::MAX).or(1),

        /// [Placement](../concepts/placement.md). By default `dense` if a key has fewer than 1,000,000 numbers, else
        /// `spread`.
        placement: Option<String> = text("placement").allowed("`spread`, `dense`").optional(),

        /// The first number.
        start: u64 = whole("start", 0..=Block::NUMBER_MAX).or(1),

        /// The distance of two numbers.
        step: u64 = whole("step", 1..=Block::NUMBER_MAX).or(1),

        /// The last number; by default the last that fits.
        end: Option<u64> = whole("end", 1..=Block::NUMBER_MAX).optional(),

        /// The number type that every number fits into.
        fits: String = text("fits").allowed("`js`, `int32`, `uint32`, `int64`").or("js".to_owned()),

        /// [How numbers are made of ids](../concepts/numbers-and-order.md#numbering): by default `ordinal`, counted from
        /// `start` in any ring. `encoded` is the id with its slot, without `start` and `step`.
        numbering: Option<String> = text("numbering").allowed("`ordinal`, `encoded`").optional(),

        /// How long the numbers kept ready last; by default `reservoir.reserve_ms`. 0: none are held ahead of demand.
        reserve_ms: Option<u64> = whole("reserve_ms", 0..=RESERVE_MS_MAX).optional(),

        /// The most numbers of one key that a server's crash may lose, and that one lease may have. At most, and by
        /// default, `reservoir.at_risk_max`.
        at_risk_max: Option<u64> = whole("at_risk_max", 1..=1_000_000_000).optional(),

        /// [When a version takes effect](../concepts/templates.md#when-a-version-takes-effect): by default `now`.
        effective: Option<String> = text("effective").allowed("`now`, `next-period`, an instant").optional(),

        /// The [template](../concepts/templates.md) of texts. The keys that follow belong to one.
        template: Option<String> = text("template").optional(),

        /// The time zone of dates and periods: by default `UTC`.
        zone: Option<String> = text("zone").allowed("an IANA name").optional().only_if(template.is_some(), NO_TEMPLATE),

        /// The longest text, in characters: by default 128.
        maxlen: Option<usize> = whole("maxlen", 1..=TEXT_CHARS_MAX).optional().only_if(template.is_some(), NO_TEMPLATE),

        /// The characters of texts, as between the brackets of a regular expression; by default all visible ones.
        charset: Option<String> = text("charset").optional().only_if(template.is_some(), NO_TEMPLATE),

        /// Among which texts of this sequence a text is unique: by default `global`.
        unique: Option<String> = text("unique").allowed("`global`, `period`, `partition`").optional().only_if(template.is_some(), NO_TEMPLATE),

        /// How far from now a caller's `at` may be; by default 31 days ahead where numbers begin anew each period, and any
        /// time back.
        window_s: Option<u64> = whole("window_s", 0..=WINDOW_S_MAX).optional().only_if(template.is_some(), NO_TEMPLATE),

        /// How many [old periods](../concepts/periods.md#old-periods) may be asked for, from 1; by default all. The
        /// counters of older ones are removed.
        retain_periods: Option<u32> = whole("retain_periods", 0..=u32::MAX).optional().only_if(template.is_some(), NO_TEMPLATE),
    }
}

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
    /// The sequences of a file. A store must be able to hold each of them.
    pub(crate) fn all(reader: &mut Reader<'_>, shards: &[Shard]) -> Vec<Self> {
        let mut parts = Vec::new();
        let mut names: BTreeMap<SequenceName, usize> = BTreeMap::new();
        for (at, table) in reader.list("sequence").unwrap_or_default().into_iter().enumerate() {
            let mut section = reader.item("sequence", at, table);
            let part = Self::checked(&mut section);
            section.finish();
            let Some(part) = part else { continue };
            let mut fault = |bound| {
                let name = format!("{:?}", part.name.as_str());
                reader.fault(Fault::new(format!("sequence[{at}].name"), name, bound));
            };
            if let Err(bound) = part.fits_in(shards) {
                fault(bound);
            }
            if let Some(first) = names.insert(part.name.clone(), at) {
                fault(format!("sequence[{first}] has the same name: each name once"));
            }
            parts.push(part);
        }
        parts
    }

    fn checked(section: &mut Section<'_, '_>) -> Option<Self> {
        let keys = SequenceSection::read(section);
        let body = keys.body(section);
        let placement = body.as_ref().map_or(Placement::Spread, Body::placement);
        section.show_default("placement", format!("{:?}", placement.as_str()));
        if keys.template.is_some() {
            section.show_default("zone", format!("{ZONE_DEFAULT:?}"));
        }
        let body = body?;
        let effective = keys.effective.map(|text| Effective::read(&text, &body)).transpose();
        let effective =
            effective.map_err(|fault| section.fault(&fault.field, fault.value, fault.bound)).ok()?;
        Some(Self { name: keys.name?, version: keys.version, body, effective })
    }

    /// Refuses a sequence whose shortest key no slot's store can hold.
    fn fits_in(&self, shards: &[Shard]) -> Result<(), String> {
        let key = self.body.example_key(&self.name).map_err(|error| error.to_string())?;
        if self.body.placement() == Placement::Spread { stores::hold(shards, &key) } else { Ok(()) }
    }
}

impl SequenceSection {
    fn body(&self, section: &mut Section<'_, '_>) -> Option<Body> {
        let Self { start, step, end, .. } = *self;
        let checked = self.texts().and_then(|texts| {
            let placement = self.placement.as_deref();
            let body = Body::check(placement, start, step, end, Some(&self.fits), texts)?;
            body.with_options(&self.options(), placement)
        });
        checked.map_err(|fault| section.fault(&fault.field, fault.value, fault.bound)).ok()
    }

    fn options(&self) -> BodyOptions {
        let Self { reserve_ms, at_risk_max, .. } = *self;
        BodyOptions { numbering: self.numbering.clone(), reserve_ms, at_risk_max }
    }

    /// The texts' settings, if there is a template.
    fn texts(&self) -> Result<Option<Texts>, FieldFault> {
        let Some(template) = &self.template else { return Ok(None) };
        let texts = Texts::new(template).maxlen(self.maxlen).charset(self.charset.clone());
        let texts = texts.window_s(self.window_s).retain_periods(self.retain_periods);
        let texts = texts.unique(self.unique.as_deref())?;
        Ok(Some(match &self.zone {
            Some(zone) => texts.zone(zone),
            None => texts,
        }))
    }
}
