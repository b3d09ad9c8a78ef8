//! The page for whatever is not there: which part failed, what exists, and the ways out.

use askama::Template;
use catalog::{Snapshot, TemplateSnapshot};
use schema::reference::{Reference, Selector};
use schema::{Kind, RegistryName, Version};
use wire::{Health, ProblemKind};

use crate::access::Caller;
use crate::cache::CachePolicy;
use crate::error::{ApiError, ApiResult};
use crate::pages::{self, Frame};
use crate::state::App;
use crate::target::{encode_path, encode_query};
use crate::view;

/// Minors that are listed.
const VERSIONS: usize = 12;

#[derive(Template)]
#[template(path = "not_found.html")]
struct NotFound {
    frame: Frame,
    crumbs: Vec<Crumb>,
    heading: String,
    /// What was asked for, and the part of it that is wrong.
    asked: (String, String),
    detail: String,
    hint: Option<String>,
    versions: Vec<Row>,
    /// Where all versions are, if these are not all.
    all: Option<String>,
    near: Vec<Near>,
    ways: Vec<Way>,
    status: u16,
    document: String,
}

/// A step on the way to a page.
pub(crate) struct Crumb {
    pub(crate) text: String,
    pub(crate) url: Option<String>,
}

/// A minor version, and what a reference to it gets.
struct Row {
    text: String,
    page: String,
    version: String,
    newest: bool,
    deprecated: bool,
    health: Health,
    published: i64,
}

struct Near {
    name: String,
    place: String,
    page: String,
    /// Of a template: its kind, its newest version, and how that is.
    facts: Option<(Kind, String, Health)>,
}

struct Way {
    icon: &'static str,
    text: String,
    url: String,
}

/// The page for an error, with the error's own status.
pub(crate) fn error(app: &App, caller: &Caller, path: &str, error: ApiError) -> ApiResult {
    let status = error.status();
    let decoded = crate::target::decode(path).unwrap_or_default();
    let asked = schema::finding::shown(decoded.trim_start_matches('/').as_bytes());
    let reference = asked.parse::<Reference>().ok();
    let snapshot = app.catalog.snapshot();
    let found = reference.as_ref().and_then(|reference| {
        let mut newest = reference.clone();
        (newest.selector, newest.digest) = (Selector::Highest, None);
        snapshot.locate(caller.viewer(), &newest, app.home.as_ref()).ok()
    });
    let name = reference.as_ref().map(|reference| reference.template().to_owned());
    let versions = found.filter(|_| error.kind.status() == 404).map(|template| minors(template));
    let mut ways = Vec::new();
    if let Some(template) = found {
        let url = format!("/{}", encode_path(&template.location.to_string()));
        ways.push(Way { icon: "arrow", text: format!("{}, newest version", template.name), url });
    }
    if let Some(name) = name.as_ref().filter(|_| error.kind != ProblemKind::UnknownPath) {
        ways.push(Way {
            icon: "search",
            text: format!("Search for “{name}”"),
            url: format!("/search?q={}", encode_query(name)),
        });
    }
    let registry = registry_of(app, caller, &asked);
    if let Some(registry) = &registry {
        ways.push(Way { icon: "branch", text: format!("All of {registry}"), url: format!("/{registry}") });
    } else {
        ways.push(Way { icon: "branch", text: "All registries".to_owned(), url: "/registries".to_owned() });
    }
    let is_reference = matches!(
        error.kind,
        ProblemKind::UnknownRegistry | ProblemKind::UnknownCollection | ProblemKind::UnknownTemplate
    );
    let near = if is_reference {
        error.near.iter().map(|near| near_row(&snapshot, caller, near)).collect()
    } else {
        Vec::new()
    };
    let error_part = error.part;
    let document = error.clone().document(&app.base, None);
    let tool = serde_json::to_string_pretty(&document).unwrap_or_default();
    let heading = heading(&error, name.as_deref(), reference.as_ref());
    let page = NotFound {
        frame: Frame::new(app, caller, document.title.clone()),
        crumbs: registry
            .map(|registry| {
                vec![
                    Crumb { text: registry.to_string(), url: Some(format!("/{registry}")) },
                    Crumb {
                        text: asked.strip_prefix(&format!("{registry}/")).unwrap_or(&asked).to_owned(),
                        url: None,
                    },
                ]
            })
            .unwrap_or_default(),
        heading,
        asked: blamed(&asked, error_part),
        detail: document.detail.trim_end_matches('.').to_owned(),
        hint: document.hint.clone(),
        all: versions
            .as_ref()
            .filter(|rows| rows.len() == VERSIONS)
            .and(found)
            .map(|template| format!("/{}/-/versions", encode_path(&template.location.to_string()))),
        versions: versions.unwrap_or_default(),
        near,
        ways,
        status: status.as_u16(),
        document: tool,
    };
    pages::page_with(status, CachePolicy::NoStore, &page)
}

