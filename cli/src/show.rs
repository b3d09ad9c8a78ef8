//! `formwork show` and `formwork versions`: what is known of a template and its versions.

use std::process::ExitCode;

use schema::Reference;
use serde_json::{Value, json};
use wire::templates::{Template, Version};

use crate::arguments::{ShowArguments, VersionsArguments};
use crate::client::Client;
use crate::output::{self, BOLD, DIM};

/// Versions that are named beside a template; `formwork versions` lists all.
const VERSIONS: usize = 6;

pub(crate) fn run(arguments: &ShowArguments) -> anyhow::Result<ExitCode> {
    // Here first: a reference that cannot be read needs no server to say so.
    arguments.reference.parse::<Reference>()?;
    let client = Client::new(&arguments.server.server)?;
    let template = client.template(&arguments.reference)?;
    // Of the very version that was shown, whatever is published meanwhile.
    let parameters = client.parameters(&template.resolved.pinned.parse()?)?;
    if arguments.json {
        let mut answer = serde_json::to_value(&template)?;
        answer["parameters"] = parameters;
        output::line(serde_json::to_string_pretty(&answer)?);
        return Ok(ExitCode::SUCCESS);
    }
    head(&template);
    properties(&parameters);
    findings(&template);
    next(&arguments.reference, &template);
    Ok(ExitCode::SUCCESS)
}

fn head(template: &Template) {
    let resolved = &template.resolved;
    let (name, version, health) = (&resolved.template, &resolved.version, output::health(resolved.health));
    output::line(format_args!("{BOLD}{name} {version}{BOLD:#}  {}  {health}", resolved.kind.title()));
    let title = template.title.as_deref().filter(|title| !title.eq_ignore_ascii_case(name));
    for text in [title, template.description.as_deref()].into_iter().flatten() {
        output::line(output::wrapped(text));
    }
    output::line("");
    let names = template.versions.iter().map(|version| version.version.as_str()).collect::<Vec<_>>();
    let more = if names.len() > VERSIONS { " …" } else { "" };
    let mut rows = vec![
        ("reference", resolved.reference.clone()),
        ("digest", resolved.digest.clone()),
        ("published", template.published.clone()),
        ("versions", format!("{}{more}", names[..names.len().min(VERSIONS)].join(" "))),
        ("tags", template.tags.join(" ")),
        ("makes", template.object_kinds.join(" ")),
        ("files", resolved.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>().join(" ")),
        ("documentation", template.documentation.clone().unwrap_or_default()),
        ("support", template.support.clone().unwrap_or_default()),
    ];
    rows.extend(resolved.withdrawn.clone().map(|notice| ("withdrawn", notice.reason)));
    rows.extend(resolved.deprecated.clone().map(|notice| ("deprecated", notice.reason)));
    for (label, value) in rows.into_iter().filter(|(_, value)| !value.is_empty()) {
        output::line(format_args!("  {DIM}{label:<15}{DIM:#}{value}"));
    }
}

/// The parameters, those of the first level: a name, whether it must be given, its default, what it is.
fn properties(schema: &Value) {
    let Some(properties) = schema["properties"].as_object().filter(|properties| !properties.is_empty())
    else {
        return output::line("\nIt takes no parameters.");
    };
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let row = |(name, property): (&String, &Value)| {
        let default = match &property["default"] {
            _ if required.contains(&json!(name)) => "required".to_owned(),
            Value::Null if property["x-generated"].is_string() => "generated".to_owned(),
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let title = property["title"].as_str().filter(|title| !title.eq_ignore_ascii_case(name));
        vec![
            name.clone(),
            property["type"].as_str().unwrap_or_default().to_owned(),
            output::shortened(&default, 24),
            output::titled(title, property["description"].as_str()),
        ]
    };
    let rows = properties.iter().map(row).collect::<Vec<_>>();
    output::line("");
    output::print(output::table(&["PARAMETER", "TYPE", "DEFAULT", "WHAT IT IS"], &rows));
}

fn findings(template: &Template) {
    if template.findings.is_empty() {
        return;
    }
    output::line("");
    for finding in &template.findings {
        let place = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
        let at = if finding.path.is_empty() { String::new() } else { format!("{}{place}: ", finding.path) };
        output::line(format_args!("{}: {at}{}", output::severity(finding.severity), finding.message));
    }
}

/// What to do with it, to be copied.
fn next(reference: &str, template: &Template) {
    output::line("");
    output::line(format_args!("  {DIM}{:<15}{DIM:#}formwork pull {reference}", "fetch it"));
    if template.resolved.links.process.is_some() {
        output::line(format_args!(
            "  {DIM}{:<15}{DIM:#}formwork process {reference} -p NAME=VALUE | kubectl apply -f -",
            "deploy it"
        ));
    }
}

pub(crate) fn versions(arguments: &VersionsArguments) -> anyhow::Result<ExitCode> {
    arguments.reference.parse::<Reference>()?;
    let list = Client::new(&arguments.server.server)?.versions(&arguments.reference)?;
    if arguments.json {
        output::line(serde_json::to_string_pretty(&list)?);
        return Ok(ExitCode::SUCCESS);
    }
    let row = |version: &Version| {
        let notice = [("withdrawn", &version.withdrawn), ("deprecated", &version.deprecated)];
        let notice = notice.into_iter().find_map(|(word, notice)| Some((word, notice.as_ref()?)));
        let notice = notice.map(|(word, notice)| {
            let instead = notice.instead.as_ref().map(|instead| format!(" (use {instead})"));
            format!("{word}: {}{}", notice.reason, instead.unwrap_or_default())
        });
        let short = version.digest.get(..19).unwrap_or(&version.digest);
        vec![
            version.version.clone(),
            version.published.get(..10).unwrap_or(&version.published).to_owned(),
            version.health.as_str().to_owned(),
            short.to_owned(),
            notice.unwrap_or_default(),
        ]
    };
    let rows = list.versions.iter().map(row).collect::<Vec<_>>();
    output::print(output::table(&["VERSION", "PUBLISHED", "HEALTH", "DIGEST", ""], &rows));
    Ok(ExitCode::SUCCESS)
}
