//! Every recorded run of `oc process --local`, through the binary with the flags it was recorded with: what is
//! printed is the same, byte for byte. Exceptions are named with their reasons, and must really differ.
//!
//! `oc` itself prints JSON unless told otherwise, as do all recorded runs by their flags. Words of errors are
//! compared by the engine's own test; here only whether there is one.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Output;

use serde_json::Value;

use crate::kit::{formwork, run_with, workspace};

/// Where ours differs on purpose. See docs/compatibility/openshift.md.
const DIFFERENT: &[(&str, &str)] = &[
    ("core-v1-template", "apiVersion v1 is processed"),
    ("generate-same-bounds", "a range of one letter is that letter"),
    ("generate-single-letter", "both ends belong to a range"),
    ("labels-object-number-lost", "a label that is no text is kept as one"),
    ("labels-object-number-reference-lost", "a label that is no text is kept as one"),
    ("message-describe", "objects are named, not <unknown>"),
    ("message-describe-override", "objects are named, not <unknown>"),
    ("metadata-not-substituted", "objects are named, not <unknown>"),
    ("non-string-edge-numbers", "whole numbers keep their digits"),
    ("parameter-declared-twice-override", "a value that is given counts"),
    ("recursion-injection", "a value is never looked at again"),
    ("recursion-self", "a value is never looked at again"),
    ("unknown-fields", "objects are named, not <unknown>"),
    ("yaml-many-documents", "the note that the file has more templates goes to standard error"),
    ("yaml-out-values", "whole numbers keep their digits"),
];

struct Case {
    name: String,
    text: String,
    json: Value,
}

fn cases() -> Vec<Case> {
    let directory = workspace().join("engine/kubernetes/tests/vectors");
    let paths = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut paths =
        paths.filter(|path| path.extension().is_some_and(|end| end == "json")).collect::<Vec<_>>();
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let json = serde_json::from_str(&text).unwrap();
        Case { name: path.file_stem().unwrap().to_string_lossy().into_owned(), text, json }
    };
    paths.into_iter().map(read).collect()
}

fn run(case: &Case) -> Output {
    let directory = tempfile::tempdir().unwrap();
    let template = match case.json.get("template_text") {
        Some(text) => text.as_str().unwrap().to_owned(),
        None => case.json["template"].to_string(),
    };
    std::fs::write(directory.path().join("template.yaml"), template).unwrap();
    for (name, text) in case.json["files"].as_object().into_iter().flatten() {
        std::fs::write(directory.path().join(name), text.as_str().unwrap()).unwrap();
    }
    let texts =
        |key: &str| case.json[key].as_array().into_iter().flatten().map(|text| text.as_str().unwrap());
    let mut program = formwork();
    program.current_dir(directory.path()).arg("process").arg("template.yaml").args(texts("positional"));
    program.args(texts("flags"));
    for (name, value) in case.json["parameters"].as_object().into_iter().flatten() {
        program.arg("-p").arg(format!("{name}={}", value.as_str().unwrap()));
    }
    if let Some(labels) = case.json["labels"].as_str() {
        program.arg("-l").arg(labels);
    }
    run_with(program, b"")
}

/// What was printed, as the file has it: a text, or JSON indented by one blank.
fn recorded(case: &Case) -> String {
    match &case.json["stdout"] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        _ => {
            let (_, rest) = case.text.split_once("\n \"stdout\": {\n").unwrap();
            let (body, _) = rest.split_once("\n }").unwrap();
            let lines = body.lines().map(|line| line.strip_prefix(' ').unwrap());
            format!("{{\n{}\n}}\n", lines.collect::<Vec<_>>().join("\n"))
        }
    }
}

fn difference(case: &Case) -> Option<String> {
    let output = run(case);
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if case.json["exit"] != 0 {
        let said = !stderr.trim().is_empty() && stdout.is_empty();
        return (output.status.success() || !said)
            .then(|| format!("succeeds, or says nothing: {stdout}{stderr}"));
    }
    let expected = recorded(case);
    (!output.status.success() || stdout != expected)
        .then(|| format!("{}: {stdout}{stderr}\ninstead of\n{expected}", output.status))
}

#[test]
fn every_recorded_run_of_oc_prints_the_same() {
    let cases = cases();
    assert_eq!(cases.len(), 115, "a recorded run is missing");
    let reasons = DIFFERENT.iter().copied().collect::<BTreeMap<_, _>>();
    let mut failures = Vec::new();
    for case in &cases {
        match (difference(case), reasons.get(case.name.as_str())) {
            (None, None) | (Some(_), Some(_)) => {}
            (Some(difference), None) => failures.push(format!("{}: {difference}", case.name)),
            (None, Some(reason)) => {
                failures.push(format!("{} is no exception any more: {reason}", case.name));
            }
        }
    }
    assert!(failures.is_empty(), "{} of {} differ:\n{}", failures.len(), cases.len(), failures.join("\n\n"));
}

/// Up to the objects, which the original cannot name, a description is the same.
#[test]
fn a_description_is_the_same_up_to_the_objects() {
    let described = cases().into_iter().filter(|case| case.json["flags"].to_string().contains("describe"));
    let mut compared = 0;
    for case in described {
        let output = run(&case);
        let (ours, theirs) = (String::from_utf8_lossy(&output.stdout).into_owned(), recorded(&case));
        let head = |text: &str| text.split_once("Objects:").unwrap().0.to_owned();
        assert_eq!(head(&ours), head(&theirs), "{}", case.name);
        assert!(ours.contains("    ConfigMap\tc\n"), "{ours}");
        compared += 1;
    }
    assert_eq!(compared, 4);
}

/// Bad input through the binary: an error that names what is wrong, no crash, and nothing on standard output.
#[test]
fn attack_row_24_large_templates_and_generators_are_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let head = "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {name: t}\n";
    let large = format!(
        "{head}objects:\n- {{apiVersion: v1, kind: Secret, metadata: {{name: s}}, x: {}}}\n",
        "y".repeat(10 << 20)
    );
    let generator = format!(
        "{head}parameters: [{{name: P, generate: expression, from: '[a-z]{{1000000}}'}}]\nobjects: []\n"
    );
    for (text, words) in [(large, "bytes"), (generator, "range must be within [1-255] characters (1000000)")]
    {
        let path = directory.path().join("t.yaml");
        std::fs::write(&path, text).unwrap();
        let mut program = formwork();
        program.arg("process").arg(&path);
        let output = run_with(program, b"");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(
            stderr.contains(words) && output.stdout.is_empty() && stderr.len() < 2_000,
            "{words}: {stderr}"
        );
    }
}
