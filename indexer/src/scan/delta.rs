//! What a push touched: two trees compared from the root down by the ids of their directories, unequal ones alone
//! entered.
//!
//! A push that touches some templates of a registry is told from the directories on the way to them, however large the
//! registry is. Whatever could mean more than that (a collection that comes or goes, another `registry.yaml`, a link
//! on the way) is left to a walk of everything: `None`. The rules are those of [`schema::layout::scan`], and a test
//! holds the two to the same outcome.
//!
//! This module must not know Git.

use std::collections::{BTreeMap, BTreeSet};

use schema::CollectionName;
use schema::Version;
use schema::layout::{Collection, TemplateDirectory, unsafe_name};
use schema::limits::TreeLimits;
use schema::registry_file::RegistryFile;
use schema::tree::{EntryKind, Tree};

/// More templates than this are looked at all together: a walk of everything costs no more then.
const MOST: usize = 500;

/// The file that maps collections; another one may change the meaning of every directory.
pub(crate) const REGISTRY_FILE: &str = "registry.yaml";

/// The template directories that may differ between two trees of a registry, or `None` if that cannot be told from a
/// few directories. `file` is the `registry.yaml` both trees have.
pub(crate) fn touched(
    old: &dyn Tree,
    new: &dyn Tree,
    file: &RegistryFile,
    limits: &TreeLimits,
) -> Option<Vec<TemplateDirectory>> {
    // A collection that is the root itself has the templates of the unnamed one under another name.
    if file.collections.values().any(|entry| entry.path.is_empty()) {
        return None;
    }
    let trees = Trees { old, new, limits };
    let root = trees.changed("", &[REGISTRY_FILE])?;
    let mut found = Vec::new();
    for directory in root {
        let both = Both::of(&trees, &directory)?;
        // A directory that comes or goes at the top may be a collection that does.
        let (Some(before), Some(after)) = (&both.old, &both.new) else { return None };
        let below = format!("{directory}/");
        let maps = |path: &str| path == directory || path.starts_with(&below);
        match (before.has_versions, after.has_versions) {
            // A directory that looks like a template and is mapped as a collection is no template.
            (true, true) if file.collections.values().any(|mapped| maps(&mapped.path)) => return None,
            (true, true) => found.push(TemplateDirectory { collection: unnamed(), path: directory }),
            (false, false) => {
                let collection = collection(&directory, file)?;
                let inside = trees.changed(&directory, &[])?;
                for template in inside {
                    let path = format!("{directory}/{template}");
                    let below = format!("{path}/");
                    if file
                        .collections
                        .values()
                        .any(|other| other.path == path || other.path.starts_with(&below))
                    {
                        return None;
                    }
                    let both = Both::of(&trees, &path)?;
                    let sides = [&both.old, &both.new];
                    if sides.into_iter().flatten().all(|side| side.has_versions) {
                        found.push(TemplateDirectory { collection: collection.clone(), path });
                    } else if sides.into_iter().flatten().any(|side| side.has_versions || side.is_spoken_of) {
                        // What is a group on one side, becomes a template, or has something wrong with it.
                        return None;
                    }
                }
                // A collection is listed as long as it holds a template.
                if !holds_the_same(&trees, &directory, file)? {
                    return None;
                }
            }
            _ => return None,
        }
        if found.len() > MOST {
            return None;
        }
    }
    Some(found)
}

fn unnamed() -> Collection {
    Collection { name: None, path: String::new(), title: None, description: None, alias: None }
}

/// The collection a top-level directory is; `None` if that is not simply told.
fn collection(directory: &str, file: &RegistryFile) -> Option<Collection> {
    let mut mapped = file.collections.iter().filter(|(_, entry)| entry.path == directory);
    let name = match (mapped.next(), mapped.next()) {
        (Some((name, _)), None) => name.clone(),
        (Some(_), Some(_)) => return None,
        (None, _) => {
            let name = directory.parse::<CollectionName>().ok()?;
            if file.collections.keys().any(|other| other.as_str() == directory) {
                return None;
            }
            name
        }
    };
    Some(Collection {
        name: Some(name),
        path: directory.to_owned(),
        title: None,
        description: None,
        alias: None,
    })
}

