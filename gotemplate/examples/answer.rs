//! Answers cases on standard input, one JSON object a line, as the Go program in `tests/oracles/gotemplate` does:
//! `{profile, name, template, data, numbers, missing}` in, `{output, error}` out. The two are compared line by line.

use std::io::{BufRead, Write};
use std::sync::Arc;

use gotemplate::profile::{Numbers, Profile};
use gotemplate::{
    Arena, Budget, Environment, FixedClock, MissingKey, Options, Program, SeededRandom, json, render,
};

fn answer(case: &serde_json::Value) -> (Vec<u8>, String) {
    let field = |name: &str| case.get(name).and_then(|value| value.as_str()).unwrap_or_default();
    let Some(profile) = Profile::named(field("profile")) else {
        return (Vec::new(), "no such profile".to_owned());
    };
    let missing_key = match field("missing") {
        "zero" => MissingKey::Zero,
        "error" => MissingKey::Error,
        _ => MissingKey::Invalid,
    };
    let name = field("name");
    let mut program = Program::empty(name, profile, Options { missing_key, ..Options::default() });
    if let Err(error) = program.add(name, field("template")) {
        return (Vec::new(), error.to_go_string());
    }
    let program = Arc::new(program);
    let arena = Arena::new();
    let numbers = match field("numbers") {
        "int" => Numbers::Int,
        "int64" => Numbers::Int64,
        _ => Numbers::Float,
    };
    let data = match json::decode(field("data").as_bytes(), numbers, &arena) {
        Ok(data) => data,
        Err(error) => return (Vec::new(), error),
    };
    let mut environment = Environment {
        budget: Budget::default(),
        clock: &FixedClock(1_700_000_000),
        random: &mut SeededRandom(1),
    };
    let mut out = Vec::new();
    match render(&program, name, data, &arena, &mut environment, &mut out) {
        Ok(_) => (out, String::new()),
        Err(error) => (out, error.to_go_string()),
    }
}

fn main() -> std::io::Result<()> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let Ok(case) = serde_json::from_str::<serde_json::Value>(&line) else { continue };
        let (output, error) = answer(&case);
        // As Go's ToValidUTF8: one mark for a run of broken bytes.
        let mut text = String::new();
        let mut broken = false;
        for chunk in output.utf8_chunks() {
            if broken && !chunk.valid().is_empty() {
                text.push('\u{FFFD}');
                broken = false;
            }
            text.push_str(chunk.valid());
            broken |= !chunk.invalid().is_empty();
        }
        if broken {
            text.push('\u{FFFD}');
        }
        let output = text;
        writeln!(out, "{}", serde_json::json!({ "output": output, "error": error }))?;
    }
    Ok(())
}
