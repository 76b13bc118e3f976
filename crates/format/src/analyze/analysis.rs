//! A template with its settings, and everything that the rules derive from both.

use crate::{
    cipher::Permutation,
    date::{DateFields, MonthDay, Reset, Zone},
    error::Fault,
    limits::TEXT_CHARS_MAX,
    number::NumberCodec,
    registry::Function,
    settings::Settings,
    template::{Ctx, Date, Kind, Part, ResetWord, Seq, Template},
};

use super::{part_shape::PartShape, shape_inference};

/// A template, its settings, and what is derived from both.
#[derive(Debug)]
pub(crate) struct Analysis {
    pub(crate) template: Template,
    pub(crate) settings: Settings,
    pub(crate) zone: Zone,
    pub(crate) fiscal: MonthDay,
    /// The fields that the dates of the instant of issue show.
    pub(crate) fields: DateFields,
    pub(crate) reset: Reset,
    pub(crate) codec: NumberCodec,
    /// The function of each `fn` part.
    pub(crate) functions: Vec<Option<Function>>,
    /// The shape of each part; empty for hidden parts.
    pub(crate) shapes: Vec<PartShape>,
}

impl Analysis {
    /// Derives what the rules need. It fails if the definition names something that does not exist.
    pub(super) fn new(template: &Template, settings: &Settings) -> Result<Self, Vec<Fault>> {
        let mut faults = Vec::new();
        let (part, seq) = template.seq();
        let zone = Zone::new(template.zone.as_deref().unwrap_or(&settings.zone))
            .map_err(|what| faults.push(Fault::definition(1, what, "name another zone")))
            .ok();
        if settings.maxlen == 0 || settings.maxlen > TEXT_CHARS_MAX {
            let what = format!("maxlen is {}: 1 to {TEXT_CHARS_MAX} are allowed", settings.maxlen);
            faults.push(Fault::definition(1, what, "change it"));
        }
        let permutation =
            permutation(part, seq, settings).map_err(|fault| faults.push(fault)).unwrap_or_default();
        let codec = NumberCodec::new(seq, permutation);
        let functions = shape_inference::functions(template, &settings.registry, &mut faults);
        let shapes = shape_inference::shapes(template, settings, &codec, &functions, &mut faults);
        let Some(zone) = zone.filter(|_| faults.is_empty()) else { return Err(faults) };
        let fields =
            dates(template).fold(DateFields::default(), |shown, (_, date)| shown.with(date.pattern.fields()));
        Ok(Self {
            fiscal: seq.fiscal.unwrap_or_default(),
            fields,
            reset: match seq.reset.value {
                ResetWord::Named(reset) => reset,
                ResetWord::Auto | ResetWord::TooFine(_) => fields.default_reset(),
            },
            template: template.clone(),
            settings: settings.clone(),
            zone,
            codec,
            functions,
            shapes,
        })
    }

    /// The `seq` part.
    pub(crate) fn seq(&self) -> (&Part, &Seq) {
        self.template.seq()
    }

    /// The `ctx` parts.
    pub(crate) fn contexts(&self) -> impl Iterator<Item = (&Part, &Ctx)> {
        self.template.parts.iter().filter_map(|part| match &part.kind {
            Kind::Ctx(ctx) => Some((part, &**ctx)),
            _ => None,
        })
    }

    /// The dates of the instant of issue.
    pub(crate) fn dates(&self) -> impl Iterator<Item = (&Part, &Date)> {
        dates(&self.template)
    }

    /// The date fields that the text shows, and those that follow from them.
    pub(crate) fn known_fields(&self) -> DateFields {
        self.fields.closure(self.fiscal)
    }
}

fn dates(template: &Template) -> impl Iterator<Item = (&Part, &Date)> {
    template.parts.iter().filter_map(|part| match &part.kind {
        Kind::Date(date) if date.at.is_none() => Some((part, date)),
        _ => None,
    })
}

fn permutation(part: &Part, seq: &Seq, settings: &Settings) -> Result<Option<Permutation>, Fault> {
    let Some(name) = &seq.obfuscated else { return Ok(None) };
    let Some(key) = settings.keys.get(&name.value) else {
        let names: Vec<&str> = settings.keys.keys().map(String::as_str).collect();
        let known = if names.is_empty() {
            "there are none".to_owned()
        } else {
            format!("there are {}", names.join(", "))
        };
        return Err(Fault::definition(
            name.column,
            format!("obf names the key {:?}: {known}", name.value),
            "add it to the keys",
        ));
    };
    let made = Permutation::new(key, seq.alphabet.radix());
    made.map(Some).map_err(|what| Fault::definition(part.column, what, "take another radix"))
}
