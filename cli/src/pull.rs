//! `formwork pull`: the files of a version, in a directory.
//!
//! What a server says is not trusted: paths must be safe on any system, every file must be what its digest says, all of
//! them together what the version's digest says, by the code `formwork digest` runs. Everything is written beside the
//! place it goes to and moved there in one step, so that nobody finds half a version.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use indexer::directory::DirectoryTree;
use schema::digest::DigestEntry;
use schema::layout::{safe_path, scan_version};
use schema::limits::TreeLimits;
use schema::{Digest, Reference, TemplateName, Version};
use serde_json::json;
use wire::resolve::Resolved;

use crate::arguments::PullArguments;
use crate::client::Client;
use crate::output::{self, BOLD};

pub(crate) fn run(arguments: &PullArguments) -> anyhow::Result<ExitCode> {
    arguments.reference.parse::<Reference>()?;
    let client = Client::new(&arguments.server.server)?;
    let resolved = client.resolve(&arguments.reference)?;
    let digest = checked(&resolved).context("the server's answer is refused")?;
    let directory = match &arguments.to {
        Some(directory) => directory.clone(),
        // Names of the registry's language, so no path of a stranger's making.
        None => {
            let template = resolved.template.parse::<TemplateName>()?;
            Version::from_directory(&resolved.version)?;
            Path::new(template.as_str()).join(&resolved.version)
        }
    };
    let free = match fs::read_dir(&directory) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound && !directory.is_symlink(),
    };
    ensure!(
        free,
        "{} exists and is left as it is\n  hint: remove it, or name another directory with --to",
        directory.display()
    );
    let staging = Staging::beside(&directory)?;
    for file in &resolved.files {
        let bytes = client.content(&resolved.registry, &resolved.digest, &file.path)?;
        let found = Digest::of(&bytes).to_string();
        ensure!(found == file.digest, "{} is not what its digest says: nothing was written", file.path);
        staging.write(&file.path, &bytes, file.executable)?;
    }
    let tree = DirectoryTree::new(&staging.path);
    let scanned = scan_version(&tree, "", &resolved.template, &TreeLimits::default());
    ensure!(scanned.digest == digest, "what was written is not what the digest says: it is removed again");
    staging.settle(&directory)?;
    if arguments.json {
        let files = resolved.files.iter().map(|file| &file.path).collect::<Vec<_>>();
        let said = json!({
            "reference": resolved.pinned, "digest": resolved.digest, "directory": directory, "files": files,
        });
        output::line(serde_json::to_string_pretty(&said)?);
    } else {
        let files = output::count(resolved.files.len(), "file");
        output::line(format_args!("{BOLD}{}{BOLD:#}", directory.display()));
        output::note(format_args!("{files} of {}, held against {}", resolved.reference, resolved.digest));
    }
    Ok(ExitCode::SUCCESS)
}

/// The digest of a version whose listing is sound: safe paths, no two alike, within limits, and the listing is what
/// the digest is of.
fn checked(resolved: &Resolved) -> anyhow::Result<Digest> {
    let digest = resolved.digest.parse::<Digest>()?;
    let limits = TreeLimits::default();
    let bytes = resolved.files.iter().map(|file| file.size).sum::<u64>();
    ensure!(resolved.files.len() <= limits.version_files && bytes <= limits.version_bytes, "it is too large");
    let mut entries = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for file in &resolved.files {
        ensure!(
            safe_path(&file.path),
            "`{}` is no path for a file",
            schema::finding::shown(file.path.as_bytes())
        );
        ensure!(seen.insert(file.path.to_lowercase()), "two files are called {}", file.path);
        entries.push((file, file.digest.parse::<Digest>()?));
    }
    let entries = entries.iter().map(|(file, content)| DigestEntry {
        path: &file.path,
        executable: file.executable,
        content: *content,
    });
    let listed = Digest::of_version(entries);
    if listed != digest {
        bail!("its files are those of {listed}, not of {digest}");
    }
    Ok(digest)
}

