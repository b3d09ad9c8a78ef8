//! The layout convention: from a tree of files to collections, templates and versions, with findings.
//!
//! Source: the convention document, "Template Organization" and "Template collections"; what it leaves open is
//! decided in `docs/architecture.md`. The walk streams: a registry may hold 100,000 versions, so a version is
//! handed to the [`Sink`] as soon as it is read and never kept here. Each version is judged alone; only structure
//! keeps one from being published.

mod paths;
pub mod rules;
mod version_directory;

pub use paths::{safe_path, unsafe_name};
pub use version_directory::{ScannedFile, ScannedVersion, kind_of_file, scan_version};

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::confusable;
use crate::finding::{Finding, shown};
use crate::limits::TreeLimits;
use crate::name::{CollectionName, TemplateName};
use crate::registry_file::RegistryFile;
use crate::tree::{Entry, EntryKind, Tree, TreeError};
use crate::version::{Fullness, Version};

/// A directory that holds a flat list of templates.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Collection {
    /// Its name; `None` is the root.
    pub name: Option<CollectionName>,
    /// Its directory; empty is the root.
    pub path: String,
    /// A title, if `registry.yaml` gives one.
    pub title: Option<String>,
    /// A description, if `registry.yaml` gives one.
    pub description: Option<String>,
    /// The directory's own name where `registry.yaml` maps a top-level directory under another: it still resolves.
    pub alias: Option<CollectionName>,
}

/// A version directory that was found, before it is looked into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found<'a> {
    /// The collection it is in.
    pub collection: &'a Collection,
    /// The template it belongs to.
    pub template: TemplateName,
    /// The version its name says.
    pub version: Version,
    /// The directory, from the root of the tree.
    pub path: String,
    /// A name for its content, if the tree has one: with a known one, the sink may skip the reading.
    pub id: Option<String>,
}

/// Takes what a scan finds, in the order of the walk.
pub trait Sink {
    /// A collection, before anything in it.
    fn collection(&mut self, collection: &Collection);

    /// Whether this version must be read; `false` if the sink knows its content by `found.id`.
    fn wants(&mut self, found: &Found<'_>) -> bool;

    /// A version that was read. Not published if it has no template; its findings say why.
    fn version(&mut self, found: &Found<'_>, version: ScannedVersion);

    /// A finding about the registry as a whole or about something that is no version.
    fn finding(&mut self, finding: Finding);
}

/// Walks a tree by the convention.
///
/// # Errors
/// Only when the root itself cannot be read or the walk outgrows [`TreeLimits::walk_entries`]: then there is no
/// registry here. Everything else is a finding.
pub fn scan(tree: &dyn Tree, limits: &TreeLimits, sink: &mut dyn Sink) -> Result<RegistryFile, TreeError> {
    let mut walk = Walk { tree, limits, sink, left: limits.walk_entries };
    let root = walk.directories("")?;
    let registry_file = walk.registry_file(&root.files);
    let collections = walk.collections(&root.directories, &registry_file)?;
    for collection in &collections {
        walk.collection(collection, &collections)?;
    }
    Ok(registry_file)
}

/// A template directory to be walked again, by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateDirectory {
    /// The collection it is in.
    pub collection: Collection,
    /// Its path, from the root of the tree; its last segment is the template's name.
    pub path: String,
}

/// Walks some template directories of a tree that was walked as a whole before: the sink is told what [`scan`] would
/// tell of them, and nothing else. One that is not there has nothing to tell.
///
/// # Errors
/// When the walk outgrows [`TreeLimits::walk_entries`].
pub fn scan_some(
    tree: &dyn Tree,
    limits: &TreeLimits,
    templates: &[TemplateDirectory],
    sink: &mut dyn Sink,
) -> Result<(), TreeError> {
    let mut walk = Walk { tree, limits, sink, left: limits.walk_entries };
    for TemplateDirectory { collection, path } in templates {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        let (siblings, _) = tree.entries(parent, limits.directory_entries)?;
        let is_it = |entry: &Entry| entry.name == name.as_bytes() && entry.kind == EntryKind::Directory;
        if !siblings.iter().any(is_it) {
            continue;
        }
        let Some(inside) = walk.children(path)? else { continue };
        let siblings = siblings.iter().filter(|entry| entry.kind == EntryKind::Directory);
        let siblings = siblings.filter_map(|entry| std::str::from_utf8(&entry.name).ok());
        walk.name(name, path, &lookalikes(siblings));
        walk.template(collection, name, path, inside)?;
    }
    Ok(())
}

/// Names by what they look like.
fn lookalikes<'n>(names: impl Iterator<Item = &'n str>) -> HashMap<String, Vec<&'n str>> {
    let mut alike = HashMap::<String, Vec<&str>>::new();
    for name in names {
        alike.entry(confusable::skeleton(name)).or_default().push(name);
    }
    alike
}

