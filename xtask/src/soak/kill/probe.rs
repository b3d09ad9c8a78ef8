//! A server that will be killed, and what a reader sees of it: plain HTTP, read by hand.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde_json::Value;

use super::git::Git;

/// How long it may take to listen.
const STARTING: Duration = Duration::from_secs(30);

thread_local! {
    /// Bytes by their id in Git: asked for once.
    static KNOWN: RefCell<HashMap<String, Vec<u8>>> = RefCell::default();
}

/// A running server.
pub(super) struct Probe {
    child: Child,
    address: SocketAddr,
}

impl Probe {
    pub(super) fn start(program: &Path, data: &Path, log: &Path, source: &str) -> anyhow::Result<Probe> {
        let mut child = Command::new(program)
            .args(["serve", "--listen", "127.0.0.1:0", "--poll", "1s", "--workers", "2", "--data"])
            .arg(data)
            .args(["--registry", source])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(log)?)
            .spawn()
            .with_context(|| format!("{} does not start", program.display()))?;
        let began = Instant::now();
        loop {
            let said = std::fs::read_to_string(log)?;
            let address =
                said.lines().find_map(|line| line.split_once("listening on http://")).map(|(_, rest)| rest);
            if let Some(address) = address.and_then(|rest| rest.trim().trim_end_matches('/').parse().ok()) {
                return Ok(Probe { child, address });
            }
            if let Some(status) = child.try_wait()? {
                bail!("the server ended with {status}: {said}");
            }
            if began.elapsed() > STARTING {
                child.kill()?;
                bail!("the server does not listen: {said}");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// As a power cut would.
    pub(super) fn kill(mut self) -> anyhow::Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Asks for the registry to be looked at now. It may not be allowed, for the clock sees to it all the same.
    pub(super) fn ask_to_look(&self, registry: &str) {
        drop(self.ask("POST", &format!("/api/v1/registries/{registry}/-/sync")));
    }

    /// The commit that is shown.
    pub(super) fn commit(&self, registry: &str) -> anyhow::Result<Option<String>> {
        let (status, body) = self.ask("GET", &format!("/api/v1/registries/{registry}"))?;
        if status == 404 {
            return Ok(None);
        }
        ensure!(status == 200, "the registry answers {status}");
        Ok(json(&body)?["commit"].as_str().map(str::to_owned))
    }

    /// The versions that are listed of a template.
    pub(super) fn versions(&self, registry: &str, template: &str) -> anyhow::Result<Vec<String>> {
        let (status, body) = self.ask("GET", &format!("/api/v1/templates/{registry}/{template}"))?;
        ensure!(status == 200, "{template} answers {status}");
        let answer = json(&body)?;
        let versions = answer["versions"].as_array().context("versions are a list")?;
        Ok(versions.iter().filter_map(|version| version["version"].as_str().map(str::to_owned)).collect())
    }

    /// Whether a search for a template's name finds it.
    pub(super) fn finds(&self, registry: &str, template: &str) -> anyhow::Result<bool> {
        let name = template.rsplit('/').next().unwrap_or(template);
        let (status, body) = self.ask("GET", &format!("/api/v1/search?q={name}"))?;
        ensure!(status == 200, "the search for {name} answers {status}");
        let answer = json(&body)?;
        let hits = answer["hits"].as_array().context("hits are a list")?;
        Ok(hits.iter().any(|hit| hit["template"] == name && hit["registry"] == registry))
    }

    /// A version asked for exactly has these files and no others, byte by byte.
    pub(super) fn same_bytes(
        &self,
        registry: &str,
        template: &str,
        version: &str,
        files: &BTreeMap<String, String>,
        git: &Git,
    ) -> anyhow::Result<()> {
        let reference = format!("{registry}/{template}:={version}");
        let (status, body) = self.ask("GET", &format!("/api/v1/resolve?ref={reference}"))?;
        ensure!(status == 200, "{reference} resolves with {status}: {}", String::from_utf8_lossy(&body));
        let answer = json(&body)?;
        let listed = answer["files"].as_array().context("files are a list")?;
        let paths = listed.iter().filter_map(|file| file["path"].as_str()).collect::<Vec<_>>();
        ensure!(paths.iter().copied().eq(files.keys().map(String::as_str)), "files are {paths:?}");
        for (file, id) in listed.iter().zip(files.values()) {
            let url = file["url"].as_str().context("a file has a URL")?;
            let (status, served) = self.ask("GET", url)?;
            ensure!(status == 200, "{url} answers {status}");
            let known = KNOWN.with_borrow(|known| known.get(id).cloned());
            let expected = match known {
                Some(bytes) => bytes,
                None => {
                    let bytes = git.bytes(id)?;
                    KNOWN.with_borrow_mut(|known| known.insert(id.clone(), bytes.clone()));
                    bytes
                }
            };
            ensure!(served == expected, "{url} has other bytes than git");
        }
        Ok(())
    }

    /// The change log behind a sequence: the last sequence, and the versions it told of.
    pub(super) fn changes(&self, since: u64) -> anyhow::Result<(u64, Vec<String>)> {
        let (mut last, mut told) = (since, Vec::new());
        loop {
            let (status, body) = self.ask("GET", &format!("/api/v1/changes?since={last}&limit=100"))?;
            ensure!(status == 200, "the change log answers {status}: {}", String::from_utf8_lossy(&body));
            let answer = json(&body)?;
            let changes = answer["changes"].as_array().context("changes are a list")?;
            if changes.is_empty() {
                return Ok((last, told));
            }
            for change in changes {
                let sequence = change["sequence"].as_u64().context("a change has a sequence")?;
                ensure!(sequence > last, "change {sequence} comes after {last}");
                last = sequence;
                let part = |name: &str| change[name].as_str().unwrap_or_default();
                if !part("version").is_empty() {
                    let collection = Some(part("collection")).filter(|name| !name.is_empty());
                    let collection = collection.map(|name| format!("{name}/")).unwrap_or_default();
                    told.push(format!("{collection}{}:{}", part("template"), part("version")));
                }
            }
        }
    }

    /// One request, one answer, one connection.
    fn ask(&self, method: &str, path: &str) -> anyhow::Result<(u16, Vec<u8>)> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            self.address
        )?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        let end = answer
            .windows(4)
            .position(|four| four == b"\r\n\r\n")
            .context("the answer has no end of its head")?;
        let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .context("the answer has a status")?;
        ensure!(
            !head.contains("transfer-encoding"),
            "{path}: the answer is in chunks, which this reader does not read"
        );
        Ok((status, answer[end + 4..].to_vec()))
    }
}

fn json(body: &[u8]) -> anyhow::Result<Value> {
    serde_json::from_slice(body).with_context(|| format!("no JSON: {}", String::from_utf8_lossy(body)))
}
