//! `formwork search`: templates on a server, as a table.

use std::process::ExitCode;

use crate::arguments::SearchArguments;
use crate::client::Client;
use crate::output;

/// Longest description in the table, in characters.
const DESCRIPTION: usize = 64;

pub(crate) fn run(arguments: &SearchArguments) -> anyhow::Result<ExitCode> {
    let query = arguments.query.join(" ");
    let limit = arguments.limit.to_string();
    let mut parameters = vec![("q", query.as_str()), ("limit", &limit)];
    let filters =
        [("registry", &arguments.registry), ("collection", &arguments.collection), ("kind", &arguments.kind)];
    parameters.extend(filters.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?))));
    let answer = Client::new(&arguments.server.server)?.search(&parameters)?;
    if arguments.json {
        output::line(serde_json::to_string_pretty(&answer)?);
        return Ok(ExitCode::SUCCESS);
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
        let description =
            hit.title.as_deref().into_iter().chain(hit.description.as_deref()).collect::<Vec<_>>().join(": ");
        vec![
            hit.reference.clone(),
            hit.version.clone(),
            hit.kind.as_str().to_owned(),
            shortened(&description),
        ]
    });
    output::print(output::table(&["TEMPLATE", "NEWEST", "KIND", "WHAT IT IS"], &rows.collect::<Vec<_>>()));
    if answer.total > answer.hits.len() as u64 {
        output::note(format_args!("{} of {}; --limit shows more", answer.hits.len(), answer.total));
    }
    Ok(ExitCode::SUCCESS)
}

fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(DESCRIPTION) {
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
        None => line,
    }
}
