//! The registry of what is stored here over the API, in place of coming from a repository: which version a change of a
//! template becomes. Pure.
//!
//! A hosted registry has versions like any other, and no version of it ever gets other bytes: whatever was once a
//! version, though it be gone or erased, is not one again.
//!
//! This module must not know how a template arrives, nor what it says.

use std::collections::BTreeSet;

use schema::Version;

use crate::snapshot::{RegistrySnapshot, TemplateSnapshot};

/// What stands where other registries have a URL or a directory.
pub const HOSTED: &str = "hosted";

/// Why a change cannot become the version it asks for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VersionRefused {
    /// There is, or was, such a version.
    #[error(
        "there was a {0} before, and a version never gets other bytes; ask for a higher one, or for none"
    )]
    Taken(Version),
    /// It would not be the highest, so that whoever asks for the template would not get it.
    #[error("{asked} is not above {current}, the highest version")]
    Lower {
        /// What was asked for.
        asked: Version,
        /// The highest there is.
        current: Version,
    },
    /// It would only be given to who names it exactly.
    #[error("{0} is a pre-release, and nobody who asks for the template would get it")]
    PreRelease(Version),
    /// The number of patches is used up.
    #[error("there is no patch above {0}; ask for a version")]
    Exhausted(Version),
}

impl RegistrySnapshot {
    /// Whether what it has was stored here, and can be changed here.
    pub fn is_hosted(&self) -> bool {
        self.source == HOSTED
    }
}

/// The version that a change of a template becomes: the one that is asked for; else v1.0.0 if there never was one,
/// else the next patch. Asking for the version that is there is asking for none: it comes back with what was read.
///
/// # Errors
/// When the version that is asked for cannot be had.
pub fn next_version(
    template: Option<&TemplateSnapshot>,
    asked: Option<&Version>,
) -> Result<Version, VersionRefused> {
    let used = template.map(used).unwrap_or_default();
    let listed = template.and_then(|template| {
        template.versions.keys().rev().find(|version| !version.is_pre_release()).cloned()
    });
    if let Some(asked) = asked.filter(|asked| Some(*asked) != listed.as_ref()) {
        if asked.is_pre_release() {
            return Err(VersionRefused::PreRelease(asked.clone()));
        }
        if used.contains(asked) {
            return Err(VersionRefused::Taken(asked.clone()));
        }
        return match listed {
            Some(current) if *asked < current => Err(VersionRefused::Lower { asked: asked.clone(), current }),
            _ => Ok(asked.clone()),
        };
    }
    let highest = || used.iter().rev().find(|version| !version.is_pre_release()).cloned();
    let Some(base) = listed.or_else(highest) else { return Ok(Version::new(1, 0, 0)) };
    let mut next = base.clone();
    loop {
        let patch = next.patch().checked_add(1).ok_or_else(|| VersionRefused::Exhausted(base.clone()))?;
        next = Version::new(next.major(), next.minor(), patch);
        if !used.contains(&next) {
            return Ok(next);
        }
    }
}

/// Every version there ever was.
fn used(template: &TemplateSnapshot) -> BTreeSet<Version> {
    let known = template.everything().chain(template.held.values()).map(|version| version.version.clone());
    known.chain(template.purged.keys().map(|(version, _)| version.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::Purge;
    use crate::testing::Registry;
    use crate::{Catalog, Options, Viewer};
    use std::sync::Arc;

    fn v(text: &str) -> Version {
        text.parse().unwrap()
    }

    async fn template(versions: &[&str], left: &[&str]) -> (tempfile::TempDir, TemplateSnapshot) {
        let directory = tempfile::tempdir().unwrap();
        let (catalog, _) = Catalog::open(directory.path(), Options::default()).await.unwrap();
        for some in [versions, left] {
            let registry = Registry::new("localhost/hosted/templates");
            let add = |registry: Registry, version: &&str| {
                registry.version(&format!("redis:{version}"), &[("redis.yaml", *version)])
            };
            let mut registry = some.iter().fold(registry, add);
            registry.publication.commit = None;
            registry.publish(&catalog).await;
        }
        let snapshot = catalog.snapshot();
        let registry = snapshot.visible(&Viewer::Operator).next().unwrap();
        let template = registry.template(None, &"redis".parse().unwrap()).unwrap();
        (directory, TemplateSnapshot::clone(template))
    }

    #[tokio::test]
    async fn a_change_is_the_next_patch_of_the_highest_version() {
        assert_eq!(next_version(None, None), Ok(v("v1.0.0")));
        assert_eq!(next_version(None, Some(&v("v3.1"))), Ok(v("v3.1.0")));
        let (_directory, template) = template(&["v1.0.0", "v1.1.4"], &["v1.0.0", "v1.1.4"]).await;
        let next = |asked: Option<&str>| next_version(Some(&template), asked.map(v).as_ref());
        assert_eq!(next(None), Ok(v("v1.1.5")));
        assert_eq!(next(Some("v1.1.4")), Ok(v("v1.1.5")), "what was read says its version");
        assert_eq!(next(Some("v2")), Ok(v("v2.0.0")));
        assert_eq!(next(Some("v1.0.0")), Err(VersionRefused::Taken(v("v1.0.0"))));
        assert!(matches!(next(Some("v1.0.7")), Err(VersionRefused::Lower { .. })));
        assert!(matches!(next(Some("v2.0.0-rc.1")), Err(VersionRefused::PreRelease(_))));
    }

    #[tokio::test]
    async fn what_was_a_version_is_not_one_again() {
        let (_directory, mut template) = template(&["v1.0.0", "v1.0.1", "v1.0.2"], &["v1.0.0"]).await;
        assert_eq!(template.gone.len(), 2);
        let purge = Purge { reason: String::new(), at: 1, whole: true };
        template.purged.insert((v("v1.0.3"), schema::Digest::of(b"x")), Arc::new(purge));
        assert_eq!(next_version(Some(&template), None), Ok(v("v1.0.4")));
        template.versions.clear();
        assert_eq!(next_version(Some(&template), None), Ok(v("v1.0.4")), "of a template that is gone, too");
        assert_eq!(
            next_version(Some(&template), Some(&v("v1.0.1"))),
            Err(VersionRefused::Taken(v("v1.0.1")))
        );
        let last = Version::new(1, 0, u64::MAX);
        template.purged.insert(
            (last.clone(), schema::Digest::of(b"y")),
            Arc::new(Purge { reason: String::new(), at: 1, whole: true }),
        );
        assert_eq!(next_version(Some(&template), None), Err(VersionRefused::Exhausted(last)));
    }
}
