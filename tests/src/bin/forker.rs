//! A process that leases numbers, then becomes two: each goes on with the handle that it has.
//!
//!     forker SERVERS NAME COUNT
//!
//! Prints `before N`, then `parent N` and `child N`, COUNT each.

use std::{
    error::Error,
    io::{self, Write},
};

use daemonize::{Daemonize, Outcome, Stdio};
use sequent_client::{Error as SdkError, Number, blocking::Client};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [servers, name, count] = args.as_slice() else {
        return Err("usage: forker SERVERS NAME COUNT".into());
    };
    let count: usize = count.parse()?;
    let orders = Client::connect(servers)?.sequence(name)?;
    orders.ready()?;
    // Demand, so that much is held when the process becomes two.
    for _ in 0..10 {
        print("before", orders.next_many(100)?)?;
    }
    let mut local = orders.local();
    print("before", [local.next()?])?;
    // A double fork, as every daemon does it; what it changes besides is kept as it was.
    let here = std::env::current_dir()?;
    let kept = Daemonize::new().working_directory(here).stdout(Stdio::keep()).stderr(Stdio::keep());
    let who = match kept.execute() {
        Outcome::Parent(parent) => parent.map(|_| "parent")?,
        Outcome::Child(child) => child.map(|_| "child")?,
    };
    let taken: Result<Vec<Number>, SdkError> = (0..count)
        .map(|turn| match turn % 3 {
            0 => orders.next(),
            1 => local.next(),
            _ => orders.next_fresh(),
        })
        .collect();
    print(who, taken?)
}

/// One write for all, so that lines of two processes do not mix.
fn print(who: &str, numbers: impl IntoIterator<Item = Number>) -> Result<(), Box<dyn Error>> {
    let mut lines = Vec::new();
    for number in numbers {
        writeln!(lines, "{who} {number}")?;
    }
    // Standard output's own buffer may hold what the other process prints too.
    io::stderr().flush()?;
    let mut out = std::fs::OpenOptions::new().append(true).open("/dev/stdout")?;
    out.write_all(&lines)?;
    Ok(out.flush()?)
}
