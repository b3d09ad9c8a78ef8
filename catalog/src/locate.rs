//! From a reference to a version of the snapshot, or to what is nearest to it.
//!
//! A reference that leads nowhere is answered with a way out: names that are spelled almost like it, the versions
//! that exist. Near names are looked for among what the viewer may see, so that the answer for a thing that is
//! hidden is the same, in content and in work done, as for a thing that is not there.
//!
//! Which version a selector gets is [`schema::resolve`]'s business; what a URL or a status code is, this module must
//! not know.

use std::fmt;
use std::sync::Arc;

use schema::reference::{Home, LocateError, Location, Selector};
use schema::resolve::{Candidate, Resolution, Rule, resolve};
use schema::{CollectionName, Digest, Reference, RegistryName, TemplateName, Version};

use crate::snapshot::{
    Purge, RegistrySnapshot, Snapshot, Standing, TemplateSnapshot, VersionSnapshot, Viewer,
};

/// Near names given in one answer, at most.
pub const NEAR: usize = 5;
/// Names compared for one answer, at most: an answer to a mistake must not cost more than one to a hit.
const COMPARED: usize = 20_000;

/// What a reference got.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved<'a> {
    /// The registry it is in.
    pub registry: &'a Arc<RegistrySnapshot>,
    /// The template.
    pub template: &'a Arc<TemplateSnapshot>,
    /// The version.
    pub version: &'a Arc<VersionSnapshot>,
    /// Why this one, and what would be newer.
    pub resolution: Resolution<'a>,
}

/// Why a reference leads nowhere, and what is near. Two values for what a viewer may not see and for what does not
/// exist are equal. Places are boxed: an answer that is seldom given must not make every other one larger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// No registry of that name.
    Registry {
        /// What was asked for.
        asked: String,
        /// Registries of a similar name.
        near: Vec<RegistryName>,
    },
    /// The registry has no collection of that name.
    Collection {
        /// The registry.
        registry: Box<RegistryName>,
        /// The collection that was asked for.
        asked: CollectionName,
        /// Collections of a similar name.
        near: Vec<CollectionName>,
        /// Templates of that very name in other collections of the registry.
        elsewhere: Vec<Location>,
    },
    /// The collection has no template of that name.
    Template {
        /// The place that was asked for.
        asked: Box<Location>,
        /// Templates of a similar name in the same registry, those of the same name first.
        near: Vec<Location>,
    },
    /// The template has no version that the selector accepts.
    Version {
        /// The template.
        template: Box<Location>,
        /// What was asked for.
        asked: Selector,
        /// The versions that are listed, highest first.
        existing: Vec<Version>,
    },
    /// No content of the template has that digest, or none of a version that the selector accepts.
    Digest {
        /// The template.
        template: Box<Location>,
        /// What was asked for.
        asked: Digest,
        /// The versions that are listed, highest first.
        existing: Vec<Version>,
    },
    /// What it names was erased.
    Purged {
        /// The version that was asked for.
        reference: String,
        /// Why, and when.
        purge: Arc<Purge>,
    },
    /// The reference says too little or too much; a mistake of whoever wrote it, whatever there is here.
    Unparsable(LocateError),
}

impl Missing {
    /// References that could have been meant, ready to be shown.
    pub fn suggestions(&self) -> Vec<String> {
        match self {
            Missing::Registry { near, .. } => near.iter().map(ToString::to_string).collect(),
            Missing::Collection { registry, near, elsewhere, .. } => {
                let collections = near.iter().map(|collection| format!("{registry}/{collection}"));
                elsewhere.iter().map(ToString::to_string).chain(collections).take(NEAR).collect()
            }
            Missing::Template { near, .. } => near.iter().map(ToString::to_string).collect(),
            Missing::Version { template, existing, .. } | Missing::Digest { template, existing, .. } => {
                existing.iter().take(NEAR).map(|version| format!("{template}:{version}")).collect()
            }
            Missing::Unparsable(_) | Missing::Purged { .. } => Vec::new(),
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Missing::Registry { asked, .. } => {
                write!(f, "no registry here is named like the beginning of `{asked}`")
            }
            Missing::Collection { registry, asked, .. } => {
                write!(f, "`{registry}` has no collection `{asked}`")
            }
            Missing::Template { asked, .. } => match &asked.collection {
                Some(collection) => {
                    write!(
                        f,
                        "the collection `{collection}` of `{}` has no template `{}`",
                        asked.registry, asked.template
                    )
                }
                None => write!(
                    f,
                    "`{}` has no template `{}` outside its collections",
                    asked.registry, asked.template
                ),
            },
            Missing::Version { template, asked: Selector::Highest, .. } => {
                write!(f, "`{template}` has no version that may be chosen; ask for one exactly, with `:=`")
            }
            Missing::Version { template, asked: Selector::HighestPatch(wanted), existing } => {
                let minor = format!("v{}.{}", wanted.major(), wanted.minor());
                match existing.iter().find(|version| version.same_minor(wanted)) {
                    Some(highest) => write!(
                        f,
                        "`{template}` has no {minor} at {wanted} or above; its highest is {highest}"
                    ),
                    None => write!(f, "`{template}` has no {minor}"),
                }
            }
            Missing::Version { template, asked, .. } => write!(f, "`{template}` has no version `{asked}`"),
            Missing::Digest { template, asked, .. } => {
                write!(f, "`{template}` has no such version with content {}", asked.short())
            }
            Missing::Purged { reference, purge } => {
                write!(f, "`{reference}` was erased by the operator of this server: {}", purge.reason)
            }
            Missing::Unparsable(error) => fmt::Display::fmt(error, f),
        }
    }
}

