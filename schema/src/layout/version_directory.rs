//! One version directory: its files, what kind it is, and what is wrong with its structure.

use serde::{Deserialize, Serialize};

use super::{paths, rules};
use crate::digest::{Digest, DigestEntry};
use crate::finding::{Finding, Place, shown};
use crate::kind::Kind;
use crate::limits::TreeLimits;
use crate::tree::{Entry, EntryKind, Files, Tree};

/// A file of a version, with its bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScannedFile {
    /// The path inside the version directory.
    pub path: String,
    /// Whether it is marked executable.
    pub executable: bool,
    /// The digest of its bytes.
    pub digest: Digest,
    /// Its bytes.
    #[serde(skip)]
    pub content: std::sync::Arc<[u8]>,
}

/// A version directory that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScannedVersion {
    /// Its kind and the path of its top-level template file; `None` withholds the version.
    pub template: Option<(Kind, String)>,
    /// Its files, sorted by path. Empty if the version is withheld.
    pub files: Vec<ScannedFile>,
    /// The digest over them.
    pub digest: Digest,
    /// What is wrong with its structure, with paths from the root of the tree.
    pub findings: Vec<Finding>,
}

impl ScannedVersion {
    /// The files by path, sharing their bytes.
    pub fn contents(&self) -> Files {
        self.files.iter().map(|file| (file.path.clone(), file.content.clone())).collect()
    }
}

/// Reads one version directory at `path` of a template called `name`.
///
/// Limits are checked on the sizes the tree states, before anything is read.
pub fn scan_version(tree: &dyn Tree, path: &str, name: &str, limits: &TreeLimits) -> ScannedVersion {
    let mut findings = Vec::new();
    let listed = list(tree, path, limits, &mut findings);
    let mut files = Vec::with_capacity(listed.len());
    if !findings.iter().any(withholds) {
        for (inside, executable) in listed {
            let whole = paths::join(path, &inside);
            match tree.read(&whole, limits.version_bytes) {
                Ok(content) => files.push(ScannedFile {
                    path: inside,
                    executable,
                    digest: Digest::of(&content),
                    content: content.into(),
                }),
                Err(error) => findings.push(Finding::new(&rules::UNREADABLE_FILE, whole, error.to_string())),
            }
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
    }
    let template = if findings.iter().any(withholds) {
        None
    } else {
        let read = |file: &str| files.iter().find(|f| f.path == file).map(|f| &*f.content);
        let top = files.iter().map(|file| file.path.as_str()).filter(|path| !path.contains('/'));
        tell_kind(path, name, top, read, &mut findings)
    };
    if template.is_none() {
        files.clear();
    } else if !files.iter().any(|file| file.path == "example.yaml") {
        let message = "the version has no example.yaml";
        findings.push(Finding::new(&rules::NO_EXAMPLE, path, message));
    }
    let entries = files.iter().map(|file| DigestEntry {
        path: &file.path,
        executable: file.executable,
        content: file.digest,
    });
    let digest = Digest::of_version(entries);
    ScannedVersion { template, digest, findings, files }
}

fn withholds(finding: &Finding) -> bool {
    rules::ALL.iter().any(|rule| rule.withholds && rule.id == finding.rule)
}

/// Lists every file below a directory, without recursion and within limits.
fn list(
    tree: &dyn Tree,
    root: &str,
    limits: &TreeLimits,
    findings: &mut Vec<Finding>,
) -> Vec<(String, bool)> {
    let mut listed = Vec::new();
    let mut bytes = 0u64;
    let mut left = limits.version_files.saturating_mul(2);
    let mut stack = vec![(String::new(), 0usize)];
    let too_large = |path: &str, message: String| Finding::new(&rules::VERSION_TOO_LARGE, path, message);
    while let Some((directory, depth)) = stack.pop() {
        let whole = if directory.is_empty() { root.to_owned() } else { paths::join(root, &directory) };
        let (entries, more) = match tree.entries(&whole, left) {
            Ok(entries) => entries,
            Err(error) => {
                findings.push(Finding::new(&rules::UNREADABLE_FILE, whole, error.to_string()));
                continue;
            }
        };
        left = left.saturating_sub(entries.len());
        if more || left == 0 {
            findings
                .push(too_large(&whole, format!("the version has more than {} files", limits.version_files)));
            return listed;
        }
        for Entry { name, kind, .. } in entries {
            let at = || paths::join(&whole, &shown(&name));
            match kind {
                EntryKind::Link => {
                    findings.push(Finding::new(&rules::LINK, at(), "a symbolic link, which is not followed"));
                }
                EntryKind::Submodule => {
                    findings.push(Finding::new(&rules::SUBMODULE, at(), "a submodule, which is not fetched"));
                }
                EntryKind::Directory | EntryKind::File { .. } if paths::unsafe_name(&name).is_some() => {
                    let reason = paths::unsafe_name(&name).unwrap_or_default();
                    findings.push(Finding::new(&rules::FORBIDDEN_PATH, at(), format!("the name {reason}")));
                }
                EntryKind::Directory if depth == limits.version_depth => {
                    findings.push(too_large(
                        &at(),
                        format!("the version has directories more than {} deep", limits.version_depth),
                    ));
                }
                EntryKind::Directory => {
                    stack.push((paths::join(&directory, &String::from_utf8_lossy(&name)), depth + 1));
                }
                EntryKind::File { size, executable } => {
                    bytes = bytes.saturating_add(size);
                    if bytes > limits.version_bytes {
                        let message = format!(
                            "with this file of {} the version is above {}",
                            megabytes(size),
                            megabytes(limits.version_bytes)
                        );
                        findings.push(too_large(&at(), message));
                        return listed;
                    }
                    listed.push((paths::join(&directory, &String::from_utf8_lossy(&name)), executable));
                }
            }
        }
    }
    if listed.len() > limits.version_files {
        findings.push(too_large(
            root,
            format!("the version has {} files, above {}", listed.len(), limits.version_files),
        ));
    }
    listed
}

fn megabytes(bytes: u64) -> String {
    if bytes < 1 << 20 {
        format!("{} KiB", bytes.div_ceil(1 << 10))
    } else {
        format!("{} MiB", bytes.div_ceil(1 << 20))
    }
}

/// What a top-level file turned out to be.
enum Candidate {
    Of(Kind),
    Unreadable(String, Option<Place>),
    Nothing,
}

/// Tells which kind a version is by the names of its top-level files, then by what is in them.
fn tell_kind<'a>(
    path: &str,
    name: &str,
    top: impl Iterator<Item = &'a str>,
    read: impl Fn(&str) -> Option<&'a [u8]>,
    findings: &mut Vec<Finding>,
) -> Option<(Kind, String)> {
    let mut found = Vec::new();
    let mut unreadable = Vec::new();
    let mut others = Vec::new();
    for file in top {
        let candidate = match file.strip_prefix(name) {
            _ if file == "Chart.yaml" => Candidate::Of(Kind::Chart),
            Some(".jinja") => Candidate::Of(Kind::DmJinja),
            Some(".py") => Candidate::Of(Kind::DmPython),
            Some(".yaml" | ".yml" | ".json") => read(file).map_or(Candidate::Nothing, kind_of_document),
            _ => {
                others.push(file);
                Candidate::Nothing
            }
        };
        match candidate {
            Candidate::Of(kind) => found.push((kind, file.to_owned())),
            Candidate::Unreadable(message, place) => unreadable.push((file, message, place)),
            Candidate::Nothing => {}
        }
    }
    match found.as_slice() {
        [one] => return Some(one.clone()),
        [] if !unreadable.is_empty() => {
            for (file, message, place) in unreadable {
                findings.push(
                    Finding::new(&rules::UNREADABLE_TEMPLATE, paths::join(path, file), message).at(place),
                );
            }
        }
        [] => {
            let mut finding =
                Finding::new(&rules::NO_TEMPLATE, path, format!("no top-level template file for `{name}`"));
            let misnamed = others.iter().find(|file| file.ends_with(".jinja") || file.ends_with(".py"));
            if let Some(file) = misnamed {
                let extension = file.rsplit('.').next().unwrap_or_default();
                finding = finding
                    .fixed_by(format!("rename `{file}` to `{name}.{extension}` if it is the template"));
            }
            findings.push(finding);
        }
        several => {
            let names = several.iter().map(|(_, file)| format!("`{file}`")).collect::<Vec<_>>().join(" and ");
            findings.push(Finding::new(
                &rules::SEVERAL_TEMPLATES,
                path,
                format!("{names} are all top-level template files"),
            ));
        }
    }
    None
}

