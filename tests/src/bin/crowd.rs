//! A process with many callers, who all ask at the same moment: each for a text of one of many partitions. Prints what they got.
//!
//!     crowd DATA CONFIG NAME PARTITIONS CALLERS
//!
//! It says `ready`, and waits for the file `go` in its directory, so that several of them meet at partitions that are new to all.

use std::{error::Error, path::Path, time::Duration};

use sequent_core::{Clock, Env, SystemClock};
use sequent_engine::{
    Engine, NextRequest, Options,
    config::{Config, Sources},
};
use tokio::task::JoinSet;

/// How long a caller waits: far longer than it should, so that only a hang is a failure.
const PATIENCE: Duration = Duration::from_secs(120);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [data, config, name, partitions, callers] = args.as_slice() else {
        return Err("usage: crowd DATA CONFIG NAME PARTITIONS CALLERS".into());
    };
    let (partitions, callers): (usize, usize) = (partitions.parse()?, callers.parse()?);
    let options = Options { env: Env::default(), ..Options::default() };
    let engine = Engine::open(Config::load(&Sources::embedded(data).file(config))?, options).await?;
    println!("ready");
    while !Path::new("go").exists() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let mut asked = JoinSet::new();
    for caller in 0..partitions * callers {
        let shop = format!("{:06}", caller % partitions);
        let request = NextRequest::new(name)?.with("shop", shop).deadline(SystemClock.now() + PATIENCE);
        let engine = engine.clone();
        asked.spawn(async move { engine.next(&request).await });
    }
    while let Some(answer) = asked.join_next().await {
        match answer? {
            Ok(issued) => {
                println!("{}", issued.dated.map(|dated| dated.texts.join("\n")).unwrap_or_default());
            }
            Err(error) => eprintln!("error: {} {error}", error.reason()),
        }
    }
    engine.shutdown().await;
    Ok(())
}
