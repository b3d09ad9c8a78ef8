//! `formwork check`: the report on a tree on this machine, by the very code the server uses.

use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use check::{Engine, Graft, Report, VersionReport, check_tree};
use indexer::directory::DirectoryTree;
use indicatif::{ProgressBar, ProgressStyle};
use schema::finding::{Finding, Severity, worst};
use schema::limits::{REFERENCE_DEPTH, REFERENCES};
use schema::processing::{Request, Step, Template};
use schema::{Inspection, Version};
use serde_json::json;
use tokio::runtime::Runtime;
use worker::{Pool, PoolConfig};

use crate::arguments::CheckArguments;
use crate::own_tree::OwnTree;
use crate::{output, process, target};

/// The engine in one child process of this binary. What templates refer to is looked up in the tree itself.
struct Workers {
    runtime: Runtime,
    pool: Pool,
    tree: Option<OwnTree>,
}

impl Workers {
    fn start(path: &Path) -> anyhow::Result<Workers> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let pool =
            runtime.block_on(async { Pool::start(PoolConfig::own(1).with_python(process::python())) })?;
        Ok(Workers { runtime, pool, tree: OwnTree::around(path, None) })
    }
}

impl Engine for Workers {
    fn inspect(&self, template: &Template) -> Inspection {
        worker::inspect(template)
    }

    fn process(&self, template: &Template, request: Request) -> Result<Step, String> {
        let mut provided = Vec::new();
        for _ in 0..REFERENCE_DEPTH {
            let mut job = process::job(template.clone(), request.clone());
            job.provided.clone_from(&provided);
            let step = self.runtime.block_on(self.pool.process(job)).map_err(|error| error.to_string())?;
            let Step::Needs(needed) = &step else { return Ok(step) };
            let found = needed.iter().map(|asked| self.tree.as_ref()?.find(asked));
            match found.collect::<Option<Vec<_>>>() {
                Some(found) if provided.len() + found.len() <= REFERENCES => provided.extend(found),
                // What is elsewhere cannot be judged here.
                _ => return Ok(step),
            }
        }
        Err(format!("templates refer to templates more than {REFERENCE_DEPTH} deep"))
    }
}

pub(crate) fn run(arguments: &CheckArguments) -> anyhow::Result<ExitCode> {
    if !arguments.path.is_dir() {
        bail!("{} is not a directory", arguments.path.display());
    }
    let prefix = prefix(&arguments.path)?;
    let tree = Graft::new(DirectoryTree::new(&arguments.path), &prefix);
    let engine = Workers::start(&arguments.path)?;
    let request = (!arguments.no_examples).then(process::request_base).transpose()?;
    let bar = progress();
    let report = check_tree(&tree, &engine, request.as_ref(), &mut |path| {
        bar.set_message(path.to_owned());
        bar.inc(1);
    });
    bar.finish_and_clear();
    let mut report = report.with_context(|| format!("{} cannot be checked", arguments.path.display()))?;
    unprefix(&mut report, &tree);

    if arguments.json {
        output::line(serde_json::to_string_pretty(&as_json(&report))?);
    } else {
        show(&report, &arguments.path);
    }
    let fails = if arguments.strict { Severity::Warning } else { Severity::Error };
    Ok(if report.worst() >= Some(fails) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Where the directory would stand in a registry: a version below its template, a template below the root, and
/// anything else is a registry or a collection, whose root is the directory itself.
fn prefix(path: &Path) -> anyhow::Result<String> {
    let (name, version) = target::names(path)?;
    if let Some(version) = version {
        return Ok(format!("{name}/{version}"));
    }
    let entries = std::fs::read_dir(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let holds_versions = entries.flatten().any(|entry| {
        let name = entry.file_name();
        name.to_str().is_some_and(|name| Version::from_directory(name).is_ok()) && entry.path().is_dir()
    });
    Ok(if holds_versions { name } else { String::new() })
}

/// Makes paths relative to the directory that was named.
fn unprefix(report: &mut Report, tree: &Graft<DirectoryTree>) {
    let strip = |path: &mut String| {
        if let Some(inside) = tree.inside(path) {
            *path = inside.to_owned();
        }
    };
    report.findings.iter_mut().for_each(|finding| strip(&mut finding.path));
    for version in &mut report.versions {
        strip(&mut version.path);
        version.findings.iter_mut().for_each(|finding| strip(&mut finding.path));
    }
}

/// Moves on a terminal only.
fn progress() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    let style = ProgressStyle::with_template("{spinner} {pos} checked  {msg:.dim}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner());
    bar.set_style(style);
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

fn show(report: &Report, root: &Path) {
    let mut sources = HashMap::<&str, Option<String>>::new();
    let findings = report.all_findings();
    for finding in &findings {
        let source = sources.entry(&finding.path).or_insert_with(|| {
            finding.place?;
            std::fs::read_to_string(root.join(&finding.path)).ok()
        });
        output::line(output::finding(finding, source.as_deref()));
    }
    let number = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let published = report.versions.iter().filter(|version| version.kind.is_some()).count();
    let withheld = report.versions.len() - published;
    let versions = output::count(published, "version");
    let mut said = vec![versions];
    if withheld > 0 {
        said.push(format!("{withheld} withheld"));
    }
    for severity in [Severity::Error, Severity::Warning] {
        if number(severity) > 0 {
            said.push(output::count(number(severity), severity.as_str()));
        }
    }
    if number(Severity::Error) + number(Severity::Warning) == 0 {
        said.push("nothing wrong".to_owned());
    }
    output::line(said.join(", "));
}

fn as_json(report: &Report) -> serde_json::Value {
    let finding = |finding: &Finding| {
        json!({
            "rule": finding.rule,
            "severity": finding.severity,
            "path": finding.path,
            "line": finding.place.map(|place| place.line),
            "column": finding.place.map(|place| place.column),
            "message": finding.message,
            "fix": finding.fix,
        })
    };
    let version = |version: &VersionReport| {
        json!({
            "reference": version.reference,
            "path": version.path,
            "kind": version.kind,
            "digest": version.kind.map(|_| version.digest),
            "published": version.kind.is_some(),
            "health": worst(&version.findings).map_or("healthy", Severity::as_str),
            "findings": version.findings.iter().map(finding).collect::<Vec<_>>(),
        })
    };
    json!({
        "versions": report.versions.iter().map(version).collect::<Vec<_>>(),
        "findings": report.findings.iter().map(finding).collect::<Vec<_>>(),
    })
}
