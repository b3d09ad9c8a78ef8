//! Go's own tests of text/template, as far as they can be said with JSON: same output, or the same words.
//!
//! `data/go-exec.jsonl` and `data/go-parse-errors.jsonl` come from the tables of Go's tests (BSD-3-Clause, see
//! `data/GO-LICENSE`).

use std::sync::Arc;

use gotemplate::profile::{self, Numbers};
use gotemplate::{Arena, Budget, Environment, FixedClock, Program, SeededRandom, json, render};

struct Case {
    set: String,
    name: String,
    template: String,
    data: String,
    output: Option<String>,
    error: Option<String>,
}

fn cases(file: &str) -> Vec<Case> {
    let path = format!("{}/tests/data/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the file is part of the crate");
    text.lines()
        .map(|line| {
            let case: serde_json::Value = serde_json::from_str(line).expect("each line is JSON");
            let field = |name: &str| case.get(name).and_then(|value| value.as_str()).map(str::to_owned);
            Case {
                set: field("set").unwrap_or_default(),
                name: field("name").unwrap_or_default(),
                template: field("template").unwrap_or_default(),
                data: case["data"].to_string(),
                output: field("output"),
                error: field("error"),
            }
        })
        .collect()
}

fn run(case: &Case) -> Result<String, String> {
    // Where a message names the text twice, the recording kept the case's own name in the second place.
    let program = Program::parse(&case.name, &case.template, &profile::TEXT).map_err(|error| {
        error.to_go_string().replacen(&format!("template: {}:", case.name), "template: t:", 1)
    });
    if case.set == "perr" {
        return program.map(|_| String::new());
    }
    let program =
        Program::parse("t", &case.template, &profile::TEXT).map_err(|error| error.to_go_string())?;
    let program = Arc::new(program);
    let arena = Arena::new();
    let data = json::decode(case.data.as_bytes(), Numbers::Int, &arena).expect("the data is JSON");
    let mut environment =
        Environment { budget: Budget::default(), clock: &FixedClock(0), random: &mut SeededRandom(1) };
    let mut out = Vec::new();
    render(&program, "t", data, &arena, &mut environment, &mut out).map_err(|error| error.to_go_string())?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// Cases where we differ, and why.
const EXCEPTIONS: &[(&str, &str)] = &[];

fn check(file: &str, expected_count: usize) {
    let mut wrong = Vec::new();
    let cases = cases(file);
    assert_eq!(cases.len(), expected_count);
    for case in &cases {
        let got = run(case);
        let same = match (&got, &case.output, &case.error) {
            (Ok(got), Some(want), None) => got == want,
            (Err(got), _, Some(want)) => got == want,
            _ => false,
        };
        let excepted = EXCEPTIONS.iter().any(|(name, _)| *name == case.name);
        if same == excepted {
            wrong.push(format!(
                "{} {:?}: {}\n   got {got:?}\n  want {:?}",
                case.set,
                case.name,
                case.template,
                case.output.as_ref().or(case.error.as_ref())
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn execution_is_as_in_go() {
    check("go-exec.jsonl", 340);
}

#[test]
fn parse_errors_are_as_in_go() {
    check("go-parse-errors.jsonl", 32);
}
