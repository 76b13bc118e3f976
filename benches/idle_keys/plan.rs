//! What was asked for on the command line.

use std::path::PathBuf;

#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) keys: u32,
    /// How many of them are in use at a time.
    pub(crate) at_once: u32,
    /// Whether they are partitions of one sequence, each with a text.
    pub(crate) partitions: bool,
    pub(crate) place: PathBuf,
    pub(crate) json: bool,
}

impl Plan {
    pub(crate) fn parse(args: Vec<String>) -> Result<Self, String> {
        let (keys, at_once, place) = (20_000, 50_000, "/dev/shm".into());
        let mut plan = Self { keys, at_once, partitions: false, place, json: false };
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            let mut whole = || {
                let value = args.next().unwrap_or_default();
                let keys = value.parse().ok().filter(|keys| (100..=1_000_000).contains(keys));
                keys.ok_or(format!("{arg} is {value:?}: 100 to 1000000 are allowed"))
            };
            match arg.as_str() {
                "--json" => plan.json = true,
                "--partitions" => plan.partitions = true,
                "--place" => plan.place = args.next().unwrap_or_default().into(),
                "--keys" => plan.keys = whole()?,
                "--at-once" => plan.at_once = whole()?,
                _ => return Err(format!("{arg:?} is unknown: --help says what there is")),
            }
        }
        Ok(plan)
    }
}