/// Whether a directory holds a template in both trees, or in neither: found by the first, as a rule.
fn holds_the_same(trees: &Trees<'_>, directory: &str, file: &RegistryFile) -> Option<bool> {
    let holds = |tree: &dyn Tree| -> Option<bool> {
        let (entries, _) = tree.entries(directory, trees.limits.directory_entries).ok()?;
        for entry in entries.iter().filter(|entry| entry.kind == EntryKind::Directory) {
            let Ok(name) = std::str::from_utf8(&entry.name) else { continue };
            let path = format!("{directory}/{name}");
            // Another collection, which is no template of this one.
            if file.collections.values().any(|mapped| mapped.path == path) {
                continue;
            }
            if Side::of(tree, &path, trees.limits)?.has_versions {
                return Some(true);
            }
        }
        Some(false)
    };
    Some(holds(trees.old)? == holds(trees.new)?)
}

struct Trees<'a> {
    old: &'a dyn Tree,
    new: &'a dyn Tree,
    limits: &'a TreeLimits,
}

impl Trees<'_> {
    /// The directories below one whose content differs or that are on one side only. `None` if something else differs
    /// that a walk would speak of, or one of the files `same` does.
    fn changed(&self, directory: &str, same: &[&str]) -> Option<BTreeSet<String>> {
        let list = |tree: &dyn Tree| {
            let (entries, more) = tree.entries(directory, self.limits.directory_entries).ok()?;
            let entries = entries.into_iter().map(|entry| (entry.name, (entry.kind, entry.id)));
            (!more).then(|| entries.collect::<BTreeMap<_, _>>())
        };
        let (old, new) = (list(self.old)?, list(self.new)?);
        let mut changed = BTreeSet::new();
        for name in old.keys().chain(new.keys()) {
            let sides = [old.get(name), new.get(name)];
            if sides[0] == sides[1] {
                continue;
            }
            if unsafe_name(name).is_some() {
                return None;
            }
            let name = std::str::from_utf8(name).ok()?;
            let kinds = sides.map(|side| side.map(|(kind, _)| *kind));
            if name.starts_with('.') && kinds.iter().flatten().all(|kind| *kind == EntryKind::Directory) {
                // Hidden directories are nothing of ours.
                continue;
            }
            match kinds {
                _ if kinds.contains(&Some(EntryKind::Link))
                    || kinds.contains(&Some(EntryKind::Submodule)) =>
                {
                    return None;
                }
                [Some(EntryKind::Directory), Some(EntryKind::Directory) | None]
                | [None, Some(EntryKind::Directory)] => {
                    changed.insert(name.to_owned());
                }
                _ if kinds.contains(&Some(EntryKind::Directory)) || same.contains(&name) => return None,
                // Files beside directories mean nothing.
                _ => {}
            }
        }
        Some(changed)
    }
}

/// What a directory is in two trees; nothing on the side that has none.
struct Both {
    old: Option<Side>,
    new: Option<Side>,
}

impl Both {
    fn of(trees: &Trees<'_>, directory: &str) -> Option<Both> {
        let (parent, name) = directory.rsplit_once('/').unwrap_or(("", directory));
        let side = |tree: &dyn Tree| {
            let (siblings, _) = tree.entries(parent, trees.limits.directory_entries).ok()?;
            if siblings.iter().any(|entry| entry.name == name.as_bytes()) {
                Side::of(tree, directory, trees.limits).map(Some)
            } else {
                Some(None)
            }
        };
        Some(Both { old: side(trees.old)?, new: side(trees.new)? })
    }
}

struct Side {
    has_versions: bool,
    /// Whether a walk that comes by would look deeper or find something wrong.
    is_spoken_of: bool,
}

impl Side {
    fn of(tree: &dyn Tree, directory: &str, limits: &TreeLimits) -> Option<Side> {
        let (entries, more) = tree.entries(directory, limits.directory_entries).ok()?;
        let mut side = Side { has_versions: false, is_spoken_of: more };
        for entry in &entries {
            side.is_spoken_of |= unsafe_name(&entry.name).is_some();
            match (entry.kind, std::str::from_utf8(&entry.name)) {
                (EntryKind::Directory, Ok(name)) => {
                    side.is_spoken_of |= !name.starts_with('.');
                    side.has_versions |= Version::looks_like_directory(name);
                }
                (EntryKind::File { .. }, _) => {}
                _ => side.is_spoken_of = true,
            }
        }
        Some(side)
    }
}

#[cfg(test)]
mod tests;
