//! The counter of another sequence: `ref=NAME` in a template draws from it, so that several templates share one.

use sequent_core::{FieldFault, SequenceName};
use sequent_format::{Format, Reset};

use super::Body;

impl Body {
    /// The sequence whose counter it draws from; `None`: its own.
    pub fn counter(&self) -> Option<&SequenceName> {
        self.counter.as_ref()
    }

    /// The sequence whose counter this definition of `name` draws from.
    pub fn counted_by<'a>(&'a self, name: &'a SequenceName) -> &'a SequenceName {
        self.counter.as_ref().unwrap_or(name)
    }

    /// The same as a definition of `name`, which may follow `held`: with the counter that its template names.
    pub(crate) fn drawing(self, name: &SequenceName, held: Option<&Self>) -> Result<Self, FieldFault> {
        let said = self.named_counter().filter(|said| *said != name.as_str());
        // Before counters were shared, a name was only a label. Such a sequence goes on with its own counter.
        let is_label = |held: &Self| held.counter.is_none() && held.named_counter() == said;
        let Some(said) = said.filter(|_| !held.is_some_and(is_label)) else {
            return Ok(Self { counter: None, ..self });
        };
        let parsed =
            said.parse().map_err(|_| fault(said, "the name of a sequence is expected".to_owned()))?;
        Ok(Self { counter: Some(parsed), ..self })
    }

    /// The sequence whose counter its template names, if it names one.
    pub fn named_counter(&self) -> Option<&str> {
        self.format()?.counter_name()
    }

    /// Refuses a counter that this definition can't draw from: `held` is the definition of the sequence that it names.
    pub(crate) fn check_counter(&self, held: Option<&Self>) -> Result<(), FieldFault> {
        let Some(name) = &self.counter else { return Ok(()) };
        let refused = |bound: String| Err(fault(name.as_str(), bound));
        let Some(held) = held else {
            return refused("no such sequence is defined: define it first, or leave ref out".to_owned());
        };
        if let Some(other) = &held.counter {
            return refused(format!("it draws from {other} itself: say ref={other}"));
        }
        for (whose, body) in [("this template", self), ("its template", held)] {
            if let Some(keys) = body.format().and_then(several) {
                return refused(format!(
                    "{whose} counts anew for {keys}, and a shared counter is one: say reset=never and by=no there"
                ));
            }
        }
        if self.placement != held.placement {
            let (is, was) = (self.placement.as_str(), held.placement.as_str());
            return refused(format!("its numbers are {was}, these would be {is}: say placement {was}"));
        }
        let numbers = |body: &Self| (body.numbering, body.start, body.step);
        if numbers(self) != numbers(held) {
            let (numbering, start, step) = numbers(held);
            return refused(format!(
                "its numbers are {numbering}, from {start} in steps of {step}: say the same here"
            ));
        }
        let (own, all) = (self.span().limit(), held.span().limit());
        if own < all {
            return refused(format!(
                "it counts to {all}, and {own} is the last number with a text here: give it an end of at most {own}, or this \
                 template more digits"
            ));
        }
        Ok(())
    }
}

/// What each counter belongs to, if there are several.
fn several(format: &Format) -> Option<String> {
    match (format.reset(), format.partitioned_by()) {
        (Reset::Never, values) if values.is_empty() => None,
        (Reset::Never, values) => Some(format!("each {}", values.join(" and "))),
        (reset, _) => Some(format!("each {reset}")),
    }
}

fn fault(name: &str, bound: String) -> FieldFault {
    FieldFault::new("ref", format!("{name:?}"), bound)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texts::Texts;

    fn of(template: &str) -> Body {
        Body::check(None, 1, 1, None, None, Some(Texts::new(template))).unwrap()
    }

    fn drawing(template: &str, held: Option<&Body>) -> Body {
        of(template).drawing(&"own".parse().unwrap(), held).unwrap()
    }

    fn counter(body: &Body) -> Option<&str> {
        body.counter().map(SequenceName::as_str)
    }

    #[test]
    fn only_another_sequence_by_ref_is_another_counter() {
        for template in ["@{seq,shared}", "@{bean,ref=own}", "@{bean, ref=sequence}", "@{seq,w=5}"] {
            assert_eq!(counter(&drawing(template, None)), None, "{template}");
        }
        for template in ["A@{bean,ref=shared}", "A@{seq,ref=shared,w=5}"] {
            let body = drawing(template, None);
            assert_eq!(counter(&body), Some("shared"), "{template}");
            assert_eq!(Body::from_text(&body.to_text()).unwrap(), body);
        }
        let fault = of("A@{seq,ref=a b}").drawing(&"own".parse().unwrap(), None).unwrap_err();
        assert_eq!((&*fault.field, fault.value.as_str()), ("ref", "\"a b\""));
    }

    #[test]
    fn a_name_that_was_a_label_stays_one_and_a_counter_never_changes() {
        let label = of("A@{seq,ref=shared}");
        assert_eq!(counter(&drawing("B@{seq,ref=shared}", Some(&label))), None);
        let held = drawing("A@{seq,ref=shared}", None);
        assert_eq!(drawing("B@{seq,ref=shared}", Some(&held)).follows(&held), Ok(()));
        for (next, before) in [
            (drawing("B@{seq,ref=other}", Some(&held)), &held),
            (drawing("B@{seq}", Some(&held)), &held),
            (drawing("B@{seq,ref=shared}", Some(&of("A@{seq}"))), &of("A@{seq}")),
        ] {
            assert!(next.follows(before).unwrap_err().contains("changes its counter"), "{next:?}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_what_to_do() {
        let shared = Body::default();
        drawing("A@{seq,ref=shared}", None).check_counter(Some(&shared)).unwrap();
        let bounded = Body::check(Some("spread"), 1, 1, Some(99_999), None, None).unwrap();
        drawing("A@{seq,ref=shared}", None).check_counter(Some(&bounded)).unwrap();
        let dense = Body::check(Some("dense"), 1, 1, None, None, None).unwrap();
        let stepped = Body::check(None, 5, 10, None, None, None).unwrap();
        let daily = of("@{date,yyyyMMdd}@{seq,w=9}");
        let chained = drawing("B@{seq,ref=first}", None);
        for (template, held, part) in [
            ("A@{seq,ref=shared}", None, "define it first"),
            ("A@{seq,ref=shared}", Some(&chained), "say ref=first"),
            ("A@{seq,ref=shared}", Some(&dense), "say placement dense"),
            ("A@{seq,ref=shared}", Some(&stepped), "from 5 in steps of 10"),
            ("A@{seq,ref=shared}", Some(&daily), "its template counts anew for each day"),
            (
                "@{date,yyyyMMdd}@{seq,ref=shared,w=9}",
                Some(&shared),
                "this template counts anew for each day",
            ),
            ("@{ctx,area,len=3}@{seq,ref=shared,w=9}", Some(&shared), "for each area"),
            (
                "A@{seq,ref=shared,w=7,over=error}",
                Some(&shared),
                "9999999 is the last number with a text here",
            ),
        ] {
            let fault = drawing(template, None).check_counter(held).unwrap_err();
            assert!(fault.bound.contains(part), "{template}: {fault:?}");
        }
    }
}
