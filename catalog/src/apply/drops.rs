//! What becomes of versions that are missing upstream: pure.
//!
//! A version that is missing is gone, unless too many are at once: a branch that was emptied, a mapping that was
//! mistyped, a server that gave half an answer look like that. Then all of them stay as they are, marked as missing,
//! until they are back or an operator accepts that they are gone. What is missing already does not count again. A
//! plain directory is its maintainer's, and is followed as it is.

use std::collections::BTreeMap;
use std::sync::Arc;

use schema::{Finding, Version};

use super::{Policy, Tell, Wanted, What, is};
use crate::publication::{Publication, PublishedVersion};
use crate::rules;
use crate::snapshot::{RegistrySnapshot, Standing, TemplateSnapshot, VersionSnapshot};

/// Versions named in the finding.
const NAMED: usize = 5;

/// What was decided over the whole registry.
pub(super) struct Drops {
    /// Versions that are missing now, were not before, and stay; 0 if those that are missing may go.
    pub(super) held: usize,
    /// Versions listed before.
    pub(super) listed: usize,
    /// Whether any were missing before.
    pending: bool,
}

/// Whether what is missing may go.
pub(super) fn judge(
    old: &RegistrySnapshot,
    wanted: &Wanted<'_>,
    publication: &Publication,
    policy: &Policy,
) -> Drops {
    let mut missing = 0;
    for template in super::concerned(old, publication) {
        let key = (template.location.collection.clone(), template.name.clone());
        let published = wanted.get(&key);
        let is_missing = |version: &VersionSnapshot| {
            version.missing_since.is_none()
                && published.is_none_or(|published| !published.contains_key(&version.version))
        };
        missing += template.versions.values().filter(|version| is_missing(version)).count();
    }
    let listed = old.counts.versions;
    let too_many = missing > Policy::DROPS && missing * 100 > listed * usize::from(policy.drop_share);
    let held = if too_many && publication.commit.is_some() { missing } else { 0 };
    let pending = old.findings.iter().any(|finding| is(finding, &rules::MASS_DROP));
    Drops { held, listed, pending }
}

/// Lets versions of a template go that are not published, or marks them.
pub(super) fn of_missing(
    template: &mut TemplateSnapshot,
    published: &BTreeMap<&Version, &PublishedVersion>,
    drops: &Drops,
    at: i64,
    changed: &mut Tell<'_>,
) {
    let missing = template.versions.values().filter(|version| !published.contains_key(&version.version));
    for old in missing.cloned().collect::<Vec<_>>() {
        if old.missing_since.is_some() {
            continue;
        }
        if drops.held == 0 {
            let_go(template, &old, at, changed);
            continue;
        }
        let notes = lasting_notes(&old);
        let now =
            Arc::new(VersionSnapshot { missing_since: Some(at), notes, ..VersionSnapshot::clone(&old) });
        template.held.remove(&old.version);
        changed(What::Missing, &now, None);
        template.versions.insert(old.version.clone(), now);
    }
}

/// A listed version becomes a tombstone.
pub(super) fn let_go(
    template: &mut TemplateSnapshot,
    old: &Arc<VersionSnapshot>,
    at: i64,
    changed: &mut Tell<'_>,
) {
    template.versions.remove(&old.version);
    template.held.remove(&old.version);
    let standing = Standing::Gone { at };
    let notes = lasting_notes(old);
    let now =
        Arc::new(VersionSnapshot { standing, notes, missing_since: None, ..VersionSnapshot::clone(old) });
    changed(What::Gone, &now, None);
    template.gone.insert(old.version.clone(), now);
}

/// What is said of a version of which nothing is held any more.
fn lasting_notes(version: &VersionSnapshot) -> Vec<Finding> {
    version.notes.iter().filter(|note| !is(note, &rules::VERSION_MUTATED)).cloned().collect()
}

/// The finding about what is missing, while something is.
pub(super) fn finding(registry: &RegistrySnapshot, drops: &Drops) -> Option<Finding> {
    if drops.held == 0 && !drops.pending {
        return None;
    }
    let listed = registry
        .templates()
        .flat_map(|template| template.versions.values().map(move |version| (&template.location, version)));
    let missing = listed.filter(|(_, version)| version.missing_since.is_some()).collect::<Vec<_>>();
    let named = missing.iter().take(NAMED).map(|(location, version)| {
        let collection = location.collection.iter().map(|collection| format!("{collection}/"));
        format!("{}{}:{}", collection.collect::<String>(), location.template, version.version)
    });
    let named = named.collect::<Vec<_>>().join(", ");
    let more = missing.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!missing.is_empty()).then(|| {
        let count = missing.len();
        let message = format!("{count} versions are missing upstream and stay listed: {named}{more}");
        Finding::new(&rules::MASS_DROP, "", message).fixed_by(format!(
            "put them back upstream; or, if they are meant to go, accept it with `formwork accept {} --drop`",
            registry.name
        ))
    })
}
