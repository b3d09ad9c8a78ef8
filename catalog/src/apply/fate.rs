//! What becomes of one version that is published: pure.
//!
//! | it was | and is published with | it becomes |
//! |---|---|---|
//! | not there | anything | listed |
//! | there | the same bytes | listed; what was held in its place is cleared |
//! | there, not settled, or of a plain directory | other bytes | listed with the new bytes; the old ones are former |
//! | settled | other documentation and nothing else | the same, with a finding |
//! | settled | other bytes | listed with the old bytes; the new ones are held, with a finding |
//! | erased | the erased bytes, or anything if it was erased as a whole | nothing: it is as if it were not published |
//!
//! "There" is listed or gone: a version that comes back after it was removed is held to the bytes it had.

use std::collections::BTreeMap;
use std::sync::Arc;

use schema::reference::{Location, Reference, Selector};
use schema::{Finding, Version};

use super::{Policy, Tell, What, is, replaced};
use crate::publication::{Publication, PublishedVersion};
use crate::report::ReportState;
use crate::rules;
use crate::snapshot::{Standing, TemplateSnapshot, VersionSnapshot};

/// What a fate depends on besides the version itself.
pub(super) struct Context<'a> {
    pub(super) location: Location,
    pub(super) publication: &'a Publication,
    pub(super) policy: &'a Policy,
}

/// Puts what is published of a template into it.
pub(super) fn of_published(
    template: &mut TemplateSnapshot,
    published: &BTreeMap<&Version, &PublishedVersion>,
    context: &Context<'_>,
    changed: &mut Tell<'_>,
) {
    for (version, published) in published {
        if is_erased(template, published) {
            continue;
        }
        let listed = template.versions.get(*version).cloned();
        let held = template.held.get(*version).cloned();
        if listed.as_ref().is_some_and(|listed| nothing_new(listed, held.as_deref(), published, context)) {
            continue;
        }
        let gone = template.gone.remove(*version);
        let Some(old) = listed.or_else(|| gone.clone()) else {
            let now = Arc::new(taken(published, None, None, context));
            changed(What::Added, &now, None);
            template.versions.insert((*version).clone(), now);
            continue;
        };
        if is_kept_back(&old, published, context) {
            let former = template.former.get(&((*version).clone(), published.digest));
            let before = held.filter(|held| held.digest == published.digest);
            let is_news = before.is_none();
            let rewrite = Arc::new(VersionSnapshot {
                standing: Standing::Held,
                ..taken(published, Some(&old), before.as_ref().or(former), context)
            });
            let now = Arc::new(served_still(&old, published, &rewrite, context));
            if gone.is_some() {
                changed(What::Returned, &now, Some(&rewrite));
            }
            match (is_news, gone.is_some()) {
                (true, _) => changed(What::Held, &now, Some(&rewrite)),
                (false, true) => {}
                (false, false) => changed(said(&old, published), &now, Some(&rewrite)),
            }
            template.held.insert((*version).clone(), rewrite);
            template.versions.insert((*version).clone(), now);
            continue;
        }
        let former = template.former.remove(&((*version).clone(), published.digest));
        let same = Some(&old).filter(|old| old.digest == published.digest);
        let mut now = taken(published, Some(&old), same.or(former.as_ref()), context);
        let is_settled = is_settled(&old, context);
        let what = match (&gone, same) {
            (Some(_), _) => What::Returned,
            (None, Some(_)) if held.is_some() => What::Cleared,
            (None, Some(_)) => said(&old, published),
            (None, None) if is_settled => What::Revised,
            (None, None) => What::Changed,
        };
        match same {
            Some(old) => {
                let lasting = old.notes.iter().filter(|note| !is(note, &rules::VERSION_MUTATED));
                now.notes = lasting.cloned().collect();
            }
            None if is_settled => now.notes = vec![documentation_revised(&old, published, context)],
            None => {}
        }
        if old.digest != published.digest {
            template.former.insert((old.version.clone(), old.digest), Arc::new(replaced(&old)));
        }
        template.held.remove(*version);
        let now = Arc::new(now);
        changed(what, &now, None);
        template.versions.insert((*version).clone(), now);
    }
}

/// Whether an operator erased what is published here.
fn is_erased(template: &TemplateSnapshot, published: &PublishedVersion) -> bool {
    let mut purges = template.purges(&published.version);
    purges.any(|(digest, purge)| purge.whole || *digest == published.digest)
}

fn is_settled(old: &VersionSnapshot, context: &Context<'_>) -> bool {
    context.publication.commit.is_some()
        && old.settles_at.is_some_and(|settles_at| context.publication.indexed_at >= settles_at)
}

/// Whether a version is held to the bytes it has.
fn is_kept_back(old: &VersionSnapshot, published: &PublishedVersion, context: &Context<'_>) -> bool {
    let rewritten = old.digest != published.digest && !only_documentation(old, published);
    rewritten && is_settled(old, context)
}

