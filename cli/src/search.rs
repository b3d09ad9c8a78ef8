//! `formwork search`: templates on a server, as a table.

use std::process::ExitCode;

use crate::arguments::SearchArguments;
use crate::client::Client;
use crate::output;

pub(crate) fn run(arguments: &SearchArguments) -> anyhow::Result<ExitCode> {
    let query = arguments.query.join(" ");
    let limit = arguments.limit.to_string();
    let mut parameters = vec![("q", query.as_str()), ("limit", &limit)];
    let filters = [
        ("registry", &arguments.registry),
        ("collection", &arguments.collection),
        ("kind", &arguments.kind),
        ("has", &arguments.has),
        ("tag", &arguments.tag),
        ("health", &arguments.health),
    ];
    for (name, values) in filters {
        parameters.extend(values.iter().map(|value| (name, value.as_str())));
    }
    parameters.extend(arguments.cursor.as_deref().map(|cursor| ("cursor", cursor)));
    let answer = Client::new(&arguments.server.server)?.search(&parameters)?;
    if arguments.json {
        output::line(serde_json::to_string_pretty(&answer)?);
        return Ok(if answer.hits.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS });
    }
    if let Some(corrected) = &answer.corrected {
        output::note(format_args!("nothing is called that; showing results for {corrected}"));
    }
    answer.notices.iter().for_each(|notice| output::note(format_args!("note: {notice}")));
    if answer.hits.is_empty() {
        output::note(format_args!("no template matches `{query}`"));
        return Ok(ExitCode::FAILURE);
    }
    let rows = answer.hits.iter().map(|hit| {
        let standing = [(hit.withdrawn, "withdrawn: "), (hit.deprecated, "deprecated: ")];
        let standing = standing.into_iter().find(|(is, _)| *is).map_or("", |(_, word)| word);
        vec![
            hit.reference.clone(),
            hit.version.clone(),
            hit.kind.as_str().to_owned(),
            format!("{standing}{}", output::titled(hit.title.as_deref(), hit.description.as_deref())),
        ]
    });
    output::print(output::table(&["TEMPLATE", "NEWEST", "KIND", "WHAT IT IS"], &rows.collect::<Vec<_>>()));
    if answer.total > answer.hits.len() as u64 {
        output::note(format_args!(
            "{} of {}; more words or a filter narrow, --limit shows more",
            answer.hits.len(),
            answer.total
        ));
    }
    Ok(ExitCode::SUCCESS)
}
