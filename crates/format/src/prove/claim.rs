//! What a template claims, with all that the rules ask of it worked out.

use crate::{
    Fault, Function, Rule, Settings, Template,
    date::{Facts, MonthDay, Reset, Zone},
    fpe::Permutation,
    limits::TEXT_CHARS_MAX,
    numbering::Numbering,
    prove::shapes,
    shape::Shape,
    template::{Ctx, Date, Kind, Part, ResetWord, Seq},
};

/// A template, its settings, and what follows from both.
#[derive(Debug)]
pub(crate) struct Claim {
    pub(crate) template: Template,
    pub(crate) settings: Settings,
    pub(crate) zone: Zone,
    pub(crate) fiscal: MonthDay,
    /// What the date parts that follow the instant of issue show.
    pub(crate) facts: Facts,
    pub(crate) reset: Reset,
    pub(crate) numbering: Numbering,
    /// A part's function, where it is one.
    pub(crate) functions: Vec<Option<Function>>,
    /// A part's shape; hidden parts have none.
    pub(crate) shapes: Vec<Shape>,
}

impl Claim {
    /// Works out what the rules need; faults where the definition names what is not there.
    pub(crate) fn new(template: &Template, settings: &Settings) -> Result<Self, Vec<Fault>> {
        let mut faults = Vec::new();
        let (part, seq) = template.seq();
        let zone =
            zone(template, settings).map_err(|what| faults.push(missing(1, what, "name another zone"))).ok();
        if settings.maxlen == 0 || settings.maxlen > TEXT_CHARS_MAX {
            let what = format!("maxlen is {}: 1 to {TEXT_CHARS_MAX} are allowed", settings.maxlen);
            faults.push(missing(1, what, "change it"));
        }
        let permutation =
            permutation(part, seq, settings).map_err(|fault| faults.push(fault)).unwrap_or_default();
        let numbering = Numbering::new(seq, permutation);
        let functions = shapes::functions(template, &settings.registry, &mut faults);
        let shapes = shapes::of(template, settings, &numbering, &functions, &mut faults);
        let Some(zone) = zone.filter(|_| faults.is_empty()) else { return Err(faults) };
        let facts = facts(template);
        Ok(Self {
            fiscal: seq.fiscal.unwrap_or_default(),
            facts,
            reset: match seq.reset.value {
                ResetWord::Named(reset) => reset,
                ResetWord::Auto | ResetWord::TooFine(_) => facts.finest(),
            },
            template: template.clone(),
            settings: settings.clone(),
            zone,
            numbering,
            functions,
            shapes,
        })
    }

    /// The number's part.
    pub(crate) fn seq(&self) -> (&Part, &Seq) {
        self.template.seq()
    }

    /// Values that the caller gives.
    pub(crate) fn contexts(&self) -> impl Iterator<Item = (&Part, &Ctx)> {
        self.template.parts.iter().filter_map(|part| match &part.kind {
            Kind::Ctx(ctx) => Some((part, &**ctx)),
            _ => None,
        })
    }

    /// Dates of the instant of issue.
    pub(crate) fn dates(&self) -> impl Iterator<Item = (&Part, &Date)> {
        dates(&self.template)
    }

    /// What the text tells of its date, with all that follows.
    pub(crate) fn told(&self) -> Facts {
        self.facts.closed(self.fiscal)
    }
}

fn dates(template: &Template) -> impl Iterator<Item = (&Part, &Date)> {
    template.parts.iter().filter_map(|part| match &part.kind {
        Kind::Date(date) if date.at.is_none() => Some((part, date)),
        _ => None,
    })
}

fn facts(template: &Template) -> Facts {
    dates(template).fold(Facts::default(), |facts, (_, date)| facts.with(date.pattern.facts()))
}

fn zone(template: &Template, settings: &Settings) -> Result<Zone, String> {
    Zone::new(template.zone.as_deref().unwrap_or(&settings.zone))
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
        return Err(missing(
            name.column,
            format!("obf names the key {:?}: {known}", name.value),
            "add it to the keys",
        ));
    };
    let made = Permutation::new(key, seq.digits.radix());
    made.map(Some).map_err(|what| missing(part.column, what, "take another radix"))
}

/// Something that a definition names is not there, or out of bounds.
pub(crate) fn missing(column: usize, what: impl Into<String>, mend: &str) -> Fault {
    Fault::new(Rule::Definition, column, what, mend)
}
