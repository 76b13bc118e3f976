//! A loss that was worked out, for people: what it assumes, how it came about, what it uses up.

use super::{BUMP_MIN, LossEstimate, estimate::together, uses};

impl LossEstimate {
    /// For people: what it assumes, how it was worked out, what it uses up.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.assumed.line(), self.on_record()];
        lines.extend(self.sum());
        lines.extend(self.proof.as_ref().map(|proof| proof.line(self.bump)));
        lines.extend(uses::lines(&self.uses));
        lines
    }

    fn on_record(&self) -> String {
        match &self.fastest {
            None => "on record: no rate of any counter".to_owned(),
            Some(pace) => {
                format!("on record: {} counters with a rate before the copy; {}", self.counters, pace.line())
            }
        }
    }

    fn sum(&self) -> [String; 3] {
        let Self { assumed, elapsed_s, given, restarts, ahead_s, leaps, .. } = self;
        let per_s = assumed.per_s;
        [
            format!("{per_s:.3} a second x {elapsed_s} s = {given} raw ids of each counter"),
            format!(
                "and {restarts} restarts of {ahead_s} s ahead each: {leaps}; where databases were restarted more often, name a larger \
                 --bump"
            ),
            format!("together {}, {BUMP_MIN} at least", together(*given, *leaps)),
        ]
    }
}
