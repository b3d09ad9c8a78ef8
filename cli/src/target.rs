//! What TARGET means: a version directory, a template file or a configuration here, or a reference for a server.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use check::Graft;
use indexer::directory::DirectoryTree;
use schema::layout::{kind_of_file, scan_version};
use schema::limits::TreeLimits;
use schema::processing::Template;
use schema::{Kind, Reference, Version};

use crate::configuration;

/// A target that was understood.
pub(crate) enum Target {
    /// A template on this machine.
    Local(Box<Template>),
    /// A reference for a server.
    Remote(Reference),
}

impl Target {
    /// Reads a target: what exists on disk goes before what parses as a reference.
    /// A configuration's imports are read from below `root`, or from its own directory.
    pub(crate) fn read(text: &str, root: Option<&Path>) -> anyhow::Result<Target> {
        let path = Path::new(text);
        if path.is_dir() {
            return Ok(Target::Local(Box::new(version_directory(path)?)));
        }
        if path.is_file() {
            return Ok(Target::Local(Box::new(template_file(path, root)?)));
        }
        if text.starts_with(['.', '/']) {
            bail!("{text} is neither a directory nor a file");
        }
        Ok(Target::Remote(
            text.parse().with_context(|| format!("`{text}` is neither a path nor a reference"))?,
        ))
    }
}

/// The template in a version directory. Its name is that of the directory above; a directory that is no version is
/// taken by its own name.
fn version_directory(path: &Path) -> anyhow::Result<Template> {
    let (name, _) = names(path)?;
    let scanned = scan_version(&Graft::new(DirectoryTree::new(path), ""), "", &name, &TreeLimits::default());
    let Some((kind, entry)) = scanned.template.clone() else {
        let finding = scanned.findings.first().map(|finding| format!("{}: {}", finding.message, finding.fix));
        bail!("{} holds no template: {}", path.display(), finding.unwrap_or_default());
    };
    Ok(Template { name, kind, entry, files: scanned.contents(), jinja2: false })
}

/// The template's name, and the version's if the directory is named for one.
pub(crate) fn names(path: &Path) -> anyhow::Result<(String, Option<String>)> {
    let path = path.canonicalize().with_context(|| format!("{} cannot be read", path.display()))?;
    let own = file_name(&path);
    let above = path.parent().map(file_name).unwrap_or_default();
    Ok(if Version::from_directory(&own).is_ok() { (above, Some(own)) } else { (own, None) })
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A single template file, with its neighbours: helpers and schemas stand beside it.
fn template_file(path: &Path, root: Option<&Path>) -> anyhow::Result<Template> {
    let content = std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let entry = file_name(path);
    let Some(kind) = kind_of_file(&entry, &content) else {
        if configuration::is_one(&entry, &content) {
            return configuration::read(path, root);
        }
        bail!("{} is not a template of a kind that is known", path.display());
    };
    let name = entry.rsplit_once('.').map_or(entry.clone(), |(name, _)| name.to_owned());
    let directory = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .map_or_else(|| PathBuf::from("."), Path::to_owned);
    // A Kubernetes Template is one file and refers to none.
    let mut files = if kind == Kind::Template { Vec::new() } else { neighbours(&directory)? };
    files.retain(|(name, _)| *name != entry);
    files.push((entry.clone(), content));
    Ok(Template { name, kind, entry, files: files.into_iter().collect(), jinja2: false })
}

/// The files directly beside a template, as far as they are within the limits of a version.
fn neighbours(directory: &Path) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let limits = TreeLimits::default();
    let mut left = limits.version_bytes;
    let mut files = Vec::new();
    let entries =
        std::fs::read_dir(directory).with_context(|| format!("{} cannot be read", directory.display()))?;
    for entry in entries.flatten() {
        let (Ok(metadata), Ok(name)) = (entry.metadata(), entry.file_name().into_string()) else { continue };
        if metadata.is_file() && metadata.len() <= left && files.len() < limits.version_files {
            left -= metadata.len();
            files.push((name, std::fs::read(entry.path())?));
        }
    }
    Ok(files)
}
