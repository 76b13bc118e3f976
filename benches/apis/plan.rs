//! Which rows, how long; each round runs both sides, in the other order than the last.

use sequent_benches::{Row, print};

use crate::{
    access,
    child::Server,
    fresh, keys,
    load::{Found, Load, Target, check, h2load, wrk},
    redis,
    serve::{AXUM, SEQUENT, TONIC, UNCOUNTED},
};

/// `NextRequest { sequence: "order" }`, framed: one number of `order`.
pub(crate) const ORDER: &[u8] = b"\0\0\0\0\x07\x0a\x05order";

/// Every request the same.
pub(crate) const POST: &str = "wrk.method = \"POST\"\n";

/// What counting costs is a few parts in a hundred, and a shared machine differs from itself by more from one round to the next:
/// many short rounds, unless told otherwise, whose median is told within less.
const SHORT_ROUNDS: u64 = 61;
const SHORT_SECONDS: u64 = 1;

/// How a side is loaded.
pub(crate) type Loading<'a> = &'a dyn Fn(&Server) -> Result<Found, String>;

/// What was asked for on the command line.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    only: Vec<String>,
    rounds: u64,
    /// Whether rounds or seconds were asked for.
    is_paced: bool,
    pub(crate) load: Load,
    pub(crate) keys: u64,
    pub(crate) memory_max_gb: u64,
    json: bool,
}

/// What a request costs a server: its processor time, subject and baseline.
pub(crate) struct Cost {
    pub(crate) name: &'static str,
    pub(crate) micros: (f64, f64),
}

