//! Programs that connect over TLS: curl, openssl, gRPC of Python, and the command itself.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    process::{Command, Stdio},
};

use super::certificates::{Authority, HOST, WEB, YEAR, flags};
use crate::{
    place::{Place, Ran},
    running::Running,
};

/// How a client presents itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Client {
    Plain,
    /// With TLS, and no certificate.
    Anonymous,
    /// With a certificate: `NAME.crt` and `NAME.key`.
    Named(&'static str),
}

impl Client {
    fn scheme(self) -> &'static str {
        if self == Self::Plain { "http" } else { "https" }
    }

    /// Options by the names that a program has for them.
    fn options(self, [ca, cert, key]: [&str; 3]) -> Vec<String> {
        match self {
            Self::Plain => Vec::new(),
            Self::Anonymous => vec![ca.into(), "ca.crt".into()],
            Self::Named(name) => {
                [(ca, "ca.crt".to_owned()), (cert, format!("{name}.crt")), (key, format!("{name}.key"))]
                    .into_iter()
                    .flat_map(|(option, file)| [option.to_owned(), file])
                    .collect()
            }
        }
    }

    /// The answer to a request by curl, and whether there was one with `200`.
    pub(crate) fn curl(
        self,
        place: &Place,
        address: &str,
        method: &str,
        path: &str,
    ) -> Result<String, String> {
        let url = format!("{}://{}{path}", self.scheme(), local(address));
        let mut command = Command::new("curl");
        command.current_dir(place.path("")).args(["-sS", "--fail", "--max-time", "30", "-X", method, &url]);
        let ran: Ran = command.args(self.options(["--cacert", "--cert", "--key"])).output().unwrap().into();
        if ran.code == Some(0) { Ok(ran.out) } else { Err(ran.err) }
    }

    /// The first line of the reply to requests of Redis, by openssl. Empty: the connection was closed without a reply.
    pub(crate) fn redis(self, place: &Place, address: &str, requests: &str) -> String {
        let requests = format!("{requests}\r\nQUIT\r\n");
        let mut reply = Vec::new();
        if self == Self::Plain {
            let mut socket = TcpStream::connect(address).unwrap();
            // A server that wants TLS may have closed it already.
            drop(socket.write_all(requests.as_bytes()).and_then(|()| socket.read_to_end(&mut reply)));
        } else {
            let mut command = Command::new("openssl");
            command.current_dir(place.path("")).stdin(Stdio::piped()).stdout(Stdio::piped());
            command.stderr(Stdio::null()).args(["s_client", "-quiet", "-connect", address]);
            let mut child = command.args(self.options(["-CAfile", "-cert", "-key"])).spawn().unwrap();
            // It may have ended, as it does when it is refused.
            drop(child.stdin.take().unwrap().write_all(requests.as_bytes()));
            reply = child.wait_with_output().unwrap().stdout;
        }
        String::from_utf8_lossy(&reply).lines().next().unwrap_or_default().to_owned()
    }

    /// The outcome of `sequent next` by gRPC.
    pub(crate) fn next(self, place: &Place, address: &str) -> Result<String, String> {
        let url = format!("{}://{}", self.scheme(), local(address));
        let options = self.options(["--tls-ca", "--tls-cert", "--tls-key"]);
        let mut args = vec!["next", "order", "--server", &url];
        args.extend(options.iter().map(String::as_str));
        let ran = place.run(&args);
        if ran.code == Some(0) { Ok(ran.out) } else { Err(ran.err) }
    }
}

/// The address by the name in the certificate.
fn local(address: &str) -> String {
    format!("localhost:{}", address.rsplit_once(':').unwrap().1)
}