fn registry_of(app: &App, caller: &Caller, asked: &str) -> Option<RegistryName> {
    let snapshot = app.catalog.snapshot();
    let path = asked.split([':', '@']).next().unwrap_or_default();
    let ends =
        path.char_indices().filter(|(_, character)| *character == '/').map(|(at, _)| at).chain([path.len()]);
    let names = ends.filter_map(|end| path[..end].parse::<RegistryName>().ok());
    names.filter_map(|name| Some(snapshot.registry(caller.viewer(), &name)?.name.clone())).next_back()
}

fn heading(error: &ApiError, name: Option<&str>, reference: Option<&Reference>) -> String {
    match (error.kind, name, reference) {
        (ProblemKind::UnknownVersion, Some(name), Some(reference)) => match &reference.selector {
            Selector::Highest => format!("There is a {name}, but no version to choose"),
            Selector::HighestPatch(version)
            | Selector::HighestMinor(version)
            | Selector::Exactly(version) => {
                format!("There is a {name}, but no {}", version.shortest())
            }
        },
        (ProblemKind::UnknownDigest, Some(name), _) => format!("There is a {name}, but not with that digest"),
        (ProblemKind::UnknownTemplate, Some(name), _) => format!("There is no {name} here"),
        _ => error.kind.title().to_owned(),
    }
}

/// The minors of a template, newest first, each with the version a reference to it gets.
fn minors(template: &TemplateSnapshot) -> Vec<Row> {
    let latest = template.latest().map(|latest| &latest.version);
    let mut rows = Vec::<Row>::new();
    let mut last = None::<&Version>;
    for version in template.versions.values().rev().filter(|version| version.is_choosable()) {
        let pre_release = version.version.is_pre_release();
        if !pre_release && last.is_some_and(|last| last.same_minor(&version.version)) {
            continue;
        }
        let reference = if pre_release {
            view::exact(&template.location, version)
        } else {
            last = Some(&version.version);
            Reference::to(&template.location, Selector::HighestPatch(version.version.clone()))
        };
        let selector = if pre_release {
            format!(":={}", version.version)
        } else {
            format!(":v{}.{}", version.version.major(), version.version.minor())
        };
        rows.push(Row {
            text: format!("{}{selector}", template.name),
            page: format!("/{}", encode_path(&reference.to_string())),
            version: version.version.to_string(),
            newest: Some(&version.version) == latest,
            deprecated: version.deprecated.is_some(),
            health: view::health(version),
            published: version.published_at,
        });
        if rows.len() == VERSIONS {
            break;
        }
    }
    rows
}

/// What was asked for, parted before what is wrong with it.
fn blamed(asked: &str, part: Option<&str>) -> (String, String) {
    let at = match part {
        Some("version") => asked.rfind(':'),
        Some("digest") => asked.find('@'),
        Some("template") => asked.rfind('/').map(|slash| slash + 1),
        _ => None,
    };
    let (good, bad) = asked.split_at(at.unwrap_or(asked.len()));
    (good.to_owned(), bad.to_owned())
}

fn near_row(snapshot: &Snapshot, caller: &Caller, near: &str) -> Near {
    let (place, name) = near.rsplit_once('/').unwrap_or(("", near));
    let reference = near.parse::<Reference>().ok();
    let found = reference.and_then(|reference| snapshot.locate(caller.viewer(), &reference, None).ok());
    let latest = found.and_then(|template| template.latest());
    Near {
        name: name.to_owned(),
        place: place.to_owned(),
        page: format!("/{}", encode_path(near)),
        facts: latest.map(|latest| (latest.kind, latest.version.to_string(), view::health(latest))),
    }
}
