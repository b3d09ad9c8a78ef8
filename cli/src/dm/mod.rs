//! `dm`: the client of Deployment Manager, against a Formwork server. The binary is `dm` when it is called so, and
//! `formwork dm` otherwise.
//!
//! Takes the command lines of the convention document, in which the two ways to name a template never worked in one
//! client of the original. What is printed on standard output is for the next program; everything else is on standard
//! error.

mod arguments;
mod properties;
mod service;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Parser;
use reqwest::Method;
use schema::Reference;
use serde_json::{Value, json};
use wire::dm::{Configuration, Deployment, Expanded, Import, Instance, Registry, RegistryType};

pub(crate) use arguments::DmArguments;

use crate::arguments::{Arguments, Command};
use crate::{configuration, output};
use arguments::{DmCommand, DmFlags, DmProgram, Input, with_two_dashes};
use service::{DEFAULT_REGISTRY, Refused, Service};

/// The command, if the program is called `dm`, or with `dm` as its first word.
pub(crate) fn called(words: impl Iterator<Item = OsString>) -> Option<Command> {
    let words = words.collect::<Vec<_>>();
    let program = words.first()?;
    if Path::new(program).file_stem().is_some_and(|name| name == "dm") {
        return Some(Command::Dm(DmProgram::parse_from(with_two_dashes(words)).arguments));
    }
    let is_dm = words.get(1).is_some_and(|word| word == "dm");
    is_dm.then(|| Arguments::parse_from(with_two_dashes(words)).command)
}

pub(crate) fn run(arguments: &DmArguments) -> anyhow::Result<ExitCode> {
    let flags = &arguments.flags;
    let service = Service::new(&flags.service, flags.registry.as_deref())?;
    match command(&service, flags, &arguments.command) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        // 1 as the original: it was asked, and refused. 2 is that it could not be asked.
        Err(error) if error.is::<Refused>() => {
            output::error(&error);
            Ok(ExitCode::FAILURE)
        }
        Err(error) => Err(error),
    }
}

fn command(service: &Service, flags: &DmFlags, command: &DmCommand) -> anyhow::Result<()> {
    match command {
        DmCommand::Deploy(input) => {
            let sent = read(flags, input)?;
            let done = service.send_to(Method::POST, &["deployments"], Some(&json!(sent)))?;
            print_objects(service, flags, &done)?;
        }
        DmCommand::Update(input) => {
            let sent = read(flags, input)?;
            let done = service.send_to(Method::PUT, &["deployments", &sent.name], Some(&json!(sent)))?;
            print_objects(service, flags, &done)?;
        }
        DmCommand::Expand(input) => {
            let sent = read(flags, input)?;
            let expanded = service.send_to::<Expanded>(Method::POST, &["expand"], Some(&json!(sent)))?;
            print_yaml(&json!(expanded));
        }
        DmCommand::List => {
            print_lines(service.get(&["deployments"], None)?, "there are no deployments of yours");
        }
        DmCommand::Get { deployment } => print_yaml(&service.get(&["deployments", deployment], None)?),
        DmCommand::Delete { deployment } => {
            let gone = service.send_to::<Deployment>(Method::DELETE, &["deployments", deployment], None)?;
            output::note(format_args!("{} is forgotten; what a cluster has of it stays there", gone.name));
        }
        DmCommand::Manifest { deployment, manifest } => {
            let split = deployment.rsplit_once('/').filter(|(_, last)| last.starts_with("manifest-"));
            let (deployment, manifest) = match (manifest, split) {
                (None, Some((deployment, manifest))) => (deployment, Some(manifest)),
                _ => (deployment.as_str(), manifest.as_deref()),
            };
            match manifest {
                Some(manifest) => {
                    print_yaml(&service.get(&["deployments", deployment, "manifests", manifest], None)?);
                }
                None => {
                    print_lines(service.get(&["deployments", deployment, "manifests"], None)?, "no manifest");
                }
            }
        }
        DmCommand::Describe { of } => {
            let schema = service.get::<String>(&["types", of, "metadata"], None)?;
            if schema.is_empty() {
                output::note(format_args!("`{of}` is no template, or one without a schema"));
            }
            output::print(schema);
        }
        DmCommand::Templates => {
            let regex = flags.regex.as_deref().map(|regex| ("regex", regex));
            let types = service
                .get::<Option<Vec<RegistryType>>>(&["registries", DEFAULT_REGISTRY, "types"], regex)?;
            let lines = types.unwrap_or_default().iter().map(RegistryType::path).collect();
            print_lines(Some(lines), "there is no such template");
        }
        DmCommand::Registries => {
            let registries = service.get::<Option<Vec<Registry>>>(&["registries"], None)?.unwrap_or_default();
            let rows =
                registries.into_iter().map(|registry| vec![registry.name, registry.url, registry.format]);
            output::print(output::table(&["NAME", "PLACE", "FORMAT"], &rows.collect::<Vec<_>>()));
        }
        DmCommand::DeployedTypes => {
            print_lines(service.get(&["types"], None)?, "there are no deployments of yours");
        }
        DmCommand::DeployedInstances { of } => {
            let found = service.get::<Option<Vec<Instance>>>(&["types", of, "instances"], None)?;
            let rows = found.unwrap_or_default().into_iter().map(|instance| {
                vec![instance.name, instance.resource_type, instance.deployment, instance.path]
            });
            output::print(output::table(&["NAME", "TYPE", "DEPLOYMENT", "PATH"], &rows.collect::<Vec<_>>()));
        }
    }
    Ok(())
}

