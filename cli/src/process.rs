//! `formwork process`: a template into objects, here in a worker process or on a server.

mod assignments;
mod describe;
pub(crate) mod form;
mod interactive;
mod jsonpath;
mod tabs;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, anyhow, bail};
use indexer::{Addresses, Remote};
use schema::Kind;
use schema::limits::{Budget, REQUEST_BYTES};
use schema::processing::{Problem, Provided, Request, Step, Template};
use schema::remote::AllowedUrls;

use worker::Job;
use worker::python::{Preparation, Python};

use crate::arguments::ProcessArguments;
use crate::client::{Client, NotProcessed};
use crate::configuration;
use crate::host::{Host, Processed};
use crate::output;
use crate::own_tree::OwnTree;
use crate::target::Target;

use form::OutputForm;

pub(crate) fn run(arguments: &ProcessArguments) -> anyhow::Result<ExitCode> {
    let (target, mut request) = target_and_request(arguments)?;
    if let (Target::Remote(reference), true) = (&target, arguments.local) {
        bail!("{reference} is not on this machine, and --local asks no server");
    }
    if arguments.parameters_table || arguments.interactive {
        let schema = match &target {
            Target::Local(template) => worker::inspect(template).parameters,
            Target::Remote(reference) => Client::new(&arguments.server.server)?.parameters(reference)?,
        };
        if arguments.parameters_table {
            output::print(describe::parameters(&schema));
            return Ok(ExitCode::SUCCESS);
        }
        interactive::ask(&schema, &mut request)?;
    }
    if arguments.output.needs_template() {
        set(&mut request.values, "output", "Template".into())?;
    }
    if let Some(name) = &arguments.instance {
        let instance = if name.is_empty() { true.into() } else { name.as_str().into() };
        set(&mut request.values, "instance", instance)?;
    }
    match target {
        Target::Local(template) => local(&template, &request, arguments),
        Target::Remote(reference) => remote(&reference, &request, arguments),
    }
}

/// What is processed, and with what. A file of `-f` that is a template is the target, as for `oc process`; values may
/// name their template.
fn target_and_request(arguments: &ProcessArguments) -> anyhow::Result<(Target, Request)> {
    let root = arguments.root.as_deref();
    let template_by_flag = arguments.values.as_deref().filter(|path| is_template(path));
    let values = arguments.values.as_deref().filter(|_| template_by_flag.is_none());
    // A positional NAME=VALUE is a parameter, as for `oc process`; a reference has no `=` before its `:`.
    let is_pair = |text: &str| {
        text.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.contains(['/', ':', '.']))
    };
    let (target, first) = match &arguments.target {
        Some(target) if is_pair(target) => (None, Some(target.clone())),
        target => (target.as_deref(), None),
    };
    let positional = first.into_iter().chain(arguments.assignments.iter().cloned());
    let mut request = request(arguments, values, positional)?;
    let named = request.values.get("template").and_then(serde_json::Value::as_str).map(str::to_owned);
    let target = match (target, template_by_flag, named) {
        (Some(_), Some(path), _) => {
            bail!("{} is a template, and another one is given: -f is for values then", path.display())
        }
        (None, Some(path), _) => Target::read(&path.display().to_string(), root)?,
        (Some("-"), None, _) => Target::Local(Box::new(from_stdin(root)?)),
        (Some(target), None, named) => {
            // A values file in place of the target names its template itself.
            match values_file(target, named.is_none())? {
                Some((template, values)) => {
                    request.values = values;
                    Target::read(&template, root)?
                }
                None => Target::read(target, root)?,
            }
        }
        (None, None, Some(template)) => Target::read(&template, root)?,
        (None, None, None) => bail!(
            "no template: give a reference, a version directory, a template file, or values that name one"
        ),
    };
    if let Some(values) = request.values.as_object_mut()
        && values.get("template").is_some_and(serde_json::Value::is_string)
    {
        values.shift_remove("template");
    }
    Ok((target, request))
}

/// Whether a file is a template of its own, not values.
fn is_template(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    path.is_file()
        && std::fs::read(path)
            .is_ok_and(|content| schema::layout::kind_of_file(name, &content) == Some(Kind::Template))
}

/// Sets a member of the values document, which is made if there is none.
fn set(values: &mut serde_json::Value, name: &str, value: serde_json::Value) -> anyhow::Result<()> {
    if values.is_null() {
        *values = serde_json::json!({});
    }
    let Some(map) = values.as_object_mut() else { bail!("the values are no map") };
    map.insert(name.to_owned(), value);
    Ok(())
}

fn remote(
    reference: &schema::Reference,
    request: &Request,
    arguments: &ProcessArguments,
) -> anyhow::Result<ExitCode> {
    let answer = match Client::new(&arguments.server.server)?.process(reference, request) {
        // As for a template on this machine: 1 is "it does not process", 2 is "it could not be tried".
        Err(error) if error.is::<NotProcessed>() => {
            output::error(&error);
            return Ok(ExitCode::FAILURE);
        }
        answer => answer?,
    };
    for detail in &answer.diagnostics {
        output::note(output::problem(&problem(detail), None));
    }
    if arguments.layout {
        return print_layout(answer.layout.as_ref(), &arguments.output);
    }
    say_selector(answer.outputs.as_ref());
    let full = || serde_json::to_string_pretty(&answer);
    form::print(&arguments.output, arguments.raw, &answer.objects, &answer.original, full)?;
    Ok(ExitCode::SUCCESS)
}

