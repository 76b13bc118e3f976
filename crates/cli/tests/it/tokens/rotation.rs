//! A token rotated on two servers, under the load of the SDK.

use std::{
    collections::HashSet,
    fs,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use sequent_client::Client;

use super::site::{ALL, Call, PATIENCE, Site, principal};
use crate::{
    place::{PATIENT, Place},
    running::{FREE, Running, cluster_on_files},
};

/// The load of a client, until it is told to stop.
#[derive(Default)]
struct Load {
    given: Mutex<HashSet<String>>,
    failed: Mutex<Vec<sequent_client::Error>>,
    is_over: AtomicBool,
}

impl Load {
    async fn run(&self, client: &Client, is_fresh: bool) {
        let sequence = client.sequence("order").unwrap();
        while !self.is_over.load(Ordering::Relaxed) {
            let number = if is_fresh { sequence.next_fresh().await } else { sequence.next().await };
            match number {
                Ok(number) => {
                    assert!(self.given.lock().unwrap().insert(number.to_string()), "{number} twice");
                }
                Err(error) => self.failed.lock().unwrap().push(error),
            }
            tokio::task::yield_now().await;
        }
    }

    /// Waits until so many more numbers were given.
    fn more(&self, count: usize) {
        let given = || self.given.lock().unwrap().len();
        let (from, until) = (given(), Instant::now() + PATIENCE);
        while given() < from + count {
            assert!(Instant::now() < until, "no numbers come: {:?}", self.failed.lock().unwrap());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

const RELOADS: &str = "sequent_config_reloads_total";

#[test]
fn a_token_is_rotated_under_load_and_no_request_is_lost() {
    let place = Place::new();
    let watch = principal(&place, "watch", &["--allow", "metrics"]);
    let (old, new) =
        (principal(&place, "shop", &["--allow", ALL]), principal(&place, "new", &["--allow", ALL]));
    let hash = |part: &str| {
        part.lines().find_map(|line| line.strip_prefix("token_sha256 = [")).unwrap()[..66].to_owned()
    };
    let only_new = old.replace(&hash(&old), &hash(&new));
    let both = old.replace(&hash(&old), &format!("{}, {}", hash(&old), hash(&new)));
    let config = |principals: &str| {
        let auth = "[auth]\nmode = \"required\"\n";
        format!("{}{auth}{watch}{principals}", cluster_on_files())
    };
    let file = place.write("sequent.toml", &config(&old));
    let args = [&["serve", "--config", file.to_str().unwrap()], &FREE[..], &PATIENT].concat();
    let other = Running::start(&place, &args);
    let site = Site { server: Running::start(&place, &args), place };
    let servers = [&site.server, &other];
    let reloads = || servers.map(|server| site.metric_of(server, "watch", RELOADS, "outcome=\"ok\""));
    let reload = |principals: &str| {
        let (before, until) = (reloads(), Instant::now() + PATIENCE);
        fs::write(&file, config(principals)).unwrap();
        for server in servers {
            server.signal("HUP");
        }
        while reloads().iter().zip(before).any(|(now, before)| *now <= before) {
            assert!(Instant::now() < until, "the configuration is not read again");
        }
    };
    let url = servers.map(|server| format!("http://{}", server.grpc)).join(",");
    let file_of_token = site.token_file("shop");
    let old_token = site.token("shop");
    let load = Load::default();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let runtime =
                tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
            runtime.block_on(async {
                let client = Client::builder()
                    .token_file(&file_of_token)
                    .deadline(PATIENCE)
                    .connect(&url)
                    .await
                    .unwrap();
                tokio::join!(load.run(&client, true), load.run(&client, true), load.run(&client, false));
            });
        });
        load.more(200);
        reload(&both);
        load.more(200);
        fs::rename(site.token_file("new"), &file_of_token).unwrap();
        // The client may not have read the file yet: then it does so when it is refused.
        reload(&only_new);
        load.more(1000);
        load.is_over.store(true, Ordering::Relaxed);
    });
    let failed = load.failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} requests were lost: {:?}", failed.len(), failed.first());
    fs::write(&file_of_token, old_token).unwrap();
    assert_eq!(site.sdk("shop", Call::Show).0, "UNAUTHENTICATED", "the old token is gone");
}