/// What is sent for a type or a configuration file.
fn read(flags: &DmFlags, input: &Input) -> anyhow::Result<Configuration> {
    if Path::new(&input.input).is_file() {
        return from_file(flags, input);
    }
    let looks_like_a_file = [".yaml", ".yml", ".json"].iter().any(|ending| input.input.ends_with(ending));
    if looks_like_a_file {
        bail!("{} is not there", input.input);
    }
    let reference = input.input.parse::<Reference>();
    let reference = reference.with_context(|| format!("`{}` is neither a file nor a type", input.input))?;
    let name = flags.name.clone().unwrap_or_else(|| reference.template().to_owned());
    let mut resource = json!({ "name": name, "type": input.input });
    if let Some(text) = &flags.properties {
        resource["properties"] = Value::Object(properties::parse(text)?);
    }
    let content = wire::text::yaml(&json!({ "resources": [resource] }));
    Ok(Configuration { name, content, imports: Some(Vec::new()) })
}

/// A configuration on disk, with the files it imports.
fn from_file(flags: &DmFlags, input: &Input) -> anyhow::Result<Configuration> {
    if flags.properties.is_some() {
        bail!("--properties are for a template; a configuration has its properties in it");
    }
    let path = Path::new(&input.input);
    let template = configuration::read(path, None)?;
    let text = |content: &[u8], name: &str| {
        String::from_utf8(content.to_vec()).with_context(|| format!("{name} is not UTF-8"))
    };
    let mut imports = Vec::<Import>::new();
    let mut add = |name: &str, content: &str| {
        if imports.iter().all(|import| import.name != name) {
            imports.push(Import { name: name.to_owned(), path: None, content: content.to_owned() });
        }
    };
    let mut content = String::new();
    for (name, bytes) in template.files.iter() {
        match name == template.entry {
            true => content = text(bytes, name)?,
            false => add(name, &text(bytes, name)?),
        }
    }
    for path in &input.imports {
        let bytes = std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        add(&name, &text(&bytes, &name)?);
    }
    // By their last part too: the original knew imports by that alone.
    for (name, bytes) in template.files.iter().filter(|(name, _)| *name != template.entry) {
        if let Some((_, last)) = name.rsplit_once('/') {
            add(last, &text(bytes, name)?);
        }
    }
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Configuration { name: flags.name.clone().unwrap_or(name), content, imports: Some(imports) })
}

/// Prints the objects of what was recorded.
fn print_objects(service: &Service, flags: &DmFlags, done: &Deployment) -> anyhow::Result<()> {
    let path = ["deployments", &done.name, "manifests", &done.latest_manifest, "objects"];
    let objects = service.get::<Vec<Value>>(&path, None)?;
    output::note(format_args!(
        "recorded {} at {} ({}); nothing was sent to a cluster: pipe this into `kubectl apply -f -`",
        done.name, flags.service, done.latest_manifest
    ));
    output::print(wire::text::yaml_stream(&objects));
    Ok(())
}

fn print_yaml(value: &Value) {
    output::print(wire::text::yaml(value));
}

/// Prints names, a line each; or says that there are none, where nobody reads it by program.
fn print_lines(lines: Option<Vec<String>>, none: &str) {
    match lines.filter(|lines| !lines.is_empty()) {
        Some(lines) => lines.iter().for_each(output::line),
        None => output::note(none),
    }
}
