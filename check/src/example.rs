//! What becomes of a version's `example.yaml` when the engine processes it.

use schema::Kind;
use schema::finding::{Finding, Place};
use schema::processing::{Cause, Failure, Problem, Request, Step, Template};

use crate::{Engine, rules};

/// The file that is processed.
const EXAMPLE: &str = "example.yaml";

/// Processes the example of a template as a user's values, and says what went wrong. Paths in the findings are
/// relative to the version directory. `request` carries what the engine itself has not: a clock and entropy.
pub fn check_example(template: &Template, engine: &dyn Engine, request: Request) -> Vec<Finding> {
    let Some(bytes) = template.files.get(EXAMPLE) else { return Vec::new() };
    let is_dm = matches!(template.kind, Kind::DmJinja | Kind::DmPython);
    let options = if is_dm { yaml::Options::pyyaml() } else { yaml::Options::default() };
    let values = match yaml::load_bytes(bytes, &options) {
        // As text, so that what is wrong has its place; other kinds take no text.
        Ok(Some(_)) if is_dm => String::from_utf8_lossy(bytes).into_owned().into(),
        Ok(Some(document)) => document.value.to_json(),
        Ok(None) => serde_json::Value::Null,
        Err(error) => {
            let place = error.position.map(Place::from);
            return vec![Finding::new(&rules::EXAMPLE_UNREADABLE, EXAMPLE, error.message).at(place)];
        }
    };
    let (ended, mut findings) = process(template, engine, &Request { values, ..request });
    findings.extend(wrong(ended));
    findings
}

/// Processes a template; one in Jinja also by Jinja2 itself, where there is one. Where that comes out differently, it
/// is what counts, and the version is to be processed by it from then on.
fn process(
    template: &Template,
    engine: &dyn Engine,
    request: &Request,
) -> (Result<Step, String>, Vec<Finding>) {
    let by = |jinja2| engine.process(&Template { jinja2, ..template.clone() }, request.clone());
    let ours = by(false);
    let is_dm = matches!(template.kind, Kind::DmJinja | Kind::DmPython);
    if !is_dm || !template.files.iter().any(|(path, _)| path.ends_with(".jinja")) {
        return (ours, Vec::new());
    }
    let (Ok(ours), theirs) = (&ours, by(true)) else { return (ours, Vec::new()) };
    let what = match (ours, &theirs) {
        (Step::Done(ours), Ok(Step::Done(theirs))) if ours.original == theirs.original => None,
        (Step::Done(_), Ok(Step::Done(_))) => Some("it comes out differently"),
        (Step::Done(_), Ok(Step::Failed(Failure { cause: Cause::Template, .. }))) => {
            Some("Jinja2 refuses what stands in its place takes")
        }
        (Step::Failed(_), Ok(Step::Done(_))) => Some("only Jinja2 itself takes it"),
        // Wrong in both, or not to be told.
        _ => None,
    };
    match what {
        None => (Ok(ours.clone()), Vec::new()),
        Some(what) => {
            let message = format!("the example is rendered by Jinja2: {what}");
            (theirs, vec![Finding::new(&rules::RENDERED_BY_JINJA2, template.entry.as_str(), message)])
        }
    }
}

/// What is wrong with how processing ended.
fn wrong(ended: Result<Step, String>) -> Vec<Finding> {
    match ended {
        Ok(Step::Done(_)) => Vec::new(),
        Ok(Step::Needs(references)) => {
            let message = format!("the example needs {}", references.join(", "));
            vec![Finding::new(&rules::EXAMPLE_NOT_PROCESSED, EXAMPLE, message)]
        }
        Ok(Step::Failed(Failure { cause: Cause::Unsupported, message, .. })) => {
            vec![Finding::new(&rules::EXAMPLE_NOT_PROCESSED, EXAMPLE, message)]
        }
        Ok(Step::Failed(failure)) => failure.problems.into_iter().map(finding).collect(),
        Err(message) => vec![Finding::new(&rules::EXAMPLE_FAILS, EXAMPLE, message)],
    }
}

fn finding(problem: Problem) -> Finding {
    let file = problem.file.filter(|file| file != "values").unwrap_or_else(|| EXAMPLE.to_owned());
    let place = problem.line.map(|line| Place { line, column: problem.column.unwrap_or(1) });
    let finding = Finding::new(&rules::EXAMPLE_FAILS, file, problem.message).at(place);
    match problem.hint {
        Some(hint) => finding.fixed_by(hint),
        None => finding,
    }
}
