//! `/<reference>` and its files: what a version is, how to use it, what is in it.

use askama::Template;
use catalog::{Resolved, Standing};
use schema::reference::{Reference, Selector};
use schema::{Kind, RegistryName};
use serde_json::Value;
use wire::{Health, Notice};

use crate::access::Caller;
use crate::api;
use crate::content_type::is_text;
use crate::error::{ApiError, ApiResult};
use crate::markdown::{self, Targets};
use crate::pages::not_found::Crumb;
use crate::pages::registry::FindingRow;
use crate::pages::{self, Frame};
use crate::state::App;
use crate::target::encode_path;
use crate::ui::escape;
use crate::view::{self, Urls};

/// Largest file that is shown with its lines; larger ones are at their raw address.
const SHOWN_BYTES: u64 = 512 << 10;

/// Rows of the history on a page; all of it is at its address in the API.
const MOST_REVISIONS: usize = 20;

/// What stands above every page of a version.
pub(super) struct Head {
    pub(super) crumbs: Vec<Crumb>,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) health: Health,
    pub(super) kind: Kind,
    pub(super) newest: bool,
    pub(super) newer: Option<(String, String)>,
    pub(super) lede: Option<String>,
    pub(super) page: String,
    pub(super) tab: &'static str,
    pub(super) files: usize,
    pub(super) versions: usize,
    pub(super) findings: usize,
}

#[derive(Template)]
#[template(path = "template.html")]
struct Overview {
    frame: Frame,
    head: Head,
    withdrawn: Option<Notice>,
    deprecated: Option<Notice>,
    gone: bool,
    former: bool,
    held: bool,
    history: Vec<HistoryRow>,
    feed: String,
    version: String,
    patched: String,
    minor: String,
    use_reference: String,
    use_formwork: String,
    use_curl: String,
    processable: bool,
    parameters_url: String,
    parameters: Vec<Parameter>,
    inspected: bool,
    object_kinds: Vec<String>,
    versions: Vec<VersionRow>,
    findings: Vec<FindingRow>,
    readme: Option<String>,
    readme_url: String,
    readme_path: String,
    published: i64,
    commit: Option<String>,
    digest: String,
    size: u64,
    /// When its example was processed.
    reported: Option<i64>,
    why: String,
    tags: Vec<String>,
    documentation: Option<String>,
    support: Option<String>,
    files: Vec<FileRow>,
    files_page: String,
}

#[derive(Template)]
#[template(path = "files.html")]
struct Files {
    frame: Frame,
    head: Head,
    files: Vec<FileRow>,
    size: u64,
}

#[derive(Template)]
#[template(path = "file.html")]
struct File {
    frame: Frame,
    head: Head,
    path: String,
    size: u64,
    lines: Vec<String>,
    unshown: Option<String>,
    raw: String,
}

struct Parameter {
    name: String,
    kind: String,
    required: bool,
    secret: bool,
    default: Option<String>,
    title: Option<String>,
    description: Option<String>,
    choices: Vec<String>,
    limits: Option<String>,
}

struct VersionRow {
    version: String,
    page: String,
    current: bool,
    newest: bool,
    published: i64,
    health: Health,
    withdrawn: Option<Notice>,
    deprecated: Option<Notice>,
}

/// One content of one version, and what became of it.
struct HistoryRow {
    version: String,
    standing: wire::history::Standing,
    digest: String,
    page: Option<String>,
    introduced: Option<(String, String, i64)>,
    seen: Option<i64>,
    reason: Option<String>,
}

struct FileRow {
    path: String,
    page: String,
    raw: String,
    size: u64,
    digest: String,
    executable: bool,
    entry: bool,
}

/// Where pages of one version are.
pub(super) struct Place<'a> {
    pub(super) found: &'a Resolved<'a>,
    pub(super) page: String,
}

impl Place<'_> {
    fn file_page(&self, path: &str) -> String {
        format!("{}/-/files/{}", self.page, encode_path(path))
    }

    fn raw(&self, path: &str) -> String {
        Urls { base: "" }.content(self.registry(), &self.found.version.digest, path)
    }

    pub(super) fn registry(&self) -> &RegistryName {
        &self.found.template.location.registry
    }
}

