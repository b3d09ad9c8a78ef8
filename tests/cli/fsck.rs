//! `formwork fsck` on a data directory a server left behind.

use std::path::Path;
use std::process::Output;

use crate::kit::{Server, formwork, run_with};

fn fsck(data: &Path, more: &[&str]) -> Output {
    let mut command = formwork();
    command.arg("fsck").arg("--data").arg(data).args(more);
    run_with(command, b"")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_store_at_rest_is_whole_and_one_in_use_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::launch_on(data.path(), &["examples/registry"]);
    server.wait_ready();
    let refused = fsck(data.path(), &[]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("is in use"), "{}", text(&refused.stderr));
    let (status, log) = server.stop();
    assert!(status.success(), "{log}");

    let whole = fsck(data.path(), &[]);
    assert_eq!(whole.status.code(), Some(0), "{}{}", text(&whole.stdout), text(&whole.stderr));
    assert!(text(&whole.stdout).ends_with("templates: nothing wrong\n"), "{}", text(&whole.stdout));
    assert!(text(&whole.stdout).starts_with("10 versions, "), "{}", text(&whole.stdout));

    // Derived, so that it is repaired, and the exit code tells.
    std::fs::remove_dir_all(data.path().join("search")).unwrap();
    let rebuilt = fsck(data.path(), &["--json"]);
    let answer: serde_json::Value = serde_json::from_slice(&rebuilt.stdout).unwrap();
    assert_eq!((rebuilt.status.code(), &answer["templates"]), (Some(0), &6.into()), "{answer}");
}

#[test]
fn a_directory_without_a_store_is_no_store() {
    let nothing = tempfile::tempdir().unwrap();
    let output = fsck(nothing.path(), &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("holds no store"), "{}", text(&output.stderr));
}
