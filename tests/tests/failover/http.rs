//! One connection of HTTP/1.1, as any service would hold it.

use std::net::SocketAddr;

use http_body_util::{BodyExt, Full};
use hyper::{Method, Request, body::Bytes, client::conn::http1::SendRequest};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

/// A connection to one API.
pub(crate) struct Http {
    sender: SendRequest<Full<Bytes>>,
}

/// What an API answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Http {
    pub(crate) async fn connect(address: SocketAddr) -> Result<Self, String> {
        let stream = TcpStream::connect(address).await.map_err(|error| error.to_string())?;
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        let made = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
        let (sender, connection) = made.map_err(|error| error.to_string())?;
        tokio::spawn(connection);
        Ok(Self { sender })
    }

    /// Whether the connection still takes requests: the server may have said that it ends.
    pub(crate) fn is_open(&self) -> bool {
        !self.sender.is_closed()
    }

    /// One request, and its answer whole.
    pub(crate) async fn ask(&mut self, method: Method, path: &str) -> Result<Answer, String> {
        self.say(method, path, String::new()).await
    }

    /// The same with a body, which is JSON.
    pub(crate) async fn say(&mut self, method: Method, path: &str, body: String) -> Result<Answer, String> {
        let request = Request::builder().method(method).uri(path).header("host", "localhost");
        let request =
            if body.is_empty() { request } else { request.header("content-type", "application/json") };
        let request = request.body(Full::from(body)).unwrap();
        // The answer before may have been read a moment ago.
        self.sender.ready().await.map_err(|error| error.to_string())?;
        let response = self.sender.send_request(request).await.map_err(|error| error.to_string())?;
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.map_err(|error| error.to_string())?;
        Ok(Answer { status, body: String::from_utf8_lossy(&body.to_bytes()).into_owned() })
    }

    /// So many numbers of `order`; or what was said instead.
    pub(crate) async fn next(&mut self, count: usize) -> Result<Vec<u64>, String> {
        self.next_of("order", count).await
    }

    /// So many numbers of a sequence; or what was said instead.
    pub(crate) async fn next_of(&mut self, name: &str, count: usize) -> Result<Vec<u64>, String> {
        let answer = self.ask(Method::POST, &format!("/v1/sequences/{name}/next?count={count}")).await?;
        answer.numbers().ok_or_else(|| format!("{} {}", answer.status, answer.body))
    }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// The numbers, if it is an answer with numbers.
    pub(crate) fn numbers(&self) -> Option<Vec<u64>> {
        let body: Value = serde_json::from_str(&self.body).ok().filter(|_| self.status == 200)?;
        body["numbers"].as_array()?.iter().map(|number| number.as_str()?.parse().ok()).collect()
    }
}
