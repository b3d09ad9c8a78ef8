//! How objects are printed: `-o` and `--raw`.
//!
//! `json` and `yaml` are byte for byte what the original prints; the default is a stream for `kubectl apply -f -`.

use std::sync::Arc;

use anyhow::{anyhow, bail};
use gotemplate::profile::{Numbers, TEXT};
use gotemplate::{Arena, Budget, Environment, FixedClock, Program, SeededRandom, from_yaml_data};
use serde_json::Value;

use super::{describe, jsonpath};
use crate::output;

/// What to print.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OutputForm {
    /// A stream of YAML documents.
    Stream,
    /// The original's own form as YAML.
    Yaml,
    /// The original's own form as JSON.
    Json,
    /// The whole answer as JSON.
    Full,
    /// A line for each object: its kind and name.
    Name,
    /// What is known of the processed Template, for reading.
    Describe,
    /// What a Go template makes of the original's form.
    GoTemplate(String),
    /// What a JSONPath finds in the original's form.
    JsonPath(String),
}

impl OutputForm {
    /// The form a word of the command line names; for clap.
    pub(crate) fn parse(text: &str) -> Result<OutputForm, String> {
        let read = |path: &str| std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"));
        Ok(match text.split_once('=') {
            None => match text {
                "stream" => OutputForm::Stream,
                "yaml" => OutputForm::Yaml,
                "json" => OutputForm::Json,
                "full" => OutputForm::Full,
                "name" => OutputForm::Name,
                "describe" => OutputForm::Describe,
                "go-template" | "template" | "jsonpath" => {
                    return Err(format!("write {text}=TEXT"));
                }
                _ => {
                    return Err(
                        "there are stream, yaml, json, full, name, describe, jsonpath=… and go-template=…"
                            .to_owned(),
                    );
                }
            },
            Some(("go-template" | "template", text)) => OutputForm::GoTemplate(text.to_owned()),
            Some(("go-template-file" | "templatefile", path)) => OutputForm::GoTemplate(read(path)?),
            Some(("jsonpath", text)) => OutputForm::JsonPath(text.to_owned()),
            Some(("jsonpath-file", path)) => OutputForm::JsonPath(read(path)?),
            Some((word, _)) => return Err(format!("`{word}=` is no form of output")),
        })
    }

    /// Whether the Template itself is needed, in place of a List.
    pub(crate) fn needs_template(&self) -> bool {
        *self == OutputForm::Describe
    }
}

/// Prints what processing made: `objects`, the `original` form and the `full` answer. `raw` prints each object for
/// itself, as `oc process --raw` does.
pub(crate) fn print(
    form: &OutputForm,
    raw: bool,
    objects: &[Value],
    original: &Value,
    full: impl FnOnce() -> serde_json::Result<String>,
) -> anyhow::Result<()> {
    let whole = std::slice::from_ref(original);
    let printed = if raw { objects } else { whole };
    match form {
        OutputForm::Full => output::line(full()?),
        OutputForm::Stream => print_stream(objects),
        OutputForm::Json => printed.iter().for_each(print_json),
        OutputForm::Yaml => printed.iter().for_each(|value| output::print(yaml(value))),
        OutputForm::Name => objects.iter().for_each(|object| output::line(name(object))),
        OutputForm::Describe if original.get("objects").is_none() => {
            bail!("`-o describe` is for Kubernetes Templates")
        }
        OutputForm::Describe => output::print(describe::template(original)),
        OutputForm::GoTemplate(text) => printed.iter().try_for_each(|value| go_template(text, value))?,
        OutputForm::JsonPath(text) => {
            let path = jsonpath::parse(text).map_err(|error| anyhow!("jsonpath: {error}"))?;
            printed.iter().for_each(|value| output::print(path.print(value)));
        }
    }
    Ok(())
}

/// JSON as the originals print it: Go's numbers and escapes, four blanks, members in the order they are given in.
fn print_json(value: &Value) {
    let options = yaml::JsonOptions {
        key_order: yaml::KeyOrder::AsGiven,
        indent: Some("    "),
        ..yaml::JsonOptions::default()
    };
    output::line(yaml::to_json_with(&yaml::Value::from_json(value.clone()), &options));
}

fn yaml(value: &Value) -> String {
    yaml::to_yaml(&yaml::Value::from_json(value.clone()))
}

/// A stream of documents, each behind `---`, for kubectl.
fn print_stream(objects: &[Value]) {
    objects.iter().for_each(|object| output::print(format_args!("---\n{}", yaml(object))));
}

/// `configmap/a`, `route.route.openshift.io/r`.
fn name(object: &Value) -> String {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let (kind, group) = (text("/kind").to_lowercase(), describe::group(text("/apiVersion")));
    let point = if group.is_empty() { "" } else { "." };
    format!("{kind}{point}{group}/{}", text("/metadata/name"))
}

/// Renders a Go template over a value, with the functions of text/template alone.
fn go_template(text: &str, value: &Value) -> anyhow::Result<()> {
    let program = Program::parse("output", text, &TEXT);
    let program = Arc::new(program.map_err(|error| anyhow!("{}", error.to_go_string()))?);
    let arena = Arena::new();
    let data = from_yaml_data(&yaml::Value::from_json(value.clone()), Numbers::Float, &arena);
    let (mut random, clock) = (SeededRandom(0), FixedClock(0));
    let mut environment = Environment { budget: Budget::default(), clock: &clock, random: &mut random };
    let mut out = Vec::new();
    let rendered = gotemplate::render(&program, "output", data, &arena, &mut environment, &mut out);
    output::print(String::from_utf8_lossy(&out));
    rendered.map(drop).map_err(|error| anyhow!("{}", error.to_go_string()))
}
