//! A server's process at an address that outlives it.

use std::{
    fs,
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    process::Command,
};

use crate::place::{Place, Running};

/// `sequent serve` over the place's embedded cluster.
pub(crate) struct Server {
    address: SocketAddr,
    settings: Vec<String>,
    process: Option<Running>,
}

/// What a client needs to be served.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    pub(crate) token: String,
    /// Of a server with TLS.
    pub(crate) authority: Option<PathBuf>,
}

/// A certificate that is its own authority.
const CERTIFICATE: &str = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=sequent \
                           -addext basicConstraints=critical,CA:FALSE -addext subjectAltName=IP:127.0.0.1 -keyout tls.key -out tls.crt";

impl Server {
    /// Started, and ready.
    pub(crate) fn start(place: &Place) -> Self {
        Self::with(place, Vec::new())
    }

    /// The same, for those alone who have a token, and perhaps over TLS alone.
    pub(crate) fn start_guarded(place: &Place, has_tls: bool) -> (Self, Access) {
        let file = place.path("client.token");
        let new = ["token", "new", "client", "--allow", "next:order", "--out", "client.token"];
        let principal = place.run(&new);
        assert_eq!(principal.code, Some(0), "{principal:?}");
        let config = "[auth]\nmode = \"required\"\n[[sequence]]\nname = \"order\"\n";
        fs::write(place.path("sequent.toml"), format!("{config}{}", principal.out)).unwrap();
        let mut settings = vec!["--config".to_owned(), "sequent.toml".to_owned()];
        let authority = has_tls.then(|| {
            let made =
                Command::new("openssl").args(CERTIFICATE.split(' ')).current_dir(place.path("")).output();
            assert!(made.unwrap().status.success(), "openssl made no certificate");
            let file = |name: &str| place.path(name).display().to_string();
            for (key, value) in [
                ("mode", "require".to_owned()),
                ("cert_file", file("tls.crt")),
                ("key_file", file("tls.key")),
            ] {
                settings.extend(["--set".to_owned(), format!("tls.{key}={value}")]);
            }
            place.path("tls.crt")
        });
        let token = fs::read_to_string(file).unwrap().trim().to_owned();
        (Self::with(place, settings), Access { token, authority })
    }

    fn with(place: &Place, settings: Vec<String>) -> Self {
        // A port that was free a moment ago.
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut server = Self { address, settings, process: None };
        server.restart(place);
        server
    }

    /// Started at the same address, and ready.
    pub(crate) fn restart(&mut self, place: &Place) {
        let redis = format!("listen.redis={}", self.address);
        let mut args = vec!["serve", "--json"];
        let free = ["listen.grpc=127.0.0.1:0", "listen.http=127.0.0.1:0", "listen.admin=127.0.0.1:0"];
        for setting in free.into_iter().chain([redis.as_str(), "limits.drain_delay_s=1"]) {
            args.extend(["--set", setting]);
        }
        args.extend(self.settings.iter().map(String::as_str));
        let process = place.start(&args);
        process.until("a server says where it is", |process| process.out().contains('\n').then_some(()));
        self.process = Some(process);
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where its admin listener is, until it is started anew.
    pub(crate) fn admin(&self) -> SocketAddr {
        let out = self.process.as_ref().expect("it runs").out();
        let told: serde_json::Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
        told["admin"].as_str().unwrap().parse().unwrap()
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self) {
        self.process.take().expect("it runs").kill();
    }

    /// Tells it to drain.
    pub(crate) fn begin_drain(&self) {
        self.process.as_ref().expect("it runs").signal("TERM");
    }

    /// Waits until it has drained.
    pub(crate) fn end_drain(&mut self) {
        let ran = self.process.take().expect("it runs").wait();
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
}
