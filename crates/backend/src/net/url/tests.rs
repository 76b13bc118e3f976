//! Tests of URLs: what they parse to, and errors that show no secret.

#![allow(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use super::*;

fn url(text: &str) -> ServerUrl {
    text.parse().unwrap()
}

#[test]
fn parts_are_found_and_decoded() {
    let found = url("postgresql://s%40q:p%3a%2Fw:x@[::1]:6432/a%20b");
    assert_eq!((found.user(), found.password()), (Some("s@q"), Some("p:/w:x")));
    assert_eq!((found.host(), found.port(), found.path()), ("::1", 6432, "a b"));
    let socket = url("postgres://seq@%2Frun%2Fpostgresql/seq");
    assert_eq!((socket.host(), socket.port(), socket.has_password()), ("/run/postgresql", 5432, false));
    let source = url("mongodb://u@h/d?authSource=admin");
    assert_eq!((source.auth_source(), source.path()), (Some("admin"), "d"));
    let twice = url("http://u:geheim@a/x,http://u:geheim@b/x");
    assert_eq!((twice.hosts().len(), twice.user(), twice.path()), (2, Some("u"), "x"));
    assert_eq!((url("redis://h/3").number(), url("valkey://h").number()), (3, 0));
}

#[test]
fn each_driver_has_its_port_and_its_words() {
    for (text, shown) in [
        ("mysql://u:geheim@h/d", "mysql://u@h:3306/d"),
        ("postgresql://u:geheim@h/d", "postgres://u@h:5432/d"),
        ("valkey://u:geheim@h", "redis://u@h:6379/0"),
        ("memcached://h", "memcached://h:11211"),
        ("mongodb://u:geheim@[::1]/d", "mongodb://u@[::1]:27017/d"),
        ("https://u:geheim@a,http://[::1]:80/shop-eu", "https://u@a:2379,http://[::1]:80/shop-eu"),
        ("http://h", "http://h:2379/sequent"),
    ] {
        assert_eq!(url(text).to_string(), shown);
        assert!(!format!("{:?}", url(text)).contains("geheim"));
    }
}

#[test]
fn what_is_wrong_is_said_without_the_secret() {
    for (text, part) in [
        ("geheim", "scheme"),
        ("ftp://u:geheim@h/d", "scheme"),
        ("postgres://h/d", "user"),
        ("postgres://:geheim@h/d", "user"),
        ("postgres://u:geheim@/d", "host"),
        ("postgres://u:geheim@h", "database"),
        ("mysql://u:geheim@h/", "database"),
        ("postgres://u:geheim@h:0/d", "port"),
        ("postgres://u:geheim@h:geheim/d", "port"),
        ("postgres://u:geheim@[::1]6432/d", "read"),
        ("postgres://u:geheim%zz@h/d", "hexadecimal"),
        ("postgres://u:geheim%00@h/d", "not text"),
        ("postgres://u:geheim@h/d?sslmode=disable", "settings"),
        ("mysql://u:geheim@h/d#x", "#"),
        ("mongodb+srv://u:geheim@h/d", "scheme"),
        ("mongodb://u:geheim@h,i/d", "several hosts"),
        ("mongodb://u:geheim@[::1],[::2]/d", "read"),
        ("mongodb://u:geheim@[::1/d", "read"),
        ("mongodb://u:geheim@h/a.b", "that name"),
        ("mongodb://u:geheim@h/d?authSource=a.b", "settings"),
        ("mongodb://u:geheim@h/d?authSource=", "settings"),
        ("mongodb://u:geheim@h/d?retryWrites=true", "settings"),
        ("redis://u:geheim@h/x", "no number"),
        ("redis://u:geheim@h/-1", "no number"),
        ("redis://u:geheim@h/1/2", "no number"),
        ("rediss://u:geheim@h", "scheme"),
        ("redis://u:geheim@h?x=1", "settings"),
        ("memcached://u:geheim@h/0", "has one"),
        ("memcached://a%20b:geheim@h", "gap"),
        ("memcache://u:geheim@h", "scheme"),
        ("http://u:geheim@a,http://v:geheim@b", "different"),
        ("http://u:geheim@a/x,http://b/y", "different"),
        ("http://u:geheim@a/x%20y", "prefix"),
        ("http://u:geheim@a,", "read"),
        ("http://u:geheim@h?x=1", "settings"),
        ("etcd://u:geheim@h", "scheme"),
    ] {
        let error = text.parse::<ServerUrl>().unwrap_err().to_string();
        assert!(error.contains(part) && !error.contains("geheim"), "{text}: {error}");
    }
    let many = ["http://a"; 10].join(",");
    assert!(many.parse::<ServerUrl>().unwrap_err().to_string().contains("at most 9"));
}

#[test]
fn one_machines_names_for_itself_are_one() {
    assert_eq!(url("redis://127.0.0.1").identity(), url("valkey://LOCALHOST./0").identity());
    assert_ne!(url("redis://h/1").identity(), url("redis://h/2").identity());
}
