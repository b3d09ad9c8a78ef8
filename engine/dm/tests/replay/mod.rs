//! Replays every recorded expansion against whatever expands: flat configuration, layout, and the words of the
//! expander's own errors. Exceptions are named with their reasons, and must really differ.
//!
//! It knows no engine: who replays says how one case is run, with or without an interpreter for Python.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schema::Kind;
use schema::processing::{Cause, Request, Step, Template};
use serde_json::{Value, json};

/// How many were recorded.
pub(crate) const RECORDED: usize = 119;

/// Where ours differs on purpose. See docs/compatibility/deployment-manager.md.
pub(crate) const DIFFERENT: &[(&str, &str)] = &[
    ("config-comment-only", "nothing is a configuration without resources"),
    ("config-without-resources", "an import that is not there is said"),
    ("config-is-a-string", "a text is no configuration"),
    ("empty-config", "nothing is a configuration without resources"),
    ("jinja-dict-iteritems", "`iteritems` lists the pairs, as under the Python 2 of 2015"),
    ("jinja-property-key-on-is-boolean", "keys are texts: the boolean key prints as 'true'"),
    ("python-helper-imports-sibling-listed-last", "the order of imports does not matter"),
    ("python-returns-dict", "maps are taken as results, as by the extended expander"),
    ("python-returns-none", "no result is a template without resources, as in the extended expander"),
    ("schema-imports-missing", "a schema's imports are found by their path in the version as well"),
    ("schema-not-validated", "schemas are always read"),
    ("schema-type-int-invalid", "`int` is read as `integer`, with a warning"),
    ("yaml-tags-and-binary", "binary values are their text"),
    ("yaml11-scalars-plain", "JSON has no infinity: `.inf` becomes null"),
];

/// Messages of Python libraries (YAML, Jinja2): ours fail too, in words of their own.
const OTHER_WORDS: &[&str] = &[
    "config-yaml-error",
    "config-yaml-parser-error",
    "jinja-import-missing-file",
    "jinja-property-named-items",
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

/// What replaying came to.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Cases that came out as recorded.
    pub(crate) alike: usize,
    /// Cases that need Python, where there is none.
    pub(crate) python: Vec<String>,
}

/// Every recorded case by name.
pub(crate) fn cases() -> BTreeMap<String, Value> {
    // Tests run in their package's directory, and this file is a module of tests of several packages.
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut above = package.ancestors().map(|above| above.join("engine/dm/tests/vectors"));
    let directory = above.find(|path| path.is_dir()).expect("the recordings are beside this file");
    let files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let json = files.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let cases = json.map(|path| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (name, serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
    });
    let cases = cases.collect::<BTreeMap<_, _>>();
    assert_eq!(cases.len(), RECORDED, "a recorded expansion is missing");
    cases
}

/// A case as it would be sent: the configuration with its files, and the environment.
pub(crate) fn sent(case: &Value) -> (Template, Request) {
    let text = |value: &Value| value.as_str().unwrap().as_bytes().to_vec();
    let imports = case["imports"].as_object().unwrap();
    let files = imports.iter().map(|(name, content)| (name.clone(), text(content)));
    let files = files.chain([("config.yaml".to_owned(), text(&case["config"]))]).collect();
    let template = Template {
        name: "t".to_owned(),
        kind: Kind::DmConfiguration,
        entry: "config.yaml".to_owned(),
        files,
        jinja2: false,
    };
    (template, Request { values: json!({ "env": case["env"] }), ..Request::default() })
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
        (Step::Failed(_), Some(_)) if OTHER_WORDS.contains(&name) => None,
        (Step::Failed(failure), Some(error)) => {
            let lines = error
                .lines()
                .filter(|line| !line.starts_with("Invalid ") && !line.starts_with(" Resource:"))
                .count();
            if error.starts_with("Invalid ") && lines != failure.problems.len() {
                return Some(format!("{lines} errors there, here {failure:#?}"));
            }
            failure.problems.iter().find_map(|problem| {
                // Ours adds where; what follows `Invalid … for 'T': ` and `Exception in T: ` stands on a line of
                // its own in the original.
                let words = problem.message.split(" (in resource ").next().unwrap();
                let words = words.split(", at line ").next().unwrap();
                let (head, words) = match words.split_once("': ").or_else(|| words.split_once(": ")) {
                    Some((head, words))
                        if head.starts_with("Invalid ") || head.starts_with("Exception in ") =>
                    {
                        (head, words)
                    }
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

/// Runs every case and panics with all that differ without being an exception, or are an exception without
/// differing.
pub(crate) fn replay(run: impl Fn(&Template, &Request) -> Step) -> Report {
    let cases = cases();
    let reasons = DIFFERENT.iter().copied().collect::<BTreeMap<_, _>>();
    let (mut report, mut failures) = (Report::default(), Vec::new());
    for (name, case) in &cases {
        let (template, request) = sent(case);
        let step = run(&template, &request);
        if matches!(&step, Step::Failed(failure) if failure.cause == Cause::Unsupported) {
            let imports = case["imports"].as_object().unwrap();
            assert!(imports.keys().any(|import| import.ends_with(".py")), "{name} has no Python template");
            report.python.push(name.clone());
            continue;
        }
        match (difference(name, case, &step), reasons.get(name.as_str())) {
            (None, None) => report.alike += 1,
            (Some(difference), None) => failures.push(format!("{name}: {difference}")),
            (None, Some(reason)) => failures.push(format!("{name} is no exception any more: {reason}")),
            (Some(_), Some(_)) => {}
        }
    }
    assert!(failures.is_empty(), "{} of {} differ:\n{}", failures.len(), cases.len(), failures.join("\n\n"));
    report
}
