//! Every page a person can reach: there, whole, and without a line of script in it.

use std::collections::{BTreeSet, VecDeque};

use crate::browser::content;
use crate::kit::{Server, wait_for};

/// The addresses a page links to, with the attribute's quotes as they are written.
fn links(html: &str) -> impl Iterator<Item = String> {
    ["href=\"", "src=\"", "action=\""].into_iter().flat_map(move |attribute| {
        html.split(attribute).skip(1).filter_map(|rest| rest.split('"').next()).map(|link| {
            let link = link.split('#').next().unwrap_or_default();
            link.replace("&amp;", "&").replace("&#38;", "&").replace("&#x2F;", "/").replace("&#47;", "/")
        })
    })
}

/// What is wrong with a page, in words.
fn complaints(html: &str) -> Vec<&'static str> {
    let lower = html.to_lowercase();
    let scripts = lower.split("<script").skip(1);
    let inline = scripts.into_iter().any(|rest| !rest.split('>').next().unwrap_or_default().contains("src="));
    let handlers = [" onclick=", " onload=", " onsubmit=", " onerror=", " onchange=", "javascript:"];
    let checks = [
        (lower.starts_with("<!doctype html>"), "does not begin with its doctype"),
        (lower.contains("<html lang="), "does not say its language"),
        (lower.matches("<h1").count() == 1, "has not exactly one first heading"),
        (lower.contains("<title>") && !lower.contains("<title></title>"), "has no title"),
        (lower.contains("name=\"viewport\""), "is not made for small screens"),
        (!inline, "has a script inside"),
        (!handlers.iter().any(|handler| lower.contains(handler)), "has a script in an attribute"),
        (lower.trim_end().ends_with("</html>"), "is cut off"),
    ];
    checks.into_iter().filter(|(holds, _)| !holds).map(|(_, complaint)| complaint).collect()
}

#[test]
fn every_page_and_every_link_of_one_answers() {
    let server = Server::start(&["examples/registry"]);
    let starts = [
        "/",
        "/search?q=redis",
        "/search?q=nothing-like-this",
        "/registries",
        "/status",
        "/docs",
        "/localhost/examples/registry",
        "/localhost/examples/registry/web/",
        "/localhost/examples/registry/web/nginx",
        "/localhost/examples/registry/web/nginx:v1.0.0",
        "/localhost/examples/registry/databases/redis:v2.0.0",
        "/localhost/examples/registry/databases/redis:v2.0.0/-/files/redis.yaml",
    ];
    let mut known = starts.map(str::to_owned).into_iter().collect::<BTreeSet<_>>();
    let mut queue = starts
        .iter()
        .map(|start| ((*start).to_owned(), "the list"))
        .map(|(to, from)| (to, from.to_owned()))
        .collect::<VecDeque<_>>();
    let (mut wrong, mut pages) = (Vec::new(), 0);
    while let Some((path, from)) = queue.pop_front() {
        let answer = server.get(&path);
        let redirected = matches!(answer.status, 301 | 302 | 303 | 307 | 308);
        if answer.status != 200 && !redirected {
            wrong.push(format!("{path} (from {from}): status {}", answer.status));
            continue;
        }
        let html = answer.header("content-type").starts_with("text/html");
        let mut next = if redirected { vec![answer.header("location").to_owned()] } else { Vec::new() };
        if html && !redirected {
            pages += 1;
            let text = answer.text();
            wrong.extend(complaints(&text).into_iter().map(|complaint| format!("{path} {complaint}")));
            if !answer.header("content-security-policy").contains("script-src 'self'")
                && !answer.header("content-security-policy").contains("default-src")
            {
                wrong.push(format!("{path} is served without a policy on scripts"));
            }
            next.extend(links(&text));
        }
        // Pages of this server only; each once; a search has no end.
        for link in next.into_iter().filter(|link| link.starts_with('/') && !link.starts_with("//")) {
            let seldom = !link.starts_with("/search?") || known.len() < 200;
            if seldom && known.insert(link.clone()) {
                queue.push_back((link, path.clone()));
            }
        }
        assert!(known.len() < 2_000, "the pages link to ever more pages");
    }
    assert!(wrong.is_empty(), "{} of {} addresses:\n{}", wrong.len(), known.len(), wrong.join("\n"));
    assert!(pages >= starts.len(), "only {pages} pages were seen");
}

#[test]
fn a_page_that_is_not_there_leads_on() {
    let server = Server::start(&["examples/registry"]);
    for (path, leads_to) in [
        ("/localhost/examples/registry/web/nginx:v9", "v1.1.0"),
        ("/localhost/examples/registry/web/ngnix", "nginx"),
        ("/localhost/examples/registri", "localhost/examples/registry"),
    ] {
        let answer = server.get(path);
        assert_eq!(answer.status, 404, "{path}");
        assert!(
            answer.header("content-type").starts_with("text/html"),
            "{path}: {}",
            answer.header("content-type")
        );
        let text = answer.text();
        assert!(text.contains(leads_to), "{path} does not lead to {leads_to}:\n{text}");
        assert!(complaints(&text).is_empty(), "{path}: {:?}", complaints(&text));
    }
}

/// A server on what attackers write, wherever they may write something.
fn hostile() -> (tempfile::TempDir, Server) {
    let directory = tempfile::tempdir().unwrap();
    let registry = directory.path().join("acme/templates");
    content::hostile(&registry);
    let server = Server::start(&[registry.to_str().unwrap()]);
    (directory, server)
}

