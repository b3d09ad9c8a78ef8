//! The layout rules on trees in memory: what is found, what is withheld, and that siblings are unharmed.

use super::*;
use crate::kind::Kind;
use crate::tree::MemoryTree;

const TEMPLATE: &str = "apiVersion: v1\nkind: Template\nobjects: []\n";

/// What a scan found, in a form that reads well in a failing test.
#[derive(Default)]
struct Seen {
    collections: Vec<String>,
    versions: Vec<(String, Option<Kind>)>,
    findings: Vec<(String, String)>,
}

impl Sink for Seen {
    fn collection(&mut self, collection: &Collection) {
        let name = collection.name.as_ref().map_or("", CollectionName::as_str);
        self.collections.push(format!("{name}={}", collection.path));
    }

    fn wants(&mut self, _: &Found<'_>) -> bool {
        true
    }

    fn version(&mut self, found: &Found<'_>, version: ScannedVersion) {
        let collection = found.collection.name.as_ref().map(|name| format!("{name}/")).unwrap_or_default();
        let reference = format!("{collection}{}:{}", found.template, found.version);
        self.versions.push((reference, version.template.map(|(kind, _)| kind)));
        version.findings.into_iter().for_each(|finding| self.finding(finding));
    }

    fn finding(&mut self, finding: Finding) {
        self.findings.push((finding.rule.into_owned(), finding.path));
    }
}

fn seen(tree: &MemoryTree) -> Seen {
    let mut seen = Seen::default();
    scan(tree, &TreeLimits::default(), &mut seen).unwrap();
    seen
}

impl Seen {
    fn served(&self) -> Vec<&str> {
        self.versions
            .iter()
            .filter(|(_, kind)| kind.is_some())
            .map(|(reference, _)| reference.as_str())
            .collect()
    }

    fn has(&self, rule: &str, path: &str) -> bool {
        self.findings.iter().any(|(id, at)| id == rule && at == path)
    }
}

fn version(tree: MemoryTree, path: &str, name: &str) -> MemoryTree {
    tree.file(format!("{path}/{name}.yaml"), TEMPLATE)
        .file(format!("{path}/example.yaml"), "parameters: {}\n")
}

/// The convention document, "Basic structure".
#[test]
fn the_documents_tree_gives_its_versions() {
    let mut tree = MemoryTree::new();
    for directory in ["v1", "v1.0.1", "v1.1"] {
        tree = tree
            .file(format!("templateA/{directory}/example.yaml"), "resources: []\n")
            .file(format!("templateA/{directory}/templateA.py"), "def GenerateConfig(context): ...\n")
            .file(format!("templateA/{directory}/templateA.py.schema"), "info: {}\n");
    }
    tree = tree.file("templateA/v1.1/helper.py", "");
    let seen = seen(&tree);
    assert_eq!(seen.served(), ["templateA:v1.0.0", "templateA:v1.0.1", "templateA:v1.1.0"]);
    assert_eq!(seen.findings, []);
}

/// The convention document, "Grouping templates": both trees are valid; the second's templates are too deep to be
/// referenced, and the finding says which mapping would change it.
#[test]
fn collections_are_top_level_directories_and_deeper_groups_are_told_of() {
    let tree = version(MemoryTree::new(), "templates/templateA/v1", "templateA");
    let tree = version(tree, "templates/big-data/templateB/v2", "templateB");
    let seen = seen(&tree);
    assert_eq!(seen.collections, ["=", "templates=templates"]);
    assert_eq!(seen.served(), ["templates/templateA:v1.0.0"]);
    assert!(seen.has("grouped-templates", "templates/big-data"));
}

#[test]
fn registry_yaml_maps_collections_anywhere() {
    let tree = version(MemoryTree::new(), "deep/er/redis/v1", "redis");
    let tree = version(tree, "databases/mongo/v1", "mongo");
    let tree = tree.file(
        "registry.yaml",
        "collections:\n  caches: deep/er\n  db: {path: databases, title: Databases}\n  gone: nowhere\n",
    );
    let seen = seen(&tree);
    assert_eq!(seen.collections, ["=", "caches=deep/er", "db=databases"]);
    assert_eq!(seen.served(), ["caches/redis:v1.0.0", "db/mongo:v1.0.0"]);
    assert!(seen.has("collection-path", "registry.yaml"));
}

#[test]
fn the_fullest_spelling_of_a_version_is_served() {
    let mut tree = MemoryTree::new();
    for spelling in ["v1", "v1.0", "v1.0.0", "v01", "v1.2.3.4"] {
        tree = version(tree, &format!("redis/{spelling}"), "redis");
    }
    let seen = seen(&tree);
    assert_eq!(seen.served(), ["redis:v1.0.0"]);
    assert!(seen.has("duplicate-version", "redis/v1") && seen.has("duplicate-version", "redis/v1.0"));
    assert!(seen.has("version-name", "redis/v01") && seen.has("version-name", "redis/v1.2.3.4"));
}

