//! A Git remote over http: the real `git http-backend` behind the smallest server that can run a CGI program.
//!
//! Shared by the end-to-end tests and the benches; only the standard library. It listens on the loopback interface,
//! serves every repository below one directory, and stops when it is dropped. It must not know what is in them.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Largest body of a request: what a client says it has. Never a pack, for nobody pushes here.
const LARGEST_BODY: u64 = 64 << 20;

/// A connection: of TCP, or of something on top of it.
pub(crate) trait Stream: Read + Write {}

impl<T: Read + Write> Stream for T {}

/// What is put on top of a TCP connection, such as TLS.
type Wrap = Box<dyn Fn(TcpStream) -> io::Result<Box<dyn Stream>> + Send + Sync>;

/// A running remote.
pub(crate) struct GitRemote {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

struct Shared {
    root: PathBuf,
    /// What `Authorization` must say.
    authorization: Option<String>,
    wrap: Option<Wrap>,
    failing: AtomicBool,
    stopping: AtomicBool,
    requests: AtomicU64,
}

impl GitRemote {
    /// Serves the repositories below `root` on a free port of the loopback interface.
    pub(crate) fn serve(root: &Path) -> io::Result<GitRemote> {
        GitRemote::serve_with(root, None, None)
    }

    /// The same to those only who send this `Authorization`, on top of what `wrap` makes of a connection.
    pub(crate) fn serve_with(
        root: &Path,
        authorization: Option<&str>,
        wrap: Option<Wrap>,
    ) -> io::Result<GitRemote> {
        let listener = TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            root: root.canonicalize()?,
            authorization: authorization.map(str::to_owned),
            wrap,
            failing: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
            requests: AtomicU64::new(0),
        });
        let acceptor = std::thread::spawn({
            let shared = shared.clone();
            move || {
                for stream in listener.incoming() {
                    if shared.stopping.load(Ordering::SeqCst) {
                        return;
                    }
                    let Ok(stream) = stream else { continue };
                    let shared = shared.clone();
                    // A client that goes away in the middle (a server that is killed) is no error of the remote.
                    std::thread::spawn(move || drop(shared.answer(stream)));
                }
            }
        });
        Ok(GitRemote { address, shared, acceptor: Some(acceptor) })
    }

    /// The URL of a repository directly below the root.
    pub(crate) fn url(&self, repository: &str) -> String {
        format!("http://{}/{repository}", self.address)
    }

    /// From now on every request is answered with 503, or no longer is.
    pub(crate) fn fail(&self, failing: bool) {
        self.shared.failing.store(failing, Ordering::SeqCst);
    }

    /// Requests answered so far, refused ones included.
    pub(crate) fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::SeqCst)
    }
}

