//! Repositories and Git servers that mean harm: what is bad in them is a finding or a failure, and everything else is
//! served as if they were not there.

use std::time::Instant;

use serde_json::Value;

use crate::kit::hostile::{Hostile, Manner};
use crate::kit::objects::{DIRECTORY, FILE, Id, Kind, LINK, Pack, SUBMODULE, TreeEntry, deflated};
use crate::kit::process;
use crate::kit::registries::{EXAMPLE, kubernetes_template};
use crate::kit::{PATIENCE, Server, wait_for};

const REGISTRY: &str = "git.example/acme/hostile";

/// A version directory of a template that is as it should be, with further entries.
fn version(pack: &mut Pack, name: &str, more: &[TreeEntry<'_>]) -> Id {
    let template = pack.blob(kubernetes_template(name, "fine").as_bytes());
    let example = pack.blob(EXAMPLE.as_bytes());
    let file = format!("{name}.yaml");
    let mut entries = vec![(FILE, &b"example.yaml"[..], example), (FILE, file.as_bytes(), template)];
    entries.extend_from_slice(more);
    pack.tree(&entries)
}

/// A repository of these templates, each with a good v1.0.0 and with what is given as v2.0.0, and more at its root.
fn repository(pack: &mut Pack, templates: &[(&str, Id)], root: &[TreeEntry<'_>]) -> (Id, Vec<u8>) {
    let trees = templates
        .iter()
        .map(|(name, second)| {
            let first = version(pack, name, &[]);
            let tree = pack.tree(&[(DIRECTORY, b"v1.0.0", first), (DIRECTORY, b"v2.0.0", *second)]);
            (DIRECTORY, name.as_bytes(), tree)
        })
        .chain(root.iter().copied())
        .collect::<Vec<_>>();
    let root = pack.tree(&trees);
    let commit = pack.commit(root);
    (commit, pack.bytes())
}

/// A repository with nothing wrong in it.
fn harmless() -> (Id, Vec<u8>) {
    let mut pack = Pack::default();
    let second = version(&mut pack, "fine", &[]);
    repository(&mut pack, &[("fine", second)], &[])
}

fn serve((head, pack): (Id, Vec<u8>)) -> Hostile {
    Hostile::start(Manner::Serve(head, pack))
}

fn start(remote: &Hostile) -> Server {
    Server::start(&["--registry", &format!("{REGISTRY}={}", remote.url()), "--poll", "1s"])
}

/// Every finding of the registry.
fn findings(server: &Server) -> Vec<Value> {
    let registry = server.get(&format!("/api/v1/registries/{REGISTRY}")).expect_status(200).json();
    registry["findings"].as_array().cloned().unwrap_or_default()
}

#[track_caller]
fn assert_found(findings: &[Value], rule: &str, path: &str) {
    let found = findings
        .iter()
        .any(|f| f["rule"] == rule && f["path"].as_str().is_some_and(|at| at.starts_with(path)));
    assert!(found, "no finding {rule} at {path} among {findings:#?}");
}

/// The good version of each of these templates is served.
#[track_caller]
fn assert_siblings(server: &Server, templates: &[&str]) {
    for template in templates {
        let sibling = server.resolve(&format!("{REGISTRY}/{template}:v1")).expect_status(200).json();
        assert_eq!(sibling["resolved"], "v1.0.0", "{template}");
    }
}

/// Attack row 1: trees that hold themselves ten times, ten deep, in a version and where templates are looked for.
#[test]
fn a_tree_bomb_is_a_finding() {
    let mut pack = Pack::default();
    let blob = pack.blob(b"boom");
    let mut tree = pack.tree(&[(FILE, b"x", blob)]);
    let names = (0..10).map(|number| format!("d{number}")).collect::<Vec<_>>();
    for _ in 0..10 {
        let entries = names.iter().map(|name| (DIRECTORY, name.as_bytes(), tree)).collect::<Vec<_>>();
        tree = pack.tree(&entries);
    }
    let bomb = version(&mut pack, "bomb", &[(DIRECTORY, b"files", tree)]);
    let remote = serve(repository(&mut pack, &[("bomb", bomb)], &[(DIRECTORY, b"grove", tree)]));
    let started = Instant::now();
    let server = start(&remote);
    assert_siblings(&server, &["bomb"]);
    let findings = findings(&server);
    assert_found(&findings, "version-too-large", "bomb/v2.0.0");
    assert_found(&findings, "tree-too-large", "grove");
    assert!(started.elapsed() < PATIENCE / 2, "it took {:?}", started.elapsed());
    let memory = process::memory(server.pid(), "VmHWM").unwrap_or_default();
    assert!(memory < 1 << 30, "the server held {memory} bytes");
}

/// Attack row 2: a blob that says it has 5 GB costs its registry nothing but the failure; a hundred thousand files
/// cost their version.
#[test]
fn huge_blobs_and_many_files_are_not_read() {
    let mut pack = Pack::default();
    let blob = pack.blob(b"");
    let names = (0..100_000).map(|number| format!("{number:06}")).collect::<Vec<_>>();
    let entries = names.iter().map(|name| (FILE, name.as_bytes(), blob)).collect::<Vec<_>>();
    let many = pack.tree(&entries);
    let many = version(&mut pack, "many", &[(DIRECTORY, b"files", many)]);
    let zeros = pack.blob(&vec![0; 64 << 20]);
    let large = version(&mut pack, "large", &[(FILE, b"disk.img", zeros)]);
    let remote = serve(repository(&mut pack, &[("large", large), ("many", many)], &[]));
    let server = start(&remote);
    assert_siblings(&server, &["large", "many"]);
    let found = findings(&server);
    assert_found(&found, "version-too-large", "many/v2.0.0");
    assert_found(&found, "version-too-large", "large/v2.0.0/disk.img");

    pack.entry(Kind::Blob, 5 << 30, &[], &deflated(&[0; 100]));
    let (head, pack) = repository(&mut pack, &[("large", large)], &[]);
    remote.turn(Manner::Serve(head, pack));
    assert_fails(&server, REGISTRY);
    assert_siblings(&server, &["large", "many"]);
}

#[track_caller]
fn assert_fails(server: &Server, registry: &str) -> String {
    let state = wait_for(&format!("{registry} to fail"), || {
        Some(server.sync(registry)).filter(|state| state["state"] == "failed")
    });
    state["message"].as_str().unwrap_or_default().to_owned()
}

/// Attack row 3: packs that are broken, or that stand for far more than they are. What was published stays, and a
/// good push mends it.
#[test]
fn a_bad_pack_leaves_what_was_published() {
    let remote = serve(harmless());
    let server = start(&remote);
    assert_siblings(&server, &["fine"]);
    let base = |pack: &mut Pack| {
        let second = version(pack, "fine", &[]);
        repository(pack, &[("fine", second)], &[(FILE, b"other", second)]).0
    };
    let corrupt = {
        let mut pack = Pack::default();
        let head = base(&mut pack);
        let mut bytes = pack.bytes();
        let middle = bytes.len() / 2;
        bytes[middle..middle + 20].fill(0xff);
        (head, bytes)
    };
    let cut = {
        let mut pack = Pack::default();
        let head = base(&mut pack);
        let bytes = pack.bytes();
        (head, bytes[..bytes.len() * 2 / 3].to_vec())
    };
    let longer_than_it_says = {
        let mut pack = Pack::default();
        pack.entry(Kind::Blob, 10, &[], &deflated(&vec![0; 32 << 20]));
        (base(&mut pack), pack.bytes())
    };
    let delta_bomb = {
        let mut pack = Pack::default();
        let mut size = 8 << 20;
        let mut at = pack.entry(Kind::Blob, size, &[], &deflated(&vec![0; 8 << 20]));
        for _ in 0..10 {
            at = pack.doubling(at, size, size * 2);
            size *= 2;
        }
        (base(&mut pack), pack.bytes())
    };
    let headless = {
        let mut pack = Pack::default();
        pack.blob(b"alone");
        ([7; 20], pack.bytes())
    };
    for (what, (head, pack)) in [
        ("a corrupt pack", corrupt),
        ("a pack that is cut short", cut),
        ("a stream longer than it says", longer_than_it_says),
        ("a delta bomb", delta_bomb),
        ("a pack without its head", headless),
    ] {
        remote.turn(Manner::Serve(head, pack));
        let message = assert_fails(&server, REGISTRY);
        assert!(message.len() > 10 && !message.contains('\n'), "{what}: {message}");
        assert_siblings(&server, &["fine"]);
        let (head, pack) = harmless();
        remote.turn(Manner::Serve(head, pack));
        wait_for(&format!("the registry to be well after {what}"), || {
            Some(server.sync(REGISTRY)).filter(|state| state["state"] == "ready")
        });
    }
}

/// Attack row 3: an object that is nowhere costs the version that needs it.
#[test]
fn a_missing_object_is_a_finding_of_its_version() {
    let mut pack = Pack::default();
    let file = version(&mut pack, "file", &[(FILE, b"notes", [3; 20])]);
    let tree = version(&mut pack, "tree", &[(DIRECTORY, b"files", [4; 20])]);
    let remote = serve(repository(&mut pack, &[("file", file), ("gone", [5; 20]), ("tree", tree)], &[]));
    let server = start(&remote);
    assert_siblings(&server, &["file", "gone", "tree"]);
    let findings = findings(&server);
    for template in ["file", "gone", "tree"] {
        assert_found(&findings, "unreadable-file", &format!("{template}/v2.0.0"));
    }
}

/// Attack rows 4 and 5: links and submodules of every kind are never followed; the version is served without them.
#[test]
fn links_and_submodules_lead_nowhere() {
    let mut pack = Pack::default();
    let targets = ["/etc/passwd", "../../../../etc/passwd", "loop", "/proc/self/environ", "linked.yaml"];
    let blobs = targets.map(|target| pack.blob(target.as_bytes()));
    let names = ["absolute", "climbing", "loop", "process", "own"];
    let links = names.iter().zip(blobs).map(|(name, id)| (LINK, name.as_bytes(), id)).collect::<Vec<_>>();
    let linked = version(&mut pack, "linked", &links);
    let module = version(&mut pack, "module", &[(SUBMODULE, b"library", [9; 20])]);
    let remote = serve(repository(&mut pack, &[("linked", linked), ("module", module)], &[]));
    let server = start(&remote);
    assert_siblings(&server, &["linked", "module"]);
    for (template, file) in names.map(|name| ("linked", name)).into_iter().chain([("module", "library")]) {
        let version = format!("/api/v1/templates/{REGISTRY}/{template}:=v2.0.0");
        let served = server.get(&version).expect_status(200).json();
        let rule = if template == "module" { "submodule" } else { "link" };
        assert_found(served["findings"].as_array().unwrap(), rule, &format!("{template}/v2.0.0/{file}"));
        assert_eq!(server.get(&format!("{version}/-/files/{file}")).status, 404, "{file}");
    }
}

/// Attack row 6: names that mean something else elsewhere withhold their version; names that only look alike are
/// different files.
#[test]
fn names_that_deceive_are_findings() {
    let long = "x".repeat(4096);
    let names: &[(&str, &[u8])] = &[
        ("dots", b".."),
        ("dot", b"."),
        ("git", b".git"),
        ("gitspace", b".GIT "),
        ("gitshort", b"git~1"),
        ("slash", b"a/b"),
        ("backslash", b"..\\b"),
        ("newline", b"a\r\nb"),
        ("override", "a\u{202e}lmay.b".as_bytes()),
        ("long", long.as_bytes()),
        ("bytes", b"caf\xe9"),
        ("empty", b""),
    ];
    let mut pack = Pack::default();
    let blob = pack.blob(b"x");
    let mut templates = names
        .iter()
        .map(|(template, name)| (*template, version(&mut pack, template, &[(FILE, name, blob)])))
        .collect::<Vec<_>>();
    let contents = ["nfc", "nfd", "upper", "lower"].map(|text| pack.blob(text.as_bytes()));
    let twins = ["\u{e9}", "e\u{301}", "README", "readme"];
    let entries =
        twins.iter().zip(contents).map(|(name, id)| (FILE, name.as_bytes(), id)).collect::<Vec<_>>();
    templates.push(("twins", version(&mut pack, "twins", &entries)));
    let root = names
        .iter()
        // An empty name and a separator make a tree that cannot be read at all, which is another test.
        .filter(|(_, name)| !name.is_empty())
        .map(|(_, name)| (DIRECTORY, *name, templates[0].1))
        .collect::<Vec<_>>();
    let remote = serve(repository(&mut pack, &templates, &root));
    let server = start(&remote);
    let served = names.iter().map(|(template, _)| *template).collect::<Vec<_>>();
    assert_siblings(&server, &served);
    let findings = findings(&server);
    for (template, _) in names {
        let bad = server.resolve(&format!("{REGISTRY}/{template}:=v2.0.0"));
        assert_eq!(bad.status, 404, "{template}: {}", bad.text());
        let path = format!("{template}/v2.0.0");
        let found = findings.iter().find(|f| f["path"].as_str().is_some_and(|at| at.starts_with(&path)));
        let found = found.unwrap_or_else(|| panic!("no finding at {path}"));
        assert!(["forbidden-path", "unreadable-file"].contains(&found["rule"].as_str().unwrap()), "{found}");
        let shown = found["path"].as_str().unwrap();
        assert!(!shown.contains(|c: char| c.is_control() || c == '\u{202e}'), "{shown:?}");
    }
    assert!(findings.iter().any(|f| f["rule"] == "forbidden-name"), "the root has them too");
    for (name, text) in ["%C3%A9", "e%CC%81", "README", "readme"].iter().zip(["nfc", "nfd", "upper", "lower"])
    {
        let file = server.get(&format!("/api/v1/templates/{REGISTRY}/twins:=v2.0.0/-/files/{name}"));
        assert_eq!(file.expect_status(200).text(), text, "{name}");
    }
}

/// Attack row 6: a name with a NUL in it ends there, and the rest makes no tree.
#[test]
fn a_tree_that_is_none_is_a_finding_of_its_version() {
    let mut pack = Pack::default();
    let blob = pack.blob(b"x");
    let nul = version(&mut pack, "nul", &[(FILE, b"a\0b", blob)]);
    let remote = serve(repository(&mut pack, &[("nul", nul)], &[]));
    let server = start(&remote);
    assert_siblings(&server, &["nul"]);
    assert_eq!(server.resolve(&format!("{REGISTRY}/nul:=v2.0.0")).status, 404);
    assert_found(&findings(&server), "unreadable-file", "nul/v2.0.0");
}

/// Attack row 8: two templates in one version withhold it; a missing example is a warning at its place.
#[test]
fn what_a_version_has_too_much_or_too_little_is_said() {
    let mut pack = Pack::default();
    let other = pack.blob(b"resources: []\n");
    let two = version(&mut pack, "two", &[(FILE, b"two.jinja", other)]);
    let lonely = pack.blob(kubernetes_template("bare", "fine").as_bytes());
    let bare = pack.tree(&[(FILE, b"bare.yaml", lonely)]);
    let text = pack.blob(b"nothing of ours");
    let none = pack.tree(&[(FILE, b"README.md", text)]);
    let remote = serve(repository(&mut pack, &[("bare", bare), ("none", none), ("two", two)], &[]));
    let server = start(&remote);
    assert_siblings(&server, &["bare", "none", "two"]);
    let found = findings(&server);
    assert_found(&found, "several-templates", "two/v2.0.0");
    assert_found(&found, "no-template", "none/v2.0.0");
    let bare = server.get(&format!("/api/v1/templates/{REGISTRY}/bare:=v2.0.0")).expect_status(200).json();
    assert_found(bare["findings"].as_array().unwrap(), "no-example", "bare/v2.0.0");
}

/// Attack row 16: servers that keep us waiting, send without end, ask for passwords, or talk nonsense. Each fails
/// alone and in time, and the registry beside them is served and kept up to date.
#[test]
fn a_server_that_means_harm_harms_only_its_own_registry() {
    let id = [8; 20];
    let elsewhere = Hostile::start(Manner::Login);
    let manners: Vec<(&str, Manner, &str)> = vec![
        ("silent", Manner::Silent, "longer than 9.0 s"),
        ("drip", Manner::Drip(id), "longer than 9.0 s"),
        ("endless", Manner::Endless(id), "sent more than 8 MiB"),
        ("headers", Manner::EndlessHeaders, ""),
        ("login", Manner::Login, "give `username`"),
        ("compressed", Manner::Compressed, "compressed its answer"),
        ("empty", Manner::Capabilities(Vec::new()), ""),
        ("nonsense", Manner::Capabilities(b"zzzz\xff\xff\0not a line".to_vec()), ""),
        ("html", Manner::Capabilities(b"<!doctype html><title>Log in</title>".to_vec()), ""),
        ("long", Manner::Capabilities(b"ffff".to_vec()), ""),
        ("references", Manner::References(b"0014not an id\n0000".to_vec()), ""),
        ("none", Manner::References(b"0000".to_vec()), "is empty or has no default branch"),
        ("loop", Manner::Redirect("/a.git*".to_owned()), "redirects more than"),
        ("away", Manner::Redirect("http://127.0.0.1:9/other".to_owned()), "redirects to"),
        ("file", Manner::Redirect("file:///etc/passwd".to_owned()), "redirects"),
        ("nowhere", Manner::Redirect(String::new()), ""),
        ("follow", Manner::Redirect(format!("{}*", elsewhere.url())), "give `username`"),
    ];
    let servers = manners.iter().map(|(_, manner, _)| Hostile::start(manner.clone())).collect::<Vec<_>>();
    let sources = manners
        .iter()
        .zip(&servers)
        .map(|((name, ..), server)| format!("git.example/bad/{name}={}", server.url()))
        .collect::<Vec<_>>();
    let good = serve(harmless());
    let good_source = format!("{REGISTRY}={}", good.url());
    let mut arguments =
        vec!["--fetch-time", "12s", "--fetch-limit", "8MiB", "--poll", "1s", "--registry", &good_source];
    sources.iter().for_each(|source| arguments.extend(["--registry", source]));
    let server = Server::launch(&arguments);
    server.wait_version(&format!("{REGISTRY}/fine:v1"), "v1.0.0");
    for (name, _, said) in &manners {
        let message = assert_fails(&server, &format!("git.example/bad/{name}"));
        assert!(
            message.contains(said) && !message.contains('\n') && message.len() < 600,
            "{name}: {message}"
        );
    }
    // Meanwhile the good one goes on.
    let mut pack = Pack::default();
    let second = version(&mut pack, "fine", &[]);
    let third = version(&mut pack, "news", &[]);
    let (head, pack) = repository(&mut pack, &[("fine", second), ("news", third)], &[]);
    good.turn(Manner::Serve(head, pack));
    server.wait_version(&format!("{REGISTRY}/news:v1"), "v1.0.0");
}