/// A server with TLS for clients with a certificate, and the files of one: `web.crt`, `web.key`, `ca.crt`.
pub(crate) fn mutual() -> (Place, Running) {
    let (place, authority) = (Place::new(), Authority::new("shop"));
    for file in ["ca.crt", "clients.crt"] {
        place.write(file, &authority.pem());
    }
    authority.writes(&place, "tls", &HOST, YEAR);
    authority.writes(&place, "web", &[WEB], YEAR);
    let settings = flags(&place, "require", "required");
    let args: Vec<&str> = ["dev", "--json"].into_iter().chain(settings.iter().map(String::as_str)).collect();
    let server = Running::start(&place, &args);
    (place, server)
}

#[test]
fn openssl_agrees_on_the_protocol_of_each_listener() {
    let (place, server) = mutual();
    for (address, protocol) in [(&server.grpc, "h2"), (&server.http, "http/1.1"), (&server.admin, "http/1.1")]
    {
        let mut command = Command::new("openssl");
        command.current_dir(place.path("")).stdin(Stdio::null()).args(["s_client", "-connect", address]);
        command.args(["-servername", "localhost", "-verify_hostname", "localhost", "-verify_return_error"]);
        command.args(["-CAfile", "ca.crt", "-cert", "web.crt", "-key", "web.key", "-alpn", "h2,http/1.1"]);
        let ran: Ran = command.output().unwrap().into();
        let said = format!("{}{}", ran.out, ran.err);
        assert!(said.contains(&format!("ALPN protocol: {protocol}")), "{said}");
        assert!(said.contains("Verify return code: 0 (ok)"), "{said}");
    }
}

/// One request by Python's gRPC, without generated code: the field `sequence` of the message by hand.
const PYTHON: &str = r#"
import grpc, sys
read = lambda name: open(name, "rb").read()
credentials = grpc.ssl_channel_credentials(read("ca.crt"), read("web.key"), read("web.crt"))
with grpc.secure_channel(sys.argv[1], credentials) as channel:
    call = channel.unary_unary("/sequent.v1.Sequences/Next")
    answer = call(b"\x0a\x05order", timeout=60, wait_for_ready=True)
assert answer, "an empty answer"
"#;

#[test]
fn grpc_of_python_takes_a_number() {
    let (place, server) = mutual();
    // The system's, for which Debian has gRPC (python3-grpcio), whatever else is in the path.
    let mut command = Command::new("/usr/bin/python3");
    let ran: Ran = command
        .current_dir(place.path(""))
        .args(["-c", PYTHON, &local(&server.grpc)])
        .output()
        .unwrap()
        .into();
    assert_eq!(ran.code, Some(0), "python3-grpcio is needed: {ran:?}");
    assert_eq!(Client::Named("web").next(&place, &server.grpc), Ok("2\n".to_owned()), "1 was Python's");
}

#[test]
fn a_server_is_refused_that_has_another_name_or_another_authority() {
    let (place, server) = mutual();
    let url = format!("https://{}", server.grpc);
    let files = ["--tls-ca", "ca.crt", "--tls-cert", "web.crt", "--tls-key", "web.key"];
    let next = |name: &str| {
        place.run(&[&["next", "order", "--server", &url, "--tls-name", name], &files[..]].concat())
    };
    assert_eq!(next("localhost").code, Some(0));
    let ran = next("elsewhere");
    assert!(ran.code == Some(4) && ran.err.contains("elsewhere"), "{ran:?}");
    place.write("ca.crt", &Authority::new("other").pem());
    let error = Client::Named("web").next(&place, &server.grpc).unwrap_err();
    assert!(error.contains("UnknownIssuer"), "{error}");
    // With options of TLS, nothing is sent in plaintext.
    let url = format!("http://{}", server.grpc);
    let plain = [&["next", "order", "--server", &url], &files[..]].concat();
    place.run(&plain).refused(2, &["https:// is expected"]);
    let admin = format!("http://{}", server.admin);
    place
        .run(&["evict", "1", "--why", "x", "--admin", &admin])
        .refused(4, &["if it has TLS, https:// is expected"]);
}
