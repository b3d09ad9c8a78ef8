//! `formwork export`: objects as `kubectl get -o yaml` prints them into a Template.

use std::io::{IsTerminal, Read};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};
use engine_kubernetes::{ExportOptions, Notation, Parameterised, Selection, Source};
use schema::processing::Problem;

use crate::arguments::{ExportArguments, TemplateForm};
use crate::output;

/// The most that is read of all inputs: a large namespace has a few megabytes.
const MOST_BYTES: u64 = 64 << 20;

pub(crate) fn run(arguments: &ExportArguments) -> anyhow::Result<ExitCode> {
    let options = options(arguments)?;
    let mut texts = Vec::new();
    let inputs =
        if arguments.files.is_empty() { &[Path::new("-").to_owned()][..] } else { &arguments.files[..] };
    for path in inputs {
        read(path, &mut texts)?;
    }
    let sources = texts.iter().map(|(name, text)| Source { name, text }).collect::<Vec<_>>();
    let source = |file: &str| texts.iter().find(|(name, _)| name == file).map(|(_, text)| text.as_str());
    match engine_kubernetes::export(&sources, &options) {
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

fn options(arguments: &ExportArguments) -> anyhow::Result<ExportOptions> {
    let labels = arguments.selector.as_deref().map(str::parse).transpose()?;
    let mut parameterised = Vec::new();
    for word in &arguments.parameterise {
        match Parameterised::from_word(word) {
            Some(group) => parameterised.push(group),
            None if word == "all" => parameterised.extend(Parameterised::ALL),
            None => bail!(
                "`{word}` cannot be parameterised: there are names, images, replicas, resources, secrets and all"
            ),
        }
    }
    if arguments.blank_secrets && !parameterised.contains(&Parameterised::Secrets) {
        parameterised.push(Parameterised::Secrets);
    }
    let notation = Notation::from_word(&arguments.dialect).ok_or_else(|| {
        anyhow!("`{}` is not a dialect: there are openshift and kubernetes", arguments.dialect)
    })?;
    Ok(ExportOptions {
        name: arguments.as_template.clone(),
        notation,
        selection: Selection { labels, kinds: arguments.kinds.clone(), names: arguments.names.clone() },
        parameterised,
        blank_secrets: arguments.blank_secrets,
    })
}

/// Reads a file, standard input, or the YAML and JSON files of a directory.
fn read(path: &Path, texts: &mut Vec<(String, String)>) -> anyhow::Result<()> {
    let shown = path.display().to_string();
    if path.is_dir() {
        let entries = std::fs::read_dir(path).with_context(|| format!("{shown} cannot be read"))?;
        let mut files = entries.flatten().map(|entry| entry.path()).collect::<Vec<_>>();
        let ends = |file: &Path| file.extension().and_then(|end| end.to_str()).map(str::to_owned);
        files.retain(|file| file.is_file() && matches!(ends(file).as_deref(), Some("yaml" | "yml" | "json")));
        files.sort();
        return files.iter().try_for_each(|file| read(file, texts));
    }
    let left = MOST_BYTES.saturating_sub(texts.iter().map(|(_, text)| text.len() as u64).sum());
    let mut content = Vec::new();
    let name = if shown == "-" {
        let stdin = std::io::stdin().lock();
        if stdin.is_terminal() {
            bail!(
                "no objects: give files with -f, or pipe them in, as in kubectl get all -o yaml | formwork export …"
            );
        }
        stdin.take(left + 1).read_to_end(&mut content).context("standard input cannot be read")?;
        "standard input".to_owned()
    } else {
        let file = std::fs::File::open(path).with_context(|| format!("{shown} cannot be read"))?;
        file.take(left + 1).read_to_end(&mut content).with_context(|| format!("{shown} cannot be read"))?;
        shown
    };
    if content.len() as u64 > left {
        bail!("the objects are larger than {} MiB together: choose fewer", MOST_BYTES >> 20);
    }
    let text = String::from_utf8(content).map_err(|_| anyhow!("{name} is not UTF-8"))?;
    texts.push((name, text));
    Ok(())
}

/// A problem on standard error, with the line it is about.
pub(crate) fn say<'s>(problem: &Problem, source: impl Fn(&str) -> Option<&'s str>) {
    let source = problem.file.as_deref().and_then(source);
    output::note(output::problem(problem, source));
}

/// A Template in the order people read it: what it is, its parameters, its objects.
pub(crate) fn print(template: &yaml::Value, form: TemplateForm) {
    let key_order = yaml::KeyOrder::AsGiven;
    match form {
        TemplateForm::Yaml => {
            let options = yaml::EmitOptions { key_order, ..yaml::EmitOptions::default() };
            let text = yaml::emit(template, &options);
            output::print(text.expect("what was read within the limits can be written"));
        }
        TemplateForm::Json => {
            let options =
                yaml::JsonOptions { key_order, indent: Some("    "), ..yaml::JsonOptions::default() };
            output::line(yaml::to_json_with(template, &options));
        }
    }
}