/// Targets of links in a file of the version.
struct InVersion<'a> {
    place: &'a Place<'a>,
    from: &'a str,
}

impl Targets for InVersion<'_> {
    fn link(&self, path: &str) -> Option<String> {
        let path = markdown::join(self.from, path)?;
        let version = self.place.found.version;
        if path.is_empty() {
            return Some(format!("{}/-/files/", self.place.page));
        }
        version.file(&path).map(|_| self.place.file_page(&path))
    }

    fn image(&self, path: &str) -> Option<String> {
        let path = markdown::join(self.from, path)?;
        self.place.found.version.file(&path).map(|_| self.place.raw(&path))
    }
}

/// The page of a reference keeps what the reference says: a floating one shows what it gets today.
pub(super) fn place<'a>(reference: &Reference, found: &'a Resolved<'a>) -> Place<'a> {
    let mut full = Reference::to(&found.template.location, reference.selector.clone());
    full.digest = reference.digest;
    Place { found, page: format!("/{}", encode_path(&full.to_string())) }
}

pub(super) fn head(place: &Place<'_>, tab: &'static str) -> Head {
    let found = place.found;
    let location = &found.template.location;
    let registry = location.registry.to_string();
    let (host, rest) = registry.split_once('/').unwrap_or((&registry, ""));
    let mut crumbs = vec![
        Crumb { text: host.to_owned(), url: None },
        Crumb { text: rest.to_owned(), url: Some(format!("/{registry}")) },
    ];
    if let Some(collection) = &location.collection {
        crumbs.push(Crumb { text: collection.to_string(), url: Some(format!("/{registry}/{collection}/")) });
    }
    crumbs.push(Crumb { text: location.template.to_string(), url: None });
    let latest = found.template.latest();
    let newest = latest.is_some_and(|latest| latest.version == found.version.version);
    let newer = found.resolution.newer_major.or(found.resolution.newer_minor).map(|version| {
        let reference = Reference::to(location, Selector::HighestPatch(version.clone()));
        (version.to_string(), format!("/{}", encode_path(&reference.to_string())))
    });
    let inspection = &found.version.inspection;
    Head {
        crumbs,
        name: location.template.to_string(),
        version: found.version.version.to_string(),
        health: view::health(found.version),
        kind: found.version.kind,
        newest,
        newer,
        lede: inspection.description.clone().or_else(|| inspection.title.clone()),
        page: place.page.clone(),
        tab,
        files: found.version.files.len(),
        versions: found.template.versions.len(),
        findings: found.version.all_findings().count(),
    }
}

/// The first digits of a digest, with its algorithm.
pub(crate) fn short_digest(digest: &str) -> &str {
    digest.get(..19).unwrap_or(digest)
}

/// The feed of a template.
fn feed_of(location: &schema::reference::Location) -> String {
    let reference = Reference::to(location, Selector::Highest);
    format!("/{}/-/feed.atom", encode_path(&reference.to_string()))
}

/// What became of the contents of a template's versions, newest version first.
fn history(template: &catalog::TemplateSnapshot) -> Vec<HistoryRow> {
    let seconds = |time: &str| time.parse::<jiff::Timestamp>().map_or(0, jiff::Timestamp::as_second);
    let row = |revision: wire::history::Revision| {
        let served = match revision.standing {
            wire::history::Standing::Held | wire::history::Standing::Purged => None,
            _ => {
                let reference = Reference::to(&template.location, Selector::Highest);
                Some(format!("/{}@{}", encode_path(&reference.to_string()), revision.digest))
            }
        };
        HistoryRow {
            page: served,
            introduced: revision
                .introduced
                .map(|introduced| (introduced.commit, introduced.author, seconds(&introduced.time))),
            seen: revision.seen.map(|seen| seconds(&seen.time)),
            version: revision.version,
            standing: revision.standing,
            digest: revision.digest,
            reason: revision.reason,
        }
    };
    view::revisions(template, None).into_iter().take(MOST_REVISIONS).map(row).collect()
}

