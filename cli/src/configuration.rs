//! A Deployment Manager configuration on disk, with the files it imports: what `dm expand FILE` read.
//!
//! Only what is imported is read, by the configuration or by the schemas of its templates, and nothing outside one
//! directory: the configuration's own, or the one that `--root` names. Which files are wanted is the engine's to say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use schema::Kind;
use schema::limits::TreeLimits;
use schema::processing::Template;
use worker::Wanted;

/// Whether a YAML file is a configuration: it lists resources or imports, or cannot be read and so had better be
/// told where it is wrong.
pub(crate) fn is_one(name: &str, content: &[u8]) -> bool {
    if ![".yaml", ".yml", ".json"].iter().any(|ending| name.ends_with(ending)) {
        return false;
    }
    let Ok(text) = std::str::from_utf8(content) else { return true };
    match yaml::load_value(text, &yaml::Options::pyyaml()) {
        Ok(Some(yaml::Value::Map(map))) => map.contains_key("resources") || map.contains_key("imports"),
        Ok(_) => false,
        Err(_) => true,
    }
}

/// Reads a configuration and what it imports from below `root`.
pub(crate) fn read(path: &Path, root: Option<&Path>) -> anyhow::Result<Template> {
    let canonical = path.canonicalize().with_context(|| format!("{} cannot be read", path.display()))?;
    let own = canonical.parent().map_or_else(|| PathBuf::from("/"), Path::to_owned);
    let root = match root {
        Some(root) => root.canonicalize().with_context(|| format!("{} cannot be read", root.display()))?,
        None => own,
    };
    let Some(entry) = canonical.strip_prefix(&root).ok().and_then(Path::to_str) else {
        bail!("{} is not below {}", path.display(), root.display());
    };
    let name = canonical.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let mut gathering = Gathering { root: &root, files: BTreeMap::new(), bytes: 0 };
    gathering.take(entry)?;
    gathering.finish(&name, entry)
}

/// A configuration on standard input, if that is what it is: a template never lists imports. They are read from
/// below `root`, or from the current directory.
pub(crate) fn from_stdin(content: &[u8], root: Option<&Path>) -> anyhow::Result<Option<Template>> {
    let text = std::str::from_utf8(content).unwrap_or_default();
    match yaml::load_value(text, &yaml::Options::pyyaml()) {
        Ok(Some(yaml::Value::Map(map))) if map.contains_key("imports") => {}
        _ => return Ok(None),
    }
    let root = root.unwrap_or_else(|| Path::new("."));
    let root = root.canonicalize().with_context(|| format!("{} cannot be read", root.display()))?;
    let entry = "stdin.yaml";
    let files = BTreeMap::from([(entry.to_owned(), content.to_vec())]);
    Gathering { root: &root, files, bytes: content.len() as u64 }.finish("stdin", entry).map(Some)
}

struct Gathering<'r> {
    root: &'r Path,
    files: BTreeMap<String, Vec<u8>>,
    bytes: u64,
}

impl Gathering<'_> {
    /// Takes all that is imported, however far.
    fn finish(mut self, name: &str, entry: &str) -> anyhow::Result<Template> {
        loop {
            let before = self.files.len();
            let so_far = Template {
                name: name.to_owned(),
                kind: Kind::DmConfiguration,
                entry: entry.to_owned(),
                files: self.files.clone().into_iter().collect(),
                jinja2: false,
            };
            for wanted in worker::wanted(&so_far) {
                self.take_all(&wanted)?;
            }
            if self.files.len() == before {
                return Ok(so_far);
            }
        }
    }

    fn take_all(&mut self, wanted: &Wanted) -> anyhow::Result<()> {
        if !wanted.is_pattern() {
            return self.take(wanted.path());
        }
        let Ok(entries) = std::fs::read_dir(self.root.join(wanted.directory())) else { return Ok(()) };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let paths = names.map(|name| match wanted.directory() {
            "" => name,
            directory => format!("{directory}/{name}"),
        });
        let mut paths = paths.filter(|path| wanted.means(path)).collect::<Vec<_>>();
        paths.sort();
        paths.iter().try_for_each(|path| self.take(path))
    }

    /// Takes a file, if there is one. What is not there is for the engine to miss.
    fn take(&mut self, path: &str) -> anyhow::Result<()> {
        if self.files.contains_key(path) {
            return Ok(());
        }
        let Ok(whole) = self.root.join(path).canonicalize() else { return Ok(()) };
        if !whole.starts_with(self.root) {
            bail!("{path} is a link that leads out of {}", self.root.display());
        }
        let metadata =
            std::fs::metadata(&whole).with_context(|| format!("{} cannot be read", whole.display()))?;
        if !metadata.is_file() {
            return Ok(());
        }
        let limits = TreeLimits::default();
        self.bytes += metadata.len();
        if self.files.len() >= limits.version_files || self.bytes > limits.version_bytes {
            bail!(
                "more is imported than the {} files or {} MiB a configuration may bring",
                limits.version_files,
                limits.version_bytes >> 20
            );
        }
        let content = std::fs::read(&whole).with_context(|| format!("{} cannot be read", whole.display()))?;
        self.files.insert(path.to_owned(), content);
        Ok(())
    }
}
