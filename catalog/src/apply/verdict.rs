//! What an operator decides: that what was held back goes in, and that bytes are erased. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use schema::reference::Location;
use schema::{Digest, Version};

use super::{Applied, Change, Editor, Event, What, drops, is, known, replaced};
use crate::rules;
use crate::snapshot::{Purge, RegistrySnapshot, Standing, VersionSnapshot};

/// What an operator lets in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Acceptance {
    /// The rewrite of a settled version that has this digest.
    Rewrite {
        /// The template.
        location: Location,
        /// The version.
        version: Version,
        /// The content that is held, as whoever accepts it has seen it.
        digest: Digest,
    },
    /// That versions are gone which went missing all at once.
    Drop,
    /// That the branch was moved.
    History,
}

/// What an operator has erased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erasure {
    /// The template.
    pub location: Location,
    /// The version.
    pub version: Version,
    /// One content of it; `None` erases all there ever was, and closes the version.
    pub digest: Option<Digest>,
    /// Why, for everybody who asks for it later.
    pub reason: String,
}

/// The registry after an acceptance; `None` if there is nothing of the kind to accept.
pub(crate) fn accept(old: &RegistrySnapshot, acceptance: &Acceptance, at: i64) -> Option<Applied> {
    let mut editor = Editor::new(old);
    let mut events = Vec::new();
    let mut settled_finding = None;
    match acceptance {
        Acceptance::Rewrite { location, version, digest } => {
            let key = (location.collection.clone(), location.template.clone());
            let before = known(old, &key)?;
            let held = before.held.get(version).filter(|held| held.digest == *digest)?.clone();
            let served = before.versions.get(version)?.clone();
            editor.template(key, Some(before), |after, changed| {
                let lasting = served.notes.iter().filter(|note| !is(note, &rules::VERSION_MUTATED));
                let now = Arc::new(VersionSnapshot {
                    standing: Standing::Listed,
                    notes: lasting.cloned().collect(),
                    withdrawn: served.withdrawn.clone(),
                    deprecated: served.deprecated.clone(),
                    ..VersionSnapshot::clone(&held)
                });
                after.held.remove(version);
                after.former.remove(&(version.clone(), now.digest));
                after.former.insert((version.clone(), served.digest), Arc::new(replaced(&served)));
                changed(What::Accepted, &now, None);
                after.versions.insert(version.clone(), now);
            });
            // Its old bytes are found by their digest as what they are now.
            editor.registry.contents.insert(served.digest, Arc::new(replaced(&served)));
        }
        Acceptance::Drop => {
            for template in old.templates() {
                let missing = || template.versions.values().filter(|version| version.missing_since.is_some());
                if missing().next().is_none() {
                    continue;
                }
                let key = (template.location.collection.clone(), template.name.clone());
                editor.template(key, Some(template), |after, changed| {
                    missing().for_each(|version| drops::let_go(after, version, at, changed));
                });
            }
            if editor.changes.is_empty() {
                return None;
            }
            let detail = format!("{} versions are gone", editor.changes.len());
            events.push(Event { what: "drop-accepted", detail });
            settled_finding = Some(&rules::MASS_DROP);
        }
        Acceptance::History => {
            let finding = old.findings.iter().find(|finding| is(finding, &rules::HISTORY_REWRITTEN))?;
            events.push(Event { what: "history-accepted", detail: finding.message.clone() });
            settled_finding = Some(&rules::HISTORY_REWRITTEN);
        }
    }
    let mut applied = finish(old, editor, events);
    if let Some(rule) = settled_finding {
        let left = old.findings.iter().filter(|finding| !is(finding, rule));
        applied.registry.findings = left.cloned().collect();
    }
    Some(applied)
}

/// A registry after an erasure: what is left, and what of it must go from the store.
pub(crate) struct Erased {
    pub(crate) applied: Applied,
    /// The contents that were erased.
    pub(crate) digests: BTreeSet<Digest>,
    /// Files of theirs that the registry does not have any more.
    pub(crate) blobs: BTreeSet<Digest>,
    /// How many files they had.
    pub(crate) files: usize,
    pub(crate) purge: Arc<Purge>,
}

/// The registry after an erasure; `None` if there is nothing to erase.
pub(crate) fn erase(old: &RegistrySnapshot, erasure: &Erasure, at: i64) -> Option<Erased> {
    let Erasure { location, version, digest, reason } = erasure;
    let key = (location.collection.clone(), location.template.clone());
    let before = known(old, &key)?;
    let doomed = |content: &Arc<VersionSnapshot>| {
        content.version == *version && digest.is_none_or(|digest| digest == content.digest)
    };
    let mut found = BTreeMap::new();
    let held = before.held.values();
    for content in before.everything().chain(held).filter(|content| doomed(content)) {
        found.insert(content.digest, content.clone());
    }
    let digests = found.keys().copied().collect::<BTreeSet<_>>();
    let stands_for = found.values().next()?.clone();
    let purge = Arc::new(Purge { reason: reason.clone(), at, whole: digest.is_none() });
    let mut editor = Editor::new(old);
    editor.template(key, Some(before), |after, changed| {
        for digest in &digests {
            after.former.remove(&(version.clone(), *digest));
            after.purged.insert((version.clone(), *digest), purge.clone());
        }
        let is_doomed = |content: &Arc<VersionSnapshot>| digests.contains(&content.digest);
        if after.held.get(version).is_some_and(is_doomed) {
            after.held.remove(version);
        }
        if after.gone.get(version).is_some_and(is_doomed) {
            after.gone.remove(version);
        }
        if let Some(served) = after.versions.get(version).cloned() {
            if is_doomed(&served) {
                after.versions.remove(version);
                // Nothing to be held back from is left.
                after.held.remove(version);
            } else if !after.held.contains_key(version) {
                let lasting = served.notes.iter().filter(|note| !is(note, &rules::VERSION_MUTATED));
                let notes = lasting.cloned().collect();
                let now = VersionSnapshot { notes, ..VersionSnapshot::clone(&served) };
                after.versions.insert(version.clone(), Arc::new(now));
            }
        }
        changed(What::Purged, &stands_for, None);
    });
    let mut applied = finish(old, editor, Vec::new());
    applied.registry.gather();
    let files = found.values().flat_map(|content| content.files.iter().map(|file| file.digest));
    let files = files.collect::<BTreeSet<_>>();
    let count = files.len();
    let blobs = files.into_iter().filter(|digest| !applied.registry.has_blob(digest)).collect();
    Some(Erased { applied, digests, blobs, files: count, purge })
}

/// Puts edited templates back into their collections.
fn finish(old: &RegistrySnapshot, editor: Editor, events: Vec<Event>) -> Applied {
    let Editor { mut registry, changes, forgets, mut templates } = editor;
    let touched = changes.iter().map(|change: &Change| change.collection.clone()).collect::<BTreeSet<_>>();
    for name in touched {
        let Some(collection) = registry.collections.get(&name) else { continue };
        let mut collection = crate::CollectionSnapshot::clone(collection);
        collection.templates = templates.remove(&name).unwrap_or_default();
        registry.collections.insert(name, Arc::new(collection));
    }
    if forgets {
        registry.gather();
    }
    registry.count();
    debug_assert!(registry.collections.len() == old.collections.len(), "collections come with publications");
    Applied { registry, changes, events, collections_changed: false, visible: true }
}
