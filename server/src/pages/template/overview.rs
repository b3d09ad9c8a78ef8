//! `/<reference>`: what a version is, how to use it, what it makes, what came before it.

use std::sync::Arc;

use askama::Template;
use catalog::{Resolved, Snapshot, Standing};
use schema::Severity;
use schema::reference::{Reference, Selector};
use wire::Health;

use super::clients::{Client, Pins, Use, clients};
use super::files::{self, FileRow};
use super::parameters::{Parameter, parameters};
use super::versions::{HistoryRow, Rows, VersionRow, feed_of};
use super::{Head, NoticeRow, Place, is_web};
use crate::access::Caller;
use crate::error::ApiResult;
use crate::examples::{Made, Subject};
use crate::objects;
use crate::pages::registry::FindingRow;
use crate::pages::{self, Frame};
use crate::previews::{self, Preview};
use crate::state::App;
use crate::view::{self, Urls};

/// Versions on this page; all of them have a page of their own.
const VERSIONS: usize = 8;
/// Contents of the history on this page.
const REVISIONS: usize = 4;
/// Findings that are seen at once, and those that are on the page at all.
const FINDINGS: usize = 4;
const MOST_FINDINGS: usize = 60;

#[derive(Template)]
#[template(path = "template.html")]
struct Overview {
    frame: Frame,
    head: Head,
    withdrawn: Option<NoticeRow>,
    deprecated: Option<NoticeRow>,
    standing: Standing,
    version: String,
    /// What a reference that follows patches gets today.
    patched: String,
    minor: String,
    pins: Pins,
    reference: String,
    clients: Vec<Client>,
    archive: String,
    parameters_url: String,
    parameters: Vec<Parameter>,
    inspected: bool,
    makes: Makes,
    versions: Vec<VersionRow>,
    history: Vec<HistoryRow>,
    more_history: bool,
    feed: String,
    report: Report,
    readme: Option<Readme>,
    published: i64,
    commit: Option<String>,
    source: Option<String>,
    digest: String,
    size: u64,
    why: String,
    dialect: Option<String>,
    tags: Vec<String>,
    documentation: Option<String>,
    support: Option<String>,
    files: Vec<FileRow>,
    files_page: String,
}

/// The README: HTML, its path, its page.
struct Readme {
    html: String,
    path: String,
    page: String,
}

/// What is known of what it makes.
enum Makes {
    /// The objects of its example.
    Objects { count: usize, rows: Vec<ObjectRow>, more: usize, picture: Option<String>, example: String },
    /// Its example fails.
    Nothing { kinds: Vec<String> },
    /// Its example is being processed.
    Soon { kinds: Vec<String> },
    /// Only what its text tells.
    Kinds { kinds: Vec<String> },
}

struct ObjectRow {
    kind: String,
    name: String,
    namespace: Option<String>,
    says: Vec<String>,
}

/// What was found out about the version.
struct Report {
    health: Health,
    /// When its example was processed.
    made: Option<i64>,
    has_example: bool,
    findings: Vec<FindingRow>,
    /// Those that are folded away.
    others: Vec<FindingRow>,
    more: usize,
}

/// The overview of a version.
pub(crate) async fn overview(
    app: &Arc<App>,
    snapshot: &Arc<Snapshot>,
    caller: &Caller,
    reference: &Reference,
    found: &Resolved<'_>,
) -> ApiResult {
    let place = Place::new(reference, found);
    let (template, version) = (found.template, found.version);
    let location = &template.location;
    let inspection = &version.inspection;
    let readme = files::readme(app, caller, &place).await?.map(|(html, path)| Readme {
        html,
        page: place.file_page(&path),
        path,
    });
    let subject = Subject {
        registry: Arc::clone(found.registry),
        place: location.clone(),
        version: Arc::clone(version),
    };
    let preview = previews::of(app, snapshot, subject).await;
    let dialect = match &preview {
        Preview::Made(made) => made.dialect.clone(),
        _ => None,
    };
    let parameters = parameters(&inspection.parameters);
    let (pins, patched) = pins(reference, found);
    let of = Use {
        base: &app.shown_base,
        location,
        version: &version.version,
        digest: version.digest.to_string(),
        kind: version.kind,
        entry: &version.entry,
        parameters: &parameters,
        processable: app.processor.can_process(version.kind),
        dialect: dialect.as_deref(),
        pins,
    };
    let (reference, clients) = (of.reference(), clients(&of));
    let rows = Rows { snapshot, viewer: caller.viewer(), found };
    let (history, more_history) = rows.history(None, REVISIONS);
    let notice = |notice| NoticeRow::of(notice, snapshot, caller.viewer(), location);
    pages::page(&Overview {
        frame: Frame::new(app, caller, format!("{} {}", location.template, version.version)),
        head: place.head("overview", ""),
        withdrawn: version.withdrawn.as_ref().map(notice),
        deprecated: version.deprecated.as_ref().map(notice),
        standing: version.standing,
        version: version.version.to_string(),
        patched,
        minor: format!("v{}.{}", version.version.major(), version.version.minor()),
        pins,
        reference,
        clients,
        archive: Urls { base: "" }.aspect(&view::exact(location, version), "archive.tar.gz"),
        parameters_url: Urls { base: "" }.aspect(&view::exact(location, version), "parameters"),
        inspected: !inspection.parameters.is_null(),
        parameters,
        makes: makes(&place, preview),
        versions: rows.newest(VERSIONS),
        more_history: more_history.is_some() || history.len() > REVISIONS,
        history: history.into_iter().take(REVISIONS).collect(),
        feed: feed_of(location),
        report: report(&place),
        readme,
        published: version.published_at,
        commit: version.commit.clone(),
        source: source(&place),
        digest: version.digest.to_string(),
        size: version.size(),
        why: view::why(found),
        dialect,
        tags: inspection.tags.clone(),
        documentation: inspection.documentation.clone().filter(|url| is_web(url)),
        support: inspection.support.clone().filter(|url| is_web(url)),
        files: files::rows(&place),
        files_page: format!("{}/-/files/", place.page),
    })
}

