//! Every recorded exchange with a manager of v1.2.1, sent to our server as the client sent it, and compared.
//!
//! `exchanges/` holds the recordings, in the order of their `order`, from a manager that starts empty; `registry.json`
//! the repository they read. Times and numbers of manifests are not compared, nor the order of lists that have none.
//! Where ours differs on purpose, `differences.toml` says how and why, in exactly these words: a difference that is not
//! listed fails, and so does one that is listed and is not there any more. The page `docs/compatibility/dm-wire.md`
//! explains each reason.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;

use super::wire;
use crate::kit::{Server, workspace};

const REGISTRY: &str = "github.com/acme/templates";
/// Longest that Python is waited for.
const PYTHON: Duration = Duration::from_secs(300);

#[derive(Debug, Deserialize)]
pub(super) struct Recording {
    order: u32,
    pub(super) exchanges: Vec<Exchange>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Exchange {
    pub(super) to: String,
    pub(super) request: Request,
    pub(super) response: Response,
}

#[derive(Debug, Deserialize)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) target: String,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) body: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Response {
    pub(super) status: u16,
    #[serde(default)]
    pub(super) body: String,
}

/// What `differences.toml` says of an exchange.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Expected {
    /// Sections of the page that explain it.
    why: Vec<String>,
    /// It needs templates in Python processed.
    python: bool,
    /// What our refusal contains, in place of theirs.
    says: Option<String>,
    /// Each other place that differs: what was recorded, what ours says.
    differs: BTreeMap<String, [String; 2]>,
}

/// The repository of the recordings, in a directory.
pub(super) fn repository(root: &Path) {
    let text = std::fs::read_to_string(workspace().join("tests/http/dm/registry.json")).unwrap();
    let registry = serde_json::from_str::<Value>(&text).unwrap();
    for (path, content) in registry["files"].as_object().unwrap() {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content.as_str().unwrap()).unwrap();
    }
}

/// A server of that repository.
pub(super) fn serving(root: &Path, further: &[&str]) -> Server {
    repository(root);
    let registry = format!("{REGISTRY}={}", root.display());
    let arguments = ["--registry", registry.as_str()].into_iter().chain(further.iter().copied());
    Server::start(&arguments.collect::<Vec<_>>())
}

/// The recordings, by order, each with its name.
pub(super) fn recordings() -> Vec<(String, Recording)> {
    let directory = workspace().join("tests/http/dm/exchanges");
    let mut all =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    all.sort();
    let read = |path: &std::path::PathBuf| {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let recording = serde_json::from_str::<Recording>(&std::fs::read_to_string(path).unwrap());
        (name.clone(), recording.unwrap_or_else(|error| panic!("{name}: {error}")))
    };
    let mut all = all.iter().map(read).collect::<Vec<_>>();
    all.sort_by_key(|(_, recording)| recording.order);
    all
}

/// Everything that is not compared, made alike.
struct Alike {
    base: String,
    /// Names of manifests: what was recorded, and what ours are called.
    manifests: BTreeMap<String, String>,
}

impl Alike {
    /// A text of ours, with our addresses as GitHub's.
    fn ours(&self, text: &str) -> String {
        let text = text.replace(&format!("{}/raw/", self.base), "https://raw.githubusercontent.com/");
        let text = text.replace(&self.base, "http://SERVER");
        // A directory has no branch.
        text.replace(
            "githubusercontent.com/acme/templates/HEAD/",
            "githubusercontent.com/acme/templates/master/",
        )
    }

    /// A value with times and manifests alike, and lists in order.
    fn value(&self, value: &Value, top: bool) -> Value {
        match value {
            Value::String(text) => Value::String(alike(text)),
            Value::Array(items) => {
                let mut items = items.iter().map(|item| self.value(item, false)).collect::<Vec<_>>();
                if top || items.iter().all(|item| item.get("content").is_some()) {
                    items.sort_by_key(ToString::to_string);
                }
                Value::Array(items)
            }
            Value::Object(map) => {
                map.iter().map(|(key, value)| (key.clone(), self.value(value, false))).collect()
            }
            other => other.clone(),
        }
    }

    /// Takes down what ours is called wherever theirs was called something.
    fn learn(&mut self, theirs: &Value, ours: &Value) {
        match (theirs, ours) {
            (Value::String(theirs), Value::String(ours)) if theirs.starts_with("manifest-") => {
                self.manifests.insert(theirs.clone(), ours.clone());
            }
            (Value::Array(theirs), Value::Array(ours)) => {
                theirs.iter().zip(ours).for_each(|(theirs, ours)| self.learn(theirs, ours));
            }
            (Value::Object(theirs), Value::Object(ours)) => {
                for (key, theirs) in theirs {
                    self.learn(theirs, ours.get(key).unwrap_or(&Value::Null));
                }
            }
            _ => {}
        }
    }
}

fn alike(text: &str) -> String {
    let is_time = text.len() > 19 && text.as_bytes()[4] == b'-' && text.as_bytes()[10] == b'T';
    if is_time && text.ends_with('Z') && !text.starts_with("0001") {
        return "TIME".to_owned();
    }
    match text.strip_prefix("manifest-") {
        Some(number) if number.len() > 15 && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            "manifest-N".to_owned()
        }
        _ => text.to_owned(),
    }
}