/// Whether two contents differ in files that explain, and in nothing else.
fn only_documentation(old: &VersionSnapshot, published: &PublishedVersion) -> bool {
    let differing = |here: &[crate::FileEntry], there: &[crate::FileEntry]| {
        here.iter()
            .filter(|file| {
                let other = there.iter().find(|other| other.path == file.path);
                other.is_none_or(|other| (other.digest, other.executable) != (file.digest, file.executable))
            })
            .all(|file| file.documentation)
    };
    (old.kind, &old.entry) == (published.kind, &published.entry)
        && differing(&old.files, &published.files)
        && differing(&published.files, &old.files)
}

/// Whether nothing about a listed version changes.
fn nothing_new(
    listed: &VersionSnapshot,
    held: Option<&VersionSnapshot>,
    published: &PublishedVersion,
    context: &Context<'_>,
) -> bool {
    let is_git = context.publication.commit.is_some();
    is_same(held.unwrap_or(listed), published)
        && listed.withdrawn == published.withdrawn
        && listed.deprecated == published.deprecated
        && listed.missing_since.is_none()
        && listed.settles_at.is_some() == is_git
}

fn is_same(known: &VersionSnapshot, published: &PublishedVersion) -> bool {
    known.digest == published.digest
        && known.path == published.path
        && known.tree_id == published.tree_id
        && known.kind == published.kind
        && known.entry == published.entry
        && known.inspection == published.inspection
        && known.findings == published.findings
}

/// The version with the bytes that are published. `old` is what it was, `known` what is remembered of those bytes.
fn taken(
    published: &PublishedVersion,
    old: Option<&Arc<VersionSnapshot>>,
    known: Option<&Arc<VersionSnapshot>>,
    context: &Context<'_>,
) -> VersionSnapshot {
    let Publication { commit, indexed_at, .. } = context.publication;
    let settles_at =
        old.and_then(|old| old.settles_at).unwrap_or(indexed_at.saturating_add(context.policy.settle));
    VersionSnapshot {
        version: published.version.clone(),
        path: published.path.clone(),
        tree_id: published.tree_id.clone(),
        kind: published.kind,
        entry: published.entry.clone(),
        digest: published.digest,
        commit: known.map_or_else(|| commit.clone(), |known| known.commit.clone()),
        seen_at: known.map_or(*indexed_at, |known| known.seen_at),
        introduced: known.and_then(|known| known.introduced.clone()).or_else(|| published.introduced.clone()),
        files: published.files.clone(),
        inspection: published.inspection.clone(),
        findings: published.findings.clone(),
        notes: Vec::new(),
        withdrawn: published.withdrawn.clone(),
        deprecated: published.deprecated.clone(),
        published_at: old.map_or(*indexed_at, |old| old.published_at),
        settles_at: commit.is_some().then_some(settles_at),
        missing_since: None,
        standing: Standing::Listed,
        // A report is on bytes: it comes and goes with them.
        report: known.map_or(ReportState::Pending, |known| known.report.clone()),
    }
}

/// A settled version beside a rewrite of it: its bytes, with what the registry says of the version now.
fn served_still(
    old: &VersionSnapshot,
    published: &PublishedVersion,
    rewrite: &VersionSnapshot,
    context: &Context<'_>,
) -> VersionSnapshot {
    let mut notes =
        old.notes.iter().filter(|note| !is(note, &rules::VERSION_MUTATED)).cloned().collect::<Vec<_>>();
    notes.push(version_mutated(old, rewrite, context));
    VersionSnapshot {
        standing: Standing::Listed,
        missing_since: None,
        withdrawn: published.withdrawn.clone(),
        deprecated: published.deprecated.clone(),
        notes,
        ..old.clone()
    }
}

/// What is new about a version whose bytes are not.
fn said(old: &VersionSnapshot, published: &PublishedVersion) -> What {
    if published.withdrawn.is_some() && published.withdrawn != old.withdrawn {
        What::Withdrawn
    } else if published.deprecated.is_some() && published.deprecated != old.deprecated {
        What::Deprecated
    } else {
        What::Updated
    }
}

fn version_mutated(old: &VersionSnapshot, rewrite: &VersionSnapshot, context: &Context<'_>) -> Finding {
    let commit = rewrite.commit.as_deref().unwrap_or("an unknown commit");
    let message = format!(
        "{} is {} upstream since commit {commit}; what is served stays {}, as it was when the version settled",
        old.version, rewrite.digest, old.digest
    );
    let mut reference = Reference::to(&context.location, Selector::Exactly(old.version.clone()));
    reference.digest = Some(rewrite.digest);
    Finding::new(&rules::VERSION_MUTATED, rewrite.path.clone(), message).fixed_by(format!(
        "publish the change as a new version and undo it in {}; an operator may let it in with `formwork accept '{reference}'`",
        old.version
    ))
}

fn documentation_revised(
    old: &VersionSnapshot,
    published: &PublishedVersion,
    context: &Context<'_>,
) -> Finding {
    let commit = context.publication.commit.as_deref().unwrap_or("an unknown commit");
    let message = format!(
        "the documentation of {} was changed by commit {commit}, after it had settled; without that it is {}",
        old.version, old.digest
    );
    Finding::new(&rules::DOCUMENTATION_REVISED, published.path.clone(), message)
}
