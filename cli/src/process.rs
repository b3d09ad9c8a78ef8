//! `formwork process`: a template into objects, here in a worker process or on a server.

use std::io::Read;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, anyhow, bail};
use schema::Kind;
use schema::limits::{Budget, REQUEST_BYTES};
use schema::processing::{Failure, Outcome, Problem, Request, Step, Template};

use worker::Job;

use crate::arguments::{OutputForm, ProcessArguments};
use crate::client::{Client, NotProcessed};
use crate::output;
use crate::target::Target;

pub(crate) fn run(arguments: &ProcessArguments) -> anyhow::Result<ExitCode> {
    let mut request = request(arguments)?;
    let named = request.values.get("template").and_then(serde_json::Value::as_str).map(str::to_owned);
    let target = match (&arguments.target, named) {
        (Some(target), _) if target == "-" => Target::Local(Box::new(from_stdin()?)),
        (Some(target), named) => {
            // A values file in place of the target names its template itself.
            match values_file(target, named.is_none())? {
                Some((template, values)) => {
                    request.values = values;
                    Target::read(&template)?
                }
                None => Target::read(target)?,
            }
        }
        (None, Some(template)) => Target::read(&template)?,
        (None, None) => bail!(
            "no template: give a reference, a version directory, a template file, or values that name one"
        ),
    };
    if let Some(values) = request.values.as_object_mut()
        && values.get("template").is_some_and(serde_json::Value::is_string)
    {
        values.shift_remove("template");
    }
    match target {
        Target::Local(template) => local(&template, &request, arguments.output),
        Target::Remote(reference) => {
            let answer = match Client::new(&arguments.server.server)?.process(&reference, &request) {
                // As for a template on this machine: 1 is "it does not process", 2 is "it could not be tried".
                Err(error) if error.is::<NotProcessed>() => {
                    output::error(&error);
                    return Ok(ExitCode::FAILURE);
                }
                answer => answer?,
            };
            for detail in &answer.diagnostics {
                output::note(output::problem(
                    &problem(detail),
                    detail.file.as_deref().unwrap_or_default(),
                    None,
                    None,
                ));
            }
            match arguments.output {
                OutputForm::Full => output::line(serde_json::to_string_pretty(&answer)?),
                OutputForm::Json => print_json(&answer.original),
                OutputForm::Yaml => print_yaml(&answer.objects),
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn problem(detail: &wire::problem::Detail) -> Problem {
    let wire::problem::Detail { severity, message, file, line, column, pointer, hint } = detail.clone();
    Problem { severity, message, file, line, column, pointer, hint }
}

/// A file that is no template but values naming one: its reference and its values.
fn values_file(target: &str, wanted: bool) -> anyhow::Result<Option<(String, serde_json::Value)>> {
    let path = std::path::Path::new(target);
    if !wanted || !path.is_file() {
        return Ok(None);
    }
    let content = std::fs::read(path).with_context(|| format!("{target} cannot be read"))?;
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if !matches!(path.extension().and_then(|extension| extension.to_str()), Some("yaml" | "yml" | "json"))
        || schema::layout::kind_of_file(name, &content).is_some()
    {
        return Ok(None);
    }
    let values = load(&content, target)?;
    Ok(values
        .get("template")
        .and_then(serde_json::Value::as_str)
        .map(str::to_owned)
        .map(|template| (template, values)))
}

/// A template on standard input: a Kubernetes Template or another kind told by its content.
fn from_stdin() -> anyhow::Result<Template> {
    let content = read("-".as_ref())?;
    let entry = "stdin.yaml".to_owned();
    let kind = schema::layout::kind_of_file(&entry, &content).unwrap_or(Kind::DmJinja);
    let entry = if kind == Kind::DmJinja { "stdin.jinja".to_owned() } else { entry };
    Ok(Template {
        name: "stdin".to_owned(),
        kind,
        files: [(entry.clone(), content)].into_iter().collect(),
        entry,
        jinja2: false,
    })
}

fn read(path: &std::path::Path) -> anyhow::Result<Vec<u8>> {
    let mut content = Vec::new();
    let limit = REQUEST_BYTES as u64;
    if path.as_os_str() == "-" {
        std::io::stdin()
            .lock()
            .take(limit + 1)
            .read_to_end(&mut content)
            .context("standard input cannot be read")?;
    } else {
        let file = std::fs::File::open(path).with_context(|| format!("{} cannot be read", path.display()))?;
        file.take(limit + 1)
            .read_to_end(&mut content)
            .with_context(|| format!("{} cannot be read", path.display()))?;
    }
    if content.len() > REQUEST_BYTES {
        bail!("{} is larger than the {} MiB a request may have", path.display(), REQUEST_BYTES >> 20);
    }
    Ok(content)
}

fn load(content: &[u8], name: &str) -> anyhow::Result<serde_json::Value> {
    let document =
        yaml::load_bytes(content, &yaml::Options::default()).map_err(|error| anyhow!("{name}: {error}"))?;
    Ok(document.map(|document| document.value.to_json()).unwrap_or_default())
}

fn request(arguments: &ProcessArguments) -> anyhow::Result<Request> {
    let pairs = |list: &[String], what: &str| {
        list.iter()
            .map(|pair| match pair.split_once('=') {
                Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
                _ => Err(anyhow!("`{pair}` is no {what}: write NAME=VALUE")),
            })
            .collect::<anyhow::Result<Vec<_>>>()
    };
    let values = match &arguments.values {
        Some(path) => load(&read(path)?, &path.display().to_string())?,
        None => serde_json::Value::Null,
    };
    Ok(Request {
        values,
        set: pairs(&arguments.parameters, "parameter")?,
        name: arguments.name.clone(),
        namespace: arguments.namespace.clone(),
        labels: pairs(&arguments.labels, "label")?,
        dialect: arguments.dialect.clone(),
        strict: arguments.strict,
        ignore_unknown: arguments.ignore_unknown_parameters,
        seed: arguments.seed.clone(),
        ..request_base()?
    })
}

/// What the engine has not of its own: a clock and entropy.
pub(crate) fn request_base() -> anyhow::Result<Request> {
    let mut entropy = [0; 32];
    getrandom::fill(&mut entropy)
        .map_err(|error| anyhow!("the system's random generator failed: {error}"))?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
    Ok(Request { now, entropy: hex::encode(entropy), ..Request::default() })
}

/// A job for a worker of a command's own.
pub(crate) fn job(template: Template, request: Request) -> Job {
    let (provided, budget) = (Vec::new(), Budget::default());
    Job { digest: None, template, request, provided, budget, caller: "command".to_owned() }
}

fn local(template: &Template, request: &Request, form: OutputForm) -> anyhow::Result<ExitCode> {
    match worker::run_once(job(template.clone(), request.clone())) {
        Err(error) => bail!("{} could not be processed: {error}", template.entry),
        Ok(Step::Needs(references)) => {
            bail!("the template refers to {}; process it on a server that has them", references.join(", "))
        }
        Ok(Step::Failed(failure)) => {
            show_failure(&failure, template);
            Ok(ExitCode::FAILURE)
        }
        Ok(Step::Done(outcome)) => {
            outcome.diagnostics.iter().for_each(|problem| say(problem, Some(template)));
            print_outcome(&outcome, form)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn print_outcome(outcome: &Outcome, form: OutputForm) -> anyhow::Result<()> {
    match form {
        OutputForm::Full => output::line(serde_json::to_string_pretty(outcome)?),
        OutputForm::Json => print_json(&outcome.original),
        OutputForm::Yaml => print_yaml(&outcome.objects),
    }
    Ok(())
}

/// JSON as the originals print it: Go's numbers and escapes, four blanks.
fn print_json(value: &serde_json::Value) {
    output::line(yaml::to_json_pretty(&yaml::Value::from_json(value.clone()), "    "));
}

/// A stream of documents, each behind `---`, for kubectl.
fn print_yaml(objects: &[serde_json::Value]) {
    for object in objects {
        output::print(format_args!("---\n{}", yaml::to_yaml(&yaml::Value::from_json(object.clone()))));
    }
}

fn show_failure(failure: &Failure, template: &Template) {
    failure.problems.iter().for_each(|problem| say(problem, Some(template)));
    if failure.problems.is_empty() {
        say(&Problem::error(failure.message.clone()), None);
    }
}

/// A problem on standard error, with the line it is about where that is at hand.
fn say(problem: &Problem, template: Option<&Template>) {
    let file = problem.file.clone().unwrap_or_default();
    let source = template.and_then(|template| template.files.text(&file));
    let place = problem.line.map(|line| schema::Place { line, column: problem.column.unwrap_or(1) });
    output::note(output::problem(problem, &file, place, source));
}
