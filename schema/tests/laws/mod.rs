//! What must hold of any bytes that come from outside: one function for each reader, which panics if it does not.
//!
//! Shared by the tests beside this and by the fuzz targets of the same names, so that what fuzzing looks for is what
//! CI looks for. A function takes raw bytes; what they stand for is decoded here.

use std::collections::BTreeSet;

use schema::digest::DigestEntry;
use schema::finding::Finding;
use schema::layout::{self, Collection, Found, ScannedVersion, Sink, safe_path, scan};
use schema::limits::TreeLimits;
use schema::reference::Home;
use schema::registry_file::RegistryFile;
use schema::tree::{EntryKind, MemoryTree};
use schema::{Digest, Reference, RegistryName, Version};

/// A reference that parses prints as one that parses to the same, and is located the same by its full name.
pub(crate) fn reference(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let reference = match text.parse::<Reference>() {
        Ok(reference) => reference,
        Err(error) => {
            assert!(["reference", "path", "version", "digest"].contains(&error.part()));
            assert_showable(&error.to_string());
            return;
        }
    };
    assert_eq!(reference.to_string().parse::<Reference>().as_ref(), Ok(&reference));
    assert!(safe_path(&reference.path()), "{text:?}");
    assert!(reference.path().ends_with(reference.template()) && !reference.template().is_empty());
    let registries = ["github.com/acme/templates", "github.com/acme/templates/deep", "gitlab.example/a/b/c"]
        .map(|name| name.parse::<RegistryName>().expect("these are names"));
    let home = Home { registry: registries[0].clone(), collection: None };
    match reference.locate(&registries, Some(&home)) {
        // A short one may be shadowed: written out it can begin with the name of a longer registry.
        Ok(location) if !reference.is_short() => {
            let full = Reference::to(&location, reference.selector.clone());
            assert_eq!(full.locate(&registries, None).as_ref(), Ok(&location), "{text:?}");
            assert_eq!(full.to_string().parse::<Reference>(), Ok(full));
        }
        Ok(location) => assert_eq!(location.registry, home.registry),
        Err(error) => assert_showable(&error.to_string()),
    }
}

/// A version that parses prints as one that parses to the same, in full and shortened; directories are stricter.
pub(crate) fn version(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match text.parse::<Version>() {
        Ok(version) => {
            for spelling in [version.to_string(), version.shortest(), text.to_owned()] {
                assert_eq!(spelling.parse::<Version>().as_ref(), Ok(&version), "{spelling:?}");
            }
            let (from_directory, _) =
                Version::from_directory(&version.to_string()).expect("printed with its v");
            assert_eq!(from_directory, version);
            assert!(version.same_minor(&version) && version.cmp(&version).is_eq());
            let zero = Version::new(version.major(), version.minor(), version.patch());
            assert!(if version.is_pre_release() { version < zero } else { version == zero });
        }
        Err(error) => assert_showable(&error.to_string()),
    }
    if let Ok((version, _)) = Version::from_directory(text) {
        assert!(Version::looks_like_directory(text), "{text:?}");
        assert_eq!(text.parse::<Version>(), Ok(version));
    }
}

