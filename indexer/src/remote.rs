//! Templates behind URLs, where an operator allows it: fetched with their schema and what that imports, small, in time,
//! from checked addresses, and without following redirects.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use reqwest::blocking::Client;
use reqwest::{StatusCode, Url};
use schema::digest::DigestEntry;
use schema::layout::kind_of_file;
use schema::processing::{Provided, Template};
use schema::remote::AllowedUrls;
use schema::{Digest, Kind};

use crate::source::Addresses;
use crate::source::address::{CheckedResolver, literal_address_of};

/// Time for one file, from connecting to its last byte.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes of one file.
const LARGEST: u64 = 1 << 20;
/// Files of one template.
const MOST_FILES: usize = 50;

/// Fetches templates from URLs; by default from none.
#[derive(Debug, Clone, Default)]
pub struct Remote {
    allowed: AllowedUrls,
    addresses: Addresses,
}

/// Why a template was not fetched.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// It is not among the URLs that are allowed.
    #[error("templates are not fetched from `{0}` here: the operator lists where from with --allow-url")]
    NotAllowed(String),
    /// It is no template, by its name.
    #[error("`{0}` is no template: its name must end in .jinja or .py")]
    NoTemplate(String),
    /// There is no such file.
    #[error("there is nothing at `{0}`")]
    NotFound(String),
    /// It is too large, or has too many files.
    #[error("`{0}` is larger than the {max} KiB a fetched file may have", max = LARGEST >> 10)]
    TooLarge(String),
    /// It imports too many files.
    #[error("`{0}` imports more than {MOST_FILES} files")]
    TooMany(String),
    /// The server, or the way there.
    #[error("`{url}` could not be fetched: {why}")]
    Failed {
        /// The URL.
        url: String,
        /// What went wrong.
        why: String,
    },
}

impl Remote {
    /// From these URLs, at these addresses.
    pub fn new(allowed: AllowedUrls, addresses: Addresses) -> Remote {
        Remote { allowed, addresses }
    }

    /// The URLs that are allowed.
    pub fn allowed(&self) -> &AllowedUrls {
        &self.allowed
    }

    /// The template at a URL, with its schema and what that imports from below its directory. Blocks.
    ///
    /// # Errors
    /// When it is not allowed, not there, too large or cannot be fetched in time.
    pub fn fetch(&self, url: &str) -> Result<Provided, RemoteError> {
        if !self.allowed.allows(url) {
            return Err(RemoteError::NotAllowed(url.to_owned()));
        }
        let no_template = || RemoteError::NoTemplate(url.to_owned());
        let (directory, entry) = url.rsplit_once('/').ok_or_else(no_template)?;
        let kind = kind_of_file(entry, &[]).filter(|kind| matches!(kind, Kind::DmJinja | Kind::DmPython));
        let kind = kind.ok_or_else(no_template)?;
        let client = self.client(url)?;
        let main = self.get(&client, url)?.ok_or_else(|| RemoteError::NotFound(url.to_owned()))?;
        let mut files = BTreeMap::from([(entry.to_owned(), main)]);
        let mut asked = 1;
        loop {
            let template = Template {
                name: entry.rsplit_once('.').map_or(entry, |(name, _)| name).to_owned(),
                kind,
                entry: entry.to_owned(),
                files: files.clone().into_iter().collect(),
                jinja2: false,
            };
            let before = files.len();
            for wanted in worker::wanted(&template) {
                let path = wanted.path();
                let at = format!("{directory}/{path}");
                if files.contains_key(path) || wanted.is_pattern() || !self.allowed.allows(&at) {
                    continue;
                }
                asked += 1;
                if asked > MOST_FILES {
                    return Err(RemoteError::TooMany(url.to_owned()));
                }
                // What is not there is for the engine to miss.
                if let Some(bytes) = self.get(&client, &at)? {
                    files.insert(path.to_owned(), bytes);
                }
            }
            if files.len() == before {
                let entries = files.iter().map(|(path, bytes)| DigestEntry {
                    path,
                    executable: false,
                    content: Digest::of(bytes),
                });
                let digest = Digest::of_version(entries);
                // A URL has no versions: what names the bytes is their digest.
                return Ok(Provided { asked: url.to_owned(), version: digest.short(), digest, template });
            }
        }
    }

    fn client(&self, url: &str) -> Result<Client, RemoteError> {
        // Fails where it was done before.
        drop(rustls::crypto::ring::default_provider().install_default());
        let client = Client::builder()
            .no_proxy()
            .referer(false)
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(PATIENCE)
            .timeout(PATIENCE)
            .dns_resolver(Arc::new(CheckedResolver::new(self.addresses)));
        client.build().map_err(|error| RemoteError::Failed { url: url.to_owned(), why: error.to_string() })
    }