struct Walk<'a> {
    tree: &'a dyn Tree,
    limits: &'a TreeLimits,
    sink: &'a mut dyn Sink,
    left: u64,
}

/// The children of a directory that can be named, told apart.
#[derive(Default)]
struct Children {
    directories: Vec<(String, Option<String>)>,
    files: BTreeSet<String>,
}

impl Children {
    /// Whether this is a template directory: it holds something meant as a version.
    fn has_versions(&self) -> bool {
        self.directories.iter().any(|(name, _)| Version::looks_like_directory(name))
    }
}

impl Walk<'_> {
    /// Lists a directory; entries that are neither directories nor files, or cannot be named, become findings.
    fn directories(&mut self, path: &str) -> Result<Children, TreeError> {
        let (entries, more) = self.tree.entries(path, self.limits.directory_entries)?;
        let Some(left) = self.left.checked_sub(entries.len() as u64) else {
            self.left = 0;
            return Err(TreeError(format!(
                "the tree has more than {} entries to look at",
                self.limits.walk_entries
            )));
        };
        self.left = left;
        if more {
            let message = format!(
                "the directory has more than {} entries; the rest is not read",
                self.limits.directory_entries
            );
            self.sink.finding(Finding::new(&rules::TREE_TOO_LARGE, path, message));
        }
        let mut children = Children::default();
        for Entry { name, kind, id } in entries {
            let at = || paths::join(path, &shown(&name));
            match (kind, unsafe_name(&name)) {
                (EntryKind::Directory, None) => {
                    let name = String::from_utf8(name).expect("a safe name is UTF-8");
                    if !name.starts_with('.') {
                        children.directories.push((name, id));
                    }
                }
                (EntryKind::File { .. }, None) => {
                    children.files.insert(String::from_utf8(name).expect("a safe name is UTF-8"));
                }
                (EntryKind::Directory | EntryKind::File { .. }, Some(reason)) => {
                    self.sink.finding(Finding::new(
                        &rules::FORBIDDEN_NAME,
                        at(),
                        format!("the name {reason}"),
                    ));
                }
                (EntryKind::Link, _) => {
                    let finding = Finding::new(&rules::LINK, at(), "a symbolic link, which is not followed");
                    self.sink.finding(finding);
                }
                (EntryKind::Submodule, _) => {
                    let finding = Finding::new(&rules::SUBMODULE, at(), "a submodule, which is not fetched");
                    self.sink.finding(finding);
                }
            }
        }
        children.directories.sort();
        Ok(children)
    }

    /// Like [`Walk::directories`] below the root, where a directory that cannot be read is a finding.
    fn children(&mut self, path: &str) -> Result<Option<Children>, TreeError> {
        match self.directories(path) {
            Ok(children) => Ok(Some(children)),
            Err(error) if self.left == 0 => Err(error),
            Err(error) => {
                self.sink.finding(Finding::new(&rules::UNREADABLE, path, error.to_string()));
                Ok(None)
            }
        }
    }

    fn registry_file(&mut self, files: &BTreeSet<String>) -> RegistryFile {
        const NAME: &str = "registry.yaml";
        if !files.contains(NAME) {
            return RegistryFile::default();
        }
        let bytes = match self.tree.read(NAME, self.limits.registry_file_bytes) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.sink.finding(Finding::new(&rules::REGISTRY_FILE, NAME, error.to_string()));
                return RegistryFile::default();
            }
        };
        let (file, findings) = RegistryFile::parse(&bytes);
        findings.into_iter().for_each(|finding| self.sink.finding(finding));
        file
    }

    /// The root, the collections `registry.yaml` maps, and every other top-level directory that holds templates.
    fn collections(
        &mut self,
        top: &[(String, Option<String>)],
        file: &RegistryFile,
    ) -> Result<Vec<Collection>, TreeError> {
        let root =
            Collection { name: None, path: String::new(), title: None, description: None, alias: None };
        let mut collections = vec![root];
        let mut mapped = BTreeMap::new();
        for (name, entry) in &file.collections {
            match self.tree.entries(&entry.path, 1) {
                Ok(_)
                    if entry.path.is_empty()
                        || top
                            .iter()
                            .any(|(directory, _)| entry.path.split('/').next() == Some(directory)) => {}
                _ => {
                    let message = format!(
                        "the collection `{name}` is mapped to `{}`, which is not a directory",
                        entry.path
                    );
                    self.sink.finding(
                        Finding::new(&rules::COLLECTION_PATH, "registry.yaml", message).at(entry.place),
                    );
                    continue;
                }
            }
            let alias = (!entry.path.contains('/') && entry.path != name.as_str())
                .then(|| entry.path.parse().ok())
                .flatten()
                // A collection of that very name, mapped elsewhere, goes first.
                .filter(|alias| !file.collections.contains_key(alias));
            mapped.insert(entry.path.clone(), name.clone());
            collections.push(Collection {
                name: Some(name.clone()),
                path: entry.path.clone(),
                title: entry.title.clone(),
                description: entry.description.clone(),
                alias,
            });
        }
        for (directory, _) in top {
            if mapped.contains_key(directory) {
                continue;
            }
            let Some(children) = self.children(directory)? else { continue };
            // A template of the root collection, or nothing of ours.
            if children.has_versions() || children.directories.is_empty() {
                continue;
            }
            let taken = file.collections.keys().any(|name| name.as_str() == directory);
            match directory.parse::<CollectionName>() {
                Ok(name) if !taken => collections.push(Collection {
                    name: Some(name),
                    path: directory.clone(),
                    title: None,
                    description: None,
                    alias: None,
                }),
                Ok(_) => {
                    let message = format!(
                        "the collection `{directory}` is mapped elsewhere, so templates here cannot be referenced"
                    );
                    self.sink.finding(Finding::new(&rules::GROUPED, directory, message));
                }
                Err(error) => {
                    self.sink.finding(Finding::new(&rules::COLLECTION_NAME, directory, error.to_string()));
                }
            }
        }
        Ok(collections)
    }

    /// Finds the templates at the root of a collection; deeper ones cannot be referenced, and a finding says so.
    fn collection(&mut self, collection: &Collection, all: &[Collection]) -> Result<(), TreeError> {
        let Some(children) = self.children(&collection.path)? else { return Ok(()) };
        let mut group_entries = self.limits.group_entries;
        let mut announced = collection.name.is_none();
        if announced {
            self.sink.collection(collection);
        }
        let alike = lookalikes(children.directories.iter().map(|(name, _)| name.as_str()));
        for (directory, _) in &children.directories {
            let path = paths::join(&collection.path, directory);
            if all.iter().any(|other| other.path == path) {
                continue;
            }
            let Some(inside) = self.children(&path)? else { continue };
            if inside.has_versions() {
                self.name(directory, &path, &alike);
                if !announced {
                    self.sink.collection(collection);
                    announced = true;
                }
                self.template(collection, directory, &path, inside)?;
            } else if collection.name.is_some() && !inside.directories.is_empty() {
                self.group(&path, inside, all, &mut group_entries)?;
            }
        }
        // A mapped collection is listed even while it is empty: its maintainer has said that it exists.
        if !announced && collection.path.contains('/') {
            self.sink.collection(collection);
        }
        Ok(())
    }

    /// Says which directories beside a template are called almost like it.
    fn name(&mut self, name: &str, path: &str, alike: &HashMap<String, Vec<&str>>) {
        let others =
            alike.get(&confusable::skeleton(name)).into_iter().flatten().filter(|other| **other != name);
        if let Some(other) = others.min() {
            let message = format!("`{name}` is easily taken for `{other}`, which is beside it");
            self.sink.finding(Finding::new(&rules::NAME_CONFUSABLE, path, message));
        }
    }

    /// A directory between a collection and templates: valid, but what is in it cannot be referenced.
    ///
    /// A tree may hold itself many times over and so stand for more directories than there are in the world; `left`
    /// bounds what is looked at, and the rest of the registry does not suffer for it.
    fn group(
        &mut self,
        path: &str,
        children: Children,
        all: &[Collection],
        left: &mut u64,
    ) -> Result<(), TreeError> {
        if *left == 0 {
            return Ok(());
        }
        let mut stack = vec![(path.to_owned(), children)];
        let mut found = BTreeMap::<String, Vec<String>>::new();
        'walk: while let Some((parent, children)) = stack.pop() {
            for (directory, _) in children.directories {
                let child = paths::join(&parent, &directory);
                if child.matches('/').count() > self.limits.version_depth
                    || all.iter().any(|other| other.path == child)
                {
                    continue;
                }
                let before = self.left;
                let Some(inside) = self.children(&child)? else { continue };
                *left = left.saturating_sub(before - self.left);
                if *left == 0 {
                    let message = format!(
                        "there are more than {} entries below the directory; no more templates are looked for in it",
                        self.limits.group_entries
                    );
                    self.sink.finding(Finding::new(&rules::TREE_TOO_LARGE, path, message));
                    break 'walk;
                }
                if inside.has_versions() {
                    found.entry(parent.clone()).or_default().push(directory);
                } else {
                    stack.push((child, inside));
                }
            }
        }
        for (path, templates) in found {
            let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
            let message = match templates.as_slice() {
                [one] => format!("the template `{one}` is below a group and cannot be referenced"),
                [first, rest @ ..] => format!(
                    "the templates `{first}` and {} more are below a group and cannot be referenced",
                    rest.len()
                ),
                [] => continue,
            };
            let fix = format!("map a collection to it in registry.yaml: `collections: {{{name}: {path}}}`");
            self.sink.finding(Finding::new(&rules::GROUPED, path, message).fixed_by(fix));
        }
        Ok(())
    }

    fn template(
        &mut self,
        collection: &Collection,
        name: &str,
        path: &str,
        inside: Children,
    ) -> Result<(), TreeError> {
        let template = match name.parse::<TemplateName>() {
            Ok(template) => template,
            Err(error) => {
                self.sink.finding(Finding::new(&rules::TEMPLATE_NAME, path, error.to_string()));
                return Ok(());
            }
        };
        let mut versions = BTreeMap::<Version, Vec<(Fullness, String, Option<String>)>>::new();
        for (directory, id) in inside.directories {
            match Version::from_directory(&directory) {
                Ok((version, fullness)) => {
                    versions.entry(version).or_default().push((fullness, directory, id));
                }
                Err(error) if Version::looks_like_directory(&directory) => {
                    let at = paths::join(path, &directory);
                    self.sink.finding(Finding::new(&rules::VERSION_NAME, at, error.to_string()));
                }
                // Documentation, tests and the like: nothing of ours.
                Err(_) => {}
            }
        }
        for (version, mut spellings) in versions {
            spellings.sort();
            let Some((_, served, id)) = spellings.pop() else { continue };
            for (_, other, _) in spellings {
                let message = format!("`{other}` and `{served}` are the same version; `{served}` is served");
                self.sink.finding(Finding::new(
                    &rules::DUPLICATE_VERSION,
                    paths::join(path, &other),
                    message,
                ));
            }
            let path = paths::join(path, &served);
            let found = Found { collection, template: template.clone(), version, path, id };
            if self.sink.wants(&found) {
                let scanned = scan_version(self.tree, &found.path, found.template.as_str(), self.limits);
                self.sink.version(&found, scanned);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
