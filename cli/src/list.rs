//! `formwork list`: the registries of a server, and the templates of one.

use std::process::ExitCode;

use anyhow::bail;
use wire::registries::{RegistryList, RegistrySummary, TemplateList};

use crate::arguments::ListArguments;
use crate::client::Client;
use crate::output;

pub(crate) fn run(arguments: &ListArguments) -> anyhow::Result<ExitCode> {
    let client = Client::new(&arguments.server.server)?;
    let list = client.registries()?;
    let Some(place) = &arguments.place else {
        if arguments.json {
            output::line(serde_json::to_string_pretty(&list)?);
        } else {
            registries(&list);
        }
        return Ok(ExitCode::SUCCESS);
    };
    let (registry, collection) = find(&list, place)?;
    let templates = client.templates(&registry, collection.as_deref())?;
    if let Some(name) = collection.filter(|_| templates.templates.is_empty()) {
        let known = client.registry(&registry)?.collections;
        let known = known.iter().map(|known| known.name.as_deref().unwrap_or("/")).collect::<Vec<_>>();
        if !known.contains(&name.as_str()) {
            bail!("{registry} has no collection `{name}`\n  hint: it has {}", output::several(&known));
        }
    }
    if arguments.json {
        output::line(serde_json::to_string_pretty(&templates)?);
    } else {
        table(&registry, &templates);
    }
    Ok(ExitCode::SUCCESS)
}

fn registries(list: &RegistryList) {
    if list.registries.is_empty() {
        return output::note("the server has no registries, or none you may see");
    }
    let row = |registry: &RegistrySummary| {
        let default = list.default.as_deref().is_some_and(|default| below(default, &registry.name).is_some());
        let title = output::titled(registry.title.as_deref(), registry.description.as_deref());
        let title = if default { format!("(default) {title}") } else { title };
        vec![
            registry.name.clone(),
            registry.counts.templates.to_string(),
            registry.counts.versions.to_string(),
            registry.sync.state.clone(),
            title.trim_end().to_owned(),
        ]
    };
    let rows = list.registries.iter().map(row).collect::<Vec<_>>();
    output::print(output::table(&["REGISTRY", "TEMPLATES", "VERSIONS", "STATE", "WHAT IT IS"], &rows));
}

/// What of a place lies below a registry: nothing, or the name of a collection. Names compare as hosts do, without
/// case: the server is the one that knows better.
fn below<'a>(place: &'a str, registry: &str) -> Option<&'a str> {
    let rest = place.get(registry.len()..)?;
    if !place[..registry.len()].eq_ignore_ascii_case(registry) {
        return None;
    }
    if rest.is_empty() { Some("") } else { rest.strip_prefix('/') }
}

/// The registry of a place, and the collection it names. Of several registries the longest name counts.
fn find(list: &RegistryList, place: &str) -> anyhow::Result<(String, Option<String>)> {
    let place = place.trim_end_matches('/');
    let named = list.registries.iter().filter_map(|registry| Some((registry, below(place, &registry.name)?)));
    if let Some((registry, rest)) = named.max_by_key(|(registry, _)| registry.name.len()) {
        return Ok((registry.name.clone(), Some(rest.to_owned()).filter(|rest| !rest.is_empty())));
    }
    let home = list
        .default
        .as_ref()
        .and_then(|default| list.registries.iter().find(|registry| below(default, &registry.name).is_some()));
    match home {
        Some(home) if !place.contains('/') => Ok((home.name.clone(), Some(place.to_owned()))),
        _ => {
            let known = list.registries.iter().map(|registry| registry.name.as_str()).collect::<Vec<_>>();
            bail!("the server has no registry `{place}`\n  hint: it has {}", output::several(&known))
        }
    }
}

fn table(registry: &str, list: &TemplateList) {
    let rows = list.templates.iter().map(|template| {
        // The registry stands above; below it the place is enough, and can be put behind it.
        let place = below(&template.reference, registry).unwrap_or(&template.reference);
        vec![
            place.to_owned(),
            template.latest.clone(),
            template.versions.to_string(),
            template.kind.as_str().to_owned(),
            template.health.as_str().to_owned(),
            output::titled(template.title.as_deref(), template.description.as_deref()),
        ]
    });
    let rows = rows.collect::<Vec<_>>();
    output::note(format_args!("{registry}, {}", output::count(rows.len(), "template")));
    if !rows.is_empty() {
        let header = ["TEMPLATE", "NEWEST", "VERSIONS", "KIND", "HEALTH", "WHAT IT IS"];
        output::print(output::table(&header, &rows));
    }
}