/// What a YAML or JSON document is, by `kind`, or by being a list of named templates.
fn kind_of_document(bytes: &[u8]) -> Candidate {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Candidate::Unreadable("the file is not UTF-8".to_owned(), None);
    };
    let options = yaml::Options::kubernetes().with_duplicate_keys(yaml::DuplicateKeys::LastWins);
    match yaml::load(text, &options) {
        Ok(Some(document)) => kind_of_value(&document.value).map_or(Candidate::Nothing, Candidate::Of),
        Ok(None) => Candidate::Nothing,
        Err(error) => Candidate::Unreadable(error.message.clone(), error.position.map(Place::from)),
    }
}

fn kind_of_value(value: &yaml::Value) -> Option<Kind> {
    if let Some(list) = value.as_list() {
        let named = |item: &yaml::Value| {
            item.get("name").is_some() && (item.get("template").is_some() || item.get("snippet").is_some())
        };
        return (!list.is_empty() && list.iter().all(named)).then_some(Kind::ServiceBroker);
    }
    match value.get("kind").and_then(yaml::Value::as_str)? {
        "Template" => Some(Kind::Template),
        "ServiceBrokerConfig" => Some(Kind::ServiceBroker),
        "SFPlan" => Some(Kind::InteroperatorPlan),
        _ => None,
    }
}

/// Tells the kind of a single template file on disk, outside any version directory, by its name and content.
pub fn kind_of_file(file_name: &str, content: &[u8]) -> Option<Kind> {
    match file_name.rsplit_once('.')?.1 {
        "jinja" => Some(Kind::DmJinja),
        "py" => Some(Kind::DmPython),
        "yaml" | "yml" | "json" if file_name == "Chart.yaml" => Some(Kind::Chart),
        "yaml" | "yml" | "json" => match kind_of_document(content) {
            Candidate::Of(kind) => Some(kind),
            Candidate::Unreadable(..) | Candidate::Nothing => None,
        },
        _ => None,
    }
}
