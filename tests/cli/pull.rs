//! `formwork pull`: what arrives is what was asked for, in one step, and nothing of anybody's is written over.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::kit::{Server, example_registry, formwork};

fn pull(directory: &Path, server: &str, arguments: &[&str]) -> Output {
    let mut command = formwork();
    command.arg("pull").args(arguments).args(["--server", server]).current_dir(directory).output().unwrap()
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Every file below a directory, with its bytes.
fn files(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut stack = vec![directory.to_owned()];
    while let Some(next) = stack.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                stack.push(path);
            } else {
                let name = path.strip_prefix(directory).unwrap().display().to_string();
                found.push((name, std::fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_version_arrives_as_it_is() {
    let server = Server::start(&[&example_registry().display().to_string()]);
    let home = tempfile::tempdir().unwrap();
    let pulled = pull(home.path(), server.url(), &["web/nginx:v1.0"]);
    assert!(pulled.status.success(), "{}", said(&pulled));
    assert_eq!(String::from_utf8_lossy(&pulled.stdout).trim(), "nginx/v1.0.1");
    let theirs = example_registry().join("web/nginx/v1.0.1");
    assert_eq!(files(&home.path().join("nginx/v1.0.1")), files(&theirs));

    // Pinned by what was fetched, elsewhere, for a tool.
    let resolved = server.resolve("web/nginx:v1.0").json();
    let pinned = resolved["pinned"].as_str().unwrap();
    let again = pull(home.path(), server.url(), &[pinned, "--to", "some/where", "--json"]);
    assert!(again.status.success(), "{}", said(&again));
    let report = serde_json::from_slice::<Value>(&again.stdout).unwrap();
    assert_eq!(report["digest"], resolved["digest"]);
    assert_eq!(report["files"].as_array().unwrap().len(), files(&theirs).len());
    assert_eq!(files(&home.path().join("some/where")), files(&theirs));
}

#[test]
fn what_is_there_stays_as_it_is() {
    let server = Server::start(&[&example_registry().display().to_string()]);
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(home.path().join("mine")).unwrap();
    std::fs::write(home.path().join("mine/notes"), "mine").unwrap();
    std::fs::write(home.path().join("file"), "mine").unwrap();
    std::os::unix::fs::symlink("mine", home.path().join("link")).unwrap();
    for taken in ["mine", "file", "link"] {
        let refused = pull(home.path(), server.url(), &["web/nginx", "--to", taken]);
        assert_eq!(refused.status.code(), Some(2), "{taken}: {}", said(&refused));
        assert!(
            said(&refused).contains("left as it is") && said(&refused).contains("--to"),
            "{}",
            said(&refused)
        );
    }
    assert_eq!(files(&home.path().join("mine")), [("notes".to_owned(), b"mine".to_vec())]);
    // An empty directory is as good as none.
    std::fs::create_dir(home.path().join("empty")).unwrap();
    let filled = pull(home.path(), server.url(), &["web/nginx", "--to", "empty"]);
    assert!(filled.status.success(), "{}", said(&filled));
}

/// A server that answers a resolve with this, and everything else with these bytes.
fn liar(resolved: Value, bytes: &'static str) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().take(20) {
            let Ok(mut stream) = stream else { return };
            let mut request = [0; 4096];
            let read = stream.read(&mut request).unwrap_or(0);
            let asked = String::from_utf8_lossy(&request[..read]).into_owned();
            let body =
                if asked.contains("/api/v1/resolve") { resolved.to_string() } else { bytes.to_owned() };
            let head =
                format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
            let _ = stream.write_all(format!("{head}{body}").as_bytes());
        }
    });
    address
}

#[test]
fn a_server_that_lies_writes_nothing() {
    let server = Server::start(&[&example_registry().display().to_string()]);
    let honest = server.resolve("web/nginx:v1.0").json();
    let home = tempfile::tempdir().unwrap();
    let mut escaping = honest.clone();
    escaping["files"][0]["path"] = json!("../../escaped");
    let mut absolute = honest.clone();
    absolute["files"][0]["path"] = json!("/tmp/escaped-by-pull");
    let mut relisted = honest.clone();
    relisted["files"][0]["digest"] = relisted["files"][1]["digest"].clone();
    let mut named = honest.clone();
    (named["template"], named["version"]) = (json!("../../elsewhere"), json!("v1.0.1"));
    let other_bytes = liar(honest, "other bytes");
    for (address, why) in [
        (liar(escaping, ""), "no path for a file"),
        (liar(absolute, ""), "no path for a file"),
        (liar(relisted, ""), "its files are those of"),
        (liar(named, ""), "elsewhere"),
        (other_bytes, "not what its digest says"),
    ] {
        let refused = pull(&home.path().join("."), &address, &["web/nginx:v1.0"]);
        assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
        assert!(said(&refused).contains(why), "{why}: {}", said(&refused));
    }
    assert_eq!(files(home.path()), [], "not even a part of it");
}
