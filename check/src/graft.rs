//! A tree shown at a place below an empty root, so that a single template or version is checked by the very walk
//! that checks a registry.

use schema::tree::{Entry, EntryKind, Tree, TreeError};

/// `tree` at `prefix`.
#[derive(Debug)]
pub struct Graft<T> {
    tree: T,
    prefix: String,
}

impl<T: Tree> Graft<T> {
    /// Shows `tree` at `prefix`, segments joined by `/`; empty is the root.
    pub fn new(tree: T, prefix: impl Into<String>) -> Graft<T> {
        Graft { tree, prefix: prefix.into() }
    }

    /// A path as this tree shows it, as the inner tree has it.
    pub fn inside<'a>(&self, path: &'a str) -> Option<&'a str> {
        match path.strip_prefix(self.prefix.as_str())? {
            "" => Some(""),
            rest if self.prefix.is_empty() => Some(rest),
            rest => rest.strip_prefix('/'),
        }
    }
}

impl<T: Tree> Tree for Graft<T> {
    fn entries(&self, directory: &str, limit: usize) -> Result<(Vec<Entry>, bool), TreeError> {
        if let Some(inside) = self.inside(directory) {
            return self.tree.entries(inside, limit);
        }
        let below = if directory.is_empty() {
            Some(self.prefix.as_str())
        } else {
            self.prefix.strip_prefix(directory).and_then(|rest| rest.strip_prefix('/'))
        };
        match below.and_then(|rest| rest.split('/').next()) {
            Some(name) => {
                Ok((vec![Entry { name: name.into(), kind: EntryKind::Directory, id: None }], false))
            }
            None => Err(TreeError(format!("{directory} is not there"))),
        }
    }

    fn read(&self, file: &str, limit: u64) -> Result<Vec<u8>, TreeError> {
        match self.inside(file) {
            Some(inside) => self.tree.read(inside, limit),
            None => Err(TreeError(format!("{file} is not there"))),
        }
    }
}
