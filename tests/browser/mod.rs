//! Pages in a browser: scenarios in JavaScript beside this file, each started here against a server of its own.
//!
//! They need node, the packages of `package.json` (`npm ci --prefix tests/browser`) and Chromium; where one is missing
//! the tests say so loudly and pass. What a scenario looks at is handed to it as JSON; it prints what is wrong.

pub(crate) mod content;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::kit::{Server, skipped, wait_for, workspace};
use content::EXAMPLE;

/// What scenarios are run with.
struct Browser {
    node: PathBuf,
    chromium: PathBuf,
}

impl Browser {
    /// What there is, or a loud word on what is missing.
    fn or_skip() -> Option<Browser> {
        let packages = directory().join("node_modules");
        let missing = |what: &str| {
            skipped(what);
            None
        };
        let Some(node) = program(&["node", "nodejs"]) else { return missing("node is not installed") };
        let Some(chromium) = program(&["chromium", "chromium-browser"]) else {
            return missing("Chromium is not installed");
        };
        if !["playwright-core", "axe-core"].iter().all(|package| packages.join(package).is_dir()) {
            return missing(
                "the packages of tests/browser are not installed; `npm ci --prefix tests/browser`",
            );
        }
        Some(Browser { node, chromium })
    }

    /// Runs a scenario against a server.
    #[track_caller]
    fn run(&self, scenario: &str, server: &Server, task: &Value) {
        let output = Command::new(&self.node)
            .arg(directory().join(scenario))
            .env("FORMWORK_URL", server.url())
            .env("CHROMIUM", &self.chromium)
            .env("TASK", task.to_string())
            .stdin(Stdio::null())
            .output()
            .expect("node starts");
        let said = String::from_utf8_lossy(&output.stdout);
        let log = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{scenario}:\n{said}{log}");
    }
}

fn directory() -> PathBuf {
    workspace().join("tests/browser")
}

/// The first of some programs that is on the path.
fn program(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let places = std::env::split_paths(&path).collect::<Vec<_>>();
    names.iter().find_map(|name| places.iter().map(|place| place.join(name)).find(|it| it.is_file()))
}

/// A server on the example registry and on what `make` writes below a directory of its own.
fn serve(make: impl FnOnce(&Path)) -> (tempfile::TempDir, Server) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let registry = directory.path().join("acme/templates");
    std::fs::create_dir_all(&registry).expect("a directory can be made in it");
    make(&registry);
    let server = Server::start(&["examples/registry", registry.to_str().expect("the path is text")]);
    (directory, server)
}

/// Every kind of page of the example registry, and those that are not there.
fn pages() -> Vec<String> {
    let redis = format!("{EXAMPLE}/databases/redis");
    let mut pages = vec![
        "/".to_owned(),
        "/search".to_owned(),
        "/search?q=redis&kind=template".to_owned(),
        "/search?q=rediss".to_owned(),
        "/search?q=nothing-is-called-this".to_owned(),
        "/registries".to_owned(),
        "/status".to_owned(),
        "/login".to_owned(),
        "/docs".to_owned(),
        "/docs/api".to_owned(),
        "/docs/openapi".to_owned(),
        "/docs/errors".to_owned(),
        "/docs/errors/unknown-version".to_owned(),
        "/nothing/is/here".to_owned(),
        EXAMPLE.to_owned(),
        format!("{EXAMPLE}/databases/"),
        format!("{EXAMPLE}/web/nginx:v1.0"),
    ];
    pages.extend(
        [
            "",
            ":=v1.0.0",
            "/-/files/",
            "/-/files/redis.yaml",
            "/-/versions",
            "/-/history",
            ":v9",
            "/-/files/nothing",
        ]
        .map(|end| format!("{redis}{end}")),
    );
    pages.push(format!("{EXAMPLE}/databases/radis"));
    pages
}

#[test]
fn every_page_is_for_everybody_at_every_width_in_both_themes() {
    let Some(browser) = Browser::or_skip() else { return };
    let (_directory, server) = serve(content::wide);
    browser.run("pages.mjs", &server, &json!({ "pages": pages() }));
}

#[test]
fn whatever_its_size_content_fits() {
    let Some(browser) = Browser::or_skip() else { return };
    let (_directory, server) = serve(content::wide);
    browser.run("pages.mjs", &server, &json!({ "pages": content::wide_pages() }));
}

#[test]
fn the_script_adds_what_fingers_expect() {
    let Some(browser) = Browser::or_skip() else { return };
    let server = Server::start(&["examples/registry"]);
    let task = json!({ "template": format!("{EXAMPLE}/databases/redis"), "file": "redis.yaml" });
    browser.run("script.mjs", &server, &task);
}

#[test]
fn everything_works_without_javascript() {
    let Some(browser) = Browser::or_skip() else { return };
    let (_directory, server) = serve(content::wide);
    let mut all = pages();
    all.extend(content::wide_pages());
    browser.run("bare.mjs", &server, &json!({ "pages": all }));
}

#[test]
fn attack_row_27_nothing_a_repository_holds_runs() {
    let Some(browser) = Browser::or_skip() else { return };
    let (_directory, server) = serve(content::hostile);
    browser.run("hostile.mjs", &server, &content::hostile_task());
}

#[test]
fn a_newcomer_gets_from_a_need_to_a_template_in_six_steps() {
    let Some(browser) = Browser::or_skip() else { return };
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let (arguments, files) = content::catalogue(directory.path(), "message-queue");
    let server = Server::launch(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    // One after the other: all of them together take longer than any one thing is waited for.
    for name in arguments.iter().filter_map(|argument| argument.split_once('=')).map(|(name, _)| name) {
        wait_for(&format!("{name} to be indexed"), || (server.sync(name)["state"] == "ready").then_some(()));
    }
    let task =
        json!({ "need": "queue to pass jobs between services", "template": "message-queue", "files": files });
    browser.run("newcomer.mjs", &server, &task);
}