/// How to list and delete everything of this processing, if it has a name.
fn say_selector(outputs: Option<&serde_json::Value>) {
    let selector = outputs.and_then(|outputs| outputs.get("selector")).and_then(serde_json::Value::as_str);
    if let Some(selector) = selector {
        output::note(format_args!(
            "every object has the label {selector}: list or delete them with -l {selector}"
        ));
    }
}

fn problem(detail: &wire::problem::Detail) -> Problem {
    let wire::problem::Detail { severity, message, file, line, column, pointer, hint } = detail.clone();
    Problem { severity, message, file, line, column, pointer, hint }
}

/// A file that is no template but values naming one: its reference and its values.
fn values_file(target: &str, wanted: bool) -> anyhow::Result<Option<(String, serde_json::Value)>> {
    let path = Path::new(target);
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
    let values = match load(&content, target) {
        // What is no YAML is no configuration either, but that is told with its place.
        Err(_) if configuration::is_one(name, &content) => return Ok(None),
        values => values?,
    };
    Ok(values
        .get("template")
        .and_then(serde_json::Value::as_str)
        .map(str::to_owned)
        .map(|template| (template, values)))
}

/// A template on standard input: a configuration, a Kubernetes Template or another kind told by its content.
fn from_stdin(root: Option<&Path>) -> anyhow::Result<Template> {
    let content = read("-".as_ref())?;
    if let Some(configuration) = configuration::from_stdin(&content, root)? {
        return Ok(configuration);
    }
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

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
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

fn request(
    arguments: &ProcessArguments,
    values: Option<&Path>,
    positional: impl Iterator<Item = String>,
) -> anyhow::Result<Request> {
    let values = match values {
        Some(path) => load(&read(path)?, &path.display().to_string())?,
        None => serde_json::Value::Null,
    };
    let parameters = positional.chain(arguments.parameters.iter().cloned()).collect::<Vec<_>>();
    let mut parameters = assignments::pairs(&parameters, "parameter")?;
    assignments::from_files(&mut parameters, &arguments.parameter_files, read)?;
    Ok(Request {
        values,
        set: parameters,
        name: arguments.name.clone(),
        namespace: arguments.namespace.clone(),
        labels: assignments::pairs(&arguments.labels, "label")?,
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

/// Python for a command: compiled when it is first needed, for all commands of this user.
pub(crate) fn python() -> Python {
    let named = std::env::var_os("FORMWORK_PYTHON_CACHE").filter(|path| !path.is_empty());
    Python {
        cache: named.map_or_else(worker::python::user_cache, PathBuf::from),
        preparation: Preparation::WhenNeeded,
        announce: Some(announce_python),
    }
}

fn announce_python() {
    if std::io::IsTerminal::is_terminal(&std::io::stderr()) {
        output::note("preparing Python for this machine: some seconds, once");
    }
}

fn local(template: &Template, request: &Request, arguments: &ProcessArguments) -> anyhow::Result<ExitCode> {
    let place = arguments.target.as_deref().map(Path::new).filter(|path| path.exists());
    let tree = OwnTree::around(place.unwrap_or_else(|| Path::new(".")), arguments.name_of_tree.as_ref());
    let urls = AllowedUrls::new(arguments.allow_url.iter().cloned());
    // Whoever runs the command reaches these anyway.
    let remote = Remote::new(urls, Addresses::Any);
    let host = Host { tree, server: &arguments.server.server, remote };
    let Processed { step, provided, missing } = host.process(template, request)?;
    let say = |problem: &Problem| say(problem, template, &provided);
    match step {
        Step::Needs(_) => {
            missing.iter().for_each(say);
            Ok(ExitCode::FAILURE)
        }
        Step::Failed(failure) => {
            failure.problems.iter().for_each(say);
            if failure.problems.is_empty() {
                say(&Problem::error(failure.message.clone()));
            }
            Ok(ExitCode::FAILURE)
        }
        Step::Done(outcome) => {
            outcome.diagnostics.iter().for_each(say);
            if arguments.layout {
                return print_layout(outcome.layout.as_ref(), &arguments.output);
            }
            say_selector(outcome.outputs.as_ref());
            let full = || serde_json::to_string_pretty(&outcome);
            form::print(&arguments.output, arguments.raw, &outcome.objects, &outcome.original, full)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// The layout, in the form that is asked for; YAML if none is.
fn print_layout(layout: Option<&serde_json::Value>, form: &OutputForm) -> anyhow::Result<ExitCode> {
    let Some(layout) = layout else {
        bail!("only Deployment Manager templates and configurations have a layout");
    };
    let form = if *form == OutputForm::Stream { &OutputForm::Yaml } else { form };
    form::print(form, false, std::slice::from_ref(layout), layout, || serde_json::to_string_pretty(layout))?;
    Ok(ExitCode::SUCCESS)
}

/// A problem on standard error, with the line it is about where that is at hand: in the template's own files, or in
/// those of a version it refers to, which are named by the reference.
fn say(problem: &Problem, template: &Template, provided: &[Provided]) {
    let file = problem.file.as_deref().unwrap_or_default();
    let theirs = provided.iter().find_map(|provided| {
        let path = file.strip_prefix(provided.asked.as_str())?.strip_prefix('/')?;
        provided.template.files.text(path)
    });
    output::note(output::problem(problem, theirs.or_else(|| template.files.text(file))));
}
