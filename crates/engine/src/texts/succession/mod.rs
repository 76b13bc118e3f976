//! Versions of one definition: which texts may follow which.

#[cfg(test)]
mod version_compat;

use sequent_core::{FieldFault, SequenceName};
use sequent_format::{Format, Reset};

use super::{Former, Texts};
use crate::definition::Body;

/// Upper limit of the earlier templates of one definition, over all its versions.
pub const FORMER_TEMPLATES_MAX: usize = 32;

/// The texts of a sequence without a template: the plain numbers.
const PLAIN: &str = "@{seq}";

impl Texts {
    /// The same without the texts of earlier versions.
    #[must_use]
    pub(crate) fn alone(&self) -> Self {
        Self { before: Vec::new(), ..self.clone() }
    }

    /// The same, including the texts of `held`, which was `version`; `None`: no template.
    #[must_use]
    pub(crate) fn after(&self, version: u32, held: Option<&Self>) -> Self {
        let mut before = held.map_or_else(Vec::new, |held| held.before.clone());
        let held = held.map_or_else(|| Self::new(PLAIN), Self::alone);
        if !self.is_known(&held, &before) {
            before.push(Former::new(version, held));
        }
        Self { before, ..self.clone() }
    }

    /// Whether texts of `self` may follow those of `held`, with the reason if not. No text may be one that was issued
    /// already.
    pub(crate) fn follows(&self, held: &Self) -> Result<(), String> {
        if held.before.len() >= FORMER_TEMPLATES_MAX && !self.is_known(held, &held.before) {
            return Err(format!(
                "had {FORMER_TEMPLATES_MAX} templates before, and at most {FORMER_TEMPLATES_MAX} are allowed: define \
                 another sequence"
            ));
        }
        let format = self.ready()?;
        let formers = held.before.iter().map(|former| &former.texts);
        for former in std::iter::once(held).chain(formers) {
            // The same template renders the same texts for the same numbers, whatever the zone: its counters go on.
            if !self.renders_as(former) {
                apart(format, former)?;
                in_order(format, former)?;
            }
        }
        Ok(())
    }

    /// Whether they may be the first texts of a sequence that issued plain numbers, with the reason if not. The old
    /// texts are the numbers alone, so a number must not repeat even with another period or value.
    pub(crate) fn follows_numbers(&self) -> Result<(), String> {
        let format = self.ready()?;
        if let Some(keys) = keys(format) {
            return Err(format!(
                "begins a counter for {keys}, and the version before, which has no template, has one counter: its \
                 numbers would be given again; keep one (reset=never for dates, by=no for values), or define another \
                 sequence"
            ));
        }
        // The counter goes on, and digits are parsed as the number that they are: each is issued once.
        if format.renders_bare_number() {
            return Ok(());
        }
        apart(format, &Self::new(PLAIN))
    }

    fn ready(&self) -> Result<&Format, String> {
        self.format().ok_or_else(|| "has a template that was not proven".to_owned())
    }

    /// Whether both render the same texts: the same template and, if a key hides numbers, the same key and name.
    fn renders_as(&self, other: &Self) -> bool {
        self.is_written_as(other) && self.tweak == other.tweak
    }

    /// Whether `self` or one of `before` has the texts of `held`. A template with other characters has other texts,
    /// and a template in another zone parses hours differently.
    fn is_known(&self, held: &Self, before: &[Former]) -> bool {
        let tells = |texts: &Self| {
            texts.renders_as(held) && (&texts.charset, &texts.zone) == (&held.charset, &held.zone)
        };
        tells(self) || before.iter().any(|former| tells(&former.texts))
    }

    /// Whether both have the same template and, if a key hides numbers, the same key.
    fn is_written_as(&self, other: &Self) -> bool {
        (&self.template, &self.key_check) == (&other.template, &other.key_check)
    }

    /// The same without its sequence's name, as in a file.
    #[must_use]
    pub(crate) fn nameless(&self) -> Self {
        Self { tweak: None, ..self.clone() }
    }

    /// The same as texts of a sequence. If `held` or an earlier version has the template and the key, numbers are
    /// hidden as before, with or without the name.
    pub(crate) fn named(&self, name: &SequenceName, held: Option<&Self>) -> Result<Self, FieldFault> {
        let formers = held.into_iter().flat_map(|held| held.before.iter().rev().map(|former| &former.texts));
        let known = held.into_iter().chain(formers).find(|former| self.is_written_as(former));
        match known {
            Some(former) => Self { tweak: former.tweak.clone(), ..self.clone() }.proven(),
            None => self.clone().of_sequence(name).proven(),
        }
    }
}

impl Body {
    /// Warnings about allowed settings of these texts, and about the change from `held`.
    pub(crate) fn warnings(&self, held: Option<&Self>) -> Vec<String> {
        let Some(format) = self.format() else { return Vec::new() };
        let own = format.warnings().iter().map(ToString::to_string);
        let one = held.and_then(Self::format).filter(|held| keys(held).is_none());
        let again = one.and_then(|_| keys(format)).map(|keys| {
            format!(
                "a counter for {keys} begins at {}, and the version before has one counter: texts stay unique, numbers \
                 are only with their period and values",
                self.span().start()
            )
        });
        own.chain(again).collect()
    }
}

