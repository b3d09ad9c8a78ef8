//! The proposal's notation, row by row: the cases in `tests/proposal/`, whose README says what a case is.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test that uses them")]

use std::path::PathBuf;

use schema::Kind;
use schema::limits::Budget;
use schema::processing::{Outcome, Request, Step, Template};
use serde_json::{Value, json};

const MEMBERS: &[&str] = &[
    "about",
    "parameters",
    "labels",
    "metadata",
    "message",
    "apiVersion",
    "objects",
    "field",
    "values",
    "gives",
    "errors",
    "says",
    "dialect",
    "succeeds",
];

fn run(case: &Value) -> Step {
    let objects = match case.get("field") {
        Some(field) => {
            json!([{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"field": field}}])
        }
        None => case["objects"].clone(),
    };
    let mut template =
        json!({"apiVersion": "v1", "kind": "Template", "metadata": {"name": "t"}, "objects": objects});
    for member in ["parameters", "labels", "metadata", "message", "apiVersion"] {
        if let Some(value) = case.get(member) {
            template[member] = value.clone();
        }
    }
    let files = [("t.yaml", template.to_string().into_bytes())].into_iter().collect();
    let template = Template {
        name: "t".to_owned(),
        kind: Kind::Template,
        entry: "t.yaml".to_owned(),
        files,
        jinja2: false,
    };
    let values = case.get("values").cloned().unwrap_or_default();
    let request = Request { values, entropy: "5a".repeat(32), ..Request::default() };
    engine_kubernetes::process(&template, &request, &[], &Budget::default())
}

fn texts(case: &Value, member: &str) -> Vec<String> {
    let list = case.get(member).and_then(Value::as_array).into_iter().flatten();
    list.map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// What does not hold.
fn wrong(case: &Value) -> Option<String> {
    let errors = texts(case, "errors");
    match run(case) {
        Step::Done(outcome) if errors.is_empty() => differs(case, &outcome),
        Step::Failed(failure) if !errors.is_empty() => {
            let said = failure.problems.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>();
            let same = said.len() == errors.len()
                && said.iter().zip(&errors).all(|(said, part)| said.contains(part));
            (!same).then(|| format!("says {said:?}"))
        }
        other => Some(format!("{other:?}")),
    }
}

fn differs(case: &Value, outcome: &Outcome) -> Option<String> {
    if let Some(gives) = case.get("gives") {
        let made = match case.get("field") {
            Some(_) => outcome.objects[0]["data"]["field"].clone(),
            None => Value::Array(outcome.objects.clone()),
        };
        if made != *gives {
            return Some(format!("gives {made}, not {gives}"));
        }
    }
    let said = outcome.diagnostics.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>();
    for part in texts(case, "says") {
        if !said.iter().any(|said| said.contains(&part)) {
            return Some(format!("says {said:?}, not {part:?}"));
        }
    }
    let dialect = outcome.dialect.as_ref().unwrap();
    match texts(case, "dialect").as_slice() {
        [] => None,
        [name, how] => {
            (*name != dialect.name || !dialect.chosen.contains(how)).then(|| format!("chooses {dialect:?}"))
        }
        _ => Some("a dialect has a name and a reason".to_owned()),
    }
}

#[test]
fn every_row_of_the_proposal_holds() {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/proposal");
    let (mut rows, mut failures) = (0, Vec::new());
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let document = yaml::load(&text, &yaml::Options::kubernetes());
        let cases = document.unwrap_or_else(|error| panic!("{file}: {error}")).unwrap().value.to_json();
        for case in cases.as_array().unwrap() {
            rows += 1;
            let unknown = case.as_object().unwrap().keys().find(|key| !MEMBERS.contains(&key.as_str()));
            assert_eq!(unknown, None, "{file}: {case}");
            let holds =
                ["gives", "errors", "says", "dialect", "succeeds"].iter().any(|key| case.get(key).is_some());
            assert!(holds, "{file}: {} is held to nothing", case["about"]);
            failures.extend(wrong(case).map(|wrong| format!("{file}: {}: {wrong}", case["about"])));
        }
    }
    assert!(rows > 80, "only {rows} rows were found");
    assert!(failures.is_empty(), "{} of {rows} rows fail:\n{}", failures.len(), failures.join("\n"));
}
