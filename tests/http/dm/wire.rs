//! Requests byte by byte, as a client of 2016 sends them: targets are not tidied up, bodies go in chunks.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// What came back.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(super) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value.as_str())
    }
}

/// Sends one request to `base` (`http://host:port`) and reads the answer to its end. A body goes in chunks.
///
/// # Panics
/// When the server does not answer: it always must.
#[track_caller]
pub(super) fn send(base: &str, method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    let host = base.strip_prefix("http://").expect("the server is reached in the clear");
    let mut stream = TcpStream::connect(host).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time can be set");
    let mut request = format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    let is_chunked = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("transfer-encoding"));
    request.push_str("\r\n");
    let mut bytes = request.into_bytes();
    if is_chunked {
        for chunk in body.chunks(4_096) {
            bytes.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
            bytes.extend_from_slice(chunk);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"0\r\n\r\n");
    } else {
        bytes.extend_from_slice(body);
    }
    // A server that has heard enough answers and hangs up; what it said is read all the same.
    let _ = stream.write_all(&bytes);
    read(stream, method)
}

fn read(stream: TcpStream, method: &str) -> Answer {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).expect("the answer has a first line");
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.unwrap_or_else(|| panic!("the answer begins with {line:?}"));
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("the head of the answer is text");
        match line.trim_end().split_once(": ") {
            Some((name, value)) => headers.push((name.to_owned(), value.to_owned())),
            None => break,
        }
    }
    let mut body = Vec::new();
    if method != "HEAD" {
        let length = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        let length = length.and_then(|(_, value)| value.parse::<u64>().ok());
        reader
            .take(length.expect("every answer says its length"))
            .read_to_end(&mut body)
            .expect("the body arrives");
    }
    Answer { status, headers, body }
}
