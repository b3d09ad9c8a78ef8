//! `/<reference>/-/try`: a form for the parameters of any version, with the objects it makes beside it.
//!
//! A GET shows the form, filled with what a link carries; a POST takes what was filled in. Both process on the way, in
//! a worker, as the API does: nothing is kept. Secrets come in bodies only and go nowhere but into the worker; the page
//! that answers has them neither in its fields nor in its objects. Generated values are drawn from a fixed seed here, so
//! that the page shows none that somebody uses.
//!
//! Parts: `fields` makes the form of the parameters' JSON Schema, `filled` reads what was filled in, `lines` says the
//! same request for a terminal, `shown` prints objects.

mod fields;
mod filled;
mod lines;
mod shown;

use std::net::IpAddr;

use askama::Template;
use askama::filters::Safe;
use bytes::Bytes;
use catalog::Resolved;
use http::StatusCode;
use http::header::{CONTENT_DISPOSITION, HeaderValue};
use schema::processing::{Outcome, Problem};
use schema::reference::Reference;
use serde_json::Value;
use wire::text;

use self::fields::{Field, Form, Input, Sorted, bare};
use self::filled::{Filled, PREFIX};
use self::lines::{Lines, Subject};
use crate::access::Caller;
use crate::api;
use crate::cache::CachePolicy;
use crate::error::{ApiError, ApiResult};
use crate::pages::template::{Head, Place};
use crate::pages::{self, Frame};
use crate::processing::{Host, Stop};
use crate::state::App;
use crate::{time, view};

/// What the page draws generated values from if nobody says otherwise.
const PREVIEW_SEED: &str = "preview";

/// The file of a version that shows how it is used.
const EXAMPLE: &str = "example.yaml";

/// Bytes of an example that the form is filled from.
const EXAMPLE_BYTES: u64 = 256 << 10;

/// Bytes of objects that the page prints; there is a file to download for all of them.
const SHOWN_BYTES: usize = 512 << 10;

