//! Tools: redis-cli, redis-benchmark, the check of `HAProxy`, and the exporter of Redis's metrics.

use std::{
    fs,
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    process::{Command, Stdio},
};

use crate::{
    place::{Place, Running, eventually},
    server::Server,
};

/// What a tool of Debian's package prints; it must succeed.
fn says(tool: &str, package: &str, to: SocketAddr, args: &[&str]) -> String {
    let mut command = Command::new(tool);
    command.args(["-p", &to.port().to_string()]).args(args).stdin(Stdio::null());
    let said = command.output().unwrap_or_else(|error| panic!("{tool} (Debian: {package}): {error}"));
    let (out, err) = (String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
    assert!(said.status.success(), "{tool} {args:?}: {out}{err}");
    format!("{out}{err}")
}

#[test]
fn redis_cli_takes_numbers_in_both_versions_and_as_a_pipe() {
    let place = Place::new();
    let server = Server::start(&place);
    let cli = |args: &[&str]| says("redis-cli", "redis-tools", server.address(), args);
    assert_eq!(cli(&["INCR", "order"]), "1\n");
    assert_eq!(cli(&["-3", "INCR", "order"]), "2\n");
    assert_eq!(cli(&["-r", "3", "INCR", "order"]), "3\n4\n5\n");
    let piped = Command::new("redis-cli")
        .args(["-p", &server.address().port().to_string(), "--pipe"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut piped = piped.unwrap();
    piped.stdin.take().unwrap().write_all(&b"*2\r\n$4\r\nINCR\r\n$5\r\norder\r\n".repeat(10_000)).unwrap();
    let said = piped.wait_with_output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    assert!(said.contains("errors: 0, replies: 10000"), "{said}");
    assert_eq!(cli(&["INCR", "order"]), "10006\n");
    assert!(cli(&["-3", "HELLO"]).contains("proto"));
}

#[test]
fn redis_benchmark_finds_no_error() {
    let place = Place::new();
    let server = Server::start(&place);
    for pipeline in ["1", "16", "64"] {
        let args = ["-t", "ping,incr", "-n", "20000", "-c", "50", "-P", pipeline, "-q"];
        let said = says("redis-benchmark", "redis-tools", server.address(), &args);
        assert!(said.contains("INCR: ") && said.contains("PING_MBULK: "), "{said}");
        assert!(!said.to_lowercase().contains("err") && !said.contains("WARNING"), "{said}");
    }
}

/// `HAProxy` in front of a server, with its own check of Redis.
#[test]
fn haproxy_finds_it_up_and_down() {
    let place = Place::new();
    let mut server = Server::start(&place);
    let front = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let config = format!(
        "defaults\n mode tcp\n timeout connect 1s\n timeout client 1m\n timeout server 1m\n\
         listen redis\n bind {front}\n option redis-check\n server a {} check inter 100ms fall 1 rise 1\n",
        server.address()
    );
    fs::write(place.path("haproxy.cfg"), config).unwrap();
    let mut command = Command::new("/usr/sbin/haproxy");
    command.args(["-db", "-f"]).arg(place.path("haproxy.cfg")).stdin(Stdio::null());
    let proxy = Running::start(command);
    let ask = || {
        let mut socket = TcpStream::connect(front).ok()?;
        socket.write_all(b"INCR order\r\nQUIT\r\n").ok()?;
        let mut said = String::new();
        socket.read_to_string(&mut said).ok()?;
        said.ends_with("+OK\r\n").then_some(said)
    };
    let said = proxy.until("a server behind HAProxy answers", |_| ask());
    assert!(said.starts_with(':'), "{said}");
    server.kill();
    eventually("HAProxy finds the server gone", || ask().is_none().then_some(()));
    server.restart(&place);
    proxy.until("HAProxy finds the server back", |_| ask());
}

/// The file that is shipped, with this test's ports. Its second server is not there.
#[test]
fn the_shipped_file_of_haproxy_serves() {
    let place = Place::new();
    let server = Server::start(&place);
    let free = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (front, absent) = (free(), free());
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/haproxy/haproxy.cfg");
    let mut config = fs::read_to_string(file).unwrap();
    let admin = server.admin().port().to_string();
    for (from, to) in [
        ("bind :7422", format!("bind {front}")),
        ("bind :7421", format!("bind {}", free())),
        ("bind :7420", format!("bind {}", free())),
        ("\"${SERVER_A}:7422\"", server.address().to_string()),
        ("\"${SERVER_A}:", "\"127.0.0.1:".to_owned()),
        ("\"${SERVER_B}:7422\"", absent.to_string()),
        ("\"${SERVER_B}:", "\"127.0.0.1:".to_owned()),
        ("check port 7423", format!("check port {admin}")),
    ] {
        assert!(config.contains(from), "{file} has no {from}");
        config = config.replace(from, &to);
    }
    fs::write(place.path("haproxy.cfg"), config).unwrap();
    let mut command = Command::new("/usr/sbin/haproxy");
    command.args(["-db", "-f"]).arg(place.path("haproxy.cfg")).stdin(Stdio::null());
    let proxy = Running::start(command);
    let said = proxy.until("the shipped file leads to a server", |_| {
        let mut socket = TcpStream::connect(front).ok()?;
        socket.write_all(b"INCR order\r\nQUIT\r\n").ok()?;
        let mut said = String::new();
        socket.read_to_string(&mut said).ok()?;
        said.ends_with("+OK\r\n").then_some(said)
    });
    assert!(said.starts_with(':'), "{said}");
}

#[test]
fn a_redis_exporter_finds_it_up() {
    let place = Place::new();
    let mut server = Server::start(&place);
    let web = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut command = Command::new("prometheus-redis-exporter");
    command
        .arg(format!("-redis.addr=redis://{}", server.address()))
        .arg(format!("-web.listen-address={web}"));
    command.stdin(Stdio::null());
    let exporter = Running::start(command);
    let scrape = || {
        let mut socket = TcpStream::connect(web).ok()?;
        socket.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").ok()?;
        let mut said = String::new();
        socket.read_to_string(&mut said).ok()?;
        Some(said)
    };
    let says = |line: &str| scrape().filter(|said| said.lines().any(|found| found.starts_with(line)));
    let said = exporter.until("an exporter finds the server up", |_| says("redis_up 1"));
    for metric in ["redis_connected_clients ", "redis_uptime_in_seconds ", "redis_instance_info{"] {
        assert!(said.lines().any(|line| line.starts_with(metric)), "no {metric}: {said}");
    }
    let errors = said.lines().find(|line| line.starts_with("redis_exporter_last_scrape_error{"));
    assert!(errors.is_some_and(|line| line.ends_with("} 0")), "{errors:?}");
    server.kill();
    eventually("an exporter finds the server down", || says("redis_up 0").map(drop));
}