fn file_rows(place: &Place<'_>) -> Vec<FileRow> {
    let version = place.found.version;
    let row = |file: &catalog::FileEntry| FileRow {
        page: place.file_page(&file.path),
        raw: place.raw(&file.path),
        size: file.size,
        digest: file.digest.hex(),
        executable: file.executable,
        entry: file.path == version.entry,
        path: file.path.clone(),
    };
    version.files.iter().map(row).collect()
}

/// The overview of a version.
pub(crate) async fn overview(
    app: &App,
    caller: &Caller,
    reference: &Reference,
    found: &Resolved<'_>,
) -> ApiResult {
    let place = place(reference, found);
    let (template, version) = (found.template, found.version);
    let location = &template.location;
    let inspection = &version.inspection;
    let latest = template.latest().map(|latest| latest.version.clone());
    let (readme, readme_path) = readme(app, caller, &place).await?;
    let parameters = parameters(&inspection.parameters);
    let processable = app.processor.can_process(version.kind);
    let uses = Uses::new(app, found, &parameters, processable);
    let patched = template
        .versions
        .values()
        .rev()
        .find(|other| other.is_choosable() && other.version.same_minor(&version.version))
        .map_or_else(|| version.version.to_string(), |other| other.version.to_string());
    let findings = version.all_findings().map(|finding| {
        let known = version.file(&finding.path).is_some();
        let anchor = finding.place.map(|place| format!("#L{}", place.line)).unwrap_or_default();
        FindingRow::of(finding, known.then(|| format!("{}{anchor}", place.file_page(&finding.path))))
    });
    let versions = template.versions.values().rev().map(|other| VersionRow {
        version: other.version.to_string(),
        page: format!("/{}", encode_path(&view::exact(location, other).to_string())),
        current: other.version == version.version,
        newest: Some(&other.version) == latest.as_ref(),
        published: other.published_at,
        health: view::health(other),
        withdrawn: other.withdrawn.as_ref().map(Notice::from),
        deprecated: other.deprecated.as_ref().map(Notice::from),
    });
    pages::page(&Overview {
        frame: Frame::new(app, caller, format!("{} {}", location.template, version.version)),
        head: head(&place, "overview"),
        withdrawn: version.withdrawn.as_ref().map(Notice::from),
        deprecated: version.deprecated.as_ref().map(Notice::from),
        gone: matches!(version.standing, Standing::Gone { .. }),
        former: version.standing == Standing::Replaced,
        held: version.standing == Standing::Held,
        history: history(template),
        feed: feed_of(location),
        version: version.version.to_string(),
        patched,
        minor: format!("v{}.{}", version.version.major(), version.version.minor()),
        use_reference: uses.reference,
        use_formwork: uses.formwork,
        use_curl: uses.curl,
        processable,
        parameters_url: Urls { base: "" }.aspect(&view::exact(location, version), "parameters"),
        inspected: !inspection.parameters.is_null(),
        parameters,
        object_kinds: inspection.object_kinds.clone(),
        versions: versions.collect(),
        findings: findings.collect(),
        readme,
        readme_url: place.file_page(&readme_path),
        readme_path,
        published: version.published_at,
        commit: version.commit.clone(),
        digest: version.digest.to_string(),
        size: version.size(),
        reported: version.report.made().map(|report| report.at),
        why: view::why(found),
        tags: inspection.tags.clone(),
        documentation: inspection.documentation.clone().filter(|url| is_web(url)),
        support: inspection.support.clone().filter(|url| is_web(url)),
        files: file_rows(&place),
        files_page: format!("{}/-/files/", place.page),
    })
}

/// The files of a version.
pub(crate) fn files(app: &App, caller: &Caller, reference: &Reference, found: &Resolved<'_>) -> ApiResult {
    let place = place(reference, found);
    let title = format!("Files of {} {}", found.template.name, found.version.version);
    pages::page(&Files {
        frame: Frame::new(app, caller, title),
        head: head(&place, "files"),
        files: file_rows(&place),
        size: found.version.size(),
    })
}

