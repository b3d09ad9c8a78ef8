//! `registry.yaml`: the optional file at the root of a registry that names it and maps collections to paths.
//!
//! Announced in the convention document ("a metadata file at the top level that maps collection names to paths");
//! its form is ours. It may tighten policy, never loosen it. Unknown fields are findings, not errors: a registry
//! outlives the server that reads it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use yaml::Value;

use crate::finding::{Finding, Place};
use crate::layout::{rules, safe_path};
use crate::name::{CollectionName, RegistryName};
use crate::reference::Selector;
use crate::version::Version;

const FILE: &str = "registry.yaml";

/// What a registry says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistryFile {
    /// What the registry calls itself, if that is the name of a registry. For commands on a checkout; a server serves
    /// it under the name its operator gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<RegistryName>,
    /// A title for people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Who keeps it.
    pub maintainers: Vec<String>,
    /// Links, by label.
    pub links: BTreeMap<String, String>,
    /// Collections, by name.
    pub collections: BTreeMap<CollectionName, MappedCollection>,
    /// Versions that are no longer chosen, by `[collection/]template:version`.
    pub withdrawn: BTreeMap<NoticeKey, Notice>,
    /// Versions that are still chosen but on their way out.
    pub deprecated: BTreeMap<NoticeKey, Notice>,
}

/// A collection mapped to a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MappedCollection {
    /// The directory, from the root.
    pub path: String,
    /// A title for people.
    pub title: Option<String>,
    /// What is in it.
    pub description: Option<String>,
    /// Where the entry stands in the file.
    pub place: Option<Place>,
}

/// Which version a notice is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct NoticeKey {
    /// The collection and template, as in a short reference.
    pub path: String,
    /// The version; `None` is all of them.
    pub version: Option<Version>,
}

impl TryFrom<String> for NoticeKey {
    type Error = crate::reference::ReferenceError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let reference = text.parse::<crate::Reference>()?;
        let version = match reference.selector.clone() {
            Selector::Highest => None,
            Selector::HighestPatch(version)
            | Selector::Exactly(version)
            | Selector::HighestMinor(version) => Some(version),
        };
        Ok(NoticeKey { path: reference.path(), version })
    }
}

impl From<NoticeKey> for String {
    fn from(key: NoticeKey) -> String {
        match key.version {
            Some(version) => format!("{}:{version}", key.path),
            None => key.path,
        }
    }
}

/// Why a version is withdrawn or deprecated, and what to use instead.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// The maintainer's reason.
    pub reason: String,
    /// What to use instead, if they say.
    pub instead: Option<String>,
}

impl RegistryFile {
    /// Reads the file; whatever cannot be read is a finding, and the rest counts.
    pub fn parse(bytes: &[u8]) -> (RegistryFile, Vec<Finding>) {
        let mut findings = Vec::new();
        let file = match std::str::from_utf8(bytes) {
            Err(_) => Err(Finding::new(&rules::REGISTRY_FILE, FILE, "the file is not UTF-8")),
            Ok(text) => yaml::load(text, &yaml::Options::default()).map_err(|error| {
                Finding::new(&rules::REGISTRY_FILE, FILE, error.message.clone())
                    .at(error.position.map(Place::from))
            }),
        };
        let document = match file {
            Ok(Some(document)) => document,
            Ok(None) => return (RegistryFile::default(), findings),
            Err(finding) => return (RegistryFile::default(), vec![finding]),
        };
        let mut reader = Reader { document: &document, findings: &mut findings };
        let file = reader.file();
        (file, findings)
    }

    /// The notice among `notices` that covers a version, if any does.
    pub fn notice<'a>(
        notices: &'a BTreeMap<NoticeKey, Notice>,
        collection: Option<&CollectionName>,
        template: &str,
        version: &Version,
    ) -> Option<&'a Notice> {
        let path = match collection {
            Some(collection) => format!("{collection}/{template}"),
            None => template.to_owned(),
        };
        let find = |version| notices.get(&NoticeKey { path: path.clone(), version });
        find(Some(version.clone())).or_else(|| find(None))
    }
}

struct Reader<'a> {
    document: &'a yaml::Document,
    findings: &'a mut Vec<Finding>,
}

