//! Lengths of files and functions: printed for all, a failure only far beyond what reads well.

use std::{collections::BTreeMap, fmt::Write};

use crate::{demand_none, rust, sources, tree};

/// Aim for 100 to 200 lines a file.
const FILE_LINES_MAX: usize = 500;
/// Aim for at most 70 lines a function, most under 10.
const FUNCTION_LINES_MAX: usize = 100;

/// The lengths of one crate.
#[derive(Default)]
struct Lengths {
    files: Vec<usize>,
    functions: Vec<usize>,
}

/// The middle, the 90th percentile and the highest of some lengths.
fn spread(lengths: &mut [usize]) -> String {
    lengths.sort_unstable();
    let last = lengths.len().saturating_sub(1);
    let at = |percent: usize| lengths.get((lengths.len() * percent / 100).min(last));
    [at(50), at(90), at(100)].map(|length| length.map_or_else(|| "-".into(), usize::to_string)).join("/")
}

#[test]
fn files_and_functions_stay_readable() {
    let mut crates: BTreeMap<String, Lengths> = BTreeMap::new();
    let mut faults = Vec::new();
    for file in tree::with_extension("rs").into_iter().filter(|file| !sources::is_test(file)) {
        let code = rust::without_tests(&rust::masked(&tree::read(&file)));
        let source = tree::read(&file);
        // Comments count as lines, test code does not.
        let lines = code
            .lines()
            .zip(source.lines())
            .filter(|(code, source)| !code.trim().is_empty() || is_comment(source))
            .count();
        let name = file
            .components()
            .nth(1)
            .map_or_else(String::new, |part| part.as_os_str().to_string_lossy().into());
        let lengths = crates.entry(name).or_default();
        lengths.files.push(lines);
        if lines > FILE_LINES_MAX {
            faults.push(format!("{}: {lines} lines, at most {FILE_LINES_MAX} are allowed", file.display()));
        }
        for function in rust::functions(&code) {
            lengths.functions.push(function.lines);
            if function.lines > FUNCTION_LINES_MAX {
                faults.push(format!(
                    "{}:{}: fn {} has {} lines, at most {FUNCTION_LINES_MAX} are allowed",
                    file.display(),
                    function.line,
                    function.name,
                    function.lines
                ));
            }
        }
    }
    println!("{}", table(&mut crates));
    demand_none("too long to be read", &faults);
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

fn table(crates: &mut BTreeMap<String, Lengths>) -> String {
    const HEAD: &str = "lines: middle/p90/most";
    let mut out = format!("{:10} {:>5}  {HEAD}  {:>9}  {HEAD}\n", "crate", "files", "functions");
    for (name, lengths) in crates {
        let [files, functions] = [&mut lengths.files, &mut lengths.functions].map(|l| (l.len(), spread(l)));
        writeln!(out, "{name:10} {:5}  {:>22}  {:9}  {:>22}", files.0, files.1, functions.0, functions.1)
            .unwrap();
    }
    out
}
