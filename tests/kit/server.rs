//! A running `formwork serve` on a free port, with a data directory of its own, ended when it is dropped.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::client::{self, Answer};
use super::{PATIENCE, formwork, process, wait_for};

/// A server under test.
pub(crate) struct Server {
    child: Child,
    address: String,
    data: PathBuf,
    log: Arc<Mutex<String>>,
    /// The data directory, if it is only this server's.
    _own: Option<TempDir>,
}

impl Server {
    /// Starts a server and waits until it is ready.
    #[track_caller]
    pub(crate) fn start(arguments: &[&str]) -> Server {
        let server = Server::launch(arguments);
        server.wait_ready();
        server
    }

    /// Starts a server and waits until it listens.
    #[track_caller]
    pub(crate) fn launch(arguments: &[&str]) -> Server {
        let data = tempfile::tempdir().expect("a temporary directory can be made");
        let mut server = Server::launch_on(data.path(), arguments);
        server._own = Some(data);
        server
    }

    /// The same on a data directory that outlives the server.
    #[track_caller]
    pub(crate) fn launch_on(data: &Path, arguments: &[&str]) -> Server {
        let mut child = formwork()
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(data)
            .args(arguments)
            // A flag among the arguments goes before it.
            .env("FORMWORK_WORKERS", "2")
            .current_dir(super::workspace())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let log = Arc::new(Mutex::new(String::new()));
        let lines = BufReader::new(child.stderr.take().expect("standard error is piped"));
        std::thread::spawn({
            let log = log.clone();
            move || {
                for line in lines.lines().map_while(Result::ok) {
                    let mut log = log.lock().expect("no thread panics while it writes the log");
                    log.push_str(&line);
                    log.push('\n');
                }
            }
        });
        let read = || log.lock().expect("no thread panics while it writes the log").clone();
        let started = Instant::now();
        let address = loop {
            if let Some(address) = listening(&read()) {
                break address;
            }
            let ended = child.try_wait().expect("the child can be asked");
            assert!(
                ended.is_none() && started.elapsed() < PATIENCE,
                "the server does not listen ({ended:?}):\n{}",
                read()
            );
            std::thread::sleep(Duration::from_millis(5));
        };
        Server { child, address, data: data.to_owned(), log, _own: None }
    }

    /// Waits until `/readyz` says so, and that every registry has been indexed once.
    #[track_caller]
    pub(crate) fn wait_ready(&self) {
        wait_for("the server to be ready and its registries indexed", || {
            let ready = self.try_get("/readyz").ok().filter(|answer| answer.status == 200)?.json();
            let checks = ready["checks"].as_array()?;
            checks.iter().all(|check| check["ok"] == true || check["name"] != "registries").then_some(())
        });
    }

    /// `http://127.0.0.1:<port>`.
    pub(crate) fn url(&self) -> &str {
        &self.address
    }

    /// Where it keeps its data.
    pub(crate) fn data(&self) -> &Path {
        &self.data
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The ids of the processes it processes templates in.
    pub(crate) fn workers(&self) -> Vec<u32> {
        process::children(self.pid(), "__worker")
    }

    /// The ids of the processes that fetch and scan for it.
    pub(crate) fn scanners(&self) -> Vec<u32> {
        process::children(self.pid(), "__scan")
    }

    /// What it has written to standard error.
    pub(crate) fn log(&self) -> String {
        self.log.lock().expect("no thread panics while it writes the log").clone()
    }

    /// Asks for a path.
    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.try_get(path).unwrap_or_else(|error| panic!("GET {path}: {error}\n{}", self.log()))
    }

    /// Asks for a path of a server that may be gone.
    pub(crate) fn try_get(&self, path: &str) -> Result<Answer, String> {
        client::get(&format!("{}{path}", self.address))
    }

    /// Asks for a path with further headers.
    #[track_caller]
    pub(crate) fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        client::get_with(&format!("{}{path}", self.address), headers)
            .unwrap_or_else(|error| panic!("GET {path}: {error}"))
    }

    /// Sends a JSON value to a path.
    #[track_caller]
    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        let url = format!("{}{path}", self.address);
        client::post(&url, &body.to_string())
            .unwrap_or_else(|error| panic!("POST {path}: {error}\n{}", self.log()))
    }

    /// What a reference resolves to.
    #[track_caller]
    pub(crate) fn resolve(&self, reference: &str) -> Answer {
        self.get(&format!("/api/v1/resolve?ref={reference}"))
    }

    /// Processes a version with a values document.
    #[track_caller]
    pub(crate) fn process(&self, reference: &str, values: &Value) -> Answer {
        self.post(&format!("/api/v1/templates/{reference}/-/process"), values)
    }

    /// Waits until a reference resolves to a version.
    #[track_caller]
    pub(crate) fn wait_version(&self, reference: &str, version: &str) -> Value {
        wait_for(&format!("{reference} to resolve to {version}"), || {
            let answer = self
                .try_get(&format!("/api/v1/resolve?ref={reference}"))
                .ok()
                .filter(|answer| answer.status == 200)?;
            let answer = answer.json();
            (answer["resolved"] == version).then_some(answer)
        })
    }

    /// How bringing a registry up to date goes: an object with `state` and, if it failed, `message`.
    #[track_caller]
    pub(crate) fn sync(&self, registry: &str) -> Value {
        let status = self.get("/api/v1/status").expect_status(200).json();
        let registries = status["registries"].as_array().cloned().unwrap_or_default();
        registries.into_iter().find(|entry| entry["name"] == registry).unwrap_or_default()
    }

    /// The value of a metric without labels.
    #[track_caller]
    pub(crate) fn metric(&self, name: &str) -> u64 {
        let text = self.get("/metrics").expect_status(200).text();
        let value = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse::<f64>().ok());
        value.unwrap_or_else(|| panic!("{name} is not in /metrics:\n{text}")) as u64
    }

    /// Ends it as an operator would, with SIGTERM, and says how it went.
    pub(crate) fn stop(mut self) -> (ExitStatus, String) {
        assert!(process::signal(self.pid(), "TERM"), "the signal cannot be sent");
        let status =
            wait_for("the server to stop", || self.child.try_wait().expect("the child can be asked"));
        (status, self.log())
    }

    /// Ends it as a power cut would.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("the child is ours");
        self.child.wait().expect("the child is ours");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            let _ = writeln!(std::io::stderr(), "the log of the server:\n{}", self.log());
        }
    }
}

/// The address in the line that says where the server listens.
fn listening(log: &str) -> Option<String> {
    let line = log.lines().find(|line| line.contains("listening on http"))?;
    line.split_whitespace()
        .find(|word| word.starts_with("http"))
        .map(|word| word.trim_end_matches('/').to_owned())
}
