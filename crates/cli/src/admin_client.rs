//! Client of a server's admin listener: the server's view of its ring, and what operators change by it.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use clap::Args;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Method, Request, StatusCode,
    body::Bytes,
    client::conn::http1,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue},
    http::uri::Authority,
};
use hyper_util::rt::TokioIo;
use sequent_client::{ClientTls, TlsOptions, warn_of_readable};
use sequent_core::SequenceName;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::timeout,
};

use crate::{failure::Failure, open_cluster::Cluster};

/// Time limit for a change, which may examine every store.
const CHANGE_LIMIT: Duration = Duration::from_secs(30);

/// Time limit for an answer.
const LIMIT: Duration = Duration::from_secs(5);

/// The longest answer that is read: enough for thousands of keys.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// The server that is asked instead of the ledger.
#[derive(Debug, Clone, Args)]
pub(crate) struct AdminArg {
    /// Let the server with this admin listener do it, by the token of --token-file, and open no ledger here
    #[arg(long, value_name = "URL")]
    admin: Option<String>,
}

impl AdminArg {
    pub(crate) fn is_named(&self) -> bool {
        self.admin.is_some()
    }

    /// The listener, if one was named.
    pub(crate) fn client(&self, cluster: &Cluster) -> Result<Option<Admin>, Failure> {
        let Some(url) = &self.admin else { return Ok(None) };
        let admin = Admin::named("--admin", url, &cluster.tls())?;
        Ok(Some(admin.with_token_of(cluster.token_file())))
    }
}

/// Answer of an admin listener: status and body; or why there is none.
type Answer = Result<(StatusCode, Bytes), Box<dyn std::error::Error + Send + Sync>>;

/// An admin listener.
#[derive(Debug, Clone)]
pub(crate) struct Admin {
    authority: Authority,
    /// With `https://`.
    tls: Option<Arc<ClientTls>>,
    token_file: Option<PathBuf>,
}

impl Admin {
    /// At `host:port`, with or without `http://` in front, or with `https://`.
    pub(crate) fn named(field: &str, text: &str, tls: &TlsOptions) -> Result<Self, Failure> {
        let encrypted = text.strip_prefix("https://");
        let authority = encrypted.or_else(|| text.strip_prefix("http://")).unwrap_or(text);
        let known: Option<Authority> = authority.trim_end_matches('/').parse().ok();
        let known = known.filter(|known| known.port_u16().is_some() && !known.as_str().contains('@'));
        let authority = known.ok_or_else(|| {
            // What stands before the @ may be a secret.
            let shown = text.rsplit_once('@').map(|(_, host)| format!("***@{host}"));
            let shown = shown.unwrap_or_else(|| text.to_owned());
            let bound = "http://HOST:PORT or https://HOST:PORT of an admin listener is expected";
            Failure::argument(field, shown, bound)
        })?;
        let tls = encrypted.map(|_| ClientTls::new(tls.clone(), b"http/1.1")).transpose()?;
        Ok(Self { authority, tls, token_file: None })
    }

    /// The address.
    pub(crate) fn address(&self) -> &str {
        self.authority.as_str()
    }

    /// The same listener, asked with the token in a file.
    pub(crate) fn with_token_of(self, token_file: Option<&Path>) -> Self {
        Self { token_file: token_file.map(Path::to_owned), ..self }
    }

    /// The header with the token.
    fn authorization(&self) -> Result<Option<HeaderValue>, String> {
        let Some(path) = &self.token_file else { return Ok(None) };
        let wrong = |why: &str| format!("--token-file is {}: {why}", path.display());
        let text = fs::read_to_string(path).map_err(|error| wrong(&format!("it can't be read: {error}")))?;
        warn_of_readable(path);
        let header = HeaderValue::try_from(format!("Bearer {}", text.trim()));
        header.map(Some).map_err(|_| wrong("one token is expected in it"))
    }

