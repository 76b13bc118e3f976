//! What is to be done with one counter: a pure function of both systems.

use sequent_core::Numbering;

/// A sequence that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Existing {
    /// The first number.
    pub(super) start: u64,
    /// The last number.
    pub(super) end: u64,
    /// The distance of two numbers.
    pub(super) step: u64,
    /// The template, if it has one.
    pub(super) template: Option<String>,
    /// The zone of its dates, if its template shows one.
    pub(super) zone: Option<String>,
    /// How its numbers are made of ids.
    pub(super) numbering: Numbering,
    /// No number of the counter up to this one is given any more; 0: any.
    pub(super) held: u64,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Decision {
    /// The sequence is new, and begins with this number.
    Define(u64),
    /// The sequence is there, and its counter goes above this number.
    Advance(u64),
    /// Its counter is above already.
    Nothing,
    /// It is above the other system, which has this much of its room left: an import before left it.
    RoomLeft(u64),
    /// It can't be done, for this reason.
    Refused(String),
}

impl Existing {
    /// Why it can't go on with dates of the zone `own`: its dates begin at other instants.
    pub(super) fn other_zone(&self, own: &str) -> Option<String> {
        let zone = self.zone.as_deref().filter(|zone| !zone.eq_ignore_ascii_case(own))?;
        Some(format!(
            "the sequence is there in another zone: found {zone}, expected {own}; say --zone {zone} if the dates of the \
             other system are its, else name another sequence by --map"
        ))
    }

    /// The lowest number that it may give.
    pub(super) fn first(&self, resets: bool) -> u64 {
        let above = if self.held == 0 { 0 } else { self.held.saturating_add(1) };
        if resets { above.max(1) } else { above.max(self.start) }
    }
}

/// Decides about a counter whose next number is `own`, and that may give all below `next` while callers move. With `resets` the
/// counter is one of many, each of which begins at the first number.
pub(super) fn decide(
    (own, next): (u64, u64),
    (template, resets): (Option<&str>, bool),
    existing: Option<&Existing>,
) -> Decision {
    let Some(existing) = existing else {
        return Decision::Define(if resets { 1 } else { next });
    };
    if existing.template.as_deref() != template {
        let shown = |template: Option<&str>| template.map_or_else(|| "none".to_owned(), str::to_owned);
        return Decision::Refused(format!(
            "the sequence is there with another template: found {}, expected {}; raise it by `sequent advance` if its \
             texts are to go on, or name another sequence by --map",
            shown(existing.template.as_deref()),
            shown(template),
        ));
    }
    let first = existing.first(resets);
    if next <= first {
        return Decision::Nothing;
    }
    if own < next && own < first {
        // Numbers above may be given already, so that room is not enlarged.
        return Decision::RoomLeft(first - own);
    }
    if own < next && own == first {
        return Decision::Refused(format!(
            "the sequence is there, and its next number may be {first}, as in the other system: stop that, then import without \
             --ahead"
        ));
    }
    if next > existing.end {
        return Decision::Refused(format!(
            "its next number is {next}: the sequence ends at {}",
            existing.end
        ));
    }
    // A counter can't be advanced to 0. Where the other system gave 0 alone, 1 is left out.
    Decision::Advance((next - 1).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there(start: u64, held: u64) -> Existing {
        Existing {
            start,
            end: 1000,
            step: 1,
            template: None,
            zone: None,
            numbering: Numbering::Ordinal,
            held,
        }
    }

    #[test]
    fn a_sequence_goes_forward_only() {
        let cases = [
            (500, None, Decision::Define(501)),
            (0, None, Decision::Define(1)),
            (500, Some(there(501, 0)), Decision::Nothing),
            (510, Some(there(501, 0)), Decision::Advance(510)),
            (510, Some(there(501, 510)), Decision::Nothing),
            (400, Some(there(501, 0)), Decision::Nothing),
            (0, Some(there(1, 0)), Decision::Nothing),
        ];
        for (to, existing, expected) in cases {
            assert_eq!(
                decide((to + 1, to + 1), (None, false), existing.as_ref()),
                expected,
                "{to} {existing:?}"
            );
        }
    }

    #[test]
    fn a_counter_of_a_period_is_advanced_and_its_sequence_begins_at_one() {
        let texts = (Some("@{date,yyyy}@{seq}"), true);
        assert_eq!(decide((42, 42), texts, None), Decision::Define(1));
        let existing = Existing { template: texts.0.map(str::to_owned), ..there(1, 0) };
        assert_eq!(decide((42, 42), texts, Some(&existing)), Decision::Advance(41));
        assert_eq!(decide((42, 42), texts, Some(&Existing { held: 41, ..existing })), Decision::Nothing);
    }

    #[test]
    fn another_template_and_an_end_are_refused() {
        let refused = |decision| matches!(decision, Decision::Refused(_));
        assert!(refused(decide((6, 6), (Some("A@{seq}"), false), Some(&there(1, 0)))));
        assert!(refused(decide((1001, 1001), (None, false), Some(&there(1, 0)))));
        assert_eq!(decide((1000, 1000), (None, false), Some(&there(1, 0))), Decision::Advance(999));
    }

    #[test]
    fn a_counter_that_begins_at_zero_keeps_its_first_number() {
        let plain = |next, existing: Option<&Existing>| decide((next, next), (None, false), existing);
        assert_eq!(plain(0, None), Decision::Define(0), "it has given none");
        assert_eq!(plain(0, Some(&there(0, 0))), Decision::Nothing);
        assert_eq!(plain(1, Some(&there(0, 0))), Decision::Advance(1), "it gave 0");
        assert_eq!(plain(10, Some(&there(0, 0))), Decision::Advance(9));
    }

    #[test]
    fn room_is_left_once() {
        let plain = |both, existing: &Existing| decide(both, (None, false), Some(existing));
        let imported = there(501, 0);
        assert_eq!(plain((401, 501), &imported), Decision::Nothing, "the same import again");
        assert_eq!(plain((451, 551), &imported), Decision::RoomLeft(50), "it has moved meanwhile");
        assert_eq!(plain((401, 900), &there(1, 500)), Decision::RoomLeft(100), "more room is asked for");
        assert!(matches!(plain((501, 601), &imported), Decision::Refused(_)), "none is left");
        assert_eq!(plain((511, 611), &imported), Decision::Advance(610), "it has passed");
    }
}
