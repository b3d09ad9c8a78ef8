//! The registry that a template on this machine stands in: references to it are looked up in the tree itself, as it
//! is on disk, so that what is not pushed yet can be processed with what it refers to.

use std::path::{Path, PathBuf};

use indexer::Source;
use indexer::directory::DirectoryTree;
use schema::finding::Finding;
use schema::layout::{Collection, Found, ScannedVersion, Sink, scan};
use schema::limits::TreeLimits;
use schema::name::CollectionName;
use schema::processing::{Provided, Template};
use schema::reference::Home;
use schema::registry_file::RegistryFile;
use schema::resolve::{Candidate, resolve};
use schema::{Digest, Kind, Reference, RegistryName, Version};

use crate::registries::name_of;

/// A registry on this machine.
#[derive(Debug)]
pub(crate) struct OwnTree {
    root: PathBuf,
    name: RegistryName,
}

impl OwnTree {
    /// The tree around a path: the nearest directory above it with a `registry.yaml` or a Git repository. Its name is
    /// the one given, or what `registry.yaml` says, or where the remote `origin` is.
    pub(crate) fn around(path: &Path, named: Option<&RegistryName>) -> Option<OwnTree> {
        let path = path.canonicalize().ok()?;
        let is_root =
            |directory: &&Path| directory.join("registry.yaml").is_file() || directory.join(".git").exists();
        let root = path.ancestors().filter(|directory| directory.is_dir()).find(is_root);
        let root = match (root, named) {
            (Some(root), _) => root.to_owned(),
            (None, Some(_)) => std::env::current_dir().ok()?,
            (None, None) => return None,
        };
        let name = named.cloned().or_else(|| own_name(&root));
        let name = name.or_else(|| remote(&root)).or_else(|| name_of(&Source::Directory(root.clone())))?;
        Some(OwnTree { root, name })
    }

    /// Its name.
    pub(crate) fn name(&self) -> &RegistryName {
        &self.name
    }

    /// The version that a reference gets here; nothing if it is to another registry or to nothing here.
    pub(crate) fn find(&self, asked: &str) -> Option<Provided> {
        let reference = asked.parse::<Reference>().ok()?;
        let home = Home { registry: self.name.clone(), collection: None };
        let location = reference.locate([&self.name], Some(&home)).ok()?;
        let mut versions = Versions {
            collection: location.collection.as_ref(),
            template: location.template.as_str(),
            found: Vec::new(),
        };
        let tree = DirectoryTree::new(&self.root);
        let file = scan(&tree, &TreeLimits::default(), &mut versions).ok()?;
        let found = versions.found;
        let chosen = match &reference.digest {
            Some(digest) => found.into_iter().find(|one| one.digest == *digest)?,
            None => {
                let template = location.template.as_str();
                let candidates = found.iter().map(|one| {
                    let notice = RegistryFile::notice(
                        &file.withdrawn,
                        location.collection.as_ref(),
                        template,
                        &one.version,
                    );
                    Candidate { version: &one.version, choosable: notice.is_none() }
                });
                let version = resolve(&reference.selector, candidates)?.version.clone();
                found.into_iter().find(|one| one.version == version)?
            }
        };
        Some(Provided {
            asked: asked.to_owned(),
            version: chosen.version.to_string(),
            digest: chosen.digest,
            template: chosen.template,
        })
    }
}

/// What `registry.yaml` says the registry is called.
fn own_name(root: &Path) -> Option<RegistryName> {
    let bytes = std::fs::read(root.join("registry.yaml")).ok()?;
    RegistryFile::parse(&bytes).0.name
}

/// Where the remote `origin` of a Git repository is, as the name of a registry.
fn remote(root: &Path) -> Option<RegistryName> {
    let git = root.join(".git");
    let config = match std::fs::read_to_string(&git) {
        // A linked work tree: the file says where its repository is, and that where the shared part is.
        Ok(link) => {
            let own = root.join(link.strip_prefix("gitdir:")?.trim());
            let common = std::fs::read_to_string(own.join("commondir")).unwrap_or_else(|_| ".".to_owned());
            own.join(common.trim()).join("config")
        }
        Err(_) => git.join("config"),
    };
    let config = std::fs::read_to_string(config).ok()?;
    let mut lines = config.lines().map(str::trim);
    lines.find(|line| *line == r#"[remote "origin"]"#)?;
    let url = lines.take_while(|line| !line.starts_with('[')).find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "url").then(|| value.trim().to_owned())
    })?;
    // `git@github.com:owner/name.git` is a URL to Git and to nobody else.
    let url = match url.split_once(':') {
        Some((host, path)) if !url.contains("://") && !host.contains('/') => format!("ssh://{host}/{path}"),
        _ => url,
    };
    name_of(&Source::parse(&url, root).ok()?)
}

/// The versions of one template.
struct Versions<'w> {
    collection: Option<&'w CollectionName>,
    template: &'w str,
    found: Vec<Complete>,
}

/// A version that was found, ready to be processed.
struct Complete {
    version: Version,
    digest: Digest,
    template: Template,
}

impl Sink for Versions<'_> {
    fn collection(&mut self, _: &Collection) {}

    fn wants(&mut self, found: &Found<'_>) -> bool {
        let Collection { name, alias, .. } = found.collection;
        found.template.as_str() == self.template
            && (name.as_ref() == self.collection || (alias.is_some() && alias.as_ref() == self.collection))
    }

    fn version(&mut self, found: &Found<'_>, version: ScannedVersion) {
        let Some((kind, entry)): Option<(Kind, String)> = version.template.clone() else { return };
        let (name, files) = (found.template.to_string(), version.contents());
        let template = Template { name, kind, entry, files, jinja2: false };
        self.found.push(Complete { version: found.version.clone(), digest: version.digest, template });
    }

    fn finding(&mut self, _: Finding) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(files: &[(&str, &str)]) -> Option<String> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        OwnTree::around(root.path(), None).map(|tree| tree.name().to_string())
    }

    #[test]
    fn a_tree_is_named_by_its_file_or_its_remote() {
        assert_eq!(named(&[]), None);
        let config =
            |url: &str| format!("[core]\n\tbare = false\n[remote \"origin\"]\n\turl = {url}\n\tfetch = x\n");
        for url in [
            "https://github.com/acme/templates.git",
            "git@github.com:acme/templates.git",
            "ssh://git@github.com/acme/templates",
        ] {
            assert_eq!(
                named(&[(".git/config", &config(url))]).as_deref(),
                Some("github.com/acme/templates"),
                "{url}"
            );
        }
        let file = ("registry.yaml", "name: git.example/own/name\n");
        assert_eq!(
            named(&[file, (".git/config", &config("https://github.com/a/b"))]).as_deref(),
            Some("git.example/own/name")
        );
        let linked =
            [(".git", "gitdir: real\n"), ("real/commondir", "..\n"), ("config", &config("https://h.x/a/b"))];
        assert_eq!(named(&linked).as_deref(), Some("h.x/a/b"));
    }
}
