//! `formwork template`: a Go template with values, rendered here: the small program for trying templates out.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, anyhow, bail};
use gotemplate::profile::{ALL, Numbers};
use gotemplate::{
    Arena, Budget, Clock, Environment, MissingKey, Options, Profile, Program, Random, SeededRandom,
    from_yaml_data, render,
};
use schema::Severity;
use schema::processing::Problem;

use crate::arguments::TemplateArguments;
use crate::output;

pub(crate) fn run(arguments: &TemplateArguments) -> anyhow::Result<ExitCode> {
    let profile = Profile::named(&arguments.profile).ok_or_else(|| {
        let names = ALL.iter().map(|profile| profile.name).collect::<Vec<_>>().join(", ");
        anyhow!("`{}` is no profile; there are {names}", arguments.profile)
    })?;
    let missing_key = if arguments.strict { MissingKey::Error } else { MissingKey::Invalid };
    let texts = arguments.files.iter().map(|path| read(path)).collect::<anyhow::Result<Vec<_>>>()?;
    let Some((first, _)) = texts.first() else { bail!("no template: give a file") };
    let mut program = Program::empty(first, profile, Options { missing_key, ..Options::default() });
    for (name, text) in &texts {
        if let Err(error) = program.add(name, text) {
            return Ok(failed(&error, &texts));
        }
    }
    let values = values(arguments)?;
    let program = Arc::new(program);
    let arena = Arena::new();
    let data = from_yaml_data(&values, Numbers::Float, &arena);
    let mut seeded = arguments.seed.map(SeededRandom);
    let random: &mut dyn Random = match &mut seeded {
        Some(seeded) => seeded,
        None => &mut SystemRandom,
    };
    let mut environment = Environment { budget: Budget::default(), clock: &SystemClock, random };
    let mut out = Vec::new();
    let outcome = render(&program, first, data, &arena, &mut environment, &mut out);
    // What was written before an error helps to find it; Go prints it too.
    output::print(String::from_utf8_lossy(&out));
    match outcome {
        Ok(_) => Ok(ExitCode::SUCCESS),
        Err(error) => Ok(failed(&error, &texts)),
    }
}

/// The name a file's template goes by, as Go's ParseFiles has it, and its text.
fn read(path: &Path) -> anyhow::Result<(String, String)> {
    let text = std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let name = path
        .file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
    Ok((name, text))
}

/// The values file with `--set` on top, typed as YAML reads them.
fn values(arguments: &TemplateArguments) -> anyhow::Result<yaml::Value> {
    let mut values = yaml::Value::Map(yaml::Map::default());
    if let Some(path) = &arguments.values {
        let bytes = std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
        let document = yaml::load_bytes(&bytes, &yaml::Options::kubernetes());
        if let Some(document) = document.map_err(|error| anyhow!("{}: {error}", path.display()))? {
            values = document.value;
        }
    }
    for setting in &arguments.set {
        let (path, text) =
            setting.split_once('=').ok_or_else(|| anyhow!("`{setting}` sets nothing: write NAME=VALUE"))?;
        let value =
            yaml::load(text, &yaml::Options::kubernetes()).map_err(|error| anyhow!("{path}: {error}"))?;
        let value = value.map(|document| document.value).unwrap_or_default();
        set(&mut values, path, value).with_context(|| format!("`{setting}` cannot be set"))?;
    }
    Ok(values)
}

/// Puts a value at a dotted path, making the maps on the way.
fn set(values: &mut yaml::Value, path: &str, value: yaml::Value) -> anyhow::Result<()> {
    let mut at = values;
    for name in path.split('.') {
        if name.is_empty() {
            bail!("a name is empty");
        }
        if at.is_null() {
            *at = yaml::Value::Map(yaml::Map::default());
        }
        let kind = at.kind_name();
        let Some(map) = at.as_map_mut() else { bail!("`{name}` would be inside {kind}") };
        at = map.entry(name.to_owned()).or_default();
    }
    *at = value;
    Ok(())
}

/// Says what went wrong, with the line it went wrong in.
fn failed(error: &gotemplate::Error, texts: &[(String, String)]) -> ExitCode {
    let place = innermost_in_a_file(error);
    let mut problem = Problem::new(Severity::Error, error.to_go_string());
    problem.hint = place.hint.clone();
    let source = texts.iter().find(|(name, _)| *name == place.template).map(|(_, text)| text.as_str());
    if place.line > 0 {
        problem.line = u32::try_from(place.line).ok();
    }
    let column = place.column.and_then(|column| u32::try_from(column + 1).ok());
    problem.column = problem.line.and(column);
    problem.file = Some(place.template.clone());
    output::note(output::problem(&problem, source));
    ExitCode::FAILURE
}

/// The innermost error whose place is in one of the files: a text given to `tpl` has lines of its own.
fn innermost_in_a_file(error: &gotemplate::Error) -> &gotemplate::Error {
    let calls_tpl =
        |error: &gotemplate::Error| error.node.as_ref().is_some_and(|node| node.starts_with("tpl "));
    let mut place = error;
    while let Some(inner) = place.inner.as_deref().filter(|_| !calls_tpl(place)) {
        place = inner;
    }
    place
}

struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> (i64, u32) {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        (i64::try_from(since.as_secs()).unwrap_or(i64::MAX), since.subsec_nanos())
    }
}

/// The system's secure generator.
struct SystemRandom;

impl Random for SystemRandom {
    fn fill(&mut self, buffer: &mut [u8]) {
        getrandom::fill(buffer).expect("the system's generator does not fail once the system is up");
    }
}
