//! A server that sends back what it gets, and remembers.

use std::{net::SocketAddr, sync::Arc};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    sync::watch,
};

/// What the server saw of one connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Heard {
    pub(crate) bytes: Vec<u8>,
    pub(crate) ended: bool,
}

/// The server, and what it saw of its connections in their order.
pub(crate) struct Echo {
    pub(crate) address: SocketAddr,
    heard: watch::Sender<Vec<Heard>>,
}

impl Echo {
    pub(crate) async fn start() -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let echo =
            Arc::new(Self { address: listener.local_addr().unwrap(), heard: watch::Sender::default() });
        let serving = Arc::clone(&echo);
        tokio::spawn(async move {
            for number in 0.. {
                let (mut stream, _) = listener.accept().await.unwrap();
                let echo = Arc::clone(&serving);
                echo.heard.send_modify(|heard| heard.push(Heard::default()));
                tokio::spawn(async move {
                    let mut buffer = [0; 1024];
                    while let Ok(read @ 1..) = stream.read(&mut buffer).await {
                        echo.heard.send_modify(|heard| heard[number].bytes.extend(&buffer[..read]));
                        drop(stream.write_all(&buffer[..read]).await);
                    }
                    echo.heard.send_modify(|heard| heard[number].ended = true);
                });
            }
        });
        echo
    }

    /// What it has heard, as soon as that pleases.
    pub(crate) async fn when(&self, pleases: impl Fn(&[Heard]) -> bool) -> Vec<Heard> {
        self.heard.subscribe().wait_for(|heard| pleases(heard)).await.unwrap().clone()
    }

    pub(crate) fn now(&self) -> Vec<Heard> {
        self.heard.borrow().clone()
    }
}
