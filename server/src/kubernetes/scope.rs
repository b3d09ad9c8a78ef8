//! Which templates an address is about: namespaces are collections, of the default registry and of what is stored here,
//! or of one other registry.
//!
//! The namespace `default` is what is in no collection, and a collection that is called so. Where the default registry
//! and what is stored here have a template of one name in one namespace, the default registry's is meant: what is kept
//! in Git goes before. What is said of a registry goes through the snapshot and the viewer alone, so one that is hidden
//! is like none.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use catalog::{Missing, RegistrySnapshot, Snapshot, TemplateSnapshot, VersionSnapshot, Viewer};
use schema::reference::{Location, Reference};
use schema::{CollectionName, Kind, RegistryName};

use super::path::DEFAULT_NAMESPACE;
use super::refusal::Refusal;

/// The registries an address is about, those that go before first.
#[derive(Debug, Clone)]
pub(super) struct Scope {
    registries: Vec<RegistryName>,
    /// Where what is stored here goes, if this address takes anything to store.
    stored: Option<RegistryName>,
}

/// A version at a place, under the name it was asked by.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) registry: Arc<RegistrySnapshot>,
    pub(super) template: Arc<TemplateSnapshot>,
    pub(super) version: Arc<VersionSnapshot>,
}

impl Scope {
    /// The default registry, if there is one, and what is stored here.
    pub(super) fn home(home: Option<&RegistryName>, hosted: &RegistryName) -> Scope {
        let others = home.filter(|home| *home != hosted);
        let registries = others.into_iter().chain([hosted]).cloned().collect();
        Scope { registries, stored: Some(hosted.clone()) }
    }

    /// One registry.
    pub(super) fn only(registry: RegistryName, hosted: &RegistryName) -> Scope {
        let stored = (registry == *hosted).then(|| hosted.clone());
        Scope { registries: vec![registry], stored }
    }

    /// The registry that takes what is to be stored.
    pub(super) fn stored(&self) -> Option<&RegistryName> {
        self.stored.as_ref()
    }

    /// All of them.
    pub(super) fn registries(&self) -> &[RegistryName] {
        &self.registries
    }