    /// The present answer of `/v1/status`, or the reason why there is none. With a name it has whether that sequence is in
    /// use.
    pub(crate) async fn status(&self, of: Option<&SequenceName>) -> Result<Value, String> {
        let query = of.map(|name| format!("?sequence={name}")).unwrap_or_default();
        let path = format!("/v1/status{query}");
        let answer = timeout(LIMIT, self.asked(Method::GET, &path, None)).await;
        let answer = answer.map_err(|_| format!("no answer within {} s", LIMIT.as_secs()))?;
        let (status, body) = answer.map_err(|error| self.unanswered(&*error))?;
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Err(refused(&body));
        }
        if !status.is_success() {
            return Err(format!("it answers {status}: no admin listener of a server?"));
        }
        serde_json::from_slice(&body).map_err(|error| error.to_string())
    }

    /// Why a request was not answered. A server that wants TLS closes a connection without it.
    fn unanswered(&self, error: &(dyn std::error::Error + Send + Sync + 'static)) -> String {
        let text = error.to_string();
        let hint = if self.tls.is_none() && error.is::<hyper::Error>() {
            "; if it has TLS, https:// is expected"
        } else if text.contains("not valid for name") {
            "; --tls-name says the name in its certificate"
        } else {
            ""
        };
        text + hint
    }

    /// Has something changed.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: &Value,
    ) -> Result<T, Failure> {
        let address = self.address();
        let Ok(answer) = timeout(CHANGE_LIMIT, self.asked(method, path, Some(body))).await else {
            let limit = CHANGE_LIMIT.as_secs();
            return Err(Failure::server_unavailable(format!(
                "{address} gave no answer within {limit} s: it may be done, look before it is tried again"
            )));
        };
        let (status, body) = answer.map_err(|error| {
            Failure::server_unavailable(format!("{address} does not answer: {}", self.unanswered(&*error)))
        })?;
        let told = serde_json::from_slice::<Value>(&body).ok();
        match told {
            Some(told) if status.is_success() => serde_json::from_value(told)
                .map_err(|error| Failure::failed(format!("its answer can't be read: {error}"))),
            Some(problem) if problem["reason"].is_string() => Err(Failure::of_problem(&problem)),
            _ => Err(Failure::failed(format!("{address} answers {status}: no admin listener of a server?"))),
        }
    }

    async fn asked(&self, method: Method, path: &str, body: Option<&Value>) -> Answer {
        let token = self.authorization()?;
        let socket = TcpStream::connect(self.address()).await?;
        let request = Request::builder().method(method).uri(path).header("host", self.address());
        let request = match token {
            Some(token) => request.header(AUTHORIZATION, token),
            None => request,
        };
        let request = match body {
            Some(body) => {
                let body = Full::new(Bytes::from(body.to_string()));
                request.header(CONTENT_TYPE, "application/json").body(body)?
            }
            None => request.body(Full::default())?,
        };
        match &self.tls {
            None => asked_by(socket, request).await,
            Some(tls) => {
                let host = self.authority.host().trim_matches(['[', ']']);
                asked_by(Arc::clone(tls).connect(host, socket).await?, request).await
            }
        }
    }
}

async fn asked_by(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: Request<Full<Bytes>>,
) -> Answer {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let talk = async {
        let response = sender.send_request(request).await?;
        let status = response.status();
        let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await?.to_bytes();
        Ok((status, body))
    };
    tokio::select! {
        answer = talk => answer,
        Err(error) = connection => Err(error.into()),
    }
}

/// The text of a refusal.
fn refused(body: &[u8]) -> String {
    let problem: Value = serde_json::from_slice(body).unwrap_or_default();
    let (reason, detail) = (problem["reason"].as_str(), problem["detail"].as_str());
    let detail = detail.unwrap_or("it refuses this caller");
    format!("{}: {detail} (--token-file)", reason.unwrap_or("UNAUTHENTICATED"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_needs_a_port_and_no_more() {
        let named = |text| Admin::named("--admin", text, &TlsOptions::default());
        for good in ["http://[::1]:7423/", "localhost:7423", "http://10.0.0.7:7423", "https://a:7423"] {
            assert!(named(good).is_ok(), "{good}");
        }
        for bad in ["", "localhost", "https://a", "http://a:7423/v1", "u@a:7423", "a b:1"] {
            assert!(named(bad).is_err(), "{bad}");
        }
        let refused = named("http://u:geheim@a:7423").unwrap_err().to_string();
        assert!(refused.contains("***@a:7423") && !refused.contains("geheim"), "{refused}");
    }
}
