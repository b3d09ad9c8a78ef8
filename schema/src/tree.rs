//! Trees of files as the layout rules read them: a Git tree, a directory, a test's map.
//!
//! A tree is read without a work tree and without following anything: links and submodules are entries, never
//! places to go. Names are bytes, for Git does not promise more.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// What an entry of a directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A directory.
    Directory,
    /// A file with its size in bytes, known without reading it.
    File {
        /// Bytes.
        size: u64,
        /// Whether it is marked executable.
        executable: bool,
    },
    /// A symbolic link; its target is not looked at.
    Link,
    /// A Git submodule; never fetched.
    Submodule,
}

/// One entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name's bytes.
    pub name: Vec<u8>,
    /// What it is.
    pub kind: EntryKind,
    /// A name for its content, if the tree has one (a Git object id): equal ids, equal content.
    pub id: Option<String>,
}

/// Why a tree could not be read. The version it concerns is judged alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TreeError(pub String);

/// Something that holds files under paths. Paths are relative, segments joined by `/`; the root is empty.
pub trait Tree {
    /// The entries of a directory, in any order; at most `limit`, and whether there were more.
    fn entries(&self, directory: &str, limit: usize) -> Result<(Vec<Entry>, bool), TreeError>;

    /// The bytes of a file; an error if it is larger than `limit`, which is found out before reading it.
    fn read(&self, file: &str, limit: u64) -> Result<Vec<u8>, TreeError>;
}

/// A tree in memory.
#[derive(Debug, Clone, Default)]
pub struct MemoryTree {
    entries: BTreeMap<Vec<u8>, (EntryKind, Vec<u8>)>,
}

impl MemoryTree {
    /// An empty tree.
    pub fn new() -> Self {
        MemoryTree::default()
    }

    /// Adds a file.
    pub fn file(mut self, path: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> Self {
        let content = content.as_ref().to_vec();
        let kind = EntryKind::File { size: content.len() as u64, executable: false };
        self.entries.insert(path.as_ref().to_vec(), (kind, content));
        self
    }

    /// Adds an entry that is not a plain file.
    pub fn special(mut self, path: impl AsRef<[u8]>, kind: EntryKind) -> Self {
        self.entries.insert(path.as_ref().to_vec(), (kind, Vec::new()));
        self
    }
}

impl Tree for MemoryTree {
    fn entries(&self, directory: &str, limit: usize) -> Result<(Vec<Entry>, bool), TreeError> {
        let prefix = if directory.is_empty() { String::new() } else { format!("{directory}/") };
        let mut found = BTreeMap::new();
        for (path, (kind, _)) in &self.entries {
            let Some(rest) = path.strip_prefix(prefix.as_bytes()) else { continue };
            match rest.iter().position(|byte| *byte == b'/') {
                Some(end) => found.insert(rest[..end].to_vec(), EntryKind::Directory),
                None => found.insert(rest.to_vec(), *kind),
            };
        }
        let more = found.len() > limit;
        let entries = found.into_iter().take(limit).map(|(name, kind)| Entry { name, kind, id: None });
        Ok((entries.collect(), more))
    }

    fn read(&self, file: &str, limit: u64) -> Result<Vec<u8>, TreeError> {
        match self.entries.get(file.as_bytes()) {
            Some((EntryKind::File { size, .. }, content)) if *size <= limit => Ok(content.clone()),
            Some((EntryKind::File { size, .. }, _)) => {
                Err(TreeError(format!("{file} has {size} bytes, above the limit of {limit}")))
            }
            _ => Err(TreeError(format!("{file} is not a file"))),
        }
    }
}

/// The files of one version, by path. Cheap to clone; bytes are shared.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Files(Arc<BTreeMap<String, Arc<[u8]>>>);

impl Files {
    /// The bytes of a file.
    pub fn get(&self, path: &str) -> Option<&Arc<[u8]>> {
        self.0.get(path)
    }

    /// The text of a file, if it is there and UTF-8.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.get(path).and_then(|bytes| std::str::from_utf8(bytes).ok())
    }

    /// Paths and bytes, sorted by path.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Arc<[u8]>)> {
        self.0.iter().map(|(path, bytes)| (path.as_str(), bytes))
    }

    /// How many files.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.0.iter().map(|(path, bytes)| (path, bytes.len()))).finish()
    }
}

impl<P: Into<String>, B: Into<Arc<[u8]>>> FromIterator<(P, B)> for Files {
    fn from_iter<T: IntoIterator<Item = (P, B)>>(files: T) -> Self {
        Files(Arc::new(files.into_iter().map(|(path, bytes)| (path.into(), bytes.into())).collect()))
    }
}