/// One file, with its lines.
pub(crate) async fn file(
    app: &App,
    caller: &Caller,
    reference: &Reference,
    found: &Resolved<'_>,
    path: &str,
) -> ApiResult {
    let place = place(reference, found);
    let entry = api::files::entry(found.version, path)?;
    let (lines, unshown) = if entry.size > SHOWN_BYTES {
        (Vec::new(), Some("This file is too large to be shown with its lines.".to_owned()))
    } else {
        let body = api::files::bytes(app, caller, place.registry(), entry).await?;
        match std::str::from_utf8(&body) {
            Ok("") => (Vec::new(), Some("This file is empty.".to_owned())),
            Ok(text) if is_text(&body) => (text.lines().map(str::to_owned).collect(), None),
            _ => (Vec::new(), Some("This file is not text.".to_owned())),
        }
    };
    pages::page(&File {
        frame: Frame::new(app, caller, format!("{path} · {} {}", found.template.name, found.version.version)),
        head: head(&place, "files"),
        size: entry.size,
        raw: place.raw(path),
        path: path.to_owned(),
        lines,
        unshown,
    })
}

async fn readme(app: &App, caller: &Caller, place: &Place<'_>) -> Result<(Option<String>, String), ApiError> {
    let Some(entry) = place.found.version.readme().filter(|entry| entry.size <= SHOWN_BYTES) else {
        return Ok((None, String::new()));
    };
    let body = api::files::bytes(app, caller, place.registry(), entry).await?;
    let html = std::str::from_utf8(&body).ok().map(|text| {
        let lower = entry.path.to_ascii_lowercase();
        if lower.ends_with(".md") || lower.ends_with(".markdown") {
            markdown::render(text, &InVersion { place, from: &entry.path })
        } else {
            format!("<pre>{}</pre>", escape(text))
        }
    });
    Ok((html, entry.path.clone()))
}

fn is_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

/// How to use a version, with the reference's end as a choice: following patches, exact, or by digest.
struct Uses {
    reference: String,
    formwork: String,
    curl: String,
}

impl Uses {
    fn new(app: &App, found: &Resolved<'_>, parameters: &[Parameter], processable: bool) -> Uses {
        let location = &found.template.location;
        let version = &found.version.version;
        let path = Reference::to(location, Selector::Highest).to_string();
        let minor = if version.is_pre_release() {
            version.to_string()
        } else {
            format!("v{}.{}", version.major(), version.minor())
        };
        let choice = format!(
            r#"<b class="ref pf">:{minor}</b><b class="ref pe">:={version}</b><b class="ref pd">@{}</b>"#,
            found.version.digest
        );
        let (path, base) = (escape(&path), escape(&app.shown_base));
        let asked = parameters.iter().filter(|parameter| parameter.required).take(3);
        let (mut options, mut set) = (String::new(), Vec::new());
        for parameter in asked {
            options.push_str(&format!(
                " <span class=\"nowrap\">-p</span> {}",
                escape(&shell_quoted(&format!("{}=…", parameter.name)))
            ));
            set.push(format!("{}=…", parameter.name));
        }
        let body = serde_json::json!({ "set": set }).to_string().replace('\'', r"'\''");
        let (formwork, curl) = if processable {
            (
                format!(
                    "formwork process <span class=\"nowrap\">--server</span> {base} '{path}{choice}'{options} | kubectl apply <span class=\"nowrap\">-f</span> -"
                ),
                format!(
                    "curl <span class=\"nowrap\">-fsS</span> '{base}/api/v1/templates/{path}{choice}/-/process?output=yaml' <span class=\"nowrap\">--json</span> '{}' | kubectl apply <span class=\"nowrap\">-f</span> -",
                    escape(&body)
                ),
            )
        } else {
            (
                format!("formwork resolve <span class=\"nowrap\">--server</span> {base} '{path}{choice}'"),
                format!(
                    "curl <span class=\"nowrap\">-fsSO</span> '{base}/api/v1/templates/{path}{choice}/-/files/{}'",
                    escape(&encode_path(&found.version.entry))
                ),
            )
        };
        Uses { reference: format!("{path}{choice}"), formwork, curl }
    }
}

