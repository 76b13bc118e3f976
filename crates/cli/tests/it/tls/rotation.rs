//! Certificate, key and authorities of two servers, renewed under the load of the SDK.

use std::{
    collections::HashSet,
    fs,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use super::{
    certificates::{Authority, HOST, WEB, YEAR, flags},
    clients::Client,
};
use crate::{
    place::{PATIENT, Place},
    running::{FREE, Running, cluster_on_files},
};

/// Far longer than a reload takes: only a hang fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// Numbers that callers were given, and whether they go on.
#[derive(Default)]
struct Load {
    ends: AtomicBool,
    given: Mutex<HashSet<u64>>,
}

impl Load {
    /// One caller: a connection that stays for some requests, then another one. No request may fail.
    async fn call(self: Arc<Self>, url: String, folder: std::path::PathBuf) {
        while !self.ends.load(Ordering::Relaxed) {
            let settings = sequent_client::Client::builder()
                .tls_ca_file(folder.join("ca.crt"))
                .tls_identity(folder.join("web.crt"), folder.join("web.key"))
                .server_name("localhost")
                .deadline(PATIENCE);
            let client = settings.connect(&url).await.unwrap_or_else(|error| panic!("{error:?}"));
            let order = client.sequence("order").unwrap();
            for _ in 0..50 {
                let number = order.next_fresh().await.unwrap_or_else(|error| panic!("{error:?}"));
                let number: u64 = number.to_string().parse().unwrap();
                assert!(self.given.lock().unwrap().insert(number), "{number} twice");
            }
        }
    }

    fn count(&self) -> usize {
        self.given.lock().unwrap().len()
    }
}

/// Asks until there is an answer.
fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Puts a file in place at one instant, as deployments do. A reader finds the old one or the new one, whole.
fn put(place: &Place, name: &str, text: &str) {
    let draft = place.write(&format!("{name}.new"), text);
    fs::rename(draft, place.path(name)).unwrap();
}

struct Site {
    place: Place,
    servers: [Running; 2],
}

impl Site {
    fn start(authority: &Authority) -> Self {
        let place = Place::new();
        for file in ["ca.crt", "clients.crt"] {
            place.write(file, &authority.pem());
        }
        authority.writes(&place, "tls", &HOST, YEAR);
        authority.writes(&place, "web", &[WEB], YEAR);
        let settings = flags(&place, "require", "required");
        let settings = settings.iter().map(String::as_str);
        let config = place.write("sequent.toml", &cluster_on_files());
        let config = ["serve", "--config", config.to_str().unwrap()];
        let args: Vec<&str> = config.into_iter().chain(FREE).chain(PATIENT).chain(settings).collect();
        let servers = [(); 2].map(|()| Running::start(&place, &args));
        Self { place, servers }
    }

    /// What each server answers.
    fn admin(&self, path: &str) -> [String; 2] {
        // The files of the client are replaced meanwhile, one after the other.
        let ask = |server: &Running| Client::Named("web").curl(&self.place, &server.admin, "GET", path).ok();
        self.servers.each_ref().map(|server| until(path, || ask(server)))
    }

    fn metric(&self, series: &str) -> [u64; 2] {
        self.admin("/metrics").map(|page| {
            let value = page.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
            value.unwrap_or_else(|| panic!("{series} is missing in {page}")).parse().unwrap()
        })
    }

    fn reloads(&self, outcome: &str) -> [u64; 2] {
        self.metric(&format!("sequent_tls_reloads_total{{outcome=\"{outcome}\"}}"))
    }

    /// Waits until each server has reloaded with this outcome since `before`.
    fn reloaded(&self, outcome: &str, before: [u64; 2]) {
        let is_done = || self.reloads(outcome).iter().zip(before).all(|(now, before)| *now > before);
        until(outcome, || is_done().then_some(()));
    }

    /// Does something that the servers take up: at SIGHUP, or by themselves.
    fn taken_up(&self, hup: bool, change: impl FnOnce(&Place)) {
        let before = self.reloads("ok");
        change(&self.place);
        if hup {
            self.servers.iter().for_each(|server| server.signal("HUP"));
        }
        self.reloaded("ok", before);
    }
}

#[test]
fn certificate_key_and_authority_are_renewed_without_a_lost_request() {
    let (old, new) = (Authority::new("old"), Authority::new("new"));
    let site = Site::start(&old);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let load = Arc::new(Load::default());
    let url = site.servers.each_ref().map(|server| format!("https://{}", server.grpc)).join(",");
    let callers: Vec<_> =
        (0..3).map(|_| runtime.spawn(Arc::clone(&load).call(url.clone(), site.place.path("")))).collect();
    let more = |what: &str| {
        let before = load.count();
        until(what, || {
            assert!(callers.iter().all(|caller| !caller.is_finished()), "{what}: a caller ended");
            (load.count() > before + 300).then_some(())
        });
    };
    more("the begin");

    let both = format!("{}{}", old.pem(), new.pem());
    site.taken_up(true, |place| ["ca.crt", "clients.crt"].iter().for_each(|file| put(place, file, &both)));
    more("both authorities");
    site.taken_up(false, |place| {
        let (certificate, key) = new.signs(&HOST, YEAR + 1);
        put(place, "tls.crt", &certificate);
        put(place, "tls.key", &key);
    });
    more("the server's certificate is of the new authority");
    let expiry = "sequent_tls_certificate_expiry_timestamp_seconds{file=\"cert_file\"}";
    assert_eq!(site.metric(expiry), [2_240_611_200; 2], "the begin of 2041");
    let (certificate, key) = new.signs(&[WEB], YEAR);
    put(&site.place, "web.crt", &certificate);
    put(&site.place, "web.key", &key);
    more("the client's certificate is of the new authority");
    site.taken_up(true, |place| {
        for file in ["ca.crt", "clients.crt"] {
            put(place, file, &new.pem());
        }
    });
    more("the new authority alone");
    old.writes(&site.place, "late", &[WEB], YEAR);
    for server in &site.servers {
        let ask =
            |name| Client::Named(name).curl(&site.place, &server.http, "POST", "/v1/sequences/order/next");
        assert!(ask("late").is_err() && ask("web").is_ok(), "the old authority is trusted no more");
    }

    // A key that is not the certificate's: the old pair goes on, and that is told.
    let (_, wrong) = new.signs(&HOST, YEAR);
    let right = fs::read_to_string(site.place.path("tls.key")).unwrap();
    assert_eq!(site.reloads("refused"), [0; 2]);
    assert!(status(&site).iter().all(|told| told["reload_refused"].is_null()));
    put(&site.place, "tls.key", &wrong);
    site.reloaded("refused", [0; 2]);
    more("a wrong pair");
    for told in status(&site) {
        assert!(told["reload_refused"].as_str().is_some_and(|why| why.contains("tls.cert_file")), "{told}");
        assert_eq!(told["files"][0]["expires_at_s"], 2_240_611_200_u64, "{told}");
    }
    assert_eq!(site.reloads("refused"), [1; 2], "it is read again when it changes, not before");
    let unfit = doctor(&site);
    assert!(unfit.iter().any(|found| found.contains("tls.cert_file")), "{unfit:?}");
    assert!(unfit.iter().all(|found| !found.contains('\n')), "{unfit:?}");
    let refused = unfit.iter().filter(|found| found.contains("has refused them")).count();
    assert_eq!((refused, unfit.len()), (2, 3), "{unfit:?}");
    site.taken_up(false, |place| put(place, "tls.key", &right));
    assert!(status(&site).iter().all(|told| told["reload_refused"].is_null()));
    assert_eq!(doctor(&site), [""; 0]);
    more("the right pair");

    // A pair that fits and has expired: no new client would be served.
    let refused = site.reloads("refused");
    let (certificate, key) = new.signs(&HOST, 2020);
    let good = ["tls.crt", "tls.key"].map(|file| fs::read_to_string(site.place.path(file)).unwrap());
    put(&site.place, "tls.crt", &certificate);
    put(&site.place, "tls.key", &key);
    site.reloaded("refused", refused);
    more("an expired pair");
    for told in status(&site) {
        assert!(told["reload_refused"].as_str().is_some_and(|why| why.contains("it has expired")), "{told}");
    }
    site.taken_up(false, |place| {
        put(place, "tls.crt", &good[0]);
        put(place, "tls.key", &good[1]);
    });

    load.ends.store(true, Ordering::Relaxed);
    for caller in callers {
        runtime.block_on(caller).unwrap();
    }
    for server in site.servers {
        let (code, err) = server.end();
        assert_eq!(code, Some(0), "{err}");
        let told = |why: &str| {
            err.lines().filter(|line| line.contains("not reloaded") && line.contains(why)).count()
        };
        assert_eq!((told("it has expired"), told("as a pair")), (1, 1), "{err}");
    }
}

/// What doctor finds wrong with the files.
fn doctor(site: &Site) -> Vec<String> {
    let settings = flags(&site.place, "require", "required");
    let own =
        ["--tls-ca", "ca.crt", "--tls-cert", "web.crt", "--tls-key", "web.key", "--tls-name", "localhost"];
    let args: Vec<&str> = ["doctor", "--json", "--config", "sequent.toml"]
        .into_iter()
        .chain(own)
        .chain(settings.iter().map(String::as_str))
        .collect();
    let report = site.place.run(&args).as_json();
    let findings =
        report["findings"].as_array().unwrap().iter().filter(|finding| finding["id"] == "tls_unfit");
    findings.map(|finding| finding["found"].as_str().unwrap().to_owned()).collect()
}

/// What each server says of its TLS.
fn status(site: &Site) -> [serde_json::Value; 2] {
    let tls = |text: String| serde_json::from_str::<serde_json::Value>(&text).unwrap()["tls"].clone();
    site.admin("/v1/status").map(tls)
}