impl std::error::Error for Missing {}

impl Snapshot {
    /// The template a reference names. `home` is where short references go.
    pub fn locate(
        &self,
        viewer: &Viewer,
        reference: &Reference,
        home: Option<&Home>,
    ) -> Result<&Arc<TemplateSnapshot>, Missing> {
        if let Some(home) = home.filter(|_| reference.is_short())
            && self.registry(viewer, &home.registry).is_none()
        {
            // Its name is not said: whoever may not see it does not know where short references go.
            return Err(Missing::Registry { asked: reference.path(), near: Vec::new() });
        }
        let location = reference.locate(self.visible(viewer).map(|registry| &registry.name), home);
        let location = location.map_err(|error| match error {
            LocateError::UnknownRegistry(asked) => {
                let near = near_registries(self.visible(viewer).map(|registry| &registry.name), &asked);
                Missing::Registry { asked, near }
            }
            other => Missing::Unparsable(other),
        })?;
        self.find(viewer, &location)
    }

    /// The template of a known place, or what is near.
    pub fn find(&self, viewer: &Viewer, location: &Location) -> Result<&Arc<TemplateSnapshot>, Missing> {
        let Some(registry) = self.registry(viewer, &location.registry) else {
            let asked = location.registry.to_string();
            let near = near_registries(self.visible(viewer).map(|registry| &registry.name), &asked);
            return Err(Missing::Registry { asked, near });
        };
        let collection = location.collection.as_ref();
        registry.template(collection, &location.template).ok_or_else(|| match collection {
            Some(asked) if registry.collection(collection).is_none() => Missing::Collection {
                registry: Box::new(registry.name.clone()),
                asked: asked.clone(),
                near: nearest(asked.as_str(), registry.collections.keys().flatten(), CollectionName::as_str),
                elsewhere: same_name(registry, &location.template),
            },
            _ => {
                let mut near = same_name(registry, &location.template);
                let others = registry
                    .templates()
                    .map(|template| &template.location)
                    .filter(|place| !near.contains(place));
                let others = nearest(location.template.as_str(), others, |place| place.template.as_str());
                near.extend(others);
                near.truncate(NEAR);
                Missing::Template { asked: Box::new(location.clone()), near }
            }
        })
    }

    /// The version a reference gets.
    ///
    /// Withdrawn and gone versions are given when asked for exactly, replaced content by its digest only. With a
    /// digest, the version is the one of that content; a selector beside it must accept that version.
    pub fn resolve(
        &self,
        viewer: &Viewer,
        reference: &Reference,
        home: Option<&Home>,
    ) -> Result<Resolved<'_>, Missing> {
        let template = self.locate(viewer, reference, home)?;
        let registry = &self.registries[&template.location.registry];
        let existing = || template.versions.keys().rev().cloned().collect();
        if let Some(asked) = reference.digest {
            let missing = || {
                let mut purges = template.purged.iter();
                match purges.find(|((_, digest), _)| *digest == asked) {
                    Some((_, purge)) => Missing::Purged {
                        reference: format!("{}@{asked}", template.location),
                        purge: purge.clone(),
                    },
                    None => Missing::Digest {
                        template: Box::new(template.location.clone()),
                        asked,
                        existing: existing(),
                    },
                }
            };
            let held = template.held.values().filter(|_| viewer.sees_held());
            let fits = |version: &&Arc<VersionSnapshot>| {
                version.digest == asked && accepts(&reference.selector, &version.version)
            };
            let version = template
                .everything()
                .chain(held)
                .filter(fits)
                .max_by_key(|found| (rank(found), &found.version));
            let version = version.ok_or_else(missing)?;
            let exact = Selector::Exactly(version.version.clone());
            // Former bytes of a version of which no others are left are a candidate of their own.
            let itself = Candidate { version: &version.version, choosable: false };
            let pinned = resolve(&exact, candidates(template).chain([itself])).ok_or_else(missing)?;
            let resolution = Resolution { version: &version.version, rule: Rule::Exact, ..pinned };
            return Ok(Resolved { registry, template, version, resolution });
        }
        let found = resolve(&reference.selector, candidates(template))
            .and_then(|resolution| Some((template.version(resolution.version)?, resolution)));
        match found {
            Some((version, resolution)) => Ok(Resolved { registry, template, version, resolution }),
            None => Err(erased(template, &reference.selector).unwrap_or_else(|| Missing::Version {
                template: Box::new(template.location.clone()),
                asked: reference.selector.clone(),
                existing: existing(),
            })),
        }
    }
}