/// The options of a command that give the parameters one must give.
pub(crate) fn options(schema: &Value) -> String {
    let required = parameters(schema).into_iter().filter(|parameter| parameter.required).take(3);
    required.map(|parameter| format!(" -p {}", shell_quoted(&format!("{}=…", parameter.name)))).collect()
}

/// A word as a shell reads it back.
pub(super) fn shell_quoted(word: &str) -> String {
    let plain = word.chars().all(|character| character.is_alphanumeric() || "._-=…/:".contains(character));
    if plain { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// The rows of the parameters table, from the JSON Schema every kind is told in.
fn parameters(schema: &Value) -> Vec<Parameter> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return Vec::new() };
    let required = schema.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let parameter = |(name, property): (&String, &Value)| {
        let text = |key: &str| property.get(key).and_then(Value::as_str).map(str::to_owned);
        let limit = |key: &str, words: &str| property.get(key).map(|value| format!("{words} {value}"));
        let limits = [
            text("pattern"),
            limit("minimum", "from"),
            limit("maximum", "up to"),
            limit("minLength", "at least, in characters,"),
            limit("maxLength", "at most, in characters,"),
        ];
        let limits = limits.into_iter().flatten().collect::<Vec<_>>().join(" ");
        let secret = property.get("writeOnly").and_then(Value::as_bool).unwrap_or(false);
        Parameter {
            name: name.clone(),
            kind: kind_of(property),
            required: required.iter().any(|required| required.as_str() == Some(name))
                && property.get("default").is_none(),
            // A default that looks secret is in the file; the page does not repeat it.
            default: property.get("default").filter(|_| !secret).map(plain),
            secret,
            // A title beside a description says little more than the name does.
            title: text("title").filter(|title| title != name && property.get("description").is_none()),
            description: text("description"),
            choices: property
                .get("enum")
                .and_then(Value::as_array)
                .map(|choices| choices.iter().map(plain).collect())
                .unwrap_or_default(),
            limits: Some(limits).filter(|limits| !limits.is_empty()),
        }
    };
    properties.iter().map(parameter).collect()
}

fn kind_of(property: &Value) -> String {
    if property.get("enum").is_some() {
        return "one of".to_owned();
    }
    match property.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => kinds.iter().map(plain).collect::<Vec<_>>().join(" or "),
        _ => "any".to_owned(),
    }
}

/// A JSON value as a person would write it, cut where it is long.
fn plain(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut short = text.chars().take(120).collect::<String>();
    if text.chars().nth(120).is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn parameters_are_read_from_the_schema() {
        let schema = json!({
            "type": "object",
            "required": ["NAME", "SIZE"],
            "properties": {
                "NAME": {"type": "string", "pattern": "^[a-z]+$", "description": "What it is called"},
                "SIZE": {"type": ["integer", "string"], "default": 3, "minimum": 1, "maximum": 7},
                "PASSWORD": {"type": "string", "writeOnly": true, "default": "changeme"},
                "MODE": {"enum": ["a", 2]},
            },
        });
        let rows = parameters(&schema);
        let said = rows
            .iter()
            .map(|row| {
                format!("{} {} {} {:?} {:?}", row.name, row.kind, row.required, row.default, row.limits)
            })
            .collect::<Vec<_>>();
        assert_eq!(
            said,
            [
                "NAME string true None Some(\"^[a-z]+$\")",
                "SIZE integer or string false Some(\"3\") Some(\"from 1 up to 7\")",
                "PASSWORD string false None None",
                "MODE one of false None None",
            ]
        );
        assert!(parameters(&Value::Null).is_empty());
    }

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(shell_quoted("NAME=…"), "NAME=…");
        assert_eq!(shell_quoted("a b"), "'a b'");
        assert_eq!(shell_quoted("$(x)'"), r"'$(x)'\'''");
    }
}