/// Every place where two values differ.
fn differences(at: &str, theirs: &Value, ours: &Value, found: &mut BTreeMap<String, [String; 2]>) {
    match (theirs, ours) {
        _ if theirs == ours => {}
        (Value::Object(one), Value::Object(other)) => {
            for key in one.keys().chain(other.keys()).collect::<BTreeSet<_>>() {
                let [one, other] = [one, other].map(|map| map.get(key).unwrap_or(&Value::Null));
                differences(&format!("{at}/{key}"), one, other, found);
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (index, (one, other)) in one.iter().zip(other).enumerate() {
                differences(&format!("{at}/{index}"), one, other, found);
            }
        }
        _ => {
            let said = |value: &Value| match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            found.insert(at.to_owned(), [said(theirs), said(ours)]);
        }
    }
}

/// A body: JSON, or text.
fn body(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

#[test]
fn every_recorded_exchange_with_a_manager_is_answered_alike() {
    let root = tempfile::tempdir().unwrap();
    let server = serving(root.path(), &[]);
    let listed =
        std::fs::read_to_string(workspace().join("tests/http/dm/differences.toml")).unwrap_or_default();
    let listed = toml::from_str::<BTreeMap<String, Expected>>(&listed).unwrap();
    let mut alike = Alike { base: server.url().to_owned(), manifests: BTreeMap::new() };
    let has_python = processes_python(&server);
    if !has_python {
        println!(
            "SKIPPED in part: this build processes no Python, so exchanges that need it are not compared"
        );
    }
    let (mut compared, mut wrong, mut unused) = (0, String::new(), listed.keys().collect::<BTreeSet<_>>());
    for (name, recording) in recordings() {
        let to_manager = recording.exchanges.iter().filter(|exchange| exchange.to == "manager");
        for (index, exchange) in to_manager.enumerate() {
            let name = if index == 0 { name.clone() } else { format!("{name}-{}", index + 1) };
            let Request { method, target, headers, body: sent } = &exchange.request;
            let target = alike
                .manifests
                .iter()
                .fold(target.clone(), |target, (one, other)| target.replace(one, other));
            let headers =
                headers.iter().filter(|(name, _)| *name != "Accept-Encoding" && *name != "Content-Length");
            let headers = headers.map(|(name, value)| (name.as_str(), value.as_str()));
            let length = sent.len().to_string();
            let mut headers = headers.collect::<Vec<_>>();
            if !sent.is_empty() && !headers.iter().any(|(name, _)| *name == "Transfer-Encoding") {
                headers.push(("Content-Length", &length));
            }
            let answer = wire::send(server.url(), method, &format!("/dm{target}"), &headers, sent.as_bytes());
            compared += 1;
            let (theirs, ours) = (body(&exchange.response.body), body(&alike.ours(&answer.text())));
            alike.learn(&theirs, &ours);
            let mut found = BTreeMap::new();
            if exchange.response.status != answer.status {
                found.insert(
                    "status".to_owned(),
                    [exchange.response.status, answer.status].map(|status| status.to_string()),
                );
            }
            if (200..300).contains(&answer.status) && target != "/healthz" {
                assert_eq!(answer.header("content-type"), "application/json; charset=UTF-8", "{name}");
            }
            differences("body", &alike.value(&theirs, true), &alike.value(&ours, true), &mut found);
            unused.remove(&name);
            let none = Expected::default();
            let expected = listed.get(&name).unwrap_or(&none);
            if let Some(says) = &expected.says
                && answer.status >= 400
                && answer.text().contains(says.as_str())
            {
                found.remove("body");
            }
            if expected.differs != found && (has_python || !expected.python) {
                let _ = writeln!(wrong, "[{name}]\nwhy = {:?}\n[{name}.differs]", expected.why);
                for (place, [theirs, ours]) in found {
                    let text = |text: &str| toml::Value::String(text.to_owned()).to_string();
                    let _ = writeln!(wrong, "{} = [{}, {}]", text(&place), text(&theirs), text(&ours));
                }
            }
        }
    }
    assert_eq!(compared, 151, "exchanges are missing");
    assert!(unused.is_empty(), "differences of exchanges that are not there: {unused:?}");
    if let Ok(path) = std::env::var("DM_DIFFERENCES") {
        std::fs::write(path, &wrong).unwrap();
    }
    assert!(wrong.is_empty(), "differences are not as listed:\n{wrong}");
}

/// Whether templates in Python are processed by this build.
fn processes_python(server: &Server) -> bool {
    let content = format!("resources:\n- name: a\n  type: {REGISTRY}/data/store:v1.0.1\n");
    let body = serde_json::json!({"name": "a", "content": content, "imports": []}).to_string();
    let headers = [("Transfer-Encoding", "chunked")];
    let started = Instant::now();
    loop {
        let answer = wire::send(server.url(), "POST", "/dm/expand", &headers, body.as_bytes());
        // Whoever is first has it compiled for this machine.
        if answer.status != 503 || started.elapsed() > PYTHON {
            return answer.status == 201;
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Whoever reads why ours differs finds it on the page, and the page speaks of nothing that is not so.
#[test]
fn every_difference_is_explained_on_the_page() {
    let read = |path: &str| std::fs::read_to_string(workspace().join(path)).unwrap();
    let listed =
        toml::from_str::<BTreeMap<String, Expected>>(&read("tests/http/dm/differences.toml")).unwrap();
    let reasons = listed.values().flat_map(|expected| expected.why.clone()).collect::<BTreeSet<_>>();
    for (name, expected) in &listed {
        let differs = !expected.differs.is_empty() || expected.says.is_some();
        assert_eq!(
            differs,
            !expected.why.is_empty(),
            "{name}: every difference has a reason, and nothing else has"
        );
    }
    let page = read("docs/compatibility/dm-wire.md");
    let explained = page.lines().filter_map(|line| line.strip_prefix("### `")?.strip_suffix('`'));
    assert_eq!(explained.map(str::to_owned).collect::<BTreeSet<_>>(), reasons);
}
