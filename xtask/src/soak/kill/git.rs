//! What Git says of a commit: its versions and their files, by `git ls-tree` and `git cat-file`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use super::repository::git;

/// Versions by their directory, each with its files: path inside it, and the id of its bytes.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Versions(pub(super) BTreeMap<String, BTreeMap<String, String>>);

/// A bare repository.
pub(super) struct Git {
    path: PathBuf,
}

impl Git {
    pub(super) fn new(path: &Path) -> Git {
        Git { path: path.to_owned() }
    }

    /// Every version there is at a commit.
    pub(super) fn versions(&self, commit: &str) -> anyhow::Result<Versions> {
        let listing = String::from_utf8(self.run(&["ls-tree", "-r", "-z", commit])?)?;
        let mut versions = Versions::default();
        for line in listing.split('\0').filter(|line| !line.is_empty()) {
            let (facts, path) = line.split_once('\t').context("a line of ls-tree has a tab")?;
            let id = facts.rsplit(' ').next().context("a line of ls-tree has an id")?;
            let mut parts = path.split('/').collect::<Vec<_>>();
            let Some(at) = parts.iter().position(|part| part.starts_with("v1.0.")) else { continue };
            let inside = parts.split_off(at + 1).join("/");
            versions.0.entry(parts.join("/")).or_default().insert(inside, id.to_owned());
        }
        Ok(versions)
    }

    /// The bytes with an id.
    pub(super) fn bytes(&self, id: &str) -> anyhow::Result<Vec<u8>> {
        self.run(&["cat-file", "blob", id])
    }

    fn run(&self, arguments: &[&str]) -> anyhow::Result<Vec<u8>> {
        let output = git().arg("--git-dir").arg(&self.path).args(arguments).output()?;
        ensure!(
            output.status.success(),
            "git {}: {}",
            arguments.join(" "),
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(output.stdout)
    }
}
