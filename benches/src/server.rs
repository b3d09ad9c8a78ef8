//! The release binary as a running server, and the smallest client that can ask it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::Value;

use crate::process;

/// The longest anything is waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(180);

/// A server that is ended when it is dropped.
pub(crate) struct Server {
    child: Child,
    /// `127.0.0.1:<port>`.
    pub(crate) address: String,
    /// When it was started.
    pub(crate) started: Instant,
}

impl Server {
    /// Starts a server; it listens when this returns, and may still be indexing.
    pub(crate) fn start(program: &Path, data: &Path, arguments: &[&str]) -> anyhow::Result<Server> {
        let started = Instant::now();
        let mut child = Command::new(program)
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(data)
            .args(arguments)
            // All load comes from one address, and is to be answered.
            .env("FORMWORK_RATE_LIMIT", "off")
            .env("FORMWORK_RATE_LIMIT_SEARCH", "off")
            .env("FORMWORK_RATE_LIMIT_PROCESS", "off")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} does not start", program.display()))?;
        let lines = BufReader::new(child.stderr.take().context("standard error is piped")?).lines();
        let (send, receive) = channel();
        std::thread::spawn(move || {
            // Read to the end, so that the server never waits for a reader of its log.
            for line in lines.map_while(Result::ok) {
                let _ = send.send(line);
            }
        });
        // From here on it is ended whatever happens.
        let mut server = Server { child, address: String::new(), started };
        let mut said = String::new();
        loop {
            match receive.recv_timeout(PATIENCE) {
                Ok(line) => match line.split("listening on http://").nth(1) {
                    Some(address) => {
                        server.address = address.trim_end_matches('/').trim().to_owned();
                        return Ok(server);
                    }
                    None => said.push_str(&format!("{line}\n")),
                },
                Err(RecvTimeoutError::Timeout) => bail!("the server does not say where it listens:\n{said}"),
                Err(RecvTimeoutError::Disconnected) => bail!("the server ended at once:\n{said}"),
            }
        }
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until a registry has so many versions, and says how long after the start that was.
    pub(crate) fn wait_versions(&self, registry: &str, versions: usize) -> anyhow::Result<Duration> {
        loop {
            let answer = get(&self.address, &format!("/api/v1/registries/{registry}"))?;
            let value = serde_json::from_slice::<Value>(&answer.body).unwrap_or_default();
            if answer.status == 200 && value["counts"]["versions"].as_u64() == Some(versions as u64) {
                return Ok(self.started.elapsed());
            }
            if self.started.elapsed() > PATIENCE {
                bail!(
                    "after {PATIENCE:?} the registry is not indexed: {}",
                    String::from_utf8_lossy(&answer.body)
                );
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until it says that it is ready, and says how long after the start that was.
    pub(crate) fn wait_ready(&self) -> anyhow::Result<Duration> {
        while get(&self.address, "/readyz").map_or(0, |answer| answer.status) != 200 {
            if self.started.elapsed() > PATIENCE {
                bail!("after {PATIENCE:?} the server is not ready");
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(self.started.elapsed())
    }

    /// Ends it as an operator would.
    pub(crate) fn stop(mut self) -> anyhow::Result<()> {
        process::signal(self.pid(), "TERM");
        let status = self.child.wait()?;
        if !status.success() {
            bail!("the server ended with {status}");
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An answer, read to its end.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

/// One GET on a connection of its own.
pub(crate) fn get(address: &str, path: &str) -> anyhow::Result<Answer> {
    ask(address, "GET", path, "", "")
}

/// One GET with further headers, each with its line end.
pub(crate) fn get_with(address: &str, path: &str, headers: &str) -> anyhow::Result<Answer> {
    ask(address, "GET", path, headers, "")
}

/// One POST of JSON with further headers, each with its line end.
pub(crate) fn post(address: &str, path: &str, headers: &str, body: &str) -> anyhow::Result<Answer> {
    let headers = format!("{headers}Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    ask(address, "POST", path, &headers, body)
}

fn ask(address: &str, method: &str, path: &str, headers: &str, body: &str) -> anyhow::Result<Answer> {
    let mut stream = TcpStream::connect(address).with_context(|| format!("{address} does not answer"))?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\n{headers}Connection: close\r\n\r\n{body}"
    )?;
    let mut text = Vec::new();
    stream.read_to_end(&mut text)?;
    let end = text.windows(4).position(|four| four == b"\r\n\r\n").context("the answer has no head")?;
    let head = String::from_utf8_lossy(&text[..end]).to_ascii_lowercase();
    let status =
        head.split(' ').nth(1).and_then(|status| status.parse().ok()).context("the answer has no status")?;
    if head.contains("transfer-encoding") {
        bail!("{path} is answered in chunks, which this client does not read");
    }
    Ok(Answer { status, body: text.split_off(end + 4) })
}