impl Drop for GitRemote {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        // The acceptor waits for a connection: give it one.
        let _ = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

/// The parts of a request a CGI program is told.
#[derive(Default)]
struct Request {
    method: String,
    path: String,
    query: String,
    content_type: String,
    content_encoding: String,
    git_protocol: String,
    authorization: String,
    body: Vec<u8>,
}

impl Shared {
    fn answer(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        stream.set_write_timeout(Some(Duration::from_secs(60)))?;
        let raw = stream.try_clone()?;
        let wrapped = match &self.wrap {
            Some(wrap) => wrap(stream)?,
            None => Box::new(stream),
        };
        let mut reader = BufReader::new(wrapped);
        let request = read_request(&mut reader)?;
        let mut stream = reader.into_inner();
        self.requests.fetch_add(1, Ordering::SeqCst);
        let refuse = |stream: &mut dyn Stream, status: &str| {
            write!(stream, "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        };
        if self.failing.load(Ordering::SeqCst) {
            refuse(&mut *stream, "503 Service Unavailable")?;
        } else if self.authorization.as_ref().is_some_and(|wanted| *wanted != request.authorization) {
            refuse(&mut *stream, "401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"Git\"")?;
        } else {
            self.run(&request, &mut *stream)?;
        }
        stream.flush()?;
        // What is on top of TCP says goodbye when it is dropped.
        drop(stream);
        raw.shutdown(Shutdown::Both)
    }

    /// Runs `git http-backend` for one request, as RFC 3875 says, and passes on what it writes as it writes it.
    fn run(&self, request: &Request, mut stream: &mut dyn Stream) -> io::Result<()> {
        let mut backend = Command::new("git");
        backend
            .arg("http-backend")
            .env("GIT_PROJECT_ROOT", &self.root)
            .env("GIT_HTTP_EXPORT_ALL", "1")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            // Whoever made the repository, it is served: the directory is ours.
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "safe.directory")
            .env("GIT_CONFIG_VALUE_0", "*")
            .env("REQUEST_METHOD", &request.method)
            .env("PATH_INFO", &request.path)
            .env("QUERY_STRING", &request.query)
            .env("CONTENT_TYPE", &request.content_type)
            .env("CONTENT_LENGTH", request.body.len().to_string())
            .env("REMOTE_ADDR", "127.0.0.1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        if !request.content_encoding.is_empty() {
            backend.env("HTTP_CONTENT_ENCODING", &request.content_encoding);
        }
        if !request.git_protocol.is_empty() {
            backend.env("GIT_PROTOCOL", &request.git_protocol);
        }
        let mut child = backend.spawn()?;
        let mut input = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let body = request.body.clone();
        let feeder = std::thread::spawn(move || input.write_all(&body));
        let output = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let passed = pass_on(&mut BufReader::new(output), &mut stream);
        let _ = child.kill();
        let _ = child.wait();
        let _ = feeder.join();
        passed
    }
}

/// Reads one request, from a connection that `100 Continue` can be written to.
fn read_request(reader: &mut BufReader<Box<dyn Stream>>) -> io::Result<Request> {
    let mut request = Request::default();
    let first = line(reader)?;
    let mut words = first.split(' ');
    request.method = words.next().unwrap_or_default().to_owned();
    let target = words.next().unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    (request.path, request.query) = (path.to_owned(), query.to_owned());
    let (mut length, mut chunked) = (0, false);
    loop {
        let header = line(reader)?;
        let Some((name, value)) = header.split_once(':') else { break };
        let value = value.trim().to_owned();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().map_err(|_| io::ErrorKind::InvalidData)?,
            "transfer-encoding" => chunked = value.eq_ignore_ascii_case("chunked"),
            "content-type" => request.content_type = value,
            "content-encoding" => request.content_encoding = value,
            "git-protocol" => request.git_protocol = value,
            "authorization" => request.authorization = value,
            "expect" => reader.get_mut().write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?,
            _ => {}
        }
    }
    if chunked {
        loop {
            let size = line(reader)?;
            let size = u64::from_str_radix(size.split(';').next().unwrap_or_default().trim(), 16)
                .map_err(|_| io::ErrorKind::InvalidData)?;
            read_exactly(reader, size, &mut request.body)?;
            line(reader)?;
            if size == 0 {
                break;
            }
        }
    } else {
        read_exactly(reader, length, &mut request.body)?;
    }
    Ok(request)
}

fn read_exactly(reader: &mut impl Read, length: u64, body: &mut Vec<u8>) -> io::Result<()> {
    if body.len() as u64 + length > LARGEST_BODY {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    match reader.take(length).read_to_end(body)? as u64 {
        read if read == length => Ok(()),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Turns a CGI answer into one of HTTP; its end is the end of the connection.
fn pass_on(output: &mut impl BufRead, stream: &mut impl Write) -> io::Result<()> {
    let (mut status, mut headers) = ("200 OK".to_owned(), String::new());
    loop {
        let header = line(output)?;
        match header.split_once(':') {
            None => break,
            Some((name, value)) if name.eq_ignore_ascii_case("status") => status = value.trim().to_owned(),
            Some(_) => headers.push_str(&format!("{header}\r\n")),
        }
    }
    write!(stream, "HTTP/1.1 {status}\r\nConnection: close\r\n{headers}\r\n")?;
    io::copy(output, stream)?;
    stream.flush()
}

fn line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    if reader.take(16 << 10).read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}
