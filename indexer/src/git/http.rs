//! Git over http and https: the requests gix asks for, made by us.
//!
//! gix has a transport of its own; this one stands in its place because every hop must be ours to judge: each address
//! is checked and then connected to and no other, a redirect is followed only to where the same repository may be,
//! credentials go to the origin they are for and nowhere else, and bytes and time are counted. A password is sent in
//! the clear where the operator gives an http URL with one, as git does.

use std::io::{self, BufRead, BufReader, Cursor, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine;
use gix::protocol::transport::client::blocking_io::http::{
    GetResponse, Http, PostBodyDataKind, PostResponse,
};
use reqwest::blocking::{Client, Response};
use reqwest::header::{AUTHORIZATION, CONTENT_ENCODING, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{StatusCode, Url};

use super::budget::Budget;
use crate::connection::ReadyConnection;
use crate::source::address::{CheckedResolver, LookupError, literal_address_of};
use crate::source::{Addresses, GitUrl};

/// Redirects that are followed for one fetch.
const MOST_HOPS: usize = 5;

/// Time to connect.
const CONNECT: Duration = Duration::from_secs(20);

/// Largest request: what we say we have.
const LARGEST_UPLOAD: usize = 64 << 20;

/// Why a request came to nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum HttpError {
    #[error("the server answered {0}")]
    Status(StatusCode),
    #[error("the server redirects to nowhere")]
    NoLocation,
    #[error("the server redirects from {0} to {1}, which is not followed")]
    Downgrade(String, String),
    #[error("the server redirects to {0}, which is another place than the repository's")]
    Elsewhere(String),
    #[error("the server redirects more than {MOST_HOPS} times")]
    TooManyHops,
    #[error("the server redirects a request that may not be redirected")]
    Moved,
    #[error("the server compressed its answer, which it was not asked to")]
    Compressed,
    #[error("the certificates that are to vouch for the server cannot be read: {0}")]
    Certificates(String),
    #[error("the request is too large")]
    Upload,
    #[error("{0}")]
    Request(String),
    #[error(transparent)]
    Lookup(#[from] LookupError),
}

/// The client of one fetch.
pub(super) struct GuardedHttp {
    client: Client,
    addresses: Addresses,
    /// Where credentials may go, and what says them.
    login: Option<(Url, HeaderValue)>,
    /// Where the repository is, once a redirect was followed.
    base: Option<String>,
    budget: Arc<Budget>,
}

impl GuardedHttp {
    pub(super) fn new(
        url: &GitUrl,
        connection: &ReadyConnection,
        budget: Arc<Budget>,
    ) -> Result<GuardedHttp, HttpError> {
        let mut builder = Client::builder()
            .no_proxy()
            .referer(false)
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT.min(budget.patience()))
            // Of the blocking client: the longest wait for an answer, and for each part of it.
            .timeout(budget.patience())
            .dns_resolver(Arc::new(CheckedResolver::new(connection.addresses)));
        if let Some(certificates) = &connection.certificates {
            let wrong = |error: &dyn std::fmt::Display| HttpError::Certificates(error.to_string());
            let certificates = reqwest::Certificate::from_pem_bundle(certificates.as_bytes())
                .map_err(|error| wrong(&error))?;
            if certificates.is_empty() {
                return Err(wrong(&"there is none in the file"));
            }
            builder = builder.tls_certs_only(certificates);
        }
        let client = builder.build().map_err(request_error)?;
        let login = match connection.login() {
            None => None,
            Some((name, password)) => {
                let text = base64::engine::general_purpose::STANDARD.encode(format!("{name}:{password}"));
                let mut value =
                    HeaderValue::try_from(format!("Basic {text}")).map_err(|_| HttpError::Upload)?;
                value.set_sensitive(true);
                Some((
                    Url::parse(&url.to_string()).map_err(|error| HttpError::Request(error.to_string()))?,
                    value,
                ))
            }
        };
        Ok(GuardedHttp { client, addresses: connection.addresses, login, base: None, budget })
    }

    /// One request to one place; the address is checked, a redirect is an answer.
    fn send(&self, url: &Url, headers: &HeaderMap, body: Option<Vec<u8>>) -> Result<Response, HttpError> {
        // A host that is an address is not looked up, so the resolver does not see it.
        if let Some(address) = literal_address_of(url) {
            self.addresses.check(address).map_err(|forbidden| LookupError::Forbidden {
                host: url.host_str().unwrap_or_default().to_owned(),
                forbidden,
            })?;
        }
        let mut headers = headers.clone();
        if let Some((origin, value)) = &self.login
            && origin.origin() == url.origin()
        {
            headers.insert(AUTHORIZATION, value.clone());
        }
        let request = match body {
            None => self.client.get(url.clone()),
            Some(body) => self.client.post(url.clone()).body(body),
        };
        let response = request.headers(headers).send().map_err(|error| self.explain(error))?;
        let encoded = response.headers().get(CONTENT_ENCODING);
        if encoded.is_some_and(|encoding| encoding != "identity") {
            return Err(HttpError::Compressed);
        }
        Ok(response)
    }

    fn explain(&self, error: reqwest::Error) -> HttpError {
        if error.is_timeout() && !error.is_connect() {
            return HttpError::Request(self.budget.in_vain().to_string());
        }
        request_error(error)
    }

    /// Asks for `url`, following redirects that end as `tail`; where it was found is remembered.
    fn follow(&mut self, url: &str, tail: &str, headers: &HeaderMap) -> Result<Response, HttpError> {
        let parse = |text: &str| Url::parse(text).map_err(|error| HttpError::Request(error.to_string()));
        let mut url = parse(url)?;
        for hop in 0..=MOST_HOPS {
            let response = self.send(&url, headers, None)?;
            if !response.status().is_redirection() {
                if hop > 0 {
                    self.base = url.as_str().strip_suffix(tail).map(str::to_owned);
                }
                return Ok(response);
            }
            let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
            let next = url.join(location.ok_or(HttpError::NoLocation)?).map_err(|_| HttpError::NoLocation)?;
            match (url.scheme(), next.scheme()) {
                ("http", "http" | "https") | ("https", "https") => {}
                (from, to) => return Err(HttpError::Downgrade(from.to_owned(), to.to_owned())),
            }
            let mut shown = next.clone();
            shown.set_query(None);
            if !next.as_str().ends_with(tail) || !next.username().is_empty() || next.password().is_some() {
                let _ = (shown.set_username(""), shown.set_password(None));
                return Err(HttpError::Elsewhere(shown.to_string()));
            }
            url = next;
        }
        Err(HttpError::TooManyHops)
    }
}

/// The last cause says why; the ones above it say which layers it went through.
fn request_error(error: reqwest::Error) -> HttpError {
    let error = error.without_url();
    let mut cause: &dyn std::error::Error = &error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    HttpError::Request(cause.to_string())
}

fn header_map(lines: impl IntoIterator<Item = impl AsRef<str>>) -> HeaderMap {
    let mut map = HeaderMap::new();
    for line in lines {
        let Some((name, value)) = line.as_ref().split_once(':') else { continue };
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value.trim())) {
            map.append(name, value);
        }
    }
    map
}

