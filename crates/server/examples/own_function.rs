//! A server with a function of its own for templates.
//!
//! ```console
//! $ cargo run -p sequent-server --example own_function
//! http://127.0.0.1:40571
//! $ curl -X POST http://127.0.0.1:40571/v1/sequences/ticket/next
//! {"sequence":"ticket","numbers":["1"],"texts":["T0001-E"],...}
//! ```
//!
//! The function declares how long its texts are and which characters they have, so the proof that no two numbers share a text
//! holds for them, too. Every server of the cluster registers the same function. A client that registers it as well
//! (`ClientBuilder::function`) renders the texts itself.

use std::{error::Error, path::Path, sync::Arc};

use sequent_engine::{
    Arguments, Engine, Function, Options,
    config::{Config, ListenSection, Sources},
    register_function,
};
use sequent_server::{Auth, Listeners, Recorder, RuntimeLimits, ServerOptions, ServerTls, TlsFiles};
use tokio::net::TcpListener;

/// The letters of the check, without those that are read as digits.
const LETTERS: &[u8; 24] = b"ABCDEFGHJKLMNPQRSTUVWXYZ";

const SETTINGS: &str = "[[sequence]]\nname = \"ticket\"\ntemplate = \"T@{seq,w=4}-@{SiteLetter,over=seq}\"\n";

/// `@{SiteLetter,over=…}`: a letter for the digits of its input.
fn site_letter(args: &Arguments<'_>) -> Result<Function, String> {
    args.only(&[])?;
    Ok(Function::new(1..=1, "A-HJ-NP-Z", |input, out| {
        let sum: usize = input.bytes().zip(1..).map(|(byte, weight)| usize::from(byte) * weight).sum();
        out.write_char(char::from(LETTERS[sum % LETTERS.len()]))
    }))
}

/// Opens an embedded cluster in a folder.
async fn open(folder: &Path) -> Result<(Engine, RuntimeLimits, Auth, ListenSection), Box<dyn Error>> {
    let file = folder.join("sequent.toml");
    std::fs::write(&file, SETTINGS)?;
    let config = Config::load(&Sources::embedded(folder.join("data")).file(file))?;
    let limits = RuntimeLimits::new(&config.limits);
    let listen = config.listen.clone();
    let engine = Engine::open(config.clone(), Options::default()).await?;
    let auth = Auth::new(&config, Arc::clone(engine.clock()));
    Ok((engine, limits, auth, listen))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // Before the configuration is read, which has a template that names it.
    register_function("SiteLetter", site_letter)?;
    let folder = tempfile::tempdir()?;
    let (engine, limits, auth, listen) = open(folder.path()).await?;
    let bind = || TcpListener::bind("127.0.0.1:0");
    let (grpc, http, redis, admin) = (bind().await?, bind().await?, bind().await?, bind().await?);
    let listeners = Listeners { grpc, http, redis, admin };
    println!("http://{}", listeners.http.local_addr()?);
    let (recorder, tls) = (Recorder::install(), ServerTls::new(TlsFiles::off()));
    let options = ServerOptions { engine, limits, auth, recorder, identity: None, listen, tls };
    let stopped = async { drop(tokio::signal::ctrl_c().await) };
    sequent_server::run(listeners, options, stopped).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_engine::NextRequest;

    #[tokio::test]
    async fn texts_have_the_letter() {
        register_function("SiteLetter", site_letter).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (engine, ..) = open(folder.path()).await.unwrap();
        let issued = engine.next(&NextRequest::new("ticket").unwrap()).await.unwrap();
        let texts = issued.dated.unwrap().texts;
        assert_eq!(texts, ["T0001-E"]);
        engine.shutdown().await;
    }
}
