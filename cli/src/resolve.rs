//! `formwork resolve`: which version a reference gets, and why.

use std::process::ExitCode;

use schema::Reference;
use schema::reference::Selector;

use crate::arguments::ResolveArguments;
use crate::client::Client;
use crate::output::{self, BOLD, DIM};

pub(crate) fn run(arguments: &ResolveArguments) -> anyhow::Result<ExitCode> {
    // Here first: a reference that cannot be read needs no server to say so.
    let reference = arguments.reference.parse::<Reference>()?;
    let resolved = Client::new(&arguments.server.server)?.resolve(&arguments.reference)?;
    if arguments.json {
        output::line(serde_json::to_string_pretty(&resolved)?);
        return Ok(ExitCode::SUCCESS);
    }
    let (asked, hint) = match &reference.selector {
        Selector::Highest => ("newest".to_owned(), String::new()),
        Selector::HighestPatch(version) if version.to_string() != resolved.resolved => {
            (version.to_string(), format!("; use :={version} for exactly that"))
        }
        selector => (selector.to_string().trim_start_matches(':').to_owned(), String::new()),
    };
    let rule = resolved.rule.replace('-', " ");
    let reference = &resolved.reference;
    output::line(format_args!("{BOLD}{reference}{BOLD:#}  {asked} -> {} ({rule}{hint})", resolved.resolved));
    let mut rows = vec![
        ("pinned", resolved.pinned.clone()),
        ("kind", resolved.kind.title().to_owned()),
        ("digest", resolved.digest.clone()),
    ];
    rows.extend(resolved.commit.clone().map(|commit| ("commit", commit)));
    let files = resolved.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>();
    rows.push(("files", files.join(" ")));
    rows.extend(resolved.newer.minor.clone().map(|version| ("newer minor", version)));
    rows.extend(resolved.newer.major.clone().map(|version| ("newer major", version)));
    rows.extend(resolved.withdrawn.clone().map(|notice| ("withdrawn", notice.reason)));
    rows.extend(resolved.deprecated.clone().map(|notice| ("deprecated", notice.reason)));
    for (label, value) in rows {
        output::line(format_args!("  {DIM}{label:<12}{DIM:#}{value}"));
    }
    Ok(ExitCode::SUCCESS)
}
