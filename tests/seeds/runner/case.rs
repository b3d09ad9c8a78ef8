//! A case as it is on disk: the block, what is said about it, and the files that complete it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value as Json;

/// A case.
#[derive(Debug)]
pub(crate) struct Case {
    /// `<document>/<nn>-<what>`, the folder.
    pub(crate) name: String,
    pub(crate) facts: Facts,
    /// The block's file name and content.
    pub(crate) block: (String, Vec<u8>),
    /// The files that complete it, by name.
    pub(crate) completion: BTreeMap<String, Vec<u8>>,
}

/// `case.yaml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Facts {
    /// The document's number, `000` to `004`.
    pub(crate) document: String,
    /// The sentence before the block.
    pub(crate) quote: String,
    pub(crate) kind: Kind,
    pub(crate) verdict: Verdict,
    /// Why that is the verdict, and how the block was completed.
    pub(crate) why: String,
    /// Rules that fire on the block as it is written, taken as a version's template file.
    #[serde(default = "no_template")]
    pub(crate) as_written: Vec<String>,
    /// The completion does not hold the block's lines as they are; `why` says what was changed.
    #[serde(default)]
    pub(crate) rewritten: bool,
    /// Rules that fire on the template when it is inspected, of warnings and errors.
    #[serde(default)]
    pub(crate) findings: Vec<String>,
    #[serde(default)]
    pub(crate) runs: Vec<Run>,
    /// What the document says comes out, for what cannot be processed yet: the runs to be.
    #[serde(default)]
    pub(crate) promised: Vec<Run>,
    #[serde(default)]
    pub(crate) layouts: Vec<Layout>,
    #[serde(default)]
    pub(crate) references: Vec<Asked>,
    #[serde(default)]
    pub(crate) versions: Vec<Spelled>,
    #[serde(default)]
    pub(crate) resolves: Vec<Resolving>,
}

impl Facts {
    /// Whether anything about names, versions or layouts is stated.
    pub(crate) fn states_a_convention(&self) -> bool {
        !(self.layouts.is_empty()
            && self.references.is_empty()
            && self.versions.is_empty()
            && self.resolves.is_empty())
    }
}

fn no_template() -> Vec<String> {
    vec!["no-template".to_owned()]
}

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// Something a reader understands and no program processes: a type, a result, a list of functions.
    Text,
    Layout,
    Reference,
    Version,
    Command,
    #[serde(untagged)]
    Template(schema::Kind),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    Works,
    WorksWhenCompleted,
    Defective,
    NotProcessedYet,
    NotATemplate,
}

/// One processing and what it must come to.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) values: Json,
    #[serde(default)]
    pub(crate) set: serde_json::Map<String, Json>,
    #[serde(default)]
    pub(crate) expect: Expect,
}

/// What is expected; what is not named is not looked at.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expect {
    pub(crate) dialect: Option<String>,
    pub(crate) objects: Option<Json>,
    pub(crate) original: Option<Json>,
    pub(crate) outputs: Option<Json>,
    /// Part of the message of a problem.
    pub(crate) error: Option<String>,
}

/// A tree and what a scan of it finds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Layout {
    /// The file with the tree: maps are directories, texts are files.
    pub(crate) tree: String,
    /// References to every version that is served.
    pub(crate) serves: Vec<String>,
    /// Kinds of versions, of those that matter.
    #[serde(default)]
    pub(crate) kinds: BTreeMap<String, schema::Kind>,
    /// Names of collections, besides the root.
    pub(crate) collections: Vec<String>,
    /// Every finding: rule and path.
    pub(crate) findings: Vec<String>,
}

/// A reference, and what it is or why it is refused.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Asked {
    pub(crate) ask: String,
    #[serde(default)]
    pub(crate) registries: Vec<String>,
    pub(crate) home: Option<String>,
    pub(crate) home_collection: Option<String>,
    pub(crate) is: Option<Named>,
    pub(crate) refused: Option<String>,
}

/// The parts of a reference.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Named {
    pub(crate) registry: String,
    pub(crate) collection: Option<String>,
    pub(crate) template: String,
    pub(crate) selector: String,
}

/// The name of a version directory.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Spelled {
    pub(crate) directory: String,
    pub(crate) is: Option<String>,
    pub(crate) refused: Option<String>,
}

/// Versions there are, the one asked for, and the one it gets.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Resolving {
    pub(crate) among: Vec<String>,
    pub(crate) ask: String,
    pub(crate) gets: Option<String>,
}

/// Reads a YAML file as a type.
fn read_yaml<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, String> {
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let document = yaml::load_bytes(&bytes, &yaml::Options::default())
        .map_err(|error| format!("{}: {error}", path.display()))?
        .ok_or_else(|| format!("{}: the file is empty", path.display()))?;
    serde_json::from_value(document.value.to_json()).map_err(|error| format!("{}: {error}", path.display()))
}

/// Every case below a folder, in order.
pub(crate) fn read_all(folder: &Path) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for document in folders(folder)? {
        for path in folders(&document)? {
            cases.push(read(&document, &path)?);
        }
    }
    if cases.is_empty() { Err(format!("{}: there is no case", folder.display())) } else { Ok(cases) }
}

/// The folders in a folder whose names begin with a number, in order.
fn folders(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut found = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_dir() && name_of(path).starts_with(|c: char| c.is_ascii_digit()))
        .collect::<Vec<_>>();
    found.sort();
    Ok(found)
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn read(document: &Path, path: &Path) -> Result<Case, String> {
    let name = format!("{}/{}", name_of(document), name_of(path));
    let facts = read_yaml::<Facts>(&path.join("case.yaml"))?;
    if !name.starts_with(&format!("{}-", facts.document)) {
        return Err(format!("{name}: the case says it is of document {}", facts.document));
    }
    let mut block = None;
    let mut completion = BTreeMap::new();
    for entry in fs::read_dir(path).map_err(|error| format!("{name}: {error}"))? {
        let file = entry.map_err(|error| format!("{name}: {error}"))?.path();
        let content = fs::read(&file).map_err(|error| format!("{name}: {error}"))?;
        match name_of(&file) {
            file if file == "case.yaml" => {}
            file if file.starts_with("block.") && block.is_none() => block = Some((file, content)),
            file => {
                completion.insert(file, content);
            }
        }
    }
    let block = block.ok_or_else(|| format!("{name}: there is no block"))?;
    Ok(Case { name, facts, block, completion })
}
