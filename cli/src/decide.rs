//! `formwork accept` and `formwork purge`: an operator decides what a server held back, and what it must forget.

use std::process::ExitCode;

use anyhow::{Context, bail};
use schema::reference::{Reference, Selector};
use wire::history::{AcceptRequest, PurgeRequest, Standing};

use crate::arguments::{AcceptArguments, PurgeArguments};
use crate::client::Client;
use crate::output;

pub(crate) fn accept(arguments: &AcceptArguments) -> anyhow::Result<ExitCode> {
    let client = Client::new(&arguments.server.server)?;
    let (registry, request) = if arguments.drop || arguments.history {
        let request =
            AcceptRequest { drop: arguments.drop, history: arguments.history, ..AcceptRequest::default() };
        (arguments.reference.clone(), request)
    } else {
        let named = Named::ask(&client, &arguments.reference)?;
        let digest = match named.digest {
            Some(digest) => digest,
            None => held(&client, &named)?,
        };
        let request =
            AcceptRequest { version: Some(named.version), digest: Some(digest), ..AcceptRequest::default() };
        (named.registry, request)
    };
    let accepted = client.accept(&registry, &request)?;
    output::line(format!("accepted: {}", accepted.accepted));
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn purge(arguments: &PurgeArguments) -> anyhow::Result<ExitCode> {
    let client = Client::new(&arguments.server.server)?;
    let named = Named::ask(&client, &arguments.reference)?;
    let digest = named.digest.map(|digest| format!("@{digest}")).unwrap_or_default();
    let request =
        PurgeRequest { reference: format!("{}{digest}", named.version), reason: arguments.reason.clone() };
    let purged = client.purge(&named.registry, &request)?;
    for digest in &purged.digests {
        output::line(format!("purged: {}@{digest}", named.version));
    }
    let kept = match purged.files_kept {
        0 => String::new(),
        kept => format!("; {kept} are in other versions too, and stay"),
    };
    output::line(format!("{} files were erased{kept}", purged.files));
    Ok(ExitCode::SUCCESS)
}

/// A version that a reference names, split as the server splits it.
struct Named {
    registry: String,
    /// `[collection/]template:version`.
    version: String,
    digest: Option<String>,
}

impl Named {
    fn ask(client: &Client, text: &str) -> anyhow::Result<Named> {
        let mut reference = text.parse::<Reference>().with_context(|| format!("`{text}` is no reference"))?;
        reference.selector = match reference.selector {
            Selector::Exactly(version) | Selector::HighestPatch(version) => Selector::Exactly(version),
            Selector::Highest | Selector::HighestMinor(_) => {
                bail!("`{text}` names no version\n  hint: write it in full, like `redis:v1.0.0`")
            }
        };
        let resolved = client.resolve(&reference.to_string())?;
        let collection = resolved.collection.map(|collection| format!("{collection}/")).unwrap_or_default();
        Ok(Named {
            registry: resolved.registry,
            version: format!("{collection}{}:{}", resolved.template, resolved.resolved),
            digest: reference.digest.map(|digest| digest.to_string()),
        })
    }
}

/// The digest of what is held of a version.
fn held(client: &Client, named: &Named) -> anyhow::Result<String> {
    let reference = format!("{}/{}", named.registry, named.version.replacen(":v", ":=v", 1));
    let history = client.history(&reference)?;
    let held = history.revisions.into_iter().find(|revision| revision.standing == Standing::Held);
    held.map(|revision| revision.digest)
        .with_context(|| format!("no rewrite of {} is held back", named.version))
}