/// What was sent: the query of a link, or the body of the form.
pub(crate) enum Sent<'a> {
    /// A link, perhaps with values.
    Link(&'a str),
    /// The form.
    Form(&'a Bytes),
}

#[derive(Template)]
#[template(path = "try.html")]
struct Try {
    frame: Frame,
    head: Head,
    csrf: Option<String>,
    action: String,
    has_example: bool,
    processable: bool,
    cut: bool,
    groups: Vec<ShownGroup>,
    namespace: String,
    seed: String,
    /// How many fields need attention, and what is wrong that is no field's.
    wrong: usize,
    links: Vec<(String, String, String)>,
    others: Vec<String>,
    /// Required fields nobody has filled in yet, before anything was sent.
    awaited: Vec<String>,
    objects: Option<Objects>,
    lines: Lines,
    share: String,
    carried: usize,
    left_out: Vec<String>,
}

struct ShownGroup {
    legend: Option<String>,
    fields: Vec<ShownField>,
}

struct ShownField {
    id: String,
    name: String,
    label: String,
    code: Option<String>,
    hint: Option<String>,
    errors: Vec<String>,
    required: bool,
    secret: bool,
    text: String,
    control: Control,
}

enum Control {
    /// The element and what else its tag says.
    Line {
        kind: &'static str,
        attributes: Vec<(&'static str, String)>,
    },
    Choice {
        choices: Vec<(String, bool)>,
        none: bool,
    },
    Tick,
    Lines {
        yaml: bool,
        rows: usize,
    },
}

struct Objects {
    count: usize,
    lines: usize,
    names: Vec<String>,
    html: Safe<String>,
    cut: bool,
    generated: Vec<String>,
    notes: Vec<String>,
}

/// The page, or the file that was asked for on it.
pub(crate) async fn answer(
    app: &App,
    caller: &Caller,
    peer: Option<IpAddr>,
    reference: &Reference,
    found: &Resolved<'_>,
    sent: Sent<'_>,
) -> ApiResult {
    let place = Place::new(reference, found);
    let version = found.version;
    let form = Form::of(&version.inspection.parameters);
    let was_sent = matches!(sent, Sent::Form(_));
    let filled = match sent {
        Sent::Form(body) => Filled::parse(body),
        Sent::Link("example") => example(app, caller, &place, &form).await?,
        Sent::Link(query) => Filled::parse(query.as_bytes()),
    };
    let processable = app.processor.can_process(version.kind);
    let untouched = !was_sent && filled.is_empty();
    let mut wrong = Sorted::missing(&form, &filled);
    let awaited = match untouched {
        true => form.fields().filter(|field| !wrong.of(field).is_empty()).map(Field::name).collect(),
        false => Vec::new(),
    };
    let mut objects = None;
    if processable && wrong.is_empty() {
        match process(app, caller, peer, found, &form, &filled).await {
            Ok(outcome) if filled.download => return file(found, &outcome),
            Ok(outcome) => objects = Some(print(outcome, &form, &filled)),
            Err(Stop::Failed(failure, _)) => wrong = Sorted::new(&form, &failure.problems),
            Err(stop) => {
                let said = ApiError::from(stop);
                wrong.others.push(said.detail.clone());
            }
        }
    }
    if untouched {
        // Nobody has done anything wrong yet.
        wrong = Sorted::new(&form, &[] as &[Problem]);
    }
    let status =
        if was_sent && !wrong.is_empty() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let policy = if was_sent { CachePolicy::NoStore } else { CachePolicy::Revalidate };
    let made = Made { wrong, awaited, objects, processable };
    pages::page_with(status, policy, &page(app, caller, &place, &form, &filled, made))
}

/// What became of what was filled in.
struct Made {
    wrong: Sorted,
    awaited: Vec<String>,
    objects: Option<Objects>,
    processable: bool,
}

/// The form as the version's example fills it.
async fn example(app: &App, caller: &Caller, place: &Place<'_>, form: &Form) -> Result<Filled, ApiError> {
    let version = place.found.version;
    let Some(entry) = version.file(EXAMPLE).filter(|entry| entry.size <= EXAMPLE_BYTES) else {
        return Ok(Filled::default());
    };
    let body = api::files::bytes(app, caller, place.registry(), entry).await?;
    let example = std::str::from_utf8(&body).ok().and_then(|text| text::from_yaml(text).ok());
    // What is wrong with an example is in the version's report; here it is no example.
    Ok(example.map(|example| Filled::of_example(version.kind, &example, form)).unwrap_or_default())
}

async fn process(
    app: &App,
    caller: &Caller,
    peer: Option<IpAddr>,
    found: &Resolved<'_>,
    form: &Form,
    filled: &Filled,
) -> Result<Outcome, Stop> {
    let mut request = filled.request(found.version.kind, form);
    if request.seed.is_none() && !filled.download {
        request.seed = Some(PREVIEW_SEED.to_owned());
    }
    let entropy = api::process::entropy().map_err(|error| Stop::Internal(error.detail))?;
    let request =
        request.into_request(time::now(), entropy).map_err(|error| Stop::Internal(error.to_string()))?;
    let snapshot = app.catalog.snapshot();
    let share = api::process::share(caller, peer);
    let home = app.home.as_ref();
    let host = Host { app, snapshot: &snapshot, viewer: caller.viewer(), home, caller: &share };
    let template = host.load(&found.template.location, found.version).await?;
    host.process(&template, Some(found.version.digest), request, &mut Vec::new()).await
}

/// All objects, with everything in them, as a file to keep.
fn file(found: &Resolved<'_>, outcome: &Outcome) -> ApiResult {
    let mut response = api::typed(
        CachePolicy::NoStore,
        HeaderValue::from_static("application/yaml"),
        text::yaml_stream(&outcome.objects),
    );
    // A template's name is letters, digits, dots and dashes.
    let disposition = format!("attachment; filename=\"{}.yaml\"", found.template.name);
    let disposition = HeaderValue::from_str(&disposition).map_err(ApiError::internal)?;
    response.headers_mut().insert(CONTENT_DISPOSITION, disposition);
    Ok(response)
}

fn print(outcome: Outcome, form: &Form, filled: &Filled) -> Objects {
    let mut objects = outcome.objects;
    let secrets = form.fields().filter(|field| field.secret).map(|field| filled.text(field));
    shown::mask(&mut objects, &secrets.collect::<Vec<_>>());
    let name = |object: &Value| {
        let text = |pointer: &str| object.pointer(pointer).map(bare);
        let kind = text("/kind").or_else(|| text("/type")).unwrap_or_default();
        let name = text("/metadata/name").or_else(|| text("/name")).unwrap_or_default();
        format!("{kind} {name}").trim().to_owned()
    };
    let names = objects.iter().map(name).collect();
    let mut yaml = text::yaml_stream(&objects);
    let lines = yaml.lines().count();
    let cut = yaml.len() > SHOWN_BYTES;
    if cut {
        let end = yaml[..yaml.floor_char_boundary(SHOWN_BYTES)].rfind('\n').unwrap_or_default();
        yaml.truncate(end);
    }
    Objects {
        count: objects.len(),
        lines,
        names,
        html: shown::yaml(&yaml),
        cut,
        generated: outcome.generated,
        notes: outcome.diagnostics.into_iter().map(|note| note.message).collect(),
    }
}

fn page(app: &App, caller: &Caller, place: &Place<'_>, form: &Form, filled: &Filled, made: Made) -> Try {
    let Made { wrong, awaited, objects, processable } = made;
    let (template, version) = (place.found.template, place.found.version);
    let frame = Frame::new(app, caller, format!("Try {} {}", template.name, version.version));
    let exact = view::exact(&template.location, version);
    let subject = Subject {
        base: &app.shown_base,
        location: &template.location,
        version: &version.version,
        kind: version.kind,
    };
    let lines = Lines::new(&subject, &filled.request(version.kind, form), &filled.changed(form));
    let (query, carried, left_out) = filled.link(form);
    let asks = if query.is_empty() { "" } else { "?" };
    let share = format!("{}/-/try{asks}{query}", view::Urls { base: &app.shown_base }.page(&exact));
    let links = form.fields().filter_map(|field| {
        let first = wrong.of(field).into_iter().next()?.to_owned();
        Some((field.id(), field.name(), first))
    });
    Try {
        csrf: frame.signed_in.as_ref().map(|signed_in| signed_in.word.clone()),
        frame,
        head: place.head("try", "/-/try"),
        action: format!("{}/-/try", place.page),
        has_example: version.file(EXAMPLE).is_some(),
        processable,
        cut: form.cut,
        groups: form.groups.iter().map(|group| shown_group(group, filled, &wrong)).collect(),
        namespace: filled.namespace.clone(),
        seed: filled.seed.clone(),
        wrong: wrong.fields(form),
        links: links.collect(),
        others: wrong.others,
        awaited,
        objects,
        lines,
        share,
        carried,
        left_out,
    }
}

fn shown_group(group: &fields::Group, filled: &Filled, wrong: &Sorted) -> ShownGroup {
    let shown = |field: &Field| {
        let text = if field.secret { String::new() } else { filled.text(field) };
        let name = field.name();
        ShownField {
            id: field.id(),
            label: field.title.clone().unwrap_or_else(|| name.clone()),
            code: field.title.is_some().then_some(name),
            name: format!("{PREFIX}{}", field.pointer),
            hint: field.description.clone(),
            errors: wrong.of(field).into_iter().map(str::to_owned).collect(),
            required: field.required,
            secret: field.secret,
            control: control(field, &text),
            text,
        }
    };
    ShownGroup { legend: group.legend.clone(), fields: group.fields.iter().map(shown).collect() }
}

fn control(field: &Field, text: &str) -> Control {
    let mut attributes = Vec::new();
    let mut say =
        |name: &'static str, value: Option<String>| attributes.extend(value.map(|value| (name, value)));
    match &field.input {
        Input::Tick => Control::Tick,
        Input::Choice(choices) => Control::Choice {
            choices: choices.iter().map(bare).map(|choice| (choice.clone(), choice == text)).collect(),
            none: !choices.iter().any(|choice| bare(choice) == text)
                || (!field.required && field.default.is_none()),
        },
        Input::Long => Control::Lines { yaml: false, rows: text.lines().count().clamp(3, 12) },
        Input::Yaml => Control::Lines { yaml: true, rows: text.lines().count().clamp(2, 12) },
        Input::Number { whole, least, most, text_too } => {
            say("min", least.clone());
            say("max", most.clone());
            if !whole {
                say("step", Some("any".to_owned()));
            }
            let kind = if field.secret {
                "password"
            } else if *text_too {
                "text"
            } else {
                "number"
            };
            Control::Line { kind, attributes }
        }
        Input::Text { pattern, shortest, longest } => {
            // Browsers anchor a pattern, JSON Schema does not.
            say("pattern", pattern.as_ref().map(|pattern| format!(".*(?:{pattern}).*")));
            say("minlength", shortest.map(|length| length.to_string()));
            say("maxlength", longest.map(|length| length.to_string()));
            Control::Line { kind: if field.secret { "password" } else { "text" }, attributes }
        }
    }
}