#[test]
fn a_version_holds_exactly_one_template() {
    let tree = MemoryTree::new()
        .file("a/v1/a.jinja", "resources:\n")
        .file("a/v1/a.yaml", "just: data\n")
        .file("b/v1/b.jinja", "")
        .file("b/v1/b.py", "")
        .file("c/v1/other.py", "")
        .file("d/v1/d.yaml", "a: [\n");
    let seen = seen(&tree);
    assert_eq!(seen.served(), ["a:v1.0.0"]);
    assert!(seen.has("several-templates", "b/v1"));
    assert!(seen.has("no-template", "c/v1"));
    assert!(seen.has("unreadable-template", "d/v1/d.yaml"));
}

#[test]
fn kinds_are_told_by_name_then_by_content() {
    let tree = MemoryTree::new()
        .file("a/v1/a.json", "{\"kind\": \"SFPlan\"}")
        .file("b/v1/b.yaml", "kind: ServiceBrokerConfig\n")
        .file("c/v1/c.yaml", "- name: x\n  template: {}\n")
        .file("d/v1/Chart.yaml", "name: d\n");
    let kinds = seen(&tree).versions.into_iter().map(|(_, kind)| kind.unwrap()).collect::<Vec<_>>();
    assert_eq!(kinds, [Kind::InteroperatorPlan, Kind::ServiceBroker, Kind::ServiceBroker, Kind::Chart]);
}

/// Attack rows 2, 4, 5, 6 and 18: the poisoned version gets a finding, its siblings are served.
#[test]
fn a_poisoned_version_does_not_hide_its_siblings() {
    let huge = EntryKind::File { size: 100 << 20, executable: false };
    let bomb = "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f]\nh: [*g,*g,*g,*g,*g,*g,*g,*g,*g]\n";
    let mut tree = version(MemoryTree::new(), "x/v1", "x");
    for poisoned in ["v2", "v3", "v4", "v5", "v6"] {
        tree = version(tree, &format!("x/{poisoned}"), "x");
    }
    let tree = tree
        .special("x/v2/huge.bin", huge)
        .special("x/v3/out", EntryKind::Link)
        .special("x/v4/sub", EntryKind::Submodule)
        .file(b"x/v5/\xff\xfe".as_slice(), "")
        .file("x/v6/x.yaml", bomb);
    let seen = seen(&tree);
    assert_eq!(seen.served(), ["x:v1.0.0", "x:v3.0.0", "x:v4.0.0"]);
    assert!(seen.has("version-too-large", "x/v2/huge.bin"));
    assert!(seen.has("link", "x/v3/out"));
    assert!(seen.has("submodule", "x/v4/sub"));
    assert!(seen.findings.iter().any(|(rule, path)| rule == "forbidden-path" && path.starts_with("x/v5/")));
    assert!(seen.has("unreadable-template", "x/v6/x.yaml"));
}

#[test]
fn git_in_its_disguises_is_a_forbidden_name() {
    for name in
        [".git", ".GIT", ".git ", ".git.", "git~1", "GIT~2", "..", ".", "a\\b", "a\nb", "a\u{202e}b", ""]
    {
        assert!(unsafe_name(name.as_bytes()).is_some(), "{name:?}");
    }
    for name in [".gitignore", "git", "README.md", "é.yaml", "...x"] {
        assert!(unsafe_name(name.as_bytes()).is_none(), "{name:?}");
    }
    assert!(!safe_path("a/../b") && !safe_path("/a") && !safe_path("a//b") && safe_path("a/b.c"));
}

#[test]
fn too_many_files_withhold_a_version() {
    let limits = TreeLimits { version_files: 3, ..TreeLimits::default() };
    let mut tree = version(MemoryTree::new(), "x/v1", "x");
    for index in 0..5 {
        tree = tree.file(format!("x/v1/f{index}"), "");
    }
    let mut seen = Seen::default();
    scan(&tree, &limits, &mut seen).unwrap();
    assert_eq!(seen.served(), Vec::<&str>::new());
    assert!(seen.has("version-too-large", "x/v1"));
}

#[test]
fn a_tree_bomb_ends_the_walk() {
    let mut tree = MemoryTree::new();
    for index in 0..50 {
        tree = tree.file(format!("c/t{index}/v1/x"), "");
    }
    let limits = TreeLimits { walk_entries: 20, ..TreeLimits::default() };
    assert!(scan(&tree, &limits, &mut Seen::default()).is_err());
}

#[test]
fn groups_that_are_too_large_do_not_hide_what_is_beside_them() {
    let mut tree = version(MemoryTree::new(), "fine/v1", "fine");
    for index in 0..50 {
        tree = tree.file(format!("c/group/g{index}/d/x"), "");
    }
    let limits = TreeLimits { group_entries: 20, ..TreeLimits::default() };
    let mut seen = Seen::default();
    scan(&tree, &limits, &mut seen).unwrap();
    assert!(seen.has("tree-too-large", "c/group"));
    assert_eq!(seen.served().len(), 1);
}