/// What each counter belongs to; `None` with a single counter.
fn keys(format: &Format) -> Option<String> {
    let values = format.partitioned_by().join(" and ");
    match (format.reset(), values.is_empty()) {
        (Reset::Never, true) => None,
        (Reset::Never, false) => Some(format!("each {values}")),
        (reset, true) => Some(format!("each {reset}")),
        (reset, false) => Some(format!("each {reset} and {values}")),
    }
}

/// Checks that values which partition the counters of both are in the same order. A key holds them without their
/// names: if two of them changed places, a number would repeat with its period and values.
fn in_order(format: &Format, former: &Texts) -> Result<(), String> {
    let before = former.clone().proven().ok();
    let Some(before) = before.as_ref().and_then(Texts::format) else { return Ok(()) };
    let (is, was) = (format.partitioned_by(), before.partitioned_by());
    let sorted = |names: &[&str]| {
        let mut names = names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        names.sort_unstable();
        names
    };
    if is == was || sorted(&is) != sorted(&was) {
        return Ok(());
    }
    Err(format!(
        "has {} in another order than a version before, {}, and would give numbers of its counters again: keep the order \
         of first appearance, or define another sequence",
        is.join(" and "),
        was.join(" and ")
    ))
}

/// Checks that no text belongs to both: rule S9.
fn apart(format: &Format, former: &Texts) -> Result<(), String> {
    let other = former.clone().proven().map_err(|fault| {
        format!("can't be held against the template before, {}: {}", former.template, fault.bound)
    })?;
    let Some(other) = other.format() else { return Ok(()) };
    if former.template == PLAIN && format.renders_bare_number() {
        return Ok(());
    }
    // Issued texts can't be changed: only the new template can.
    format.distinct_from(other).map_err(|fault| {
        format!(
            "could give texts of a version before again: {}; give the new one a prefix that the one before never shows, \
             or another fixed length",
            fault.what
        )
    })
}

#[cfg(test)]
mod tests {
    use crate::{definition::Body, texts::Texts};

    fn body(template: &str) -> Body {
        Body::check(Some("spread"), 1, 1, None, None, Some(Texts::new(template))).unwrap()
    }

    fn plain() -> Body {
        Body::check(Some("spread"), 1, 1, None, None, None).unwrap()
    }

    fn after(held: &Body, version: u32, template: &str) -> Body {
        body(template).follows(held).unwrap();
        body(template).after(version, held)
    }

    #[test]
    fn a_first_template_gives_no_text_and_no_number_that_was_given_without_one() {
        for (template, said) in [
            ("@{date,yyyy}@{seq,w=4}", "begins a counter for each year, and the version before"),
            ("B@{ctx,area,len=3}-@{seq}", "begins a counter for each area"),
            ("@{date,yyyyMMdd}/@{ctx,area,len=3}/@{seq}", "for each day and area"),
            ("@{date,yyyy}@{seq,w=4,reset=never}", "could give texts of a version before again"),
            ("@{seq,id=n}@{check,damm}", "could give texts of a version before again"),
            ("1@{seq}", "can both render \"11\""),
        ] {
            let why = body(template).follows(&plain()).unwrap_err();
            assert!(why.contains(said), "{template}: {why}");
        }
        for template in [
            "@{seq}",
            "@{seq,w=6}",
            "A@{seq}",
            "@{date,yyyy}-@{seq,reset=never}",
            "@{ctx,a,by=no,re=[A-Z]+}@{seq}",
        ] {
            body(template).follows(&plain()).unwrap_or_else(|why| panic!("{template}: {why}"));
        }
    }

    #[test]
    fn more_digits_take_a_literal_of_their_own_or_an_old_end() {
        let why = body("INV-@{seq,w=6}").follows(&body("INV-@{seq,w=4}")).unwrap_err();
        assert!(why.contains("could give texts of a version before again"), "{why}");
        for (template, held) in [
            ("INV6-@{seq,w=6}", "INV-@{seq,w=4}"),
            ("INV-A@{seq,w=6}", "INV-@{seq,w=4}"),
            ("INV-@{seq,w=6}", "INV-@{seq,w=4,over=error}"),
        ] {
            body(template).follows(&body(held)).unwrap_or_else(|why| panic!("{template}: {why}"));
        }
        let grown = body("INV-@{seq,w=4}").read("INV-10000").map(|read| read.number);
        assert_eq!(grown, Ok(10_000));
    }

    #[test]
    fn numbers_that_were_given_without_a_template_are_remembered_and_read() {
        let two = after(&plain(), 1, "A@{seq}");
        assert_eq!(two.read("17").map(|read| read.number), Ok(17));
        let two = Body::from_text(&two.to_text()).unwrap();
        let why = body("1@{seq}").follows(&two).unwrap_err();
        assert!(why.contains("could give texts of a version before again"), "{why}");
        let three = after(&two, 2, "@{seq,w=6}");
        assert_eq!(three.read("A17").map(|read| read.number), Ok(17));
        assert_eq!(three.read("000017").map(|read| read.number), Ok(17));
    }

