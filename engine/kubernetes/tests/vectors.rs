//! Every recorded run of `oc process` that is about processing, against ours: objects, the order of their members,
//! the spelling of numbers, YAML byte for byte, and the words of errors. Exceptions are named with their reasons,
//! and must really differ.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use schema::Kind;
use schema::limits::Budget;
use schema::processing::{Outcome, Request, Step, Template};
use serde_json::Value;

/// Runs that are about the command line, not about processing.
const COMMAND_LINE: &[&str] = &[
    "labels-flag-bad",
    "message-describe",
    "message-describe-override",
    "metadata-not-substituted",
    "out-go-template",
    "out-jsonpath",
    "out-name",
    "parameter-bad-name",
    "parameter-file",
    "parameter-file-and-flag",
    "parameter-no-equals",
    "parameters-table",
    "parameters-table-with-output",
    "parameters-table-with-value",
    "raw-json",
    "raw-jsonpath-message",
    "raw-yaml",
    "unknown-fields",
    "yaml-many-documents",
];

/// Where ours differs on purpose. See docs/compatibility/openshift.md.
const DIFFERENT: &[(&str, &str)] = &[
    ("core-v1-template", "apiVersion v1 is the proposal's own; refusing it broke old templates"),
    ("generate-same-bounds", "the original crashes on a range of one letter; ours has that letter"),
    ("generate-single-letter", "both ends belong to a range, as the documentation says"),
    ("labels-object-number-lost", "one label that is no text costs the original all others"),
    ("labels-object-number-reference-lost", "one label that is no text costs the original all others"),
    ("non-string-edge-numbers", "whole numbers keep their digits up to 64 bits"),
    ("parameter-declared-twice-override", "a value given for a parameter that is declared twice is not lost"),
    ("recursion-injection", "a value is never looked at again"),
    ("recursion-self", "a value is never looked at again"),
    ("yaml-out-values", "whole numbers keep their digits up to 64 bits"),
];

/// The words of these errors are the original's decoder's; ours say the same in words of their own.
const OWN_WORDS: &[&str] =
    &["not-a-template", "object-not-a-map", "parameter-value-boolean", "parameter-value-number", "yaml-bad"];

struct Case {
    name: String,
    text: String,
    json: Value,
}

fn cases() -> Vec<Case> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let text = std::fs::read_to_string(&path).unwrap();
            let json = serde_json::from_str(&text).unwrap();
            cases.push(Case { name: path.file_stem().unwrap().to_string_lossy().into_owned(), text, json });
        }
    }
    cases.sort_by(|one, other| one.name.cmp(&other.name));
    cases
}

fn run(case: &Case) -> Step {
    let text = match case.json.get("template_text") {
        Some(text) => text.as_str().unwrap().to_owned(),
        None => case.json["template"].to_string(),
    };
    let files = [("template.yaml", text.into_bytes())].into_iter().collect();
    let template = Template {
        name: "t".to_owned(),
        kind: Kind::Template,
        entry: "template.yaml".to_owned(),
        files,
        jinja2: false,
    };
    let mut request = Request { entropy: "5a".repeat(32), ..Request::default() };
    let pair = |text: &str| text.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    let flags =
        case.json["flags"].as_array().unwrap().iter().map(|flag| flag.as_str().unwrap()).collect::<Vec<_>>();
    for (index, flag) in flags.iter().enumerate() {
        match *flag {
            "-p" => request.set.extend(pair(flags[index + 1])),
            "--ignore-unknown-parameters" => request.ignore_unknown = true,
            _ => {}
        }
    }
    for (name, value) in case.json["parameters"].as_object().into_iter().flatten() {
        request.set.push((name.clone(), value.as_str().unwrap().to_owned()));
    }
    for argument in case.json["positional"].as_array().into_iter().flatten() {
        request.set.extend(pair(argument.as_str().unwrap()));
    }
    for label in case.json["labels"].as_str().into_iter().flat_map(|labels| labels.split(',')) {
        request.labels.extend(pair(label));
    }
    engine_kubernetes::process(&template, &request, &[], &Budget::default())
}

