//! The files of a version: the list, each with its lines, and the README on the overview.

use askama::Template;
use catalog::Resolved;
use pulldown_cmark::HeadingLevel;
use schema::reference::Reference;

use super::{Head, Place};
use crate::access::Caller;
use crate::api;
use crate::content_type::is_text;
use crate::error::{ApiError, ApiResult};
use crate::markdown::{self, Targets};
use crate::pages::{self, Frame};
use crate::source;
use crate::state::App;
use crate::ui::escape;

/// Largest file that is shown with its lines; larger ones are at their raw address.
const SHOWN_BYTES: u64 = 256 << 10;

/// Most lines that are shown.
const SHOWN_LINES: usize = 5_000;

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
    /// The path, with each directory a piece of its own.
    size: u64,
    /// HTML, a line each.
    lines: Vec<String>,
    unshown: Option<String>,
    raw: String,
}

/// A file in a list.
pub(super) struct FileRow {
    pub(super) path: String,
    pub(super) page: String,
    pub(super) raw: String,
    pub(super) size: u64,
    pub(super) digest: String,
    pub(super) executable: bool,
    pub(super) entry: bool,
}

/// Targets of links in a file of the version.
struct InVersion<'a> {
    place: &'a Place<'a>,
    from: &'a str,
}

impl Targets for InVersion<'_> {
    fn link(&self, path: &str) -> Option<String> {
        let path = markdown::join(self.from, path)?;
        if path.is_empty() {
            return Some(format!("{}/-/files/", self.place.page));
        }
        self.place.found.version.file(&path).map(|_| self.place.file_page(&path))
    }

    fn image(&self, path: &str) -> Option<String> {
        let path = markdown::join(self.from, path)?;
        self.place.found.version.file(&path).map(|_| self.place.raw(&path))
    }
}

/// The files of a version, as rows.
pub(super) fn rows(place: &Place<'_>) -> Vec<FileRow> {
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

/// The files of a version.
pub(crate) fn files(app: &App, caller: &Caller, reference: &Reference, found: &Resolved<'_>) -> ApiResult {
    let place = Place::new(reference, found);
    let title = format!("Files of {} {}", found.template.name, found.version.version);
    pages::page(&Files {
        frame: Frame::new(app, caller, title),
        head: place.head("files", "/-/files/"),
        files: rows(&place),
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
    let place = Place::new(reference, found);
    let entry = api::files::entry(found.version, path)?;
    let (lines, unshown) = if entry.size > SHOWN_BYTES {
        (Vec::new(), Some("This file is too large to be shown with its lines.".to_owned()))
    } else {
        let body = api::files::bytes(app, caller, place.registry(), entry).await?;
        match std::str::from_utf8(&body) {
            Ok("") => (Vec::new(), Some("This file is empty.".to_owned())),
            Ok(text) if text.lines().nth(SHOWN_LINES).is_some() => {
                (Vec::new(), Some("This file has too many lines to be shown.".to_owned()))
            }
            Ok(text) if is_text(&body) => (source::lines(path, text), None),
            _ => (Vec::new(), Some("This file is not text.".to_owned())),
        }
    };
    let below = format!("/-/files/{}", crate::target::encode_path(path));
    pages::page(&File {
        frame: Frame::new(app, caller, format!("{path} · {} {}", found.template.name, found.version.version)),
        head: place.head("files", &below),
        size: entry.size,
        raw: place.raw(path),
        path: path.to_owned(),
        lines,
        unshown,
    })
}

/// The README of a version as HTML, and its path.
pub(super) async fn readme(
    app: &App,
    caller: &Caller,
    place: &Place<'_>,
) -> Result<Option<(String, String)>, ApiError> {
    let Some(entry) = place.found.version.readme().filter(|entry| entry.size <= SHOWN_BYTES) else {
        return Ok(None);
    };
    let body = api::files::bytes(app, caller, place.registry(), entry).await?;
    let Ok(text) = std::str::from_utf8(&body) else { return Ok(None) };
    let lower = entry.path.to_ascii_lowercase();
    let html = if lower.ends_with(".md") || lower.ends_with(".markdown") {
        markdown::render(text, &InVersion { place, from: &entry.path }, HeadingLevel::H3)
    } else {
        format!("<pre tabindex=\"0\">{}</pre>", escape(text))
    };
    Ok(Some((html, entry.path.clone())))
}
