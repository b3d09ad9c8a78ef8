//! Blocks that are templates, or parts of some: told, inspected and processed by the real engine.

use schema::Severity;
use schema::layout::scan_version;
use schema::limits::{Budget, TreeLimits};
use schema::processing::{Cause, Request, Step, Template};
use schema::tree::MemoryTree;
use serde_json::Value as Json;

use crate::OUT_OF_DATE;
use crate::case::{Case, Kind, Run, Verdict};

/// Holds a case about a template to its verdict.
pub(crate) fn check(case: &Case) -> Result<(), String> {
    let facts = &case.facts;
    let (block, rules) = template_of("block", [(&case.block.0, &case.block.1)]);
    if !(facts.verdict == Verdict::Works || rules == facts.as_written) {
        return Err(format!("as written, {rules:?} are found, and not {:?}", facts.as_written));
    }
    match (facts.verdict, facts.kind) {
        (Verdict::NotATemplate, Kind::Text) => match block {
            None => Ok(()),
            Some(template) => Err(format!("it is told as a {} now", template.kind.title())),
        },
        (Verdict::Works, Kind::Template(kind)) => works(case, &told(block, kind)?),
        (Verdict::WorksWhenCompleted, Kind::Template(kind)) => works(case, &completed(case, kind)?),
        (Verdict::Defective, Kind::Template(_)) if block.is_none() && !case.facts.as_written.is_empty() => {
            Ok(())
        }
        (Verdict::Defective, Kind::Template(kind)) => defective(case, &told(block, kind)?),
        (Verdict::NotProcessedYet, Kind::Template(kind)) => not_processed_yet(case, &completed(case, kind)?),
        (verdict, kind) => Err(format!("{kind:?} cannot have the verdict {verdict:?}")),
    }
}

/// The template of a version directory with these files, and the rules that fire on its structure.
fn template_of<'f>(
    name: &str,
    files: impl IntoIterator<Item = (&'f String, &'f Vec<u8>)>,
) -> (Option<Template>, Vec<String>) {
    let tree = files
        .into_iter()
        .fold(MemoryTree::new(), |tree, (file, content)| tree.file(format!("v/{file}"), content));
    let scanned = scan_version(&tree, "v", name, &TreeLimits::default());
    let rules =
        scanned.findings.iter().map(|finding| finding.rule.to_string()).filter(|rule| rule != "no-example");
    let rules = rules.collect();
    let files = scanned.contents();
    let template = scanned.template.map(|(kind, entry)| Template {
        name: name.to_owned(),
        kind,
        entry,
        files,
        jinja2: false,
    });
    (template, rules)
}

fn told(template: Option<Template>, kind: schema::Kind) -> Result<Template, String> {
    match template {
        Some(template) if template.kind == kind => Ok(template),
        Some(template) => {
            Err(format!("it is told as {}, and not as {}", template.kind.as_str(), kind.as_str()))
        }
        None => Err("it is not told as a template".to_owned()),
    }
}

/// The template a block becomes when completed; its inspection finds what the case says and nothing else.
fn completed(case: &Case, kind: schema::Kind) -> Result<Template, String> {
    if case.completion.is_empty() {
        return Err("there is no `completed.…` file".to_owned());
    }
    let template = told(template_of("completed", &case.completion).0, kind)?;
    let mut rules = engine::inspect(&template)
        .findings
        .into_iter()
        .filter(|finding| finding.severity > Severity::Info)
        .map(|finding| finding.rule.into_owned())
        .collect::<Vec<_>>();
    rules.sort();
    rules.dedup();
    if rules == case.facts.findings {
        Ok(template)
    } else {
        Err(format!("inspection finds {rules:?}, and not {:?}", case.facts.findings))
    }
}

fn process(template: &Template, run: &Run) -> Result<Step, String> {
    let set = run.set.iter().map(|(name, value)| match value {
        Json::String(text) => Ok((name.clone(), text.clone())),
        other => Err(format!("`{}`: `set` takes texts, and {name} is {other}", run.name)),
    });
    let request = Request {
        values: run.values.clone(),
        set: set.collect::<Result<_, _>>()?,
        entropy: "00".repeat(32),
        ..Request::default()
    };
    Ok(engine::process(template, &request, &[], &Budget::default(), &engine::NoInterpreter))
}

fn works(case: &Case, template: &Template) -> Result<(), String> {
    if case.facts.runs.is_empty() || !case.facts.promised.is_empty() {
        return Err("a case that works has `runs`, and promises nothing".to_owned());
    }
    let wrong = case.facts.runs.iter().filter_map(|run| run_once(template, run).err()).collect::<Vec<_>>();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n\n")) }
}

fn run_once(template: &Template, run: &Run) -> Result<(), String> {
    let wrong = |message: String| Err(format!("`{}`: {message}", run.name));
    let expect = &run.expect;
    let outcome = match (process(template, run)?, &expect.error) {
        (Step::Done(outcome), None) => outcome,
        (Step::Done(_), Some(error)) => return wrong(format!("it must fail with `{error}`, and is done")),
        (Step::Needs(references), _) => return wrong(format!("it needs {references:?}")),
        (Step::Failed(failure), None) => return wrong(format!("it fails: {:#?}", failure.problems)),
        (Step::Failed(failure), Some(error)) => {
            let said = failure.problems.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>();
            return match said.iter().any(|message| message.contains(error.as_str())) {
                true => Ok(()),
                false => wrong(format!("it must fail with `{error}`, and says {said:#?}")),
            };
        }
    };
    if expect.objects.is_none() && expect.original.is_none() && expect.outputs.is_none() {
        return wrong("the run expects nothing".to_owned());
    }
    let same = |what: &str, expected: Option<&Json>, got: &Json| match expected {
        Some(expected) if expected != got => wrong(format!("{what} must be\n{expected:#}\nand are\n{got:#}")),
        _ => Ok(()),
    };
    same("the objects", expect.objects.as_ref(), &Json::Array(outcome.objects))?;
    same("the original's form", expect.original.as_ref(), &outcome.original)?;
    same("the outputs", expect.outputs.as_ref(), &outcome.outputs.unwrap_or_default())?;
    let dialect = outcome.dialect.map(|dialect| dialect.name);
    match &expect.dialect {
        Some(expected) if dialect.as_ref() != Some(expected) => wrong(format!("the dialect is {dialect:?}")),
        _ => Ok(()),
    }
}

/// A defect that shows only in processing: every run must fail as it says.
fn defective(case: &Case, template: &Template) -> Result<(), String> {
    match case.facts.runs.iter().all(|run| run.expect.error.is_some()) {
        true => works(case, template),
        false => Err("a run of a defective block must expect an error".to_owned()),
    }
}

fn not_processed_yet(case: &Case, template: &Template) -> Result<(), String> {
    let facts = &case.facts;
    if facts.promised.is_empty() || !facts.runs.is_empty() {
        return Err("a case that is not processed yet has `promised` and no `runs`".to_owned());
    }
    if engine::can_process(template.kind, false) {
        return Err(OUT_OF_DATE.to_owned());
    }
    for run in &facts.promised {
        match process(template, run)? {
            Step::Failed(failure) if failure.cause == Cause::Unsupported => {}
            _ => return Err(OUT_OF_DATE.to_owned()),
        }
    }
    Ok(())
}