/// Why nothing is left of the very version that was asked for, if it was erased.
fn erased(template: &TemplateSnapshot, selector: &Selector) -> Option<Missing> {
    let version = match selector {
        Selector::Exactly(version) | Selector::HighestPatch(version) | Selector::HighestMinor(version) => {
            version
        }
        Selector::Highest => return None,
    };
    let (_, purge) = template.purges(version).next()?;
    Some(Missing::Purged { reference: format!("{}:{version}", template.location), purge: purge.clone() })
}

/// Listed before gone before replaced, for content that several versions have.
fn rank(version: &VersionSnapshot) -> u8 {
    match version.standing {
        Standing::Listed => 3,
        Standing::Gone { .. } => 2,
        Standing::Replaced => 1,
        Standing::Held => 0,
    }
}

fn accepts(selector: &Selector, version: &Version) -> bool {
    match selector {
        Selector::Highest => true,
        Selector::Exactly(wanted) => version == wanted,
        Selector::HighestPatch(wanted) => version.same_minor(wanted) && version >= wanted,
        Selector::HighestMinor(wanted) => version.major() == wanted.major() && version >= wanted,
    }
}

fn candidates(template: &TemplateSnapshot) -> impl Iterator<Item = Candidate<'_>> {
    let all = template.versions.values().chain(template.gone.values());
    all.map(|version| Candidate { version: &version.version, choosable: version.is_choosable() })
}

fn same_name(registry: &RegistrySnapshot, template: &TemplateName) -> Vec<Location> {
    let holding = registry.collections.values().filter_map(|collection| collection.templates.get(template));
    holding.map(|template| template.location.clone()).take(NEAR).collect()
}

fn near_registries<'a>(names: impl Iterator<Item = &'a RegistryName>, asked: &str) -> Vec<RegistryName> {
    // The reference may go on behind the registry's name: compared is as much of it as a name is long.
    let asked = asked.to_ascii_lowercase();
    let mut scored = names
        .take(COMPARED)
        .filter_map(|name| {
            let count = name.segments().count();
            let beginning = asked.split('/').take(count).collect::<Vec<_>>().join("/");
            Some((distance(&beginning, &name.canonical().to_ascii_lowercase())?, name))
        })
        .collect::<Vec<_>>();
    scored.sort();
    scored.into_iter().take(NEAR).map(|(_, name)| name.clone()).collect()
}

/// The names nearest to `asked`, nearest first; equally near ones by name.
fn nearest<'a, T: Clone + Ord + 'a>(
    asked: &str,
    names: impl Iterator<Item = &'a T>,
    text: impl Fn(&T) -> &str,
) -> Vec<T> {
    let asked = asked.to_ascii_lowercase();
    let mut scored = names
        .take(COMPARED)
        .filter_map(|name| Some((distance(&asked, &text(name).to_ascii_lowercase())?, name)))
        .collect::<Vec<_>>();
    scored.sort();
    scored.into_iter().take(NEAR).map(|(_, name)| name.clone()).collect()
}

/// How far two names are apart, if they are near at all: a third of the longer one may differ, or one may begin
/// with or contain the other.
fn distance(asked: &str, name: &str) -> Option<usize> {
    #[cfg(test)]
    COMPARISONS.with(|count| count.set(count.get() + 1));
    let longer = asked.len().max(name.len());
    let allowed = (longer / 3).clamp(1, 4);
    if asked.len().abs_diff(name.len()) <= allowed {
        let distance = strsim::osa_distance(asked, name);
        if distance <= allowed {
            return Some(distance);
        }
    }
    let shorter = asked.len().min(name.len());
    let part = shorter >= 3 && (name.contains(asked) || asked.contains(name));
    part.then_some(allowed + longer - shorter)
}

#[cfg(test)]
thread_local! {
    /// Names compared on this thread: the work an answer to a mistake takes.
    pub(crate) static COMPARISONS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn near_is_a_slip_of_the_finger_or_a_part() {
        assert_eq!(distance("redsi", "redis"), Some(1));
        assert_eq!(distance("redis", "redis"), Some(0));
        assert!(distance("redis", "redis-cluster").is_some());
        assert!(distance("redis", "redis-cluster") > distance("redis", "redos"));
        assert_eq!(distance("redis", "nginx"), None);
        assert_eq!(distance("a", "b"), Some(1), "short names are near to all short names");
    }
}
