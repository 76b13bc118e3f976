//! One line of the results: a ratio, and how far its rounds lay apart.

use std::time::Duration;

use serde_json::{Value, json};

/// How many standard deviations of a normal distribution 95 of 100 lie within, to either side.
const NORMAL_95: f64 = 1.96;

/// Rates of subject and baseline, round by round.
#[derive(Debug, Clone)]
pub struct Row {
    name: &'static str,
    goal: f64,
    subject: Vec<f64>,
    baseline: Vec<f64>,
}

impl Row {
    /// No rounds yet; `goal` is the least ratio that is enough.
    pub fn new(name: &'static str, goal: f64) -> Self {
        Self { name, goal, subject: Vec::new(), baseline: Vec::new() }
    }

    /// A round of each, for as many numbers.
    pub fn add(&mut self, numbers: u64, subject: Duration, baseline: Duration) {
        #[allow(clippy::cast_precision_loss, reason = "a rate needs no more than 53 bits")]
        let rate = |took: Duration| numbers as f64 / took.as_secs_f64().max(1e-9);
        self.subject.push(rate(subject));
        self.baseline.push(rate(baseline));
    }

    /// A round of each, as rates a second.
    pub fn add_rates(&mut self, subject: f64, baseline: f64) {
        self.subject.push(subject);
        self.baseline.push(baseline);
    }

    /// Median, first and third quartile of the rounds' ratios.
    pub fn ratio(&self) -> (f64, f64, f64) {
        let ratios = self.ratios();
        (quantile(&ratios, 2), quantile(&ratios, 1), quantile(&ratios, 3))
    }

    /// Between which ratios the true median lies, in 95 of 100 such runs: ranks of a sign test, whatever the ratios are
    /// scattered like. Of fewer than six rounds the least and the greatest, which promise less.
    pub fn interval(&self) -> (f64, f64) {
        let mut ratios = self.ratios();
        ratios.sort_by(f64::total_cmp);
        #[allow(clippy::cast_precision_loss, reason = "a few rounds")]
        let rounds = ratios.len() as f64;
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small rank, cut to a whole one"
        )]
        let rank = (f64::midpoint(rounds, -NORMAL_95 * rounds.sqrt()).floor() as usize).saturating_sub(1);
        let at = |at: usize| ratios.get(at).copied().unwrap_or(f64::NAN);
        (at(rank), at(ratios.len().saturating_sub(rank + 1)))
    }

    /// Whether the goal is reached, as far as the rounds tell it from chance.
    pub fn verdict(&self) -> &'static str {
        let (low, high) = self.interval();
        if low >= self.goal {
            "yes"
        } else if high < self.goal {
            "no"
        } else {
            "can't be told"
        }
    }

    fn ratios(&self) -> Vec<f64> {
        self.subject.iter().zip(&self.baseline).map(|(s, b)| s / b).collect()
    }

    fn json(&self) -> Value {
        let ((ratio, low, high), interval) = (self.ratio(), self.interval());
        json!({
            "row": self.name, "goal": self.goal, "ratio": ratio, "quartiles": [low, high], "reached": ratio >= self.goal,
            "interval_95": [interval.0, interval.1], "told_from_chance": self.verdict(),
            "subject_per_s": quantile(&self.subject, 2), "baseline_per_s": quantile(&self.baseline, 2),
            "rounds": self.subject.len(),
        })
    }
}

/// Prints a table for people, or one JSON object.
pub fn print(rows: &[Row], json: bool) {
    if json {
        println!("{}", json!({ "rows": rows.iter().map(Row::json).collect::<Vec<_>>() }));
        return;
    }
    println!("row      | subject a s | baseline a s | ratio (quartiles)    | goal | reached");
    println!("---------|-------------|--------------|----------------------|------|--------");
    for row in rows {
        let (ratio, low, high) = row.ratio();
        let (subject, baseline) = (rate(quantile(&row.subject, 2)), rate(quantile(&row.baseline, 2)));
        let reached = if ratio >= row.goal { "yes" } else { "no" };
        let (name, goal) = (row.name, row.goal);
        println!(
            "{name:8} | {subject:>11} | {baseline:>12} | {ratio:5.2} ({low:5.2} to {high:5.2}) | {goal:4.2} | {reached}"
        );
    }
    for row in rows {
        let (low, high) = row.interval();
        println!(
            "{:8}: the median of {} rounds is {:.3}, in 95 of 100 runs {low:.3} to {high:.3}; {:.2} reached: {}",
            row.name,
            row.subject.len(),
            row.ratio().0,
            row.goal,
            row.verdict()
        );
    }
}

/// A rate in a unit that suits it.
fn rate(a_second: f64) -> String {
    match a_second {
        rate if rate >= 1e6 => format!("{:.1} M", rate / 1e6),
        rate if rate >= 1e3 => format!("{:.1} k", rate / 1e3),
        rate => format!("{rate:.1}"),
    }
}

/// The value a given number of quarters up the sorted values.
fn quantile(values: &[f64], quarters: usize) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get((sorted.len().saturating_sub(1)) * quarters / 4).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slow_round_does_not_move_the_median() {
        let mut row = Row::new("S0", 0.5);
        for subject_s in [1, 1, 1, 1, 100] {
            row.add(1000, Duration::from_secs(subject_s), Duration::from_secs(1));
        }
        assert!((row.ratio().0 - 1.0).abs() < 1e-9);
        assert_eq!(row.json()["reached"], true);
    }

    /// Ratios of 0.90, 0.91, … 1.30, as rates.
    fn forty_one(goal: f64) -> Row {
        let mut row = Row::new("S0", goal);
        (90..=130).for_each(|hundredths| row.add_rates(f64::from(hundredths), 100.0));
        row
    }

    #[test]
    fn the_interval_is_that_of_the_sign_test() {
        // Ranks 14 and 28 of 41, as tables of it have them.
        let (low, high) = forty_one(1.0).interval();
        assert!((low - 1.03).abs() < 1e-9 && (high - 1.17).abs() < 1e-9, "{low} to {high}");
        let mut few = Row::new("S0", 1.0);
        for rate in [1.0, 3.0, 2.0] {
            few.add_rates(rate, 1.0);
        }
        assert_eq!(few.interval(), (1.0, 3.0), "of three rounds all");
        assert!(Row::new("S0", 1.0).interval().0.is_nan());
    }

    #[test]
    fn what_chance_may_have_done_is_not_told() {
        assert_eq!([1.02, 1.10, 1.18].map(|goal| forty_one(goal).verdict()), ["yes", "can't be told", "no"]);
    }
}
