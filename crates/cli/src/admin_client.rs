//! Client of a server's admin listener: the server's view of its ring.

use std::time::Duration;

use http_body_util::{BodyExt, Empty, Limited};
use hyper::{Request, body::Bytes, client::conn::http1};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{net::TcpStream, time::timeout};

use crate::failure::Failure;

/// Time limit for an answer.
const LIMIT: Duration = Duration::from_secs(5);

/// The longest answer that is read: enough for thousands of keys.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// An admin listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Admin(String);

impl Admin {
    /// At `host:port`, with or without `http://` in front.
    pub(crate) fn named(field: &str, text: &str) -> Result<Self, Failure> {
        let authority = text.strip_prefix("http://").unwrap_or(text).trim_end_matches('/');
        let known: Option<hyper::http::uri::Authority> = authority.parse().ok();
        match known.filter(|known| known.port_u16().is_some() && !known.as_str().contains('@')) {
            Some(known) => Ok(Self(known.to_string())),
            None => {
                // What stands before the @ may be a secret.
                let shown = text.rsplit_once('@').map(|(_, host)| format!("***@{host}"));
                let shown = shown.unwrap_or_else(|| text.to_owned());
                Err(Failure::argument(field, shown, "http://HOST:PORT of an admin listener is expected"))
            }
        }
    }

    /// The address.
    pub(crate) fn address(&self) -> &str {
        &self.0
    }

    /// The present answer of `/v1/status`, or the reason why there is none.
    pub(crate) async fn status(&self) -> Result<Value, String> {
        match timeout(LIMIT, self.asked()).await {
            Ok(answer) => answer.map_err(|error| error.to_string()),
            Err(_) => Err(format!("no answer within {} s", LIMIT.as_secs())),
        }
    }

    async fn asked(&self) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        let socket = TcpStream::connect(&self.0).await?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(socket)).await?;
        let request = Request::get("/v1/status").header("host", &self.0).body(Empty::<Bytes>::new())?;
        let talk = async {
            let response = sender.send_request(request).await?;
            let status = response.status();
            let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await?.to_bytes();
            if !status.is_success() {
                return Err(format!("it answers {status}: no admin listener of a server?").into());
            }
            Ok(serde_json::from_slice(&body)?)
        };
        tokio::select! {
            answer = talk => answer,
            Err(error) = connection => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_needs_a_port_and_no_more() {
        for good in ["http://[::1]:7423/", "localhost:7423", "http://10.0.0.7:7423"] {
            assert!(Admin::named("--admin", good).is_ok(), "{good}");
        }
        for bad in ["", "localhost", "https://a:7423", "http://a:7423/v1", "u@a:7423", "a b:1"] {
            assert!(Admin::named("--admin", bad).is_err(), "{bad}");
        }
        let refused = Admin::named("--admin", "http://u:geheim@a:7423").unwrap_err().to_string();
        assert!(refused.contains("***@a:7423") && !refused.contains("geheim"), "{refused}");
    }
}
