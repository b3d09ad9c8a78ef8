//! Repositories of templates that look like real ones, made from a number: same numbers, same commit ids.
//!
//! What is in them is [`samples`]' business; this writes it into Git.

use std::path::Path;

use anyhow::Context;
use samples::{Registry, Template};

use crate::repository::{Commit, Repository};

/// What was made.
pub(crate) struct Generated {
    /// The id of the newest commit.
    pub(crate) commit: String,
    /// Every template with its versions, lowest first.
    pub(crate) templates: Vec<Template>,
    pub(crate) repository: Repository,
}

/// Versions in one commit: a repository grows in steps, and a step is held in memory.
const VERSIONS_PER_COMMIT: usize = 500;

/// Makes a bare repository with so many versions.
pub(crate) fn generate(path: &Path, versions: usize, seed: u64) -> anyhow::Result<Generated> {
    write(path, samples::registry(versions, seed))
}

/// Makes a bare repository for each registry of a catalogue, in a directory that is made, and says what each is called.
pub(crate) fn catalogue(
    directory: &Path,
    templates: usize,
    versions: usize,
    seed: u64,
) -> anyhow::Result<Vec<(String, Generated)>> {
    std::fs::create_dir_all(directory).with_context(|| format!("{} cannot be made", directory.display()))?;
    let registries = samples::catalogue(templates, versions, seed);
    registries
        .into_iter()
        .map(|registry| {
            let name = registry.name.clone();
            let path = directory.join(format!("{}.git", name.replace('/', "-")));
            Ok((name, write(&path, registry)?))
        })
        .collect()
}

fn write(path: &Path, registry: Registry) -> anyhow::Result<Generated> {
    let mut repository =
        Repository::create(path).with_context(|| format!("{} cannot be made", path.display()))?;
    let mut commit = Commit::default().file("registry.yaml", registry.file());
    let mut pending = 0;
    for template in &registry.templates {
        for version in &template.versions {
            for (path, text) in template.files(version) {
                commit = commit.file(&format!("{}/{version}/{path}", template.directory()), text);
            }
            pending += 1;
            if pending == VERSIONS_PER_COMMIT {
                repository.commit(std::mem::take(&mut commit))?;
                pending = 0;
            }
        }
    }
    repository.commit(commit.file("README.md", "# Templates\n\nMade by a program.\n"))?;
    repository.repack()?;
    Ok(Generated { commit: repository.head()?, templates: registry.templates, repository })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_same_commit() {
        if !crate::repository::git_is_installed() {
            return crate::report::progress("SKIPPED: same_seed_same_commit: git is not installed");
        }
        let directory = tempfile::tempdir().unwrap();
        let make = |name: &str, seed| generate(&directory.path().join(name), 60, seed).unwrap().commit;
        assert_eq!(make("a", 1), make("b", 1));
        assert_ne!(make("c", 1), make("d", 2));
    }
}
