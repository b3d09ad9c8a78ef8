//! `formwork digest` against the shell computation of `docs/digest.md`, taken from that page itself.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::kit::{example_registry, formwork, skipped, workspace};

/// The commands of the page, without its `cd`.
fn script() -> String {
    let page =
        std::fs::read_to_string(workspace().join("docs/digest.md")).expect("the page is in the repository");
    let block = page
        .split("```sh\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .expect("the page has a block of shell");
    block.lines().filter(|line| !line.starts_with("cd ")).map(|line| format!("{line}\n")).collect()
}

fn text(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn by_shell(directory: &Path) -> String {
    let sum = text(Command::new("sh").arg("-c").arg(script()).current_dir(directory).output().unwrap());
    format!("sha256:{}", sum.split_whitespace().next().unwrap())
}

fn by_formwork(directory: &Path) -> String {
    text(formwork().arg("digest").arg(directory).output().unwrap())
}

fn version_directories(directory: &Path) -> Vec<PathBuf> {
    let children = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let directories = children.filter(|path| path.is_dir());
    directories
        .flat_map(
            |path| if path.join("example.yaml").exists() { vec![path] } else { version_directories(&path) },
        )
        .collect()
}

#[test]
fn the_shell_of_the_page_computes_the_same_digests() {
    if Command::new("sha256sum").arg("--version").output().is_err() {
        return skipped("sha256sum is not installed");
    }
    let examples = version_directories(&example_registry());
    assert_eq!(examples.len(), 10);
    for directory in examples {
        assert_eq!(by_formwork(&directory), by_shell(&directory), "{}", directory.display());
    }
    // Executable files, names that sort otherwise than they look, and files below directories.
    let directory = tempfile::tempdir().unwrap();
    let version = directory.path().join("app/v1.0.0");
    std::fs::create_dir_all(version.join("a")).unwrap();
    let template = crate::kit::registries::kubernetes_template("app", "x");
    for (path, content) in [
        ("app.yaml", template.as_str()),
        ("a/b", "1"),
        ("a.b", "2"),
        ("a-b", ""),
        ("Ä", "3"),
        ("run.sh", "#!/bin/sh\n"),
    ] {
        std::fs::write(version.join(path), content).unwrap();
    }
    let plain = by_formwork(&version);
    assert_eq!(plain, by_shell(&version));
    std::fs::set_permissions(version.join("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let executable = by_formwork(&version);
    assert_eq!(executable, by_shell(&version));
    assert_ne!(plain, executable);
    let listing = text(formwork().args(["digest", "--listing"]).arg(&version).output().unwrap());
    assert_eq!(listing.lines().count(), 7, "{listing}");
    assert!(listing.starts_with("formwork version 1\n- "), "{listing}");
}
