//! `formwork merge`: several Templates into one.

use std::process::ExitCode;

use anyhow::bail;
use engine_kubernetes::MergeOptions;
use schema::Kind;
use schema::processing::Template;

use crate::arguments::MergeArguments;
use crate::export::{print, say};
use crate::target::Target;

pub(crate) fn run(arguments: &MergeArguments) -> anyhow::Result<ExitCode> {
    let templates =
        arguments.templates.iter().map(|target| read(target)).collect::<anyhow::Result<Vec<_>>>()?;
    let options = MergeOptions { name: arguments.as_template.clone(), rename: arguments.rename };
    let source = |file: &str| {
        templates
            .iter()
            .find(|template| template.entry == file)
            .and_then(|template| template.files.text(file))
    };
    match engine_kubernetes::merge(&templates, &options) {
        Ok((template, notes)) => {
            notes.iter().for_each(|note| say(note, source));
            print(&template, arguments.output);
            Ok(ExitCode::SUCCESS)
        }
        Err(problems) => {
            problems.iter().for_each(|problem| say(problem, source));
            Ok(ExitCode::FAILURE)
        }
    }
}

/// A Template on this machine, its entry called as it was given: two may have the same file name.
fn read(target: &str) -> anyhow::Result<Template> {
    let Target::Local(mut template) = Target::read(target, None)? else {
        bail!("{target} is not on this machine: get it first with `formwork pull`");
    };
    if template.kind != Kind::Template {
        bail!("{target} is a {}: only Kubernetes Templates can be merged", template.kind.title());
    }
    let path = std::path::Path::new(target);
    let path = if path.is_dir() { path.join(&template.entry) } else { path.to_owned() };
    let shown = path.display().to_string();
    let content = template.files.get(&template.entry).map(|content| content.to_vec()).unwrap_or_default();
    template.files = [(shown.clone(), content)].into_iter().collect();
    template.entry = shown;
    Ok(*template)
}
