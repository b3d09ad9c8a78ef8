//! Searching through the port: what is saved is found at once, what is hidden leaves no trace, and no query does harm.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::kit::registries::{EXAMPLE, kubernetes_template};
use crate::kit::{Answer, Server, example_registry, formwork, wait_for};

/// A registry of templates, each with a sentence that says what it is.
fn registry(root: &Path, templates: &[(&str, &str)]) {
    for (place, description) in templates {
        let name = place.rsplit('/').next().unwrap();
        let version = root.join(place).join("v1.0.0");
        std::fs::create_dir_all(&version).unwrap();
        let text = kubernetes_template(name, "text").replace("Made for a test.", description);
        std::fs::write(version.join(format!("{name}.yaml")), text).unwrap();
        std::fs::write(version.join("example.yaml"), EXAMPLE).unwrap();
    }
}

fn found(server: &Server, query: &str) -> u64 {
    server.get(&format!("/api/v1/search?{query}")).expect_status(200).json()["total"].as_u64().unwrap()
}

#[test]
fn what_is_saved_is_found_within_a_second() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("kit");
    registry(&root, &[("redis", "A store in memory")]);
    let source = format!("git.example/acme/kit={}", root.display());
    let server = Server::start(&["--registry", &source]);
    assert_eq!((found(&server, "q=redis"), found(&server, "q=zanzibar")), (1, 0));
    let mut took = Vec::new();
    for round in 0..5 {
        let word = ["zanzibar", "quux", "plover", "xyzzy", "frotz"][round];
        let saved = Instant::now();
        registry(&root, &[(&format!("tools/{word}"), "A thing that was not there")]);
        wait_for(&format!("{word} to be found"), || {
            (found(&server, &format!("q={word}")) == 1).then_some(())
        });
        took.push(saved.elapsed());
        // What is resolved and what is found are of one publication.
        server.resolve(&format!("tools/{word}")).expect_status(200);
    }
    took.sort();
    // The middle one: on a machine that runs other tests as well, one may have had to wait for its turn.
    assert!(took[2] < Duration::from_secs(1), "{took:?}");
    // Gone as fast.
    std::fs::remove_dir_all(root.join("tools/frotz")).unwrap();
    wait_for("frotz to be gone", || (found(&server, "q=frotz") == 0).then_some(()));
}

/// The answer without the parts that tell of time and place.
fn compared(answer: &Answer) -> Value {
    answer.json()
}

#[test]
fn a_private_registry_is_in_no_hit_count_facet_suggestion_or_correction() {
    let directory = tempfile::tempdir().unwrap();
    let (open, secret) = (directory.path().join("open"), directory.path().join("secret"));
    registry(&open, &[("redis", "A store in memory"), ("db/postgresql", "A relational database")]);
    let hidden =
        [("vault", "Where zanzibar is, a relatoinal thing"), ("db/redis", "A store"), ("mem/redas", "x")];
    registry(&secret, &hidden);
    let settings = directory.path().join("formwork.toml");
    let text =
        |secret: &str| format!("[registries]\n'git.example/acme/open' = '{}'\n{secret}", open.display());
    let private = format!(
        "[registries.'git.example/acme/secret']\nsource = '{}'\nvisibility = 'private'\n",
        secret.display()
    );
    let serve = |name: &str, text: &str| {
        let path = settings.with_file_name(name);
        std::fs::write(&path, text).unwrap();
        Server::start(&["--config", &path.display().to_string()])
    };
    let [with, without] = [serve("with.toml", &text(&private)), serve("without.toml", &text(""))];
    for query in [
        "",
        "q=",
        "q=redis",
        "q=redas",
        "q=redi",
        "q=vault",
        "q=valut",
        "q=zanzibar",
        "q=zanzibr",
        "q=relatoinal",
        "q=relational",
        "q=store&limit=1",
        "q=collection:mem",
        "collection=mem",
        "q=registry:secret",
        "registry=git.example/acme/secret",
        "q=thing+store",
        "tag=secret",
        "health=errors",
        "has=ConfigMap",
    ] {
        for path in ["/api/v1/search", "/search"] {
            let answers = [&with, &without].map(|server| server.get(&format!("{path}?{query}")));
            assert_eq!(answers[0].status, answers[1].status, "{path}?{query}");
            if path == "/search" {
                let text = answers[0].text();
                assert!(
                    !text.contains("acme/secret") || query.contains("acme/secret"),
                    "{path}?{query}: {text}"
                );
            } else {
                assert_eq!(compared(&answers[0]), compared(&answers[1]), "{path}?{query}");
            }
        }
    }
}

/// Asks with a query and holds the answer to its bounds: an answer or a 400, soon, and not large.
fn asked(server: &Server, query: &str) -> Answer {
    let started = Instant::now();
    let answer = server.get(&format!("/api/v1/search?{query}"));
    let took = started.elapsed();
    let shown = &query[..query.len().min(60)];
    assert!([200, 400].contains(&answer.status), "{shown}: {} {}", answer.status, answer.text());
    assert!(took < Duration::from_secs(5), "{shown}: {took:?}");
    assert!(answer.body.len() < 1 << 20, "{shown}: {} bytes", answer.body.len());
    if answer.status == 400 {
        assert!(answer.header("content-type").starts_with("application/problem+json"), "{shown}");
        assert!(answer.json()["hint"].is_string() || answer.json()["detail"].is_string(), "{shown}");
    }
    answer
}

