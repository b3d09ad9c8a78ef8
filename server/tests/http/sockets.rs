//! Over real sockets: keep-alive, stopping, limits.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use crate::kit::App;

async fn ask(stream: &mut TcpStream, request: &str) -> String {
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    loop {
        let mut chunk = [0; 4_096];
        let read =
            tokio::time::timeout(Duration::from_secs(10), stream.read(&mut chunk)).await.unwrap().unwrap();
        answer.extend_from_slice(&chunk[..read]);
        let text = String::from_utf8_lossy(&answer);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse::<usize>().ok()
            });
            if request.starts_with("HEAD ") || body.len() >= length.unwrap_or(0) {
                return text.into_owned();
            }
        }
        assert!(read > 0, "the server hung up: {text}");
    }
}

#[tokio::test]
async fn one_connection_serves_many_requests_and_stops_cleanly() {
    let app = App::new().await;
    let server = app.listening(|_| {}).await;
    let address = server.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(server.run(async move {
        let _ = stopped.await;
    }));
    let mut stream = TcpStream::connect(address).await.unwrap();
    for _ in 0..3 {
        let answer = ask(&mut stream, "GET /api/v1/resolve?ref=redis:v1 HTTP/1.1\r\nhost: x\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(answer.contains("\"resolved\":\"v1.0.4\""), "{answer}");
    }
    let head = ask(&mut stream, "HEAD /api/v1/resolve?ref=redis:v1 HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert!(head.ends_with("\r\n\r\n") && head.to_ascii_lowercase().contains("content-length: "), "{head}");
    let again = ask(&mut stream, "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert!(again.ends_with("ok\n"), "the HEAD before sent a body: {again}");
    stop.send(()).unwrap();
    tokio::time::timeout(Duration::from_secs(10), running).await.expect("it stops in time").unwrap();
    assert!(TcpStream::connect(address).await.is_err(), "nothing listens any more");
}

#[tokio::test]
async fn connections_above_the_limit_wait() {
    let app = App::new().await;
    let server = app.listening(|config| config.connections = 1).await;
    let address = server.local_addr().unwrap();
    let running = tokio::spawn(server.run(std::future::pending()));
    let mut first = TcpStream::connect(address).await.unwrap();
    ask(&mut first, "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").await;
    let mut second = TcpStream::connect(address).await.unwrap();
    second.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut byte = [0];
    assert!(
        tokio::time::timeout(Duration::from_millis(200), second.read(&mut byte)).await.is_err(),
        "the second waits"
    );
    drop(first);
    tokio::time::timeout(Duration::from_secs(10), second.read(&mut byte))
        .await
        .expect("its turn comes")
        .unwrap();
    running.abort();
}

#[tokio::test]
async fn nonsense_on_the_wire_harms_nobody() {
    let app = App::new().await;
    let server = app.listening(|_| {}).await;
    let address = server.local_addr().unwrap();
    let running = tokio::spawn(server.run(std::future::pending()));
    let huge = format!("GET / HTTP/1.1\r\nhost: x\r\nx: {}\r\n\r\n", "y".repeat(200_000));
    for bytes in [
        "\0\0\0\0\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nrubbish",
        "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        &huge,
    ] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let _ = stream.write_all(bytes.as_bytes()).await;
        let mut answer = Vec::new();
        let _ = tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut answer)).await;
        let text = String::from_utf8_lossy(&answer);
        assert!(!text.starts_with("HTTP/1.1 200"), "{bytes:.60}: {text:.200}");
    }
    let mut stream = TcpStream::connect(address).await.unwrap();
    assert!(ask(&mut stream, "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").await.ends_with("ok\n"));
    running.abort();
}