/// Which ends of a reference get this version; and what one that follows patches gets today.
fn pins(reference: &Reference, found: &Resolved<'_>) -> (Pins, String) {
    let version = found.version;
    let mut others = found.template.versions.values().rev();
    let patched = others.find(|other| other.is_choosable() && other.version.same_minor(&version.version));
    let patches =
        version.standing == Standing::Listed && !version.version.is_pre_release() && patched.is_some();
    let exact = matches!(version.standing, Standing::Listed | Standing::Gone { .. });
    let asked_exactly = matches!(reference.selector, Selector::Exactly(_));
    let chosen = match (reference.digest.is_some(), asked_exactly) {
        (true, _) => "pd",
        (false, false) if patches => "pf",
        _ if exact => "pe",
        _ => "pd",
    };
    let patched = patched.map_or_else(|| version.version.to_string(), |other| other.version.to_string());
    (Pins { patches, exact, chosen }, patched)
}

fn makes(place: &Place<'_>, preview: Preview) -> Makes {
    let kinds = place.found.version.inspection.object_kinds.clone();
    match preview {
        Preview::Made(made) => objects_of(place, &made),
        Preview::Failed => Makes::Nothing { kinds },
        Preview::Pending => Makes::Soon { kinds },
        Preview::None => Makes::Kinds { kinds },
    }
}

fn objects_of(place: &Place<'_>, made: &Made) -> Makes {
    let sketch = &made.sketch;
    let own = sketch.objects.iter().enumerate().filter(|(_, object)| object.origin == objects::Origin::Made);
    let rows = own.map(|(at, object)| ObjectRow {
        kind: object.kind.clone(),
        name: object.name.clone(),
        namespace: object.namespace.clone(),
        says: sketch.says(at),
    });
    let rows = rows.collect::<Vec<_>>();
    Makes::Objects {
        count: sketch.made,
        more: sketch.made.saturating_sub(rows.len()),
        rows,
        picture: objects::draw(sketch),
        example: place.file_page("example.yaml"),
    }
}

fn report(place: &Place<'_>) -> Report {
    let version = place.found.version;
    let mut findings = version.all_findings().collect::<Vec<_>>();
    findings.sort_by_key(|finding| match finding.severity {
        Severity::Error => 0,
        Severity::Warning => 1,
        Severity::Info => 2,
    });
    let row = |finding: &schema::Finding| {
        let known = version.file(&finding.path).is_some();
        let anchor = finding.place.map(|place| format!("#L{}", place.line)).unwrap_or_default();
        FindingRow::of(finding, known.then(|| format!("{}{anchor}", place.file_page(&finding.path))))
    };
    Report {
        health: view::health(version),
        made: version.report.made().map(|report| report.at),
        has_example: version.file("example.yaml").is_some(),
        more: findings.len().saturating_sub(MOST_FINDINGS),
        findings: findings.iter().take(FINDINGS).map(|finding| row(finding)).collect(),
        others: findings.iter().take(MOST_FINDINGS).skip(FINDINGS).map(|finding| row(finding)).collect(),
    }
}

/// Where the version's directory is to be seen at the host of its repository, for hosts whose addresses are known.
fn source(place: &Place<'_>) -> Option<String> {
    let (registry, version) = (place.registry().as_str(), place.found.version);
    let (commit, path) = (version.commit.as_ref()?, crate::target::encode_path(&version.path));
    match registry.split('/').next()? {
        "github.com" => Some(format!("https://{registry}/tree/{commit}/{path}")),
        "gitlab.com" => Some(format!("https://{registry}/-/tree/{commit}/{path}")),
        _ => None,
    }
}
