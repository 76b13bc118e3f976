//! HTTP/2 frames that ask for nothing, and frames that break the protocol.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy, sink, split},
    net::TcpStream,
};

use super::{Prober, metric, start};
use crate::{
    Server,
    http2_frames::{self, frame},
};

const ENDED: &str = "sequent_connections_ended_total";

/// More than a connection may send besides its requests.
const FLOOD_BYTES: usize = 8 << 20;

/// How many bytes of a flood a server takes before it ends the connection.
async fn taken(server: &Server, frame: &[u8]) -> usize {
    let (mut reader, mut writer) = split(TcpStream::connect(server.grpc).await.unwrap());
    let greeting = [http2_frames::PREFACE, &http2_frames::settings(65_535)].concat();
    writer.write_all(&greeting).await.unwrap();
    let reads = tokio::spawn(async move { copy(&mut reader, &mut sink()).await });
    let (chunk, mut sent) = (frame.repeat(4096 / frame.len()), 0);
    while sent < FLOOD_BYTES && !reads.is_finished() && writer.write_all(&chunk).await.is_ok() {
        sent += chunk.len();
    }
    reads.abort();
    sent
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_that_ask_for_nothing_end_the_connection() {
    let server = start(&[]).await;
    let prober = Prober::of(&server);
    for (what, frame) in [
        ("PING", frame(6, 0, 0, &[7; 8])),
        ("SETTINGS", frame(4, 0, 0, &[])),
        ("PRIORITY", frame(2, 0, 1, &[0, 0, 0, 0, 1])),
        ("WINDOW_UPDATE", frame(8, 0, 0, &1_u32.to_be_bytes())),
        ("unknown", frame(99, 0, 0, &[7; 8])),
    ] {
        let sent = taken(&server, &frame).await;
        assert!(sent < FLOOD_BYTES, "{what}: {sent} bytes were taken");
    }
    prober.was_served().await;
    let ended = metric(server.admin, ENDED, "listener=\"grpc\",why=\"flood\"").await;
    assert!(ended >= 4.0, "{ended} connections of 5; the library may end some itself");
}

#[tokio::test]
async fn a_broken_frame_is_counted() {
    let server = start(&[]).await;
    let mut socket = TcpStream::connect(server.grpc).await.unwrap();
    // DATA on stream 0.
    let broken = [http2_frames::PREFACE, &http2_frames::settings(65_535), &frame(0, 0, 0, b"x")].concat();
    socket.write_all(&broken).await.unwrap();
    let mut told = Vec::new();
    drop(socket.read_to_end(&mut told).await);
    for _ in 0..500 {
        if metric(server.admin, ENDED, "listener=\"grpc\",why=\"protocol\"").await > 0.5 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    panic!("not counted");
}