    /// The bytes at a URL; nothing if the server has none.
    fn get(&self, client: &Client, url: &str) -> Result<Option<Vec<u8>>, RemoteError> {
        let failed = |why: String| RemoteError::Failed { url: url.to_owned(), why };
        let parsed = Url::parse(url).map_err(|error| failed(error.to_string()))?;
        if let Some(address) = literal_address_of(&parsed) {
            self.addresses.check(address).map_err(|forbidden| failed(forbidden.to_string()))?;
        }
        let response = client.get(parsed).send().map_err(|error| failed(innermost(&error)))?;
        match response.status() {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND | StatusCode::GONE => return Ok(None),
            status if status.is_redirection() => {
                return Err(failed("the server redirects, which is not followed".to_owned()));
            }
            status => return Err(failed(format!("the server answered {status}"))),
        }
        let mut bytes = Vec::new();
        response.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| failed(error.to_string()))?;
        if bytes.len() as u64 > LARGEST {
            return Err(RemoteError::TooLarge(url.to_owned()));
        }
        Ok(Some(bytes))
    }
}

/// The last cause, which says what happened; those before it say where.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut here = error;
    while let Some(cause) = here.source() {
        here = cause;
    }
    here.to_string()
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::net::{Ipv4Addr, TcpListener};

    use super::*;

    /// A server of some paths, and of `/elsewhere` and `/large.jinja`.
    fn server(files: &'static [(&'static str, &'static str)]) -> String {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let path = lines.next().unwrap().unwrap().split(' ').nth(1).unwrap().to_owned();
                while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
                let answer = match files.iter().find(|(known, _)| *known == path) {
                    Some((_, text)) => {
                        format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{text}", text.len())
                    }
                    None if path.ends_with("elsewhere.jinja") => {
                        "HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n"
                            .to_owned()
                    }
                    None if path.ends_with("large.jinja") => {
                        format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(2 << 20))
                    }
                    None => "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_owned(),
                };
                drop(stream.write_all(answer.replacen("\r\n", "\r\nConnection: close\r\n", 1).as_bytes()));
            }
        });
        format!("http://127.0.0.1:{port}")
    }

    fn remote(prefix: &str, addresses: Addresses) -> Remote {
        Remote::new(AllowedUrls::new([prefix.parse().unwrap()]), addresses)
    }

    #[test]
    fn a_template_comes_with_its_schema_and_what_that_imports() {
        let base = server(&[
            ("/t/a.jinja", "resources: []"),
            ("/t/a.jinja.schema", "imports: [{path: lib/b.py}, {path: gone.py}, {path: ../up.py}]"),
            ("/t/lib/b.py", "B = 1"),
            ("/up.py", "not below the template"),
        ]);
        let found = remote(&base, Addresses::Any).fetch(&format!("{base}/t/a.jinja")).unwrap();
        let paths = found.template.files.iter().map(|(path, _)| path).collect::<Vec<_>>();
        assert_eq!(paths, ["a.jinja", "a.jinja.schema", "lib/b.py"]);
        assert_eq!((found.template.name.as_str(), found.template.kind), ("a", Kind::DmJinja));
    }

    #[test]
    fn attack_row_17_what_is_not_allowed_is_not_fetched() {
        let base = server(&[("/t/a.jinja", "resources: []"), ("/other/a.jinja", ""), ("/t/a.txt", "")]);
        let any = remote(&format!("{base}/t"), Addresses::Any);
        let says =
            |remote: &Remote, path: &str| remote.fetch(&format!("{base}{path}")).unwrap_err().to_string();
        assert!(any.fetch(&format!("{base}/t/a.jinja")).is_ok());
        assert!(says(&any, "/other/a.jinja").contains("--allow-url"));
        assert!(says(&any, "/t/../other/a.jinja").contains("--allow-url"));
        assert!(says(&any, "/t/a.txt").contains("no template"));
        assert!(says(&any, "/t/gone.jinja").contains("nothing at"));
        assert!(says(&any, "/t/elsewhere.jinja").contains("not followed"));
        assert!(says(&any, "/t/large.jinja").contains("larger than"));
        // Allowed, but at an address that only the server's own network reaches.
        let public = remote(&format!("{base}/t"), Addresses::Public);
        assert!(says(&public, "/t/a.jinja").contains("127.0.0.1"), "{}", says(&public, "/t/a.jinja"));
    }
}
