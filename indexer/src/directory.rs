//! A directory on disk as a tree. Links are entries, never followed; nothing outside the root is reached.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use schema::tree::{Entry, EntryKind, Tree, TreeError};

/// The tree below a directory, `.git` left out.
#[derive(Debug, Clone)]
pub struct DirectoryTree {
    root: PathBuf,
}

impl DirectoryTree {
    /// The tree below `root`.
    pub fn new(root: impl Into<PathBuf>) -> DirectoryTree {
        DirectoryTree { root: root.into() }
    }

    /// A number that changes when anything below the root does, by names, sizes and times. Cheap enough to ask
    /// every second; not for trusting content.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let mut stack = vec![self.root.clone()];
        while let Some(directory) = stack.pop() {
            let Ok(entries) = fs::read_dir(&directory) else { continue };
            let mut entries = entries.flatten().collect::<Vec<_>>();
            entries.sort_by_key(fs::DirEntry::file_name);
            for entry in entries {
                let Ok(metadata) = entry.metadata() else { continue };
                if entry.file_name() == ".git" {
                    continue;
                }
                let times =
                    [metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec()];
                (entry.file_name(), metadata.len(), metadata.ino(), metadata.mode(), times).hash(&mut hasher);
                if metadata.is_dir() {
                    stack.push(entry.path());
                }
            }
        }
        hasher.finish()
    }

    fn path(&self, inside: &str) -> PathBuf {
        // Paths given here were joined from names this tree listed or the layout rules found safe.
        if inside.is_empty() { self.root.clone() } else { self.root.join(inside) }
    }
}

fn failed(path: &Path, error: &std::io::Error) -> TreeError {
    TreeError(format!("{} could not be read: {error}", path.display()))
}

impl Tree for DirectoryTree {
    fn entries(&self, directory: &str, limit: usize) -> Result<(Vec<Entry>, bool), TreeError> {
        let path = self.path(directory);
        let metadata = fs::symlink_metadata(&path).map_err(|error| failed(&path, &error))?;
        if !metadata.is_dir() {
            return Err(TreeError(format!("{} is not a directory", path.display())));
        }
        let mut entries = Vec::new();
        for entry in fs::read_dir(&path).map_err(|error| failed(&path, &error))? {
            let entry = entry.map_err(|error| failed(&path, &error))?;
            let name = entry.file_name();
            if name == ".git" {
                continue;
            }
            if entries.len() == limit {
                return Ok((entries, true));
            }
            let metadata = entry.metadata().map_err(|error| failed(&entry.path(), &error))?;
            let kind = match metadata.file_type() {
                file if file.is_dir() => EntryKind::Directory,
                file if file.is_file() => {
                    EntryKind::File { size: metadata.len(), executable: metadata.mode() & 0o100 != 0 }
                }
                // Sockets, pipes and devices are as little ours as links are.
                _ => EntryKind::Link,
            };
            entries.push(Entry { name: name.as_bytes().to_vec(), kind, id: None });
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok((entries, false))
    }

    fn read(&self, file: &str, limit: u64) -> Result<Vec<u8>, TreeError> {
        let path = self.path(file);
        // The last component may have become a link or a pipe since it was listed: neither is opened.
        let mut opened = fs::OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC)
            .open(&path)
            .map_err(|error| failed(&path, &error))?;
        let metadata = opened.metadata().map_err(|error| failed(&path, &error))?;
        if !metadata.is_file() {
            return Err(TreeError(format!("{} is not a file", path.display())));
        }
        let too_large = || TreeError(format!("{} is above the limit of {limit} bytes", path.display()));
        if metadata.len() > limit {
            return Err(too_large());
        }
        let mut content = Vec::with_capacity(metadata.len() as usize);
        opened.by_ref().take(limit + 1).read_to_end(&mut content).map_err(|error| failed(&path, &error))?;
        if content.len() as u64 > limit { Err(too_large()) } else { Ok(content) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// Attack row 4: links are listed as links and never opened.
    #[test]
    fn links_are_not_followed() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("file"), "x").unwrap();
        symlink("/etc/passwd", root.path().join("link")).unwrap();
        symlink("/etc", root.path().join("directory")).unwrap();
        let tree = DirectoryTree::new(root.path());
        let kinds = tree.entries("", 10).unwrap().0.into_iter().map(|entry| entry.kind).collect::<Vec<_>>();
        assert_eq!(kinds, [EntryKind::Link, EntryKind::File { size: 1, executable: false }, EntryKind::Link]);
        assert!(tree.read("link", 1 << 20).is_err());
        assert!(tree.entries("directory", 10).is_err());
        assert_eq!(tree.read("file", 1).unwrap(), b"x");
        assert!(tree.read("file", 0).is_err());
    }
}