/// JSON as a list of its tokens: texts as what they say, numbers as they are spelled.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b'"' => {
                at += 1;
                while bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
                tokens.push(format!("\"{}", serde_json::from_str::<String>(&text[start..at]).unwrap()));
            }
            byte if byte.is_ascii_whitespace() => at += 1,
            b'{' | b'}' | b'[' | b']' | b',' | b':' => {
                at += 1;
                tokens.push(text[start..at].to_owned());
            }
            _ => {
                while at < bytes.len()
                    && !matches!(bytes[at], b',' | b'}' | b']')
                    && !bytes[at].is_ascii_whitespace()
                {
                    at += 1;
                }
                tokens.push(text[start..at].to_owned());
            }
        }
    }
    tokens
}

/// The tokens of `stdout` as the file has them: the last members are `stdout` and perhaps `stderr`.
fn recorded(case: &Case) -> Vec<String> {
    let all = tokens(&case.text);
    let from = all.iter().position(|token| token == "\"stdout").unwrap() + 2;
    let mut depth = 0;
    let mut to = from;
    for (index, token) in all[from..].iter().enumerate() {
        match token.as_str() {
            "{" | "[" => depth += 1,
            "}" | "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            to = from + index + 1;
            break;
        }
    }
    all[from..to].to_vec()
}

/// How ours differs from what was recorded, if it does.
fn difference(case: &Case, step: &Step) -> Option<String> {
    let failed = case.json["exit"] != 0;
    match step {
        Step::Done(_) if failed => Some(format!("succeeds where the original says {}", case.json["stderr"])),
        Step::Done(outcome) => compare(case, outcome),
        Step::Failed(failure) if !failed => Some(format!("fails: {failure:?}")),
        Step::Failed(failure) => {
            let panics = case.json["panics"] == true;
            let stderr = case.json["stderr"].as_str().unwrap_or_default();
            let stderr =
                stderr.replace("Object 'Kind' is missing in '{\"objects\": []}'", "Object 'Kind' is missing");
            if panics || OWN_WORDS.contains(&case.name.as_str()) {
                return None;
            }
            let lines = stderr.lines().filter(|line| line.starts_with("* ")).count().max(1);
            if lines != failure.problems.len() {
                return Some(format!("{lines} errors there, here {failure:?}"));
            }
            failure.problems.iter().find_map(|problem| {
                // Ours names the parameter as well; what the other says stands behind it.
                let words = problem.message.split("; ").next().unwrap();
                let words = words
                    .strip_prefix("parameter ")
                    .and_then(|rest| rest.split_once(": "))
                    .map_or(words, |(_, rest)| rest);
                (!stderr.contains(words)).then(|| format!("`{words}` is not in {stderr}"))
            })
        }
        Step::Needs(needs) => Some(format!("needs {needs:?}")),
    }
}

fn compare(case: &Case, outcome: &Outcome) -> Option<String> {
    let value = yaml::Value::from_json(outcome.original.clone());
    let flags = case.json["flags"].to_string();
    if flags.contains("\"yaml\"") {
        let expected = case.json["stdout"].as_str().unwrap();
        let ours = yaml::to_yaml(&value);
        return (ours != expected).then(|| format!("{ours}\ninstead of\n{expected}"));
    }
    // The List's own members are in the order of Go's struct; those of objects are sorted already.
    let options = yaml::JsonOptions { key_order: yaml::KeyOrder::AsGiven, ..yaml::JsonOptions::default() };
    let (ours, expected) = (tokens(&yaml::to_json_with(&value, &options)), recorded(case));
    (ours != expected).then(|| format!("{ours:?}\ninstead of\n{expected:?}"))
}