impl Http for GuardedHttp {
    type Headers = Headers;
    type ResponseBody = Body;
    type PostBody = Upload;

    fn get(
        &mut self,
        url: &str,
        base_url: &str,
        headers: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> gix::Result<GetResponse<Headers, Body>> {
        let tail = url.strip_prefix(base_url).unwrap_or_default().to_owned();
        let response = self.follow(url, &tail, &header_map(headers)).map_err(gix::Error::from_error)?;
        match response.status() {
            // gix takes this as the question for credentials.
            StatusCode::UNAUTHORIZED => {
                let headers = Headers::Failed(Some(io::ErrorKind::PermissionDenied.into()));
                Ok(GetResponse { headers, body: Body::Empty })
            }
            status if status.is_success() => Ok(GetResponse {
                headers: Headers::of(&response),
                body: Body::Ready(Box::new(BufReader::new(Counted {
                    response,
                    budget: self.budget.clone(),
                }))),
            }),
            status => Err(gix::Error::from_error(HttpError::Status(status))),
        }
    }

    fn post(
        &mut self,
        url: &str,
        _base_url: &str,
        headers: impl IntoIterator<Item = impl AsRef<str>>,
        _kind: PostBodyDataKind,
    ) -> gix::Result<PostResponse<Headers, Body, Upload>> {
        let url = Url::parse(url).map_err(gix::Error::from_error)?;
        let sender = GuardedHttp {
            client: self.client.clone(),
            addresses: self.addresses,
            login: self.login.clone(),
            base: None,
            budget: self.budget.clone(),
        };
        let exchange =
            Exchange { sender, url, headers: header_map(headers), upload: Vec::new(), state: State::Open };
        let shared = Arc::new(Mutex::new(exchange));
        Ok(PostResponse {
            post_body: Upload(shared.clone()),
            headers: Headers::Pending(shared.clone()),
            body: Body::Pending(shared),
        })
    }

    fn configure(&mut self, _config: &dyn std::any::Any) -> gix::Result {
        // What gix would configure comes from git's configuration files, which have no say here.
        Ok(())
    }

    fn redirected_base_url(&self) -> Option<String> {
        self.base.clone()
    }
}

/// A request whose body is still written; it is sent when its answer is first read.
pub(super) struct Exchange {
    sender: GuardedHttp,
    url: Url,
    headers: HeaderMap,
    upload: Vec<u8>,
    state: State,
}

enum State {
    Open,
    Answered(Option<Response>),
}

impl Exchange {
    /// The answer, asked for if need be.
    fn answer(&mut self) -> io::Result<&mut Option<Response>> {
        if let State::Open = self.state {
            let upload = std::mem::take(&mut self.upload);
            // Whatever comes of it, it is not sent twice.
            self.state = State::Answered(None);
            let response =
                self.sender.send(&self.url, &self.headers, Some(upload)).map_err(io::Error::other)?;
            match response.status() {
                status if status.is_success() => self.state = State::Answered(Some(response)),
                status if status.is_redirection() => return Err(io::Error::other(HttpError::Moved)),
                status => return Err(io::Error::other(HttpError::Status(status))),
            }
        }
        match &mut self.state {
            State::Answered(response) => Ok(response),
            State::Open => Err(io::ErrorKind::NotConnected.into()),
        }
    }
}

type Shared = Arc<Mutex<Exchange>>;

fn locked(shared: &Shared) -> std::sync::MutexGuard<'_, Exchange> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where gix writes a request.
pub(super) struct Upload(Shared);

impl Write for Upload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut exchange = locked(&self.0);
        if exchange.upload.len() + bytes.len() > LARGEST_UPLOAD {
            return Err(io::Error::other(HttpError::Upload));
        }
        exchange.upload.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The headers of an answer, a line each.
pub(super) enum Headers {
    Ready(Cursor<Vec<u8>>),
    Pending(Shared),
    Failed(Option<io::Error>),
}

impl Headers {
    fn of(response: &Response) -> Headers {
        let mut lines = Vec::new();
        for (name, value) in response.headers() {
            lines.extend_from_slice(name.as_str().as_bytes());
            lines.extend_from_slice(b": ");
            lines.extend_from_slice(value.as_bytes());
            lines.push(b'\n');
        }
        Headers::Ready(Cursor::new(lines))
    }
}

impl BufRead for Headers {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if let Headers::Pending(shared) = self {
            let headers = locked(shared).answer()?.as_ref().map(Headers::of);
            *self = headers.unwrap_or_else(|| Headers::Ready(Cursor::default()));
        }
        match self {
            Headers::Ready(lines) => lines.fill_buf(),
            Headers::Failed(error) => Err(error.take().unwrap_or_else(|| io::ErrorKind::NotConnected.into())),
            Headers::Pending(_) => Ok(&[]),
        }
    }

