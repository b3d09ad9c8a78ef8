//! Recorded answers of the originals, compared with ours: output, and error text where there is one.

use std::sync::Arc;

use gotemplate::profile::{Numbers, Profile};
use gotemplate::{
    Arena, Budget, Environment, FixedClock, MissingKey, Options, Program, SeededRandom, json, render,
};

fn answer(case: &serde_json::Value, data: &str) -> (String, String) {
    let field = |name: &str| case.get(name).and_then(|value| value.as_str()).unwrap_or_default();
    let profile = Profile::named(field("profile")).expect("the profile exists");
    let missing_key = match field("missing") {
        "zero" => MissingKey::Zero,
        "error" => MissingKey::Error,
        _ => MissingKey::Invalid,
    };
    let mut program = Program::empty("t", profile, Options { missing_key, ..Options::default() });
    if let Err(error) = program.add("t", field("template")) {
        return (String::new(), error.to_go_string());
    }
    let program = Arc::new(program);
    let arena = Arena::new();
    let numbers = match field("numbers") {
        "int" => Numbers::Int,
        "int64" => Numbers::Int64,
        _ => Numbers::Float,
    };
    let data = json::decode(data.as_bytes(), numbers, &arena).expect("the data is JSON");
    let mut environment = Environment {
        budget: Budget::default(),
        clock: &FixedClock(1_700_000_000),
        random: &mut SeededRandom(1),
    };
    let mut out = Vec::new();
    let result = render(&program, "t", data, &arena, &mut environment, &mut out);
    let error = result.err().map(|error| error.to_go_string()).unwrap_or_default();
    (String::from_utf8_lossy(&out).into_owned(), error)
}

fn check(file: &str, at_least: usize) {
    let path = format!("{}/tests/data/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the file is part of the crate");
    let mut lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    let data = lines.next().expect("the first line holds the data")["data"].to_string();
    let mut wrong = Vec::new();
    let mut count = 0;
    for case in lines {
        count += 1;
        let field = |name: &str| case.get(name).and_then(|value| value.as_str()).unwrap_or_default();
        let (output, error) = answer(&case, &data);
        if output != field("output") || error != field("error") {
            wrong.push(format!(
                "{} {}\n   got {output:?} {error:?}\n  want {:?} {:?}",
                field("profile"),
                field("template"),
                field("output"),
                field("error")
            ));
        }
    }
    assert!(count >= at_least, "{file} holds {count} cases");
    assert!(wrong.is_empty(), "{} of {count} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_function_answers_as_the_original() {
    check("functions.jsonl", 1600);
}

#[test]
fn generated_templates_render_as_the_original() {
    check("generated-1.jsonl", 2000);
    check("generated-2.jsonl", 2000);
}
