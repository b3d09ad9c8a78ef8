//! The laws of every reader of outside bytes, on generated input and on the seeds of the fuzz targets.
//!
//! A few hundred cases each from a fixed seed: seconds in CI. `fuzz/` looks further, for the same.

mod laws;

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use schema::Reference;
use schema::reference::{Location, Selector};

/// Panics if bytes break it.
type Law = fn(&[u8]);

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 400,
        rng_seed: RngSeed::Fixed(2_016),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Text of the characters a reader looks for, or of any.
fn text(class: &'static str) -> impl Strategy<Value = String> {
    prop_oneof![3 => class, 1 => ".{0,40}"]
}

/// An entry of a tree, most of them where a registry has them.
fn entry() -> impl Strategy<Value = String> {
    let segment = prop_oneof![
        4 => prop::sample::select(vec!["redis", "caches", "v1", "v1.0", "v1.0.0", "v2", "v01", "templates"]),
        1 => prop::sample::select(vec![".git", "..", "", "a b", "-x", "GIT~1", "é", "\u{202e}x", "a\\b", "\t"]),
    ];
    let file = prop::sample::select(vec![
        "redis.yaml",
        "redis.jinja",
        "redis.py",
        "redis.json",
        "Chart.yaml",
        "example.yaml",
        "README.md",
        "registry.yaml",
    ]);
    let content = prop::sample::select(vec![
        "kind: Template",
        "kind: SFPlan",
        "kind: ServiceBrokerConfig",
        "- {name: x, template: {}}",
        "a: [",
        "",
        "just: data",
        "collections: {db: caches}",
        "collections: {db: caches/redis, caches: templates}",
        "collections: {x: ../y, 'a b': z}",
    ]);
    let kind = prop_oneof![12 => Just('f'), 1 => Just('x'), 1 => Just('l'), 1 => Just('s')];
    (kind, prop::collection::vec(segment, 0..5), file, content).prop_map(|(kind, mut path, file, content)| {
        path.push(file);
        format!("{kind}{}={content}", path.join("/"))
    })
}

/// Lines of `registry.yaml`, nested or not.
fn line() -> impl Strategy<Value = String> {
    let key = prop::sample::select(vec![
        "apiVersion",
        "kind",
        "title",
        "maintainers",
        "links",
        "collections",
        "withdrawn",
        "deprecated",
        "path",
        "reason",
        "use",
        "redis:v1.1.0",
        "caches",
        "\"\\u202e\"",
        "\"\\e\"",
        "a b",
        "- x",
    ]);
    let value = prop::sample::select(vec![
        "",
        " formwork/v1",
        " TemplateRegistry",
        " x",
        " [a, b]",
        " {path: a/b}",
        " ../x",
        " https://example.com",
        " javascript:x",
        " {reason: r, use: u}",
        " 1",
        " null",
        " *a",
        " &a x",
        " \"\\u0007\"",
    ]);
    (prop::sample::select(vec!["", "  ", "    "]), key, value)
        .prop_map(|(indent, key, value)| format!("{indent}{key}:{value}\n"))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn references(text in text("(github\\.com/acme/templates/|gitlab\\.example/a/b/c/|)[a-zA-Z0-9./:@^=v_-]{0,40}")) {
        laws::reference(text.as_bytes());
    }

    /// Whatever a reference can be made of: it prints as text that parses to the same.
    #[test]
    fn printing_and_parsing_references_are_inverse(
        registry in "[a-z][a-z0-9.]{0,12}\\.[a-z]{2,4}(/[A-Za-z0-9_][A-Za-z0-9._-]{0,9}){2,4}",
        collection in prop::option::of("[A-Za-z0-9_][A-Za-z0-9._-]{0,9}"),
        template in "[A-Za-z0-9_][A-Za-z0-9._-]{0,9}",
        version in (any::<u64>(), any::<u64>(), any::<u64>(), prop::option::of("[a-z][0-9a-z]{0,4}(\\.[1-9][0-9]{0,3})?")),
        which in 0..4u8,
        digest in prop::option::of(any::<[u8; 32]>()),
    ) {
        let names = (registry.parse::<schema::RegistryName>(), template.parse::<schema::TemplateName>());
        let collection = collection.map(|name| name.parse::<schema::CollectionName>()).transpose();
        let ((Ok(registry), Ok(template)), Ok(collection)) = (names, collection) else { return Ok(()) };
        let (major, minor, patch, pre_release) = version;
        let pre_release = pre_release.map(|text| format!("-{text}")).unwrap_or_default();
        let version = format!("v{major}.{minor}.{patch}{pre_release}").parse::<schema::Version>().unwrap();
        let selector = match which {
            0 => Selector::Highest,
            1 => Selector::HighestPatch(version),
            2 => Selector::HighestMinor(version),
            _ => Selector::Exactly(version),
        };
        let location = Location { registry, collection, template };
        let mut reference = Reference::to(&location, selector);
        reference.digest = digest.map(schema::Digest::from_bytes);
        let text = reference.to_string();
        prop_assert_eq!(text.parse::<Reference>(), Ok(reference.clone()));
        prop_assert_eq!(text.parse::<Reference>().unwrap().to_string(), text);
        prop_assert_eq!(reference.locate([&location.registry], None), Ok(location));
    }

    #[test]
    fn versions(text in text("v?[0-9.v+-]{0,12}(-[a-z0-9.]{0,6})?")) {
        laws::version(text.as_bytes());
    }

    #[test]
    fn registry_files(lines in prop::collection::vec(line(), 0..12)) {
        laws::registry_file(lines.concat().as_bytes());
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        laws::reference(&bytes);
        laws::version(&bytes);
        laws::registry_file(&bytes);
        laws::layout(&bytes);
    }

    #[test]
    fn layouts(entries in prop::collection::vec(entry(), 0..24)) {
        laws::layout(entries.join("\n").as_bytes());
    }
}

#[test]
fn the_seeds_of_the_fuzz_targets() {
    let targets: [(&str, Law); 4] = [
        ("reference", laws::reference),
        ("version", laws::version),
        ("registry_file", laws::registry_file),
        ("layout", laws::layout),
    ];
    for (target, law) in targets {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds").join(target);
        let seeds = fs::read_dir(&folder).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
        assert!(seeds.inspect(|seed| law(seed)).count() > 0, "{target} has no seeds");
    }
}
