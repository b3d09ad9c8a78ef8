//! `formwork fsck`: whether what a data directory promises holds, and mending what is derived.

use std::process::ExitCode;
use std::time::Duration;

use catalog::fsck::{Broken, Checked, Remedy, fsck};
use indicatif::ProgressBar;
use serde_json::json;

use crate::arguments::{FsckArguments, ServeArguments};
use crate::output;
use crate::settings::Settings;

pub(crate) fn run(arguments: &FsckArguments) -> anyhow::Result<ExitCode> {
    let serve = ServeArguments {
        data: arguments.data.clone(),
        config: arguments.config.clone(),
        ..ServeArguments::default()
    };
    let data = Settings::read(&serve)?.data.value;
    if !data.join("formwork.db").exists() {
        anyhow::bail!("{} holds no store; name the server's data directory with --data", data.display());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let bar = ProgressBar::new_spinner();
    bar.enable_steady_tick(Duration::from_millis(120));
    let checked = runtime.block_on(fsck(&data, arguments.repair, &mut |what| bar.set_message(what)));
    bar.finish_and_clear();
    let checked = checked?;
    if arguments.json {
        output::line(serde_json::to_string_pretty(&as_json(&checked))?);
    } else {
        show(&checked);
    }
    let left = checked.broken.iter().any(|broken| !is_mended(broken));
    Ok(if left { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn is_mended(broken: &Broken) -> bool {
    matches!(broken.remedy, Remedy::Repaired | Remedy::Forgotten)
}

fn show(checked: &Checked) {
    for broken in &checked.broken {
        output::line(format_args!("{}: {}", broken.invariant.id(), broken.what));
        output::line(format_args!("  {}", broken.remedy));
    }
    let looked_at = [
        output::count(checked.revisions, "version"),
        output::count(checked.blobs, "file"),
        output::count(checked.changes, "change"),
        output::count(checked.templates, "template"),
    ];
    let mended = checked.broken.iter().filter(|broken| is_mended(broken)).count();
    let verdict = match (checked.broken.len() - mended, mended) {
        (0, 0) => "nothing wrong".to_owned(),
        (0, mended) => format!("{mended} mended"),
        (left, 0) => format!("{left} wrong"),
        (left, mended) => format!("{left} wrong, {mended} mended"),
    };
    output::line(format_args!("{}: {verdict}", looked_at.join(", ")));
}

fn as_json(checked: &Checked) -> serde_json::Value {
    let broken = |broken: &Broken| {
        json!({
            "invariant": broken.invariant.id(),
            "what": broken.what,
            "remedy": broken.remedy.to_string(),
            "mended": is_mended(broken),
        })
    };
    json!({
        "versions": checked.revisions,
        "files": checked.blobs,
        "changes": checked.changes,
        "templates": checked.templates,
        "broken": checked.broken.iter().map(broken).collect::<Vec<_>>(),
    })
}