    /// Those a viewer may see.
    pub(super) fn visible<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        viewer: &'a Viewer,
    ) -> impl Iterator<Item = &'a Arc<RegistrySnapshot>> {
        self.registries.iter().filter_map(|name| snapshot.registry(viewer, name))
    }

    /// The namespaces there are.
    pub(super) fn namespaces(&self, snapshot: &Snapshot, viewer: &Viewer) -> BTreeSet<String> {
        let collections = self.visible(snapshot, viewer).flat_map(|registry| registry.collections.keys());
        collections
            .map(|name| namespace_of(name.as_ref()).to_owned())
            .chain([DEFAULT_NAMESPACE.to_owned()])
            .collect()
    }

    /// Every template that is listed, of a namespace or of all, by namespace and name: what a client that lists sees.
    pub(super) fn list(
        &self,
        snapshot: &Snapshot,
        viewer: &Viewer,
        namespace: Option<&str>,
    ) -> BTreeMap<(String, String), Entry> {
        let mut all = BTreeMap::new();
        for registry in self.visible(snapshot, viewer) {
            for (collection, held) in &registry.collections {
                let of = namespace_of(collection.as_ref());
                if namespace.is_some_and(|namespace| namespace != of) {
                    continue;
                }
                for template in held.templates.values() {
                    let key = (of.to_owned(), template.name.to_string());
                    // Whatever kind it is, its name is taken for what goes behind it.
                    all.entry(key).or_insert_with_key(|key| entry(registry, template, key));
                }
            }
        }
        all.into_iter().filter_map(|(key, entry)| Some((key, entry?))).collect()
    }

    /// The version a name gets: `redis`, `redis:v1.0`, or anything else that stands behind the path of a reference.
    ///
    /// # Errors
    /// When there is none, or it is of another kind.
    pub(super) fn find(
        &self,
        snapshot: &Snapshot,
        viewer: &Viewer,
        namespace: &str,
        name: &str,
    ) -> Result<Entry, Refusal> {
        let asked =
            name.parse::<Reference>().map_err(|error| Refusal::not_found(name, &error.to_string()))?;
        let Ok(template) = asked.path().parse() else {
            return Err(Refusal::not_found(name, "a name is one template's, in its namespace"));
        };
        let location = |registry: &RegistrySnapshot, collection| Location {
            registry: registry.name.clone(),
            collection,
            template: schema::TemplateName::clone(&template),
        };
        let mut missed = None;
        for registry in self.visible(snapshot, viewer) {
            for collection in collections_of(namespace) {
                let mut reference = Reference::to(&location(registry, collection), asked.selector.clone());
                reference.digest = asked.digest;
                match snapshot.resolve(viewer, &reference, None) {
                    Ok(found) if found.version.kind == Kind::Template => {
                        return Ok(Entry {
                            namespace: namespace.to_owned(),
                            name: name.to_owned(),
                            registry: registry.clone(),
                            template: found.template.clone(),
                            version: found.version.clone(),
                        });
                    }
                    Ok(found) => {
                        let why = format!(
                            "it is a {}, which is not served here; the address of its own kind is on its page",
                            found.version.kind.title()
                        );
                        return Err(Refusal::not_found(name, &why));
                    }
                    // What says most: that a version is missing of a template that is there.
                    Err(
                        missing @ (Missing::Version { .. } | Missing::Digest { .. } | Missing::Purged { .. }),
                    ) => {
                        missed = Some(missing);
                    }
                    Err(missing) => missed = missed.or(Some(missing)),
                }
            }
        }
        Err(match missed {
            Some(purged @ Missing::Purged { .. }) => Refusal::gone(name, &purged.to_string()),
            Some(missing) => {
                let near = missing.suggestions();
                let near =
                    if near.is_empty() { String::new() } else { format!("; there is {}", near.join(", ")) };
                Refusal::not_found(name, &format!("{missing}{near}"))
            }
            None => Refusal::not_found(name, ""),
        })
    }

    /// What a listed template is, by its place; whatever its kind, if nobody may choose a version of it, nothing.
    pub(super) fn current(
        &self,
        snapshot: &Snapshot,
        viewer: &Viewer,
        namespace: &str,
        name: &str,
    ) -> Option<Entry> {
        let key = (namespace.to_owned(), name.to_owned());
        let template = self.holder(snapshot, viewer, namespace, name)?;
        entry(template.0, template.1, &key)
    }

    /// The registry that has a listed template of a name in a namespace, whatever its kind.
    pub(super) fn holder<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        viewer: &'a Viewer,
        namespace: &str,
        name: &str,
    ) -> Option<(&'a Arc<RegistrySnapshot>, &'a Arc<TemplateSnapshot>)> {
        let name = name.parse::<schema::TemplateName>().ok()?;
        self.visible(snapshot, viewer).find_map(|registry| {
            let listed = |collection| registry.collections.get(&collection)?.templates.get(&name);
            collections_of(namespace).into_iter().find_map(listed).map(|template| (registry, template))
        })
    }
}

/// The namespace of a collection.
pub(super) fn namespace_of(collection: Option<&CollectionName>) -> &str {
    collection.map_or(DEFAULT_NAMESPACE, CollectionName::as_str)
}

/// The collections a namespace stands for: none for a text that is no name of one.
fn collections_of(namespace: &str) -> Vec<Option<CollectionName>> {
    let named = namespace.parse::<CollectionName>().ok().map(Some);
    let root = (namespace == DEFAULT_NAMESPACE).then_some(None);
    root.into_iter().chain(named).collect()
}

/// A template under its own name: the highest version that may be chosen. Nothing if there is none, or it is of
/// another kind.
fn entry(
    registry: &Arc<RegistrySnapshot>,
    template: &Arc<TemplateSnapshot>,
    (namespace, name): &(String, String),
) -> Option<Entry> {
    let chosen =
        |version: &&Arc<VersionSnapshot>| version.is_choosable() && !version.version.is_pre_release();
    let version = template.versions.values().rev().find(chosen)?;
    (version.kind == Kind::Template).then(|| Entry {
        namespace: namespace.clone(),
        name: name.clone(),
        registry: registry.clone(),
        template: template.clone(),
        version: version.clone(),
    })
}
