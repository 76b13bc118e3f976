//! The server that is attacked, and who may ask it for what.

use std::{fmt::Write as _, fs, process::Stdio};

use crate::{
    operate::principal,
    place::Place,
    running::{FREE, Running, said},
};

const CONFIG: &str = r#"
auto_create = ["new-*"]
limits = { drain_delay_s = 0 }
auth = { mode = "required" }
[[sequence]]
name = "legit"
[[sequence]]
name = "few"
placement = "dense"
[[sequence]]
name = "order"
[[sequence]]
name = "hidden"
template = "H@{seq,w=9,obf=ff1:hide}"
[[sequence]]
name = "shop"
template = "@{ctx,shop,len=6}-@{seq,w=5}"
"#;

/// Stores in which nothing waits for a disk, which others may be using.
const MEMORY: &str = "cluster = \"shop\"\nring = { shard_bits = 1, allow_volatile = true }\nledger = { store = \"memory\" }\n\
                      shard = [{ slot = 0, store = \"memory\" }, { slot = 1, store = \"memory\" }]\n";

/// How many sequences there are besides.
const SEQUENCES: usize = 500;

/// Whoever asks for numbers, another service's program that does harm, and whoever reads metrics.
const PRINCIPALS: [(&str, &[&str]); 3] = [
    ("legit", &["next:legit", "next:few"]),
    ("other", &["next,lease,tell,list,show,preview,parse:*"]),
    ("watch", &["metrics"]),
];

/// A server.
pub(super) struct Scene {
    place: Place,
    pub(super) server: Running,
}

impl Scene {
    pub(super) fn new(settings: &[&str], is_on_disk: bool) -> Self {
        let place = Place::new();
        let mut config = if is_on_disk { String::new() } else { MEMORY.to_owned() };
        config.push_str(CONFIG);
        let key = place.write("hide.key", "00112233445566778899aabbccddeeff\n");
        write!(config, "[[obf_key]]\nname = \"hide\"\nfile = \"{}\"\n", key.display()).unwrap();
        for number in 0..SEQUENCES {
            write!(config, "[[sequence]]\nname = \"s{number}\"\n").unwrap();
        }
        config.extend(PRINCIPALS.map(|(name, allow)| principal(&place, name, allow)));
        place.write("sequent.toml", &config);
        let settings = settings.iter().flat_map(|setting| ["--set", setting]);
        let args = ["serve", "--config", "sequent.toml"].into_iter().chain(FREE).chain(settings);
        // Nobody reads a pipe while the server runs, and it may say much.
        let log = fs::File::create(place.path("log")).unwrap();
        let args: Vec<&str> = args.collect();
        let child = place.command(&args).stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        Self { server: Running::of(child), place }
    }

    /// Ends the server; its exit code.
    pub(super) fn end(mut self) -> Option<i32> {
        self.server.signal("TERM");
        self.server.child.wait().unwrap().code()
    }

    pub(super) fn token(&self, whose: &str) -> String {
        fs::read_to_string(self.place.path(&format!("{whose}.token"))).unwrap().trim().to_owned()
    }

    /// A metric, summed over its labels as far as `labels` are among them.
    pub(super) fn metric(&self, name: &str, labels: &str) -> f64 {
        let head = format!("GET /metrics HTTP/1.1\r\nauthorization: Bearer {}", self.token("watch"));
        let shown = said(&self.server.admin, &head, "");
        let of = |line: &str| {
            let (found, value) = line.rsplit_once(' ')?;
            let named = found.split('{').next()? == name && found.contains(labels);
            named.then(|| value.parse::<f64>().ok())?
        };
        shown.lines().filter_map(of).sum()
    }
}
