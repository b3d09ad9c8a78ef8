//! `/docs`: our own documentation, from the files of the source tree, and a section for each kind of error.

use std::sync::{Arc, LazyLock};

use askama::Template;
use axum::extract::{Path, State};
use pulldown_cmark::{Event, HeadingLevel, Parser, Tag, TagEnd};
use rust_embed::RustEmbed;
use wire::ProblemKind;

use crate::access::Caller;
use crate::error::{ApiError, ApiResult};
use crate::markdown::{self, Targets};
use crate::pages::{self, Frame, not_found, routes};
use crate::state::App;
use crate::ui::escape;

#[derive(RustEmbed)]
#[folder = "$CARGO_MANIFEST_DIR/../docs"]
struct Files;

#[derive(Template)]
#[template(path = "docs.html")]
struct Docs {
    frame: Frame,
    heading: String,
    article: Option<String>,
    list: Vec<Listed>,
}

/// A document in a list.
struct Listed {
    title: String,
    url: String,
    about: String,
}

struct Document {
    name: String,
    title: String,
    /// What stands below the title.
    text: String,
}

static DOCUMENTS: LazyLock<Vec<Document>> = LazyLock::new(|| {
    let mut documents = Files::iter()
        // Why things are as they are concerns who changes them, not who uses this server.
        .filter(|path| !path.starts_with("decisions/"))
        .filter_map(|path| {
            let text = String::from_utf8(Files::get(&path)?.data.into_owned()).ok()?;
            let name = path.strip_suffix(".md")?.to_owned();
            let heading = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or(&name);
            let title = heading.replace('`', "");
            let body = text.strip_prefix(&format!("# {heading}\n")).unwrap_or(&text).to_owned();
            Some(Document { name, title, text: body })
        })
        .collect::<Vec<_>>();
    documents.sort_by(|a, b| a.name.cmp(&b.name));
    documents
});

/// Links between documents lead to their pages.
struct BetweenDocuments<'a> {
    from: &'a str,
}

impl Targets for BetweenDocuments<'_> {
    fn link(&self, path: &str) -> Option<String> {
        let path = markdown::join(self.from, path)?;
        let name = path.strip_suffix(".md")?;
        DOCUMENTS.iter().any(|document| document.name == name).then(|| format!("/docs/{name}"))
    }

    fn image(&self, _: &str) -> Option<String> {
        None
    }
}

fn list() -> Vec<Listed> {
    // A page a rule is found from the list of rules and from findings.
    let listed = DOCUMENTS
        .iter()
        .filter(|document| !document.name.starts_with("rules/") || document.name == "rules/README");
    let documents = listed.map(|document| Listed {
        title: document.title.clone(),
        url: format!("/docs/{}", document.name),
        about: about(&document.text),
    });
    let made = [
        ("API, route by route", "/docs/openapi", "Every route with its parameters and answers."),
        ("Errors, one by one", "/docs/errors", "What each kind of problem means, and what to do."),
    ];
    let made = made.map(|(title, url, about)| Listed {
        title: title.to_owned(),
        url: url.to_owned(),
        about: about.to_owned(),
    });
    documents.chain(made).collect()
}

/// The first sentence of a document, as plain text.
fn about(text: &str) -> String {
    let mut out = String::new();
    let mut within = false;
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::Paragraph) => within = true,
            Event::End(TagEnd::Paragraph) => break,
            Event::Text(text) | Event::Code(text) if within => out.push_str(&text),
            Event::SoftBreak | Event::HardBreak if within => out.push(' '),
            _ => {}
        }
    }
    match out.find(". ") {
        Some(end) => out[..=end].to_owned(),
        None => out,
    }
}

/// The page of a rule, if it has one.
pub(crate) fn rule(id: &str) -> Option<String> {
    let name = format!("rules/{id}");
    DOCUMENTS.iter().any(|document| document.name == name).then(|| format!("/docs/{name}"))
}

fn article(app: &App, caller: &Caller, title: &str, html: String) -> ApiResult {
    let frame = Frame::new(app, caller, title).at("/docs");
    pages::page(&Docs { frame, heading: title.to_owned(), article: Some(html), list: list() })
}

pub(crate) async fn index(State(app): State<Arc<App>>, caller: Caller) -> ApiResult {
    let frame = Frame::new(&app, &caller, "Documentation").at("/docs");
    pages::page(&Docs { frame, heading: "Documentation".to_owned(), article: None, list: list() })
}

pub(crate) async fn page(State(app): State<Arc<App>>, caller: Caller, Path(name): Path<String>) -> ApiResult {
    match name.as_str() {
        "errors" => return errors(&app, &caller),
        "openapi" => return routes::routes(&app, &caller),
        _ => {}
    }
    let Some(document) = DOCUMENTS.iter().find(|document| document.name == name) else {
        let error = ApiError::new(ProblemKind::UnknownPath, "there is no such page of the documentation");
        return not_found::error(&app, &caller, &format!("/docs/{name}"), error);
    };
    article(
        &app,
        &caller,
        &document.title,
        markdown::render(
            &document.text,
            &BetweenDocuments { from: &format!("{}.md", document.name) },
            HeadingLevel::H2,
        ),
    )
}

fn errors(app: &App, caller: &Caller) -> ApiResult {
    let rows = ProblemKind::ALL.iter().map(|kind| {
        let (id, title) = (kind.id(), escape(kind.title()));
        format!("<tr><td><a href=\"/docs/errors/{id}\"><code>{id}</code></a></td><td>{}</td><td>{title}</td></tr>", kind.status())
    });
    let html = format!(
        "<p>The <code>type</code> of a problem leads to one of these.</p><table class=\"tbl\"><thead><tr><th>Id</th><th>Status</th><th>What it says</th></tr></thead><tbody>{}</tbody></table>",
        rows.collect::<String>()
    );
    article(app, caller, "Errors, one by one", html)
}

pub(crate) async fn error(State(app): State<Arc<App>>, caller: Caller, Path(id): Path<String>) -> ApiResult {
    let Some(kind) = ProblemKind::ALL.iter().find(|kind| kind.id() == id) else {
        let error = ApiError::new(ProblemKind::UnknownPath, "there is no such kind of error")
            .near(ProblemKind::ALL.iter().map(|kind| kind.id().to_owned()));
        return not_found::error(&app, &caller, &format!("/docs/errors/{id}"), error);
    };
    let text = section(*kind).unwrap_or_default();
    article(
        &app,
        &caller,
        kind.title(),
        markdown::render(
            &format!("Status {}, type `/docs/errors/{}`.\n\n{text}", kind.status(), kind.id()),
            &BetweenDocuments { from: "api.md" },
            HeadingLevel::H2,
        ),
    )
}

/// The section of `docs/api.md` on a kind: what stands below its heading.
fn section(kind: ProblemKind) -> Option<&'static str> {
    let text = &DOCUMENTS.iter().find(|document| document.name == "api")?.text;
    let heading = format!("\n### `{}`", kind.id());
    let start = text.find(&heading)?;
    let body = text[start + 1..].split_once('\n')?.1;
    let end = body.find("\n#").unwrap_or(body.len());
    Some(body[..end].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_error_has_its_section() {
        for kind in ProblemKind::ALL {
            let text = section(*kind).unwrap_or_else(|| panic!("docs/api.md has no section on {kind}"));
            assert!(text.len() > 40, "the section on {kind} says too little");
        }
    }
}