#[test]
fn every_recorded_run_is_answered_alike() {
    let cases = cases();
    assert_eq!(cases.len(), 115, "a recorded run is missing");
    let reasons = DIFFERENT.iter().copied().collect::<BTreeMap<_, _>>();
    let mut compared = 0;
    let mut failures = Vec::new();
    for case in &cases {
        if COMMAND_LINE.contains(&case.name.as_str()) {
            continue;
        }
        let difference = difference(case, &run(case));
        match (difference, reasons.get(case.name.as_str())) {
            (None, None) => compared += 1,
            (Some(difference), None) => failures.push(format!("{}: {difference}", case.name)),
            (None, Some(reason)) => {
                failures.push(format!("{} is no exception any more: {reason}", case.name));
            }
            (Some(_), Some(_)) => {}
        }
    }
    assert!(failures.is_empty(), "{} of {} differ:\n{}", failures.len(), cases.len(), failures.join("\n\n"));
    assert_eq!(compared, 115 - COMMAND_LINE.len() - DIFFERENT.len());
    eprintln!(
        "{compared} alike, {} different on purpose, {} about the command line",
        DIFFERENT.len(),
        COMMAND_LINE.len()
    );
}

#[test]
fn each_difference_is_the_one_that_was_meant() {
    let cases = cases().into_iter().map(|case| (case.name.clone(), case)).collect::<BTreeMap<_, _>>();
    let done = |name: &str| match run(&cases[name]) {
        Step::Done(outcome) => outcome.objects,
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(done("non-string-edge-numbers")[0]["spec"]["BIG"].to_string(), "12345678901234567890");
    assert_eq!(done("non-string-edge-numbers")[0]["spec"]["MAX53"].to_string(), "9007199254740993");
    let labels = &done("labels-object-number-lost")[0]["metadata"]["labels"];
    assert_eq!(*labels, serde_json::json!({"app": "y", "num": "5", "own": "x"}));
    assert_eq!(done("core-v1-template").len(), 1);
    assert!(done("parameter-declared-twice-override")[0].to_string().contains("given"));
    assert!(done("recursion-injection")[0].to_string().contains("${B}"));
    assert_eq!(done("generate-same-bounds").len(), 1);
}

/// Templates put together at random by `tests/oracles/openshift`, with what OpenShift's library makes of them. More of
/// them: `go run . record SEED COUNT > FILE` there, and `OPENSHIFT_CASES=FILE` for this test.
#[test]
fn generated_templates_are_processed_alike() {
    let recorded = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/generated.jsonl");
    let path = std::env::var_os("OPENSHIFT_CASES").map_or(recorded, PathBuf::from);
    let text = std::fs::read_to_string(path).unwrap();
    let (mut compared, mut failures) = (0, Vec::new());
    for line in text.lines() {
        let json = serde_json::from_str::<Value>(line).unwrap();
        let template = json["template"].as_str().unwrap();
        let case = serde_json::json!({"template_text": template, "flags": []});
        let step = run(&Case { name: String::new(), text: String::new(), json: case });
        // The library's own spelling of numbers: a parsed one would have lost it.
        let list = line.split_once("\"list\":").map(|(_, list)| tokens(&list[..list.len() - 1]));
        let options =
            yaml::JsonOptions { key_order: yaml::KeyOrder::AsGiven, ..yaml::JsonOptions::default() };
        let ours = match &step {
            Step::Done(outcome) => {
                Some(tokens(&yaml::to_json_with(&yaml::Value::from_json(outcome.original.clone()), &options)))
            }
            _ => None,
        };
        compared += 1;
        if ours != list {
            failures.push(format!("{template}\n{ours:?}\ninstead of\n{list:?}\n{step:?}"));
        }
    }
    assert!(compared >= 200, "only {compared} generated templates were found");
    failures.truncate(3);
    assert!(failures.is_empty(), "generated templates differ:\n{}", failures.join("\n\n"));
    eprintln!("generated: {compared} compared, 0 differ");
}
