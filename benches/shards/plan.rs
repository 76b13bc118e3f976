//! Which rows, how long, and what is printed of them.

use sequent_benches::{Row, print};
use tokio::runtime::{Builder, Runtime};

use crate::{bits, fleet::Fleet, inserts, killed, local, note::Note, unguarded};

/// What was asked for on the command line.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    only: Vec<String>,
    pub(crate) rounds: u64,
    pub(crate) seconds: u64,
    pub(crate) tasks: u64,
    pub(crate) at_risk: u64,
    json: bool,
}

/// What was found: ratios, and lines beside them.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) rows: Vec<Row>,
    pub(crate) notes: Vec<Note>,
}

impl Plan {
    pub(crate) fn parse(args: Vec<String>) -> Result<Self, String> {
        let mut plan =
            Self { only: Vec::new(), rounds: 7, seconds: 3, tasks: 16, at_risk: 100_000_000, json: false };
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            let mut whole = |high: u64| {
                let value = args.next().unwrap_or_default();
                let number = value.parse().ok().filter(|number| (1..=high).contains(number));
                number.ok_or(format!("{arg} is {value:?}: 1 to {high} are allowed"))
            };
            match arg.as_str() {
                "--json" => plan.json = true,
                "--rounds" => plan.rounds = whole(1000)?,
                "--seconds" => plan.seconds = whole(600)?,
                "--tasks" => plan.tasks = whole(256)?,
                "--at-risk" => plan.at_risk = whole(1_000_000_000)?,
                "S4" | "S9" | "S10" | "guard" | "m" => plan.only.push(arg),
                _ => return Err(format!("{arg:?} is unknown: --help says what there is")),
            }
        }
        Ok(plan)
    }

    fn wants(&self, row: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == row)
    }

    pub(crate) fn run(&self) -> Result<(), String> {
        eprintln!("shards: load average {}", load_average());
        let runtime = runtime()?;
        let fleet = runtime.block_on(Fleet::start());
        let mut found = Found::default();
        if self.wants("S4") {
            local::run(self, &fleet, &mut found)?;
        }
        if self.wants("S9") {
            runtime.block_on(killed::run(self, &fleet, &mut found))?;
        }
        if self.wants("S10") {
            runtime.block_on(inserts::run(self, &fleet, &mut found))?;
        }
        if self.wants("guard") {
            runtime.block_on(unguarded::run(self, &fleet, &mut found))?;
        }
        if self.wants("m") {
            runtime.block_on(bits::run(self, &fleet, &mut found))?;
        }
        self.print(&found);
        eprintln!("shards: load average {}", load_average());
        Ok(())
    }

    fn print(&self, found: &Found) {
        print(&found.rows, self.json);
        if self.json {
            let notes: Vec<_> = found.notes.iter().map(Note::json).collect();
            println!("{}", serde_json::json!({ "notes": notes }));
            return;
        }
        println!();
        found.notes.iter().for_each(|note| println!("{note}"));
    }
}

/// A runtime with a thread a core, for both sides alike.
pub(crate) fn runtime() -> Result<Runtime, String> {
    let runtime = Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|error| format!("no runtime: {error}"))
}

/// What else runs on this machine.
fn load_average() -> String {
    std::fs::read_to_string("/proc/loadavg").unwrap_or_default().trim().to_owned()
}