/// A directory beside the one that is made, removed unless it settles.
struct Staging {
    path: PathBuf,
}

impl Staging {
    fn beside(directory: &Path) -> anyhow::Result<Staging> {
        let above = directory.parent().filter(|above| !above.as_os_str().is_empty());
        let above = above.unwrap_or(Path::new("."));
        let cannot = |path: &Path| format!("{} cannot be made", path.display());
        fs::create_dir_all(above).with_context(|| cannot(above))?;
        let mut number = [0; 8];
        getrandom::fill(&mut number).map_err(|error| anyhow::anyhow!("no random number: {error}"))?;
        let path = above.join(format!(".formwork-pull-{}", hex::encode(number)));
        fs::create_dir(&path).with_context(|| cannot(&path))?;
        Ok(Staging { path })
    }

    fn write(&self, path: &str, bytes: &[u8], executable: bool) -> anyhow::Result<()> {
        let path = self.path.join(path);
        let cannot = || format!("{} cannot be written", path.display());
        if let Some(above) = path.parent() {
            fs::create_dir_all(above).with_context(cannot)?;
        }
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, if executable { 0o777 } else { 0o666 });
        let mut file = options.open(&path).with_context(cannot)?;
        file.write_all(bytes).with_context(cannot)
    }

    /// Moves it to its place, if that is still free or an empty directory.
    fn settle(self, directory: &Path) -> anyhow::Result<()> {
        fs::rename(&self.path, directory).with_context(|| format!("{} cannot be made", directory.display()))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // Once it has settled, nothing is there.
        let _ = fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(paths: &[&str]) -> Resolved {
        let content = Digest::of(b"x");
        let entries = paths.iter().map(|path| DigestEntry { path, executable: false, content });
        let digest = Digest::of_version(entries).to_string();
        let files = paths
            .iter()
            .map(|path| json!({"path": path, "size": 1, "digest": content.to_string(), "url": ""}));
        let links =
            json!({"template": "", "files": "", "content": "", "archive": "", "parameters": "", "page": ""});
        serde_json::from_value(json!({
            "requested": "a", "resolved": "v1.0.0", "pinned": "a", "reference": "a", "registry": "h/a/b", "template": "a",
            "version": "v1.0.0", "rule": "highest", "why": "", "digest": digest, "kind": "template", "health": "healthy",
            "entry": "a.yaml", "files": files.collect::<Vec<_>>(), "links": links,
        }))
        .unwrap()
    }

    #[test]
    fn what_a_server_lists_is_not_trusted() {
        checked(&resolved(&["a.yaml", "lib/b.yaml"])).unwrap();
        for bad in
            ["../a.yaml", "/etc/passwd", "a//b", "a/../b", "", "a\\b", ".git/hooks/x", "a\u{202e}b", "a\nb"]
        {
            assert!(checked(&resolved(&["a.yaml", bad])).is_err(), "{bad}");
        }
        assert!(checked(&resolved(&["a.yaml", "A.yaml"])).is_err(), "one file on some systems");
        let mut other = resolved(&["a.yaml"]);
        other.digest = Digest::of(b"y").to_string();
        assert!(checked(&other).is_err());
        let mut large = resolved(&["a.yaml"]);
        large.files[0].size = 1 << 40;
        assert!(checked(&large).is_err());
    }

    #[test]
    fn what_was_not_finished_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("redis/v1.0.0");
        let staging = Staging::beside(&place).unwrap();
        staging.write("lib/x", b"x", true).unwrap();
        drop(staging);
        assert_eq!(fs::read_dir(directory.path().join("redis")).unwrap().count(), 0);
        fs::create_dir(&place).unwrap();
        fs::write(place.join("mine"), "mine").unwrap();
        let staging = Staging::beside(&place).unwrap();
        assert!(staging.settle(&place).is_err(), "what somebody else put there meanwhile stays");
        assert_eq!(fs::read_dir(directory.path().join("redis")).unwrap().count(), 1);
    }
}