#[test]
fn attack_row_29_no_query_does_harm() {
    let server = Server::start(&[&example_registry().display().to_string()]);
    let escaped = |text: &str| text.bytes().map(|byte| format!("%{byte:02x}")).collect::<String>();
    for text in [
        "*",
        "**",
        "?",
        "*:*",
        "redis*",
        "re?is",
        "/.*/",
        "/(a+)+$/",
        "(a|a)*",
        "[[:alpha:]]{1000}",
        "redis~2",
        "redis^1000000",
        "\"",
        "\"redis",
        "redis\"\"\"",
        "(",
        "((((((((((",
        "[* TO *]",
        "{a TO z}",
        "AND OR NOT",
        "+-&&||!(){}[]^\"~*?:\\",
        "\u{0}",
        "\u{1}\u{7f}\u{85}",
        "a\r\nSet-Cookie: x",
        "\u{202e}sider",
        "\u{1f980}\u{1f980}",
        "İ",
        "ﬃ",
        "a\u{301}\u{301}\u{301}",
        "registry:",
        "registry:*",
        "kind:\"",
        "has:..",
        "'; drop table templates; --",
        "<script>alert(1)</script>",
        "${jndi:ldap://x}",
        "{{7*7}}",
    ] {
        asked(&server, &format!("q={}", escaped(text)));
    }
    // Bytes that are no text.
    asked(&server, "q=%ff%fe%00");
    asked(&server, "q=%");
    // The server is as it was.
    assert_eq!(found(&server, "q=redis"), 1);
}

#[test]
fn attack_row_29_long_queries_and_many_terms_are_cut_or_refused() {
    let server = Server::start(&[&example_registry().display().to_string()]);
    // 10 KB are more than an address may have.
    assert_eq!(asked(&server, &format!("q={}", "a".repeat(10 << 10))).status, 400);
    // As much as it may have: read to its limit, and said.
    let cut = asked(&server, &format!("q={}", "redis+".repeat(1_200))).json();
    assert_eq!(cut["hits"][0]["template"], "redis");
    assert!(cut["notices"].to_string().contains("only the first"), "{}", cut["notices"]);
    let words = (0..1_000).map(|number| format!("w{number}+")).collect::<String>();
    let many = asked(&server, &format!("q={words}")).json();
    assert!(many["notices"].to_string().contains("only the first 12 words"), "{}", many["notices"]);
    // Every word mistyped: as many corrections as there are words, which are few.
    asked(&server, &format!("q={}", "databsae+relatoinal+postgersql+rediss+volmue+passwrod+".repeat(20)));
    let filters = (0..300).map(|number| format!("&has=k{number}")).collect::<String>();
    let filtered = asked(&server, &format!("q={filters}")).json();
    assert!(filtered["notices"].to_string().contains("only the first 20 values"), "{}", filtered["notices"]);
    // Any letter is the beginning of something.
    for letter in 'a'..='z' {
        asked(&server, &format!("q={letter}&limit=100"));
    }
}

#[test]
fn attack_row_29_pages_are_as_deep_as_there_are_hits_and_cursors_are_not_believed() {
    let server = Server::start(&[&example_registry().display().to_string()]);
    for limit in ["100000000000000000000", "-1", "1e9", "x", ""] {
        assert_eq!(asked(&server, &format!("limit={limit}")).status, 400, "{limit}");
    }
    assert!(asked(&server, "limit=18446744073709551615").json()["hits"].as_array().unwrap().len() <= 100);
    let mut cursor = asked(&server, "q=&limit=1").json()["next"].as_str().map(str::to_owned);
    let mut pages = 1;
    while let Some(next) = cursor {
        let page = asked(&server, &format!("q=&limit=1&cursor={next}")).json();
        cursor = page["next"].as_str().map(str::to_owned);
        pages += 1;
    }
    assert_eq!(pages, 6);
    // Not ours, cut off, too long, and one that says it is of 2^64 templates.
    let own = asked(&server, "q=store+redis&limit=1").json()["next"]
        .as_str()
        .map_or_else(String::new, str::to_owned);
    for bad in ["x", "0", "AAAA", "%00", &"A".repeat(4_000), own.get(..own.len() / 2).unwrap_or("zz")] {
        assert_eq!(asked(&server, &format!("q=redis&cursor={bad}")).status, 400, "{bad}");
    }
}

#[test]
fn attack_row_29_many_searches_at_once_leave_the_rest_alone() {
    let server = Server::start(&[&example_registry().display().to_string()]);
    std::thread::scope(|scope| {
        let searches = (0..8).map(|number| {
            let server = &server;
            scope.spawn(move || {
                for round in 0..20 {
                    asked(server, &format!("q=databsae+{number}+relatoinal+{round}+st&limit=100"));
                }
            })
        });
        let searches = searches.collect::<Vec<_>>();
        let mut slowest = Duration::ZERO;
        while searches.iter().any(|search| !search.is_finished()) {
            let started = Instant::now();
            server.resolve("databases/redis:v1").expect_status(200);
            slowest = slowest.max(started.elapsed());
        }
        assert!(slowest < Duration::from_secs(2), "a reference took {slowest:?} beside searches");
    });
    // The command line says what the port says.
    let output = formwork().args(["search", "\"", "(", "--server", server.url()]).output().unwrap();
    assert!(output.status.code().is_some_and(|code| code < 2), "{}", String::from_utf8_lossy(&output.stderr));
}
