//! A Git server over http that means no good: it speaks the protocol as far as it likes, on the loopback interface.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::objects::{self, Id, Kind, Pack};

/// What it does to who asks.
#[derive(Clone)]
pub(crate) enum Manner {
    /// Gives this pack, whose head is this commit.
    Serve(Id, Vec<u8>),
    /// Takes the request and says nothing.
    Silent,
    /// Gives a pack a byte at a time.
    Drip(Id),
    /// Gives a pack that does not end.
    Endless(Id),
    /// Gives headers that do not end.
    EndlessHeaders,
    /// Asks for a password.
    Login,
    /// Says that its answer is compressed, which it was not asked to be.
    Compressed,
    /// Gives these bytes where the protocol's first answer is due.
    Capabilities(Vec<u8>),
    /// Gives these bytes in place of references.
    References(Vec<u8>),
    /// Sends the asker elsewhere: to this, with the end of the path behind it if it ends in `*`.
    Redirect(String),
}

/// A running server. Its connections end when it is dropped.
pub(crate) struct Hostile {
    address: SocketAddr,
    manner: Arc<Mutex<Manner>>,
    stopping: Arc<AtomicBool>,
}

impl Hostile {
    pub(crate) fn start(manner: Manner) -> Hostile {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("there is a free port");
        let address = listener.local_addr().expect("it is bound");
        let (manner, stopping) = (Arc::new(Mutex::new(manner)), Arc::new(AtomicBool::new(false)));
        std::thread::spawn({
            let (manner, stopping) = (manner.clone(), stopping.clone());
            move || {
                for stream in listener.incoming().map_while(Result::ok) {
                    if stopping.load(Ordering::SeqCst) {
                        return;
                    }
                    let manner = manner.lock().expect("nobody panics with it").clone();
                    let stopping = stopping.clone();
                    // That the other side hangs up is what this is for.
                    std::thread::spawn(move || drop(answer(stream, &manner, &stopping)));
                }
            }
        });
        Hostile { address, manner, stopping }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/a.git", self.address)
    }

    /// Behaves differently from now on.
    pub(crate) fn turn(&self, manner: Manner) {
        *self.manner.lock().expect("nobody panics with it") = manner;
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        // The acceptor waits for a connection: give it one.
        drop(TcpStream::connect(self.address));
    }
}

/// A line of the protocol.
fn line(bytes: &[u8]) -> Vec<u8> {
    [format!("{:04x}", bytes.len() + 4).as_bytes(), bytes].concat()
}

const FLUSH: &[u8] = b"0000";

fn capabilities() -> Vec<u8> {
    let mut bytes = line(b"# service=git-upload-pack\n");
    bytes.extend_from_slice(FLUSH);
    for text in
        ["version 2\n", "agent=hostile\n", "ls-refs=unborn\n", "fetch=shallow\n", "object-format=sha1\n"]
    {
        bytes.extend(line(text.as_bytes()));
    }
    bytes.extend_from_slice(FLUSH);
    bytes
}

fn references(head: &Id) -> Vec<u8> {
    let id = hex::encode(head);
    let mut bytes = line(format!("{id} HEAD symref-target:refs/heads/main\n").as_bytes());
    bytes.extend(line(format!("{id} refs/heads/main\n").as_bytes()));
    bytes.extend_from_slice(FLUSH);
    bytes
}

fn answer(mut stream: TcpStream, manner: &Manner, stopping: &AtomicBool) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body)?;
    let body = String::from_utf8_lossy(&body).into_owned();
    let hold = || {
        while !stopping.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let mut head = |status: &str, kind: &str| {
        write!(
            stream,
            "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Type: application/x-git-upload-pack-{kind}\r\n\r\n"
        )
    };
    match manner {
        Manner::Silent => hold(),
        Manner::EndlessHeaders => {
            write!(stream, "HTTP/1.1 200 OK\r\n")?;
            while !stopping.load(Ordering::SeqCst) {
                write!(stream, "X-More: {}\r\n", "x".repeat(1000))?;
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        Manner::Login => {
            write!(
                stream,
                "HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nWWW-Authenticate: Basic realm=\"give me\"\r\nContent-Length: 0\r\n\r\n"
            )?;
        }
        Manner::Redirect(to) => {
            let tail = path.split_once("/a.git").map_or("", |(_, tail)| tail);
            let to = to.strip_suffix('*').map_or(to.clone(), |to| format!("{to}{tail}"));
            write!(
                stream,
                "HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n"
            )?;
        }
        Manner::Compressed => {
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Encoding: gzip\r\nContent-Type: application/x-git-upload-pack-advertisement\r\n\r\n"
            )?;
            stream.write_all(&[0; 1 << 16])?;
        }
        Manner::Capabilities(bytes) => {
            head("200 OK", "advertisement")?;
            stream.write_all(bytes)?;
        }
        _ if path.contains("/info/refs") => {
            head("200 OK", "advertisement")?;
            stream.write_all(&capabilities())?;
        }
        Manner::References(bytes) => {
            head("200 OK", "result")?;
            stream.write_all(bytes)?;
        }
        Manner::Serve(id, _) | Manner::Drip(id) | Manner::Endless(id) if body.contains("command=ls-refs") => {
            head("200 OK", "result")?;
            stream.write_all(&references(id))?;
        }
        _ if !body.contains("done") => {
            head("200 OK", "result")?;
            stream.write_all(&[line(b"acknowledgments\n"), line(b"NAK\n"), FLUSH.to_vec()].concat())?;
        }
        Manner::Serve(_, pack) => {
            head("200 OK", "result")?;
            stream.write_all(&line(b"packfile\n"))?;
            for piece in pack.chunks(60_000) {
                stream.write_all(&line(&[b"\x01", piece].concat()))?;
            }
            stream.write_all(FLUSH)?;
        }
        Manner::Drip(_) => {
            head("200 OK", "result")?;
            stream.write_all(&line(b"packfile\n"))?;
            let pack = endless_entries();
            for byte in objects::header(1000).iter().chain(pack.iter().cycle()) {
                stream.write_all(&line(&[1, *byte]))?;
                stream.flush()?;
                std::thread::sleep(Duration::from_millis(50));
                if stopping.load(Ordering::SeqCst) {
                    break;
                }
            }
        }
        Manner::Endless(_) => {
            head("200 OK", "result")?;
            stream.write_all(&line(b"packfile\n"))?;
            stream.write_all(&line(&[b"\x01", &objects::header(1_000_000)[..]].concat()))?;
            let pack = endless_entries();
            while !stopping.load(Ordering::SeqCst) {
                for piece in pack.chunks(60_000) {
                    stream.write_all(&line(&[b"\x01", piece].concat()))?;
                }
            }
        }
    }
    stream.flush()
}

/// Entries of a pack that may be said again and again: blobs that do not compress.
fn endless_entries() -> Vec<u8> {
    let mut state = 1_u32;
    let noise = (0..40_000).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    });
    let noise = noise.collect::<Vec<_>>();
    let mut pack = Pack::default();
    pack.entry(Kind::Blob, noise.len() as u64, &[], &objects::deflated(&noise));
    let bytes = pack.bytes();
    bytes[12..bytes.len() - 20].to_vec()
}
