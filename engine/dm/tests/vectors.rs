//! Every recorded expansion without Python templates, against ours: flat configuration, layout, and the words of
//! the expander's own errors. Exceptions are named with their reasons, and must really differ.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use schema::Kind;
use schema::limits::Budget;
use schema::processing::{Cause, Request, Step, Template};
use serde_json::{Value, json};

/// Where ours differs on purpose. See docs/compatibility/deployment-manager.md.
const DIFFERENT: &[(&str, &str)] = &[
    ("config-comment-only", "nothing at all means the template with no properties"),
    ("config-without-resources", "an import that is not there is said"),
    ("config-is-a-string", "a text is no configuration"),
    ("empty-config", "nothing at all means the template with no properties"),
    (
        "jinja-dict-and-list-methods",
        "a list does not change in place: `append` is refused, with what to write",
    ),
    ("jinja-dict-iteritems", "`iteritems` lists the pairs, as under the Python 2 of 2015"),
    ("jinja-property-key-on-is-boolean", "keys are texts: the boolean key prints as 'true'"),
    ("jinja-property-named-items", "a property called items is the property"),
    ("schema-imports-missing", "a schema's imports are found by their path in the version as well"),
    ("schema-not-validated", "schemas are always read"),
    ("schema-type-int-invalid", "`int` is read as `integer`, with a warning"),
    ("yaml-tags-and-binary", "binary values are their text"),
    ("yaml11-scalars-plain", "JSON has no infinity: `.inf` becomes null"),
];

/// Messages of Python libraries (YAML, Jinja2, tracebacks): ours fail too, in words of their own.
const OTHER_WORDS: &[&str] = &[
    "config-yaml-error",
    "config-yaml-parser-error",
    "jinja-import-missing-file",
    "jinja-renders-bad-yaml",
    "jinja-syntax-error",
    "jinja-undefined-arithmetic-error",
    "jinja-undefined-attribute-error",
    "jinja-undefined-call-error",
    "jinja-unknown-filter-error",
    "properties-absent-jinja-index-error",
    "resource-type-not-a-string",
    "template-self-reference",
    "yaml-multi-document",
    "yaml-unsafe-tag",
    "yaml11-value-key",
];

fn cases() -> BTreeMap<String, Value> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let json = files.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    json.map(|path| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (name, serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
    })
    .collect()
}

fn run(case: &Value) -> Step {
    let imports = case["imports"].as_object().unwrap();
    let files = imports
        .iter()
        .map(|(name, text)| (name.clone(), text.as_str().unwrap().as_bytes().to_vec()))
        .collect();
    let template =
        Template { name: "t".to_owned(), kind: Kind::DmJinja, entry: "entry.jinja".to_owned(), files };
    let text = case["config"].as_str().unwrap();
    let parsed = yaml::load_value(text, &yaml::Options::pyyaml()).ok().flatten();
    let values = match parsed {
        // The environment goes with the configuration.
        Some(yaml::Value::Map(map)) => {
            let mut values = yaml::Value::Map(map).to_json();
            values["env"] = case["env"].clone();
            values.as_object_mut().unwrap().entry("resources").or_insert(Value::Null);
            values
        }
        _ => json!(text),
    };
    engine_dm::process(&template, &Request { values, ..Request::default() }, &[], &Budget::default())
}

/// Numbers as floats, since the recording does not tell 3 from 3.0.
fn plain(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, value)| (key.clone(), plain(value))).collect())
        }
        other => other.clone(),
    }
}

fn difference(name: &str, case: &Value, step: &Step) -> Option<String> {
    match (step, case.get("error").and_then(Value::as_str)) {
        (Step::Done(outcome), None) => {
            let ours = plain(&json!({"config": outcome.original, "layout": outcome.layout}));
            let expected = plain(&case["result"]);
            (ours != expected).then(|| format!("{ours}\ninstead of\n{expected}"))
        }
        (Step::Failed(failure), Some(error)) => {
            if OTHER_WORDS.contains(&name) {
                return None;
            }
            let lines = error
                .lines()
                .filter(|line| !line.starts_with("Invalid ") && !line.starts_with(" Resource:"))
                .count();
            if error.starts_with("Invalid ") && lines != failure.problems.len() {
                return Some(format!("{lines} errors there, here {failure:#?}"));
            }
            failure.problems.iter().find_map(|problem| {
                // Ours adds where; `Invalid … for 'T': ` stands on a line of its own in the original.
                let words = problem.message.split(" (in resource ").next().unwrap();
                let words = words.split(", at line ").next().unwrap();
                let (head, words) = match words.split_once("': ") {
                    Some((head, words)) if words.len() > 1 && head.starts_with("Invalid ") => (head, words),
                    _ => ("", words),
                };
                (!error.contains(words) || !error.contains(head))
                    .then(|| format!("`{words}` is not in {error}"))
            })
        }
        (Step::Failed(failure), None) => Some(format!("fails: {failure:#?}")),
        (step, Some(error)) => Some(format!("the original fails with {error}, ours is {step:?}")),
        (Step::Needs(needs), None) => Some(format!("needs {needs:?}")),
    }
}

#[test]
fn every_recorded_expansion_is_answered_alike() {
    let cases = cases();
    assert_eq!(cases.len(), 119, "a recorded expansion is missing");
    let reasons = DIFFERENT.iter().copied().collect::<BTreeMap<_, _>>();
    let (mut compared, mut python, mut failures) = (0, Vec::new(), Vec::new());
    for (name, case) in &cases {
        let step = run(case);
        if matches!(&step, Step::Failed(failure) if failure.cause == Cause::Unsupported) {
            python.push(name.as_str());
            continue;
        }
        match (difference(name, case, &step), reasons.get(name.as_str())) {
            (None, None) => compared += 1,
            (Some(difference), None) => failures.push(format!("{name}: {difference}")),
            (None, Some(reason)) => failures.push(format!("{name} is no exception any more: {reason}")),
            (Some(_), Some(_)) => {}
        }
    }
    assert!(failures.is_empty(), "{} of {} differ:\n{}", failures.len(), cases.len(), failures.join("\n\n"));
    for name in &python {
        let imports = cases[*name]["imports"].as_object().unwrap();
        assert!(imports.keys().any(|import| import.ends_with(".py")), "{name} has no Python template");
    }
    eprintln!(
        "{compared} alike, {} different on purpose, SKIPPED for Python: {}",
        DIFFERENT.len(),
        python.join(", ")
    );
    assert_eq!(compared + python.len() + DIFFERENT.len(), 119);
    assert_eq!(python.len(), 30, "{python:?}");
}

/// Printed as PyYAML prints, ours is the recorded text too. Left out are texts with aliases (a node that is shared is
/// written once there) and values JSON does not have (dates, binary, keys that are no texts, infinity).
#[test]
fn printed_it_is_the_recorded_text() {
    const TYPED: [&str; 4] =
        ["yaml-tags-and-binary", "yaml11-keys", "yaml11-scalars-plain", "yaml11-through-jinja"];
    let mut compared = 0;
    for (name, case) in cases() {
        let (Step::Done(outcome), Some(expected)) = (run(&case), case["text"].as_str()) else { continue };
        if expected.contains("&id0")
            || TYPED.contains(&name.as_str())
            || DIFFERENT.iter().any(|(other, _)| *other == name)
        {
            continue;
        }
        let value = json!({"config": outcome.original, "layout": outcome.layout});
        assert_eq!(yaml::to_pyyaml(&yaml::Value::from_json(value)), expected, "{name}");
        compared += 1;
    }
    assert_eq!(compared, 39);
}
