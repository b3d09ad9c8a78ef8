//! Every page a person can reach: there, whole, and without a line of script in it.

use std::collections::{BTreeSet, VecDeque};

use crate::kit::Server;

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

#[test]
fn what_a_repository_says_cannot_become_markup() {
    // The words of `registry.yaml` and of annotations are shown as text.
    let directory = tempfile::tempdir().unwrap();
    let registry = directory.path().join("acme/registry");
    let version = registry.join("app/v1.0.0");
    std::fs::create_dir_all(&version).unwrap();
    let attack = "<script>alert(1)</script><img src=x onerror=alert(2)>";
    std::fs::write(registry.join("registry.yaml"), format!("title: '{attack}'\ndescription: '{attack}'\n"))
        .unwrap();
    let template =
        crate::kit::registries::kubernetes_template("app", "x").replace("Made for a test.", attack);
    std::fs::write(version.join("app.yaml"), template).unwrap();
    std::fs::write(version.join("README.md"), format!("# {attack}\n\n[link](javascript:alert(3))\n"))
        .unwrap();
    let server = Server::start(&[registry.to_str().unwrap()]);
    for path in [
        "/",
        "/localhost/acme/registry",
        "/localhost/acme/registry/app",
        "/search?q=%3Cscript%3Ealert(1)%3C/script%3E",
        "/localhost/acme/registry/app:v1.0.0/-/files/README.md",
    ] {
        let text = server.get(path).text().to_lowercase();
        for harmful in ["<script>alert", "<img src=x", "href=\"javascript:"] {
            assert!(!text.contains(harmful), "{path} contains {harmful}");
        }
    }
}