    #[test]
    fn values_keep_their_order_in_the_key() {
        let one = body("A@{ctx,a,len=1}@{ctx,b,len=1}@{seq,w=4}");
        let swapped = "B@{ctx,b,len=1}@{ctx,a,len=1}@{seq,w=4}";
        let why = body(swapped).follows(&one).unwrap_err();
        assert!(why.contains("has b and a in another order than a version before, a and b"), "{why}");
        // Nor by way of a version between them.
        let two = after(&one, 1, "C@{ctx,a,len=1}@{seq,w=4}");
        let why = body(swapped).follows(&two).unwrap_err();
        assert!(why.contains("in another order"), "{why}");
        for template in [
            "B@{ctx,a,len=1}-@{ctx,b,len=1}@{seq,w=4}",
            "B@{ctx,b,len=1}@{ctx,c,len=1}@{seq,w=4}",
            "B@{ctx,b,len=1,by=no}@{ctx,a,len=1}@{seq,w=4}",
        ] {
            body(template).follows(&one).unwrap_or_else(|why| panic!("{template}: {why}"));
        }
    }

    fn of(texts: Texts) -> Body {
        Body::check(Some("spread"), 1, 1, None, None, Some(texts)).unwrap()
    }

    #[test]
    fn a_version_of_the_same_template_and_fewer_characters_hides_none_before_it() {
        let template = "@{ctx,a,len=1}-@{seq,w=5,over=error}";
        let narrow = of(Texts::new(template).charset(Some("0-9-".to_owned())));
        let one = body(template);
        narrow.follows(&one).unwrap();
        let two = narrow.after(1, &one);
        let why = body("X-@{seq,w=5,over=error}").follows(&two).unwrap_err();
        assert!(why.contains("could give texts of a version before again"), "{why}");
        assert_eq!(two.read("X-00001").map(|read| read.number), Ok(1), "it is out, and is read");
        // Back to all characters: its counters go on, and no text is issued twice.
        body(template).follows(&two).unwrap();
        let three = body(template).after(2, &two);
        narrow.follows(&three).unwrap();
        let four = narrow.after(3, &three);
        assert_eq!(four.texts().map(|texts| texts.before.len()), Some(2));
    }

    #[test]
    fn texts_of_another_zone_are_read_by_it() {
        let template = "@{date,yyyyMMddHH}@{seq,w=4}";
        let one = body(template);
        let berlin = of(Texts::new(template).zone("Europe/Berlin"));
        // That hour does not exist in Berlin.
        assert!(berlin.read("20260329020001").is_err());
        berlin.follows(&one).unwrap();
        let two = berlin.after(1, &one);
        let two = Body::from_text(&two.to_text()).unwrap();
        assert_eq!(two.read("20260329020001").map(|read| read.number), Ok(1));
    }

    #[test]
    fn a_counter_that_becomes_many_is_said() {
        let many = body("B@{ctx,area,len=3,re=[0-9]+}-@{seq}");
        many.follows(&body("A@{seq}")).unwrap();
        let said = many.warnings(Some(&body("A@{seq}")));
        assert!(said[0].starts_with("a counter for each area begins at 1"), "{said:?}");
        assert_eq!(many.warnings(Some(&many)), Vec::<String>::new());
        let blind = body("@{ctx,a,len=3}@{seq,w=5}@{check,mod37-36}").warnings(None);
        assert!(blind[0].contains("an error there goes undetected"), "{blind:?}");
    }

    #[test]
    fn a_text_is_of_the_version_that_writes_it_so() {
        let two = after(
            &body("C@{ctx,area,len=2,re=\"[a-z]+\"}@{seq,w=4,over=error}"),
            1,
            "C@{seq,w=6,radix=32c,over=error}",
        );
        let read = two.read("Cab0001").unwrap();
        assert_eq!((read.number, read.text.as_str()), (1, "Cab0001"));
        // No template writes an o as a digit: only the version in force parses it so.
        assert_eq!(two.read("Co00001").map(|read| read.text), Ok("C000001".to_owned()));
    }

    #[test]
    fn what_nobody_writes_so_is_read_only_where_it_stands_for_one_text() {
        let one = "C@{seq,w=2,radix=32c,over=error}@{ctx,a,len=1,by=no,re=[0-9A-Z]}";
        let two = "C@{ctx,a,len=1,by=no,re=[a-z]}@{seq,w=2,radix=32c,over=error}";
        let two = after(&body(one), 1, two);
        assert_eq!(two.read("C1o1").map(|read| read.text), Ok("C101".to_owned()), "by the first alone");
        let why = two.read("Col1").map(|read| read.text).unwrap_err().to_string();
        assert!(why.contains("it may stand for"), "{why}");
    }
}
