//! Publications from a few lines, for tests: of this crate and, with the feature `testing`, of others.
//!
//! ```
//! # async fn test(catalog: &catalog::Catalog) {
//! use catalog::testing::Registry;
//! Registry::new("github.com/acme/templates")
//!     .version("redis:v1.0.0", &[("redis.yaml", "kind: Template"), ("README.md", "# Redis")])
//!     .version("db/postgres:v1.2.0", &[("postgres.jinja", "resources: []")])
//!     .publish(catalog)
//!     .await;
//! # }
//! ```
//!
//! Nothing here reads templates: what an inspection says is said with [`Registry::about`].

use std::collections::BTreeMap;

use schema::digest::DigestEntry;
use schema::registry_file::Notice;
use schema::{Digest, Finding, Inspection, Kind, Reference, RegistryName};

use crate::access::Visibility;
use crate::catalog::{Catalog, Published};
use crate::error::WriteError;
use crate::publication::{Facts, FileEntry, Publication, PublishedCollection, PublishedVersion};

/// A registry as a test wants it.
#[derive(Debug, Clone)]
pub struct Registry {
    /// What will be published; change it freely.
    pub publication: Publication,
    /// The bytes of its files.
    pub blobs: BTreeMap<Digest, Vec<u8>>,
    /// Who may see it; `None` leaves that as it is.
    pub visibility: Option<Visibility>,
}

impl Registry {
    /// A registry without anything in it, read at second 1,000 from a commit of ones.
    pub fn new(name: &str) -> Registry {
        let name = name.parse::<RegistryName>().expect("the test names a registry");
        let source = format!("https://{name}.git");
        let publication =
            Publication { commit: Some("1".repeat(40)), ..Publication::of(name, source, 1_000) };
        Registry { publication, blobs: BTreeMap::new(), visibility: None }
    }

    /// The same, seen only by who may.
    pub fn private(mut self) -> Registry {
        self.visibility = Some(Visibility::Private);
        self
    }

    /// Its name.
    pub fn name(&self) -> &RegistryName {
        &self.publication.registry
    }

    /// Read at another time and from another commit.
    pub fn at(mut self, indexed_at: i64, commit: &str) -> Registry {
        self.publication.indexed_at = indexed_at;
        self.publication.commit = Some(commit.to_owned());
        self
    }

    /// A version, `[collection/]template:version`, with its files. What kind it is, is told from the names alone.
    pub fn version(mut self, reference: &str, files: &[(&str, &str)]) -> Registry {
        let parsed = reference.parse::<Reference>().expect("the test writes a reference");
        let version = reference.rsplit_once(':').expect("the test writes a version").1;
        let path = parsed.path();
        let (collection, template) = match path.split_once('/') {
            Some((collection, template)) => {
                (Some(collection.parse().expect("the parser checked it")), template)
            }
            None => (None, path.as_str()),
        };
        let mut entries = Vec::new();
        for (path, content) in files {
            let digest = Digest::of(content.as_bytes());
            self.blobs.insert(digest, content.as_bytes().to_vec());
            entries.push(FileEntry {
                path: (*path).to_owned(),
                size: content.len() as u64,
                executable: false,
                digest,
                documentation: schema::documentation::is_named(path),
            });
        }
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        let listing = entries.iter().map(|file| DigestEntry {
            path: &file.path,
            executable: false,
            content: file.digest,
        });
        let digest = Digest::of_version(listing);
        let (entry, kind) = entry(template, &entries);
        let known = self.publication.collections.iter().any(|known| known.name == collection);
        if !known {
            self.publication.collections.push(PublishedCollection {
                name: collection.clone(),
                path: collection.as_ref().map_or_else(String::new, ToString::to_string),
                title: None,
                description: None,
                directory_name_alias: None,
            });
        }
        self.publication.versions.push(PublishedVersion {
            collection,
            template: template.parse().expect("the parser checked it"),
            version: version.parse().expect("the test writes a version"),
            path: format!("{path}/{version}"),
            kind,
            entry,
            digest,
            files: entries.into(),
            inspection: Facts::default(),
            findings: Vec::new(),
            withdrawn: None,
            deprecated: None,
            tree_id: None,
            introduced: None,
        });
        self
    }

    /// What an inspection says of the version added last.
    pub fn about(mut self, change: impl FnOnce(&mut Inspection)) -> Registry {
        let version = self.last();
        let mut inspection = Inspection::clone(&version.inspection);
        change(&mut inspection);
        version.inspection = inspection.into();
        self
    }

    /// A description of the version added last.
    pub fn described(self, description: &str) -> Registry {
        self.about(|inspection| inspection.description = Some(description.to_owned()))
    }

    /// A finding on the version added last.
    pub fn finding(mut self, finding: Finding) -> Registry {
        self.last().findings.push(finding);
        self
    }

    /// Withdraws the version added last.
    pub fn withdrawn(mut self, reason: &str) -> Registry {
        self.last().withdrawn = Some(Notice { reason: reason.to_owned(), instead: None });
        self
    }

    /// Stores its bytes and publishes it, adding it first if need be.
    pub async fn try_publish(&self, catalog: &Catalog) -> Result<Published, WriteError> {
        let (source, at) = (&self.publication.source, self.publication.indexed_at);
        let origin = crate::Origin::Settings;
        catalog.add_registry_from(self.name(), source, self.visibility, origin, None, at).await?;
        catalog.put_blobs(self.blobs.clone().into_iter().collect()).await?;
        catalog.publish(self.publication.clone()).await
    }

    /// [`Registry::try_publish`], for tests in which nothing goes wrong.
    pub async fn publish(&self, catalog: &Catalog) -> Published {
        self.try_publish(catalog).await.expect("a temporary directory takes a small registry")
    }

    fn last(&mut self) -> &mut PublishedVersion {
        self.publication.versions.last_mut().expect("the test adds a version first")
    }
}

fn entry(template: &str, files: &[FileEntry]) -> (String, Kind) {
    let forms = [
        ("jinja", Kind::DmJinja),
        ("py", Kind::DmPython),
        ("yaml", Kind::Template),
        ("json", Kind::Template),
    ];
    let named = forms.iter().map(|(extension, kind)| (format!("{template}.{extension}"), *kind));
    let found = named
        .chain([("Chart.yaml".to_owned(), Kind::Chart)])
        .find(|(path, _)| files.iter().any(|file| file.path == *path));
    found.expect("the test gives a file named for the template")
}