impl Reader<'_> {
    fn place(&self, pointer: &str) -> Option<Place> {
        let spans = &self.document.spans;
        spans.span_of_key(pointer).or_else(|| spans.span_of_value(pointer)).map(|span| span.start.into())
    }

    fn wrong(&mut self, pointer: &str, message: impl Into<String>) {
        let finding = Finding::new(&rules::REGISTRY_FILE, FILE, message).at(self.place(pointer));
        self.findings.push(finding);
    }

    fn unknown(&mut self, pointer: &str, field: &str) {
        let message = format!("`{}` is not a field of registry.yaml", field.escape_debug());
        let finding = Finding::new(&rules::REGISTRY_FIELD, FILE, message).at(self.place(pointer));
        self.findings.push(finding);
    }

    fn file(&mut self) -> RegistryFile {
        let document = self.document;
        let mut file = RegistryFile::default();
        let Some(fields) = document.value.as_map() else {
            self.wrong("", format!("the file holds {}, not a map", document.value.kind_name()));
            return file;
        };
        for (field, value) in fields {
            let pointer = &pointer_to("", field);
            match field.as_str() {
                "apiVersion" => self.expect(pointer, value, "formwork/v1"),
                "kind" => self.expect(pointer, value, "TemplateRegistry"),
                // Anything else is a name for people, and means nothing here.
                "name" => file.name = value.as_str().and_then(|name| name.parse().ok()),
                "title" => file.title = self.text(pointer, value),
                "description" => file.description = self.text(pointer, value),
                "maintainers" => file.maintainers = self.texts(pointer, value),
                "links" => {
                    for (label, at, link) in self.entries(pointer, value) {
                        if let Some(link) = self.text(&at, link) {
                            if link.starts_with("https://") || link.starts_with("http://") {
                                file.links.insert(label.to_owned(), link);
                            } else {
                                self.wrong(&at, format!("the link `{label}` is not an http or https URL"));
                            }
                        }
                    }
                }
                "collections" => file.collections = self.collections(pointer, value),
                "withdrawn" => file.withdrawn = self.notices(pointer, value),
                "deprecated" => file.deprecated = self.notices(pointer, value),
                _ => self.unknown(pointer, field),
            }
        }
        file
    }

    fn expect(&mut self, pointer: &str, value: &Value, wanted: &str) {
        if value.as_str() != Some(wanted) {
            self.wrong(pointer, format!("this must be `{wanted}`"));
        }
    }

    fn text(&mut self, pointer: &str, value: &Value) -> Option<String> {
        let text = value.as_str().map(str::to_owned);
        if text.is_none() {
            self.wrong(pointer, format!("this is {}, not a text", value.kind_name()));
        }
        text
    }

    fn texts(&mut self, pointer: &str, value: &Value) -> Vec<String> {
        let Some(list) = value.as_list() else {
            self.wrong(pointer, format!("this is {}, not a list", value.kind_name()));
            return Vec::new();
        };
        let texts =
            list.iter().enumerate().map(|(index, item)| self.text(&format!("{pointer}/{index}"), item));
        texts.collect::<Vec<_>>().into_iter().flatten().collect()
    }

    fn entries<'v>(&mut self, pointer: &str, value: &'v Value) -> Vec<(&'v str, String, &'v Value)> {
        match value.as_map() {
            Some(map) => {
                map.iter().map(|(key, value)| (key.as_str(), pointer_to(pointer, key), value)).collect()
            }
            None => {
                self.wrong(pointer, format!("this is {}, not a map", value.kind_name()));
                Vec::new()
            }
        }
    }

    fn collections(&mut self, pointer: &str, value: &Value) -> BTreeMap<CollectionName, MappedCollection> {
        let mut collections = BTreeMap::new();
        for (name, at, value) in self.entries(pointer, value) {
            let mut mapped = MappedCollection {
                path: String::new(),
                title: None,
                description: None,
                place: self.place(&at),
            };
            if let Some(path) = value.as_str() {
                mapped.path = path.to_owned();
            } else {
                for (field, at, value) in self.entries(&at, value) {
                    match field {
                        "path" => mapped.path = self.text(&at, value).unwrap_or_default(),
                        "title" => mapped.title = self.text(&at, value),
                        "description" => mapped.description = self.text(&at, value),
                        _ => self.unknown(&at, field),
                    }
                }
            }
            mapped.path = mapped.path.trim_matches('/').to_owned();
            match name.parse::<CollectionName>() {
                Err(error) => self.wrong(&at, error.to_string()),
                Ok(_) if !safe_path(&mapped.path) => {
                    self.wrong(&at, format!("the collection `{name}` has no path inside the registry"));
                }
                Ok(name) => {
                    collections.insert(name, mapped);
                }
            }
        }
        collections
    }

    fn notices(&mut self, pointer: &str, value: &Value) -> BTreeMap<NoticeKey, Notice> {
        let mut notices = BTreeMap::new();
        for (key, at, value) in self.entries(pointer, value) {
            let mut notice = Notice::default();
            if let Some(reason) = value.as_str() {
                notice.reason = reason.to_owned();
            } else {
                for (field, at, value) in self.entries(&at, value) {
                    match field {
                        "reason" => notice.reason = self.text(&at, value).unwrap_or_default(),
                        "use" => notice.instead = self.text(&at, value),
                        _ => self.unknown(&at, field),
                    }
                }
            }
            match NoticeKey::try_from(key.to_owned()) {
                Ok(key) => {
                    notices.insert(key, notice);
                }
                Err(error) => self.wrong(&at, error.to_string()),
            }
        }
        notices
    }
}

/// The JSON pointer to a child.
fn pointer_to(parent: &str, key: &str) -> String {
    format!("{parent}/{}", key.replace('~', "~0").replace('/', "~1"))
}