impl Plan {
    pub(crate) fn parse(args: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let load = Load { seconds: 3, connections: 8, streams: 16, processor: None };
        let (keys, memory_max_gb) = (1_000_000, 12);
        let mut plan =
            Self { only: Vec::new(), rounds: 9, is_paced: false, load, keys, memory_max_gb, json: false };
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            let mut whole = |low: u64, high: u64| {
                let value = args.next().unwrap_or_default();
                let number = value.parse().ok().filter(|number| (low..=high).contains(number));
                number.ok_or(format!("{arg} is {value:?}: {low} to {high} are allowed"))
            };
            match arg.as_str() {
                "--json" => plan.json = true,
                "--rounds" => (plan.rounds, plan.is_paced) = (whole(1, 1000)?, true),
                "--seconds" => (plan.load.seconds, plan.is_paced) = (whole(1, 600)?, true),
                "--connections" => plan.load.connections = whole(1, 10_000)?,
                "--streams" => plan.load.streams = whole(1, 256)?,
                "--keys" => plan.keys = whole(2, 1_000_000)?,
                "--memory-max-gb" => plan.memory_max_gb = whole(1, 1000)?,
                _ if redis::is_row(&arg) || access::is_row(&arg) => plan.only.push(arg),
                "S6" | "S7" | "S8" | "S11" | "S11-grpc" | "metrics" => plan.only.push(arg),
                _ => return Err(format!("{arg:?} is unknown: --help says what there is")),
            }
        }
        Ok(plan)
    }

    pub(crate) fn wants(&self, row: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == row)
    }

    pub(crate) fn run(&self) -> Result<(), String> {
        let (mut rows, mut costs, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        if redis::is_wanted(self) {
            redis::run(self, (&mut rows, &mut costs))?;
        }
        if self.wants("S6") {
            check("h2load", "nghttp2-client")?;
            let grpc = |server: &Server| h2load(Target::plain(server.addresses[0]), ORDER, self.load);
            let servers = (Server::start(SEQUENT)?, Server::start(TONIC)?);
            self.pair(("S6", 0.85), (&servers.0, &servers.1), (&grpc, &grpc), (&mut rows, &mut costs))?;
        }
        if self.wants("S7") {
            check("wrk", "wrk")?;
            let (subject, baseline) = (Server::start(SEQUENT)?, Server::start(AXUM)?);
            let http =
                |at: usize| move |server: &Server| wrk(Target::plain(server.addresses[at]), POST, self.load);
            let loads: (Loading<'_>, Loading<'_>) = (&http(1), &http(0));
            self.pair(("S7", 0.85), (&subject, &baseline), loads, (&mut rows, &mut costs))?;
        }
        access::run(self, (&mut rows, &mut costs))?;
        if self.wants("metrics") {
            check("h2load", "nghttp2-client")?;
            let plan = self.in_short_rounds();
            let grpc = |server: &Server| h2load(Target::plain(server.addresses[0]), ORDER, plan.load);
            let servers = (Server::start(SEQUENT)?, Server::start(UNCOUNTED)?);
            plan.pair(("metrics", 0.97), (&servers.0, &servers.1), (&grpc, &grpc), (&mut rows, &mut costs))?;
        }
        if self.wants("S8") {
            fresh::run(self, (&mut rows, &mut costs, &mut notes))?;
        }
        if self.wants("S11") || self.wants("S11-grpc") {
            keys::run(self, (&mut rows, &mut costs, &mut notes))?;
        }
        self.print(&rows, &costs, &notes);
        Ok(())
    }

    fn in_short_rounds(&self) -> Self {
        let mut plan = self.clone();
        if !plan.is_paced {
            (plan.rounds, plan.load.seconds) = (SHORT_ROUNDS, SHORT_SECONDS);
        }
        plan
    }

    /// Rounds of both sides. Sequent must have counted at least as many numbers as the tool counted answers.
    pub(crate) fn pair(
        &self,
        (name, goal): (&'static str, f64),
        (subject, baseline): (&Server, &Server),
        (load, base): (Loading<'_>, Loading<'_>),
        (rows, costs): (&mut Vec<Row>, &mut Vec<Cost>),
    ) -> Result<(), String> {
        let mut row = Row::new(name, goal);
        let (mut done, mut spent) = ([0.0; 2], [0.0; 2]);
        // Pages, caches, the first refills.
        load(subject)?;
        base(baseline)?;
        let mut side = |at: usize| -> Result<f64, String> {
            let (server, run) = if at == 0 { (subject, load) } else { (baseline, base) };
            let (issued, cpu) = (if at == 0 { server.metric(ISSUED)? } else { 0.0 }, server.cpu()?);
            let found = run(server)?;
            spent[at] += server.cpu()?.saturating_sub(cpu).as_secs_f64();
            done[at] += found.done;
            if at == 0 && server.metric(ISSUED)? - issued < found.done {
                return Err(format!("{name}: fewer numbers were given than answers were counted"));
            }
            Ok(found.rate)
        };
        for round in 0..self.rounds {
            let first = usize::from(round % 2 == 1);
            let mut rates = [0.0; 2];
            rates[first] = side(first)?;
            rates[1 - first] = side(1 - first)?;
            row.add_rates(rates[0], rates[1]);
        }
        let micros = (spent[0] / done[0] * 1e6, spent[1] / done[1] * 1e6);
        costs.push(Cost { name, micros });
        rows.push(row);
        Ok(())
    }

    fn print(&self, rows: &[Row], costs: &[Cost], notes: &[(&'static str, f64)]) {
        if self.json {
            let costs: Vec<_> = costs
                .iter()
                .map(|cost| serde_json::json!({ "row": cost.name, "cpu_us": cost.micros.0, "baseline_cpu_us": cost.micros.1 }))
                .collect();
            let notes: serde_json::Map<_, _> =
                notes.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
            print(rows, true);
            println!("{}", serde_json::json!({ "costs": costs, "notes": notes }));
            return;
        }
        print(rows, false);
        println!();
        for Cost { name, micros: (subject, baseline) } in costs {
            println!("{name:8}: {subject:.2} us of processor time a request, beside {baseline:.2} us");
        }
        for (name, value) in notes {
            println!("{name}: {value:.1}");
        }
    }
}

/// Numbers given, over all APIs.
const ISSUED: &str = "sequent_numbers_issued_total";
