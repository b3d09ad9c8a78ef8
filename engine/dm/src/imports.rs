//! Where a template's imports and types are looked up: the names given to files, then the files of the version.
//!
//! The originals knew only what a configuration or a schema lists; looking further into the version directory is
//! what the convention document promises ("files imported by the schema … live in the same directory").

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexMap;
use minijinja::value::{Enumerator, Object, Value as Jinja};
use schema::tree::Files;

/// The files one template sees, with the names they are imported by. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Imports(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    files: Files,
    /// Path by name, in the order they were listed; of equal names the first counts.
    listed: IndexMap<String, String>,
}

impl Imports {
    /// Those of a version, before anything is listed.
    pub(crate) fn of(files: &Files) -> Imports {
        Imports(Arc::new(Inner { files: files.clone(), listed: IndexMap::new() }))
    }

    /// The same with more names.
    pub(crate) fn with(&self, more: impl IntoIterator<Item = (String, String)>) -> Imports {
        let mut listed = self.0.listed.clone();
        for (name, path) in more {
            listed.entry(name).or_insert(path);
        }
        if listed.len() == self.0.listed.len() {
            return self.clone();
        }
        Imports(Arc::new(Inner { files: self.0.files.clone(), listed }))
    }

    /// The path of the file a name stands for.
    pub(crate) fn path<'n>(&'n self, name: &'n str) -> Option<&'n str> {
        let listed = self.0.listed.get(name).map(String::as_str);
        listed.or(Some(name)).filter(|path| self.0.files.get(path).is_some())
    }

    /// The text a name stands for; `None` if there is no such file or it is not UTF-8.
    pub(crate) fn text<'n>(&'n self, name: &'n str) -> Option<&'n str> {
        self.0.files.text(self.path(name)?)
    }

    /// Every text there is: by the names given, and by path.
    pub(crate) fn texts(&self) -> BTreeMap<String, String> {
        let listed = self.0.listed.keys().map(String::as_str);
        let names = self.0.files.iter().map(|(path, _)| path).chain(listed);
        names.filter_map(|name| Some((name.to_owned(), self.text(name)?.to_owned()))).collect()
    }

    /// All files.
    pub(crate) fn files(&self) -> &Files {
        &self.0.files
    }

    /// Whether two see the same: the same files under the same names.
    pub(crate) fn is_same(&self, other: &Imports) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// `imports` as templates see it: a map from name to text. Listed are the names given, or else all files.
impl Object for Imports {
    fn get_value(self: &Arc<Self>, key: &Jinja) -> Option<Jinja> {
        self.text(key.as_str()?).map(Jinja::from)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let inner = &self.0;
        let mut names = inner.listed.keys().cloned().collect::<Vec<_>>();
        if names.is_empty() {
            names = inner.files.iter().map(|(path, _)| path.to_owned()).collect();
        }
        Enumerator::Values(names.into_iter().map(Jinja::from).collect())
    }
}

/// A path relative to the directory of `from`, without `.` and `..`; `None` if it leads out of the version.
pub(crate) fn relative(from: &str, path: &str) -> Option<String> {
    let mut segments = from.split('/').collect::<Vec<_>>();
    segments.pop();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop()?;
            }
            other => segments.push(other),
        }
    }
    Some(segments.join("/"))
}

/// The files an import path means: one, or those a pattern with `*` and `?` matches within one directory.
pub(crate) fn matching(files: &Files, path: &str) -> Vec<String> {
    if !path.contains(['*', '?']) {
        return files.get(path).map(|_| path.to_owned()).into_iter().collect();
    }
    files
        .iter()
        .map(|(file, _)| file)
        .filter(|file| matches(path.as_bytes(), file.as_bytes()))
        .map(str::to_owned)
        .collect()
}

/// Whether a name fits a pattern; `*` and `?` stand for anything but a slash. Linear in the length of both.
pub(crate) fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
                continue;
            }
            Some(b'?') if name[n] != b'/' => {
                p += 1;
                n += 1;
                continue;
            }
            Some(byte) if *byte == name[n] => {
                p += 1;
                n += 1;
                continue;
            }
            _ => {}
        }
        match star {
            Some((at, taken)) if name[taken] != b'/' => {
                star = Some((at, taken + 1));
                p = at + 1;
                n = taken + 1;
            }
            _ => return false,
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside() {
        assert_eq!(relative("t.jinja", "./lib/x.py").as_deref(), Some("lib/x.py"));
        assert_eq!(relative("a/t.jinja", "../x.py").as_deref(), Some("x.py"));
        assert_eq!(relative("t.jinja", "../x.py"), None);
    }

    #[test]
    fn patterns_match_within_a_directory() {
        assert!(matches(b"lib/*.py", b"lib/a.py") && matches(b"*", b"a") && matches(b"a?c*", b"abcde"));
        assert!(!matches(b"lib/*.py", b"lib/a/b.py") && !matches(b"*.py", b"a.pyc") && !matches(b"?", b"/"));
    }
}