#[test]
fn attack_row_27_what_a_repository_says_is_text() {
    let (_directory, server) = hostile();
    let task = content::hostile_task();
    for path in task["pages"].as_array().unwrap().iter().filter_map(|path| path.as_str()) {
        let answer = server.get(path);
        let text = answer.text().to_lowercase();
        for harmful in [
            "<script>",
            "<img src=x",
            "<svg onload",
            "<iframe",
            "<object",
            "<base",
            "<meta http-equiv",
            "<style",
            "href=\"javascript:",
            "href=\"data:",
            "href=\"vbscript:",
            "src=\"http",
            "src=\"//",
            "href=\"//",
        ] {
            assert!(!text.contains(harmful), "{path} contains {harmful}");
        }
        let policy = answer.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
    }
}

#[test]
fn attack_row_27_raw_files_are_text_or_downloads_and_cannot_run() {
    let (_directory, server) = hostile();
    let resolved = server.resolve("localhost/acme/templates/app:v1").expect_status(200).json();
    let digest = resolved["digest"].as_str().unwrap();
    for (file, content_type, disposition) in [
        ("logo.svg", "image/svg+xml", "attachment"),
        ("page.html", "text/plain; charset=utf-8", ""),
        ("page.xhtml", "text/plain; charset=utf-8", ""),
        ("code.js", "text/plain; charset=utf-8", ""),
        ("README.md", "text/markdown; charset=utf-8", ""),
    ] {
        for address in [
            "templates/localhost/acme/templates/app:v1/-/files",
            &format!("content/localhost/acme/templates/{digest}"),
        ] {
            let answer = server.get(&format!("/api/v1/{address}/{file}"));
            assert_eq!(answer.status, 200, "{address}/{file}");
            assert_eq!(answer.header("content-type"), content_type, "{file}");
            assert_eq!(
                answer.header("content-disposition").split(';').next().unwrap(),
                disposition,
                "{file}"
            );
            assert_eq!(answer.header("x-content-type-options"), "nosniff", "{file}");
            let policy = answer.header("content-security-policy");
            assert!(policy.contains("default-src 'none'") && policy.contains("sandbox"), "{file}: {policy}");
        }
    }
}

#[test]
fn a_page_shows_what_its_example_makes_and_how_it_hangs_together() {
    let server = Server::start(&["examples/registry"]);
    let text = wait_for("the example to be processed", || {
        let text = server.get("/localhost/examples/registry/databases/redis").expect_status(200).text();
        text.contains("example processed").then_some(text)
    });
    for expected in [
        "Makes 4 objects",
        "<svg class=\"graph\"",
        "Service sessions selects StatefulSet sessions",
        "StatefulSet sessions uses Secret sessions",
        "StatefulSet sessions uses PersistentVolumeClaim sessions",
        "oc process",
    ] {
        assert!(text.contains(expected), "{expected} is not on the page:\n{text}");
    }
    // Values are the reader's affair: the page has names only.
    assert!(!text.contains("not-a-real-one"), "a value of the example is on the page");
    // Deployment Manager templates are not for oc.
    let text = server.get("/localhost/examples/registry/web/nginx").expect_status(200).text();
    assert!(text.contains("selects Deployment shop") && !text.contains("oc process"), "{text}");
    assert!(text.contains("dm <span class=\"nowrap\">--service</span>"), "{text}");
}

#[test]
fn what_a_version_makes_is_found_out_again_after_a_restart() {
    let data = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let server = Server::launch_on(data.path(), &["examples/registry"]);
        server.wait_ready();
        wait_for("the page to show what is made", || {
            let text = server.get("/localhost/examples/registry/databases/redis").expect_status(200).text();
            text.contains("Makes 4 objects").then_some(())
        });
        server.kill();
    }
}

#[test]
fn a_page_does_not_wait_for_what_is_slow() {
    // The example needs as long as it is given; the page says that it is being processed, and the next one why it fails.
    let server = Server::start(&["tests/registries/hostile"]);
    let started = std::time::Instant::now();
    let answer = server.get("/localhost/registries/hostile/tame").expect_status(200);
    assert!(started.elapsed().as_secs() < 2, "the page took {:?}", started.elapsed());
    assert!(answer.text().contains("Makes"), "{}", answer.text());
}

#[test]
fn long_lists_have_pages() {
    let directory = tempfile::tempdir().unwrap();
    let registry = directory.path().join("acme/templates");
    content::wide(&registry);
    let server = Server::start(&[registry.to_str().unwrap()]);
    let names = |html: &str| {
        let cells = html.split("<th scope=\"row\"").skip(1).filter_map(|rest| rest.split("</a>").next());
        let names = cells.filter_map(|cell| Some(cell.rsplit('>').next()?.to_owned()));
        // Findings are listed in the same manner.
        names.filter(|name| name.starts_with("crowd-") || name.starts_with('v')).collect::<Vec<_>>()
    };
    let follow = |first: &str, words: &str| {
        let (mut all, mut next) = (Vec::new(), Some(first.to_owned()));
        while let Some(path) = next {
            let html = server.get(&path).expect_status(200).text();
            all.extend(names(&html));
            let link = html.split("<a class=\"btn\" href=\"").nth(1).filter(|rest| rest.contains(words));
            next = link.and_then(|rest| rest.split('"').next()).map(str::to_owned);
        }
        all
    };
    let crowd = follow("/localhost/acme/templates/crowd/", "More");
    assert_eq!((crowd.len(), crowd.first().unwrap().as_str()), (150, "crowd-000"));
    let versions = follow("/localhost/acme/templates/many/-/versions?before=v2.0.0", "Older");
    assert_eq!(versions.len(), 80);
    assert_eq!((versions[0].as_str(), versions[79].as_str()), ("v1.39.1", "v1.0.0"));
    server.get("/localhost/acme/templates/many/-/versions?before=x").expect_status(400);
}
