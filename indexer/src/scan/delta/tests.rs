//! Whatever is told from a few directories is what a walk of everything finds.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use schema::Finding;
use schema::layout::{Found, ScannedVersion, Sink, scan, scan_some};
use schema::tree::{Entry, MemoryTree, TreeError};

use super::*;

/// A tree in memory whose directories and files have ids, as those of Git have.
struct Named(MemoryTree);

impl Named {
    fn id(&self, path: &str, kind: EntryKind) -> u64 {
        let mut hasher = DefaultHasher::new();
        match kind {
            EntryKind::Directory => {
                for entry in self.0.entries(path, usize::MAX).unwrap().0 {
                    let name = String::from_utf8(entry.name).unwrap();
                    (&name, self.id(&join(path, &name), entry.kind)).hash(&mut hasher);
                }
            }
            EntryKind::File { .. } => self.0.read(path, u64::MAX).unwrap().hash(&mut hasher),
            other => other.hash(&mut hasher),
        }
        hasher.finish()
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

impl Tree for Named {
    fn entries(&self, directory: &str, limit: usize) -> Result<(Vec<Entry>, bool), TreeError> {
        let (mut entries, more) = self.0.entries(directory, limit)?;
        for entry in &mut entries {
            let name = String::from_utf8(entry.name.clone()).unwrap();
            entry.id = Some(self.id(&join(directory, &name), entry.kind).to_string());
        }
        Ok((entries, more))
    }

    fn read(&self, file: &str, limit: u64) -> Result<Vec<u8>, TreeError> {
        self.0.read(file, limit)
    }
}

type Place = (Option<String>, String);

/// What a walk tells, in no order.
#[derive(Debug, Default, PartialEq, Eq)]
struct Told {
    collections: BTreeSet<String>,
    versions: BTreeSet<(Place, String, String, String)>,
    findings: BTreeSet<(String, String, String)>,
}

impl Sink for Told {
    fn collection(&mut self, collection: &Collection) {
        self.collections.insert(format!("{collection:?}"));
    }

    fn wants(&mut self, _: &Found<'_>) -> bool {
        true
    }

    fn version(&mut self, found: &Found<'_>, version: ScannedVersion) {
        let place = (found.collection.name.as_ref().map(ToString::to_string), found.template.to_string());
        let content = format!("{:?} {}", version.template, version.digest);
        self.versions.insert((place, found.version.to_string(), found.path.clone(), content));
        version.findings.into_iter().for_each(|finding| self.finding(finding));
    }

    fn finding(&mut self, finding: Finding) {
        self.findings.insert((finding.path.clone(), finding.rule.to_string(), finding.message.clone()));
    }
}

/// One entry of a tree: a path, and what is there.
type Item = (String, u8);

fn items() -> impl Strategy<Value = Item> {
    let top = prop::sample::select(vec!["db", "web", "redis", "docs", "mapped", ".hidden"]);
    let template = prop::sample::select(vec!["redis", "nginx", "group", "Bad name"]);
    let version = prop::sample::select(vec!["v1.0.0", "v1", "v1.1.0", "notes", "v2.x"]);
    let file = prop::sample::select(vec!["redis.yaml", "nginx.jinja", "README.md"]);
    let path = prop_oneof![
        1 => Just("README.md".to_owned()),
        1 => (top.clone(), file.clone()).prop_map(|(top, file)| format!("{top}/{file}")),
        3 => (top.clone(), version.clone(), file.clone()).prop_map(|(top, version, file)| format!("{top}/{version}/{file}")),
        8 => (top.clone(), template.clone(), version.clone(), file.clone())
            .prop_map(|(top, template, version, file)| format!("{top}/{template}/{version}/{file}")),
        1 => (top, template.clone(), template, version, file)
            .prop_map(|(top, group, template, version, file)| format!("{top}/{group}/{template}/{version}/{file}")),
    ];
    (path, 0u8..12)
}

fn tree(items: &[Item], registry_file: &str) -> Named {
    let mut tree = MemoryTree::new();
    if !registry_file.is_empty() {
        tree = tree.file("registry.yaml", registry_file);
    }
    let mut taken = BTreeSet::<&str>::new();
    for (path, what) in items {
        // A path is a file or a directory, not both.
        let clashes = taken.iter().any(|other| {
            other.starts_with(&format!("{path}/")) || path.starts_with(&format!("{other}/")) || other == path
        });
        if clashes {
            continue;
        }
        taken.insert(path);
        tree = match what {
            0 => tree.special(path, EntryKind::Link),
            1 => tree.special(path, EntryKind::Submodule),
            number => tree.file(path, format!("kind: Template\nnumber: {number}\n")),
        };
    }
    Named(tree)
}

fn told(walk: impl FnOnce(&mut Told)) -> Told {
    let mut told = Told::default();
    walk(&mut told);
    told
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(3),
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_is_told_from_a_few_directories_is_what_a_walk_of_everything_finds(
        kept in prop::collection::vec(items(), 0..14),
        gone in prop::collection::vec(items(), 0..3),
        new in prop::collection::vec(items(), 0..3),
        registry_file in prop::sample::select(vec![
            "",
            "collections: {caches: mapped}\n",
            "collections: {deep: db/group, web: web}\n",
            "collections: {all: \"\"}\n",
        ]),
    ) {
        let limits = TreeLimits::default();
        let old = tree(&[kept.clone(), gone].concat(), registry_file);
        let new = tree(&[kept, new].concat(), registry_file);
        let (file, _) = RegistryFile::parse(registry_file.as_bytes());
        let before = told(|told| drop(scan(&old, &limits, told)));
        let whole = told(|told| drop(scan(&new, &limits, told)));
        if let Some(touched) = touched(&old, &new, &file, &limits) {
            let some = told(|told| scan_some(&new, &limits, &touched, told).unwrap());
            let covered = |path: &str| {
                touched.iter().any(|one| path == one.path || path.starts_with(&format!("{}/", one.path)))
            };
            let mut merged = Told { collections: before.collections, versions: some.versions, findings: some.findings };
            merged.versions.extend(before.versions.into_iter().filter(|(_, _, path, _)| !covered(path)));
            merged.findings.extend(before.findings.into_iter().filter(|(path, _, _)| !covered(path)));
            prop_assert_eq!(merged, whole);
        }
    }
}

#[test]
fn a_push_to_one_template_is_told_from_that_template_alone() {
    let item = |path: &str, number| (path.to_owned(), number);
    let before = [
        item("db/redis/v1.0.0/redis.yaml", 2),
        item("db/mysql/v1.0.0/mysql.yaml", 2),
        item("nginx/v1/nginx.yaml", 2),
    ];
    let after = [
        item("db/redis/v1.0.0/redis.yaml", 3),
        item("db/mysql/v1.0.0/mysql.yaml", 2),
        item("nginx/v1/nginx.yaml", 2),
    ];
    let (old, new) = (tree(&before, ""), tree(&after, ""));
    let touched = touched(&old, &new, &RegistryFile::default(), &TreeLimits::default()).unwrap();
    assert_eq!(touched.iter().map(|one| one.path.as_str()).collect::<Vec<_>>(), ["db/redis"]);
    assert_eq!(touched[0].collection.name.as_ref().map(ToString::to_string).as_deref(), Some("db"));
}