    fn consume(&mut self, amount: usize) {
        if let Headers::Ready(lines) = self {
            lines.consume(amount);
        }
    }
}

impl Read for Headers {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

/// The body of an answer.
pub(super) enum Body {
    Ready(Box<BufReader<Counted>>),
    Pending(Shared),
    Empty,
}

impl BufRead for Body {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if let Body::Pending(shared) = self {
            let (response, budget) = {
                let mut exchange = locked(shared);
                (exchange.answer()?.take(), exchange.sender.budget.clone())
            };
            *self = match response {
                Some(response) => {
                    Body::Ready(Box::new(BufReader::with_capacity(64 << 10, Counted { response, budget })))
                }
                None => Body::Empty,
            };
        }
        match self {
            Body::Ready(reader) => reader.fill_buf(),
            Body::Empty | Body::Pending(_) => Ok(&[]),
        }
    }

    fn consume(&mut self, amount: usize) {
        if let Body::Ready(reader) = self {
            reader.consume(amount);
        }
    }
}

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

/// An answer whose bytes are counted.
pub(super) struct Counted {
    response: Response,
    budget: Arc<Budget>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.response.read(buffer).map_err(|error| {
            // The client wraps its own error, which says whether it was time that ran out.
            let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<reqwest::Error>());
            if inner.is_some_and(reqwest::Error::is_timeout) { self.budget.in_vain() } else { error }
        })?;
        self.budget.take(count)?;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};

    use super::*;
    use crate::connection::{Connection, CredentialSource, Credentials, FetchLimits, Secret};
    use crate::source::Source;

    /// A server that answers every request with `answer` and keeps what it was asked.
    fn server(answer: String) -> (u16, Arc<Mutex<Vec<String>>>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        std::thread::spawn({
            let asked = asked.clone();
            move || {
                for mut stream in listener.incoming().map_while(Result::ok) {
                    let lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
                    let request = lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
                    asked.lock().unwrap().push(request);
                    stream.write_all(answer.as_bytes()).unwrap();
                }
            }
        });
        (port, asked)
    }

    fn ask(url: &str, addresses: Addresses) -> Result<StatusCode, String> {
        drop(rustls::crypto::ring::default_provider().install_default());
        let (source, credentials) = Source::parse_with_credentials(url, std::path::Path::new("/")).unwrap();
        let Source::Git(url) = source else { unreachable!("it is a URL") };
        let connection = Connection {
            credentials: credentials.map(CredentialSource::Given),
            addresses,
            ..Connection::default()
        };
        let limits = FetchLimits::new(1 << 20, Duration::from_secs(10));
        let connection = connection.ready(limits).unwrap();
        let mut http = GuardedHttp::new(&url, &connection, Arc::new(Budget::new(limits))).unwrap();
        let tail = "/info/refs?service=git-upload-pack";
        let answer = http.follow(&format!("{url}{tail}"), tail, &HeaderMap::new());
        answer.map(|response| response.status()).map_err(|error| error.to_string())
    }

    /// Attack row 15: the address is checked where it is connected to, whether the host is a name or an address, and
    /// nothing is sent when it is refused.
    #[test]
    fn addresses_are_checked_before_anything_is_sent() {
        let (port, asked) = server("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n".to_owned());
        for host in ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]"] {
            let url = format!("http://{host}:{port}/a.git");
            let refused = ask(&url, Addresses::Public).unwrap_err();
            assert!(refused.contains("loopback address"), "{host}: {refused}");
        }
        assert!(asked.lock().unwrap().is_empty(), "{asked:?}");
        assert_eq!(
            ask(&format!("http://localhost:{port}/a.git"), Addresses::Any),
            Ok(StatusCode::NO_CONTENT)
        );
    }

    /// Attack rows 15 and 31: credentials go to the origin they are for and to no other.
    #[test]
    fn a_redirect_does_not_take_credentials_along() {
        let (other, asked_other) = server("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n".to_owned());
        let to = format!("http://127.0.0.1:{other}/b.git/info/refs?service=git-upload-pack");
        let redirect =
            format!("HTTP/1.1 301 Moved\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        let (first, asked_first) = server(redirect);
        let url = format!("http://me:hunter2@127.0.0.1:{first}/a.git");
        assert_eq!(ask(&url, Addresses::Any), Ok(StatusCode::NO_CONTENT));
        let authorization = |asked: &Arc<Mutex<Vec<String>>>| {
            let asked = asked.lock().unwrap();
            assert_eq!(asked.len(), 1);
            asked[0].to_ascii_lowercase().contains("authorization: basic")
        };
        assert!(authorization(&asked_first) && !authorization(&asked_other));
        let given = Credentials { username: "me".to_owned(), password: Secret::new("hunter2") };
        assert!(!format!("{given:?}").contains("hunter2"));
    }
}