/// `registry.yaml` maps collections to safe paths only; what it says survives the pipe between our processes.
pub(crate) fn registry_file(bytes: &[u8]) {
    let (file, findings) = RegistryFile::parse(bytes);
    let text = String::from_utf8_lossy(bytes);
    let breaks = text.matches(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']).count();
    // What ends without a line break is read as if it had one: its end is the start of one more line.
    let lines = breaks + 1 + usize::from(!text.ends_with('\n'));
    for finding in &findings {
        assert_finding(finding);
        let line = finding.place.map_or(1, |place| place.line);
        assert!(line >= 1 && line as usize <= lines, "line {line} of {lines}: {}", finding.message);
    }
    if std::str::from_utf8(bytes).is_err() {
        assert!(file == RegistryFile::default() && findings.len() == 1);
    }
    assert!(file.collections.values().all(|collection| safe_path(&collection.path)));
    assert!(file.links.values().all(|link| link.starts_with("http://") || link.starts_with("https://")));
    let piped = serde_json::to_string(&file).expect("it is data");
    assert_eq!(serde_json::from_str::<RegistryFile>(&piped).expect("it was written by us"), file);
}

/// A scan of any tree ends; what it publishes has safe paths and true digests, and can be referenced.
///
/// A line of the bytes is an entry: `f` (file), `x` (a file of 21 MiB), `l` (link) or `s` (submodule), a path, and for
/// a file `=` and its content, in which `;` stands for a line break.
pub(crate) fn layout(bytes: &[u8]) {
    let mut tree = MemoryTree::new();
    for line in bytes.split(|byte| *byte == b'\n').take(200) {
        let Some((kind, rest)) = line.split_first() else { continue };
        let (path, content) = match rest.iter().position(|byte| *byte == b'=') {
            Some(end) => (&rest[..end], &rest[end + 1..]),
            None => (rest, &[][..]),
        };
        tree = match kind {
            b'f' => {
                let content = content.iter().map(|byte| if *byte == b';' { b'\n' } else { *byte });
                tree.file(path, content.collect::<Vec<_>>())
            }
            b'x' => tree.special(path, EntryKind::File { size: 21 << 20, executable: false }),
            b'l' => tree.special(path, EntryKind::Link),
            b's' => tree.special(path, EntryKind::Submodule),
            _ => tree,
        };
    }
    let mut published = Published::default();
    match scan(&tree, &TreeLimits::default(), &mut published) {
        Ok(file) => assert!(file.collections.values().all(|collection| safe_path(&collection.path))),
        Err(error) => panic!("a tree in memory can be read: {error}"),
    }
}

/// Judges what a scan hands over.
#[derive(Default)]
struct Published {
    collections: BTreeSet<Option<String>>,
    references: BTreeSet<String>,
}

impl Sink for Published {
    fn collection(&mut self, collection: &Collection) {
        assert!(collection.path.is_empty() || safe_path(&collection.path), "{:?}", collection.path);
        assert!(
            self.collections.insert(collection.name.as_ref().map(ToString::to_string)),
            "{:?} twice",
            collection.name
        );
    }

    fn wants(&mut self, found: &Found<'_>) -> bool {
        assert!(self.collections.contains(&found.collection.name.as_ref().map(ToString::to_string)));
        true
    }

    fn version(&mut self, found: &Found<'_>, version: ScannedVersion) {
        assert!(safe_path(&found.path), "{:?}", found.path);
        let collection = found.collection.name.as_ref().map(|name| format!("{name}/")).unwrap_or_default();
        let reference = format!("{collection}{}:{}", found.template, found.version);
        assert!(reference.parse::<Reference>().is_ok(), "{reference:?}");
        assert!(self.references.insert(reference.clone()), "{reference} twice");
        version.findings.iter().for_each(assert_finding);
        match &version.template {
            Some((kind, entry)) => {
                let content = version.contents();
                let bytes = content.get(entry).expect("the template is one of the files");
                layout::kind_of_file(entry, bytes).inspect(|told| assert_eq!(told, kind));
            }
            None => {
                let withheld = |finding: &Finding| {
                    layout::rules::ALL.iter().any(|rule| rule.withholds && rule.id == finding.rule)
                };
                assert!(version.files.is_empty() && version.findings.iter().any(withheld), "{reference}");
            }
        }
        assert!(version.files.is_sorted_by(|one, other| one.path < other.path));
        for file in &version.files {
            assert!(safe_path(&file.path), "{:?}", file.path);
            assert_eq!(file.digest, Digest::of(&file.content));
        }
        let entries = version.files.iter().map(|file| DigestEntry {
            path: &file.path,
            executable: file.executable,
            content: file.digest,
        });
        assert_eq!(version.digest, Digest::of_version(entries));
    }

    fn finding(&mut self, finding: Finding) {
        assert_finding(&finding);
    }
}

/// A finding names a rule of the layout, with its severity, and can be shown as it is.
fn assert_finding(finding: &Finding) {
    let rule = layout::rules::ALL.iter().find(|rule| rule.id == finding.rule);
    assert_eq!(rule.map(|rule| rule.severity), Some(finding.severity), "{finding:?}");
    assert!(!finding.fix.is_empty(), "{finding:?}");
    assert_showable(&finding.path);
    assert_showable(&finding.message);
}

/// Text for a terminal or a page: nothing in it moves the cursor or turns the direction of writing.
fn assert_showable(text: &str) {
    let hostile = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert!(!text.contains(hostile), "{text:?}");
}
