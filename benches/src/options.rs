//! What a bench is told on its command line.

/// `--rounds N` (default 101), `--json`, and words that pick rows by their name.
#[derive(Debug, Clone)]
pub struct Options {
    /// Rounds of subject and baseline.
    pub rounds: usize,
    /// Print one JSON object instead of a table.
    pub json: bool,
    only: Vec<String>,
}

/// Enough for a median that one busy second of the machine does not move.
const ROUNDS: usize = 101;

impl Options {
    /// Reads the process's arguments; an unknown flag is an error for people.
    pub fn from_args() -> Result<Self, String> {
        Self::parse(std::env::args().skip(1))
    }

    fn parse(args: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut options = Self { rounds: ROUNDS, json: false, only: Vec::new() };
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                // cargo bench says so to every bench.
                "--bench" => {}
                "--json" => options.json = true,
                "--rounds" => {
                    let value = args.next().unwrap_or_default();
                    let rounds = value.parse().ok().filter(|rounds| (1..=10_000).contains(rounds));
                    options.rounds =
                        rounds.ok_or(format!("--rounds is {value:?}: 1 to 10000 are allowed"))?;
                }
                flag if flag.starts_with('-') => {
                    return Err(format!("unknown flag {flag}: --rounds N and --json are allowed"));
                }
                name => options.only.push(name.to_owned()),
            }
        }
        Ok(options)
    }

    /// Whether a row of this name is asked for.
    pub fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn rows_are_picked_by_name_and_faults_name_flag_and_bound() {
        let options = parse("--bench S1 --rounds 5 --json").unwrap();
        assert!(options.json && options.rounds == 5 && options.wants("S1") && !options.wants("S2"));
        assert!(parse("").unwrap().wants("S2"));
        assert_eq!(parse("--rounds 0").unwrap_err(), "--rounds is \"0\": 1 to 10000 are allowed");
        assert_eq!(parse("--quick").unwrap_err(), "unknown flag --quick: --rounds N and --json are allowed");
    }
}
