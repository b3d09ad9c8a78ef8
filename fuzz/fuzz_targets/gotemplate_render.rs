//! Any template runs within its budgets on data of every kind, or stops with an error that has a place.
#![no_main]

use std::sync::Arc;

use gotemplate::profile::{ALL, Numbers};
use gotemplate::{Arena, Budget, Environment, FixedClock, Program, SeededRandom, json, render};
use libfuzzer_sys::fuzz_target;

const DATA: &[u8] = br#"{"s":"hello","n":5,"f":2.5,"b":true,"z":"","nul":null,"l":[1,"a",null],"m":{"a":1,"b":{"c":"x"}}}"#;

fuzz_target!(|input: (u8, &str)| {
    let (choice, text) = input;
    let profile = ALL[usize::from(choice) % ALL.len()];
    let Ok(program) = Program::parse("t", text, profile) else { return };
    let program = Arc::new(program);
    let arena = Arena::new();
    let Ok(data) = json::decode(DATA, Numbers::Int64, &arena) else { return };
    let budget = Budget {
        steps: 50_000,
        output: 1 << 18,
        memory: 8 << 20,
        crypto: 0,
        ..Budget::default()
    };
    let mut environment = Environment { budget, clock: &FixedClock(0), random: &mut SeededRandom(1) };
    let mut out = Vec::new();
    if let Err(error) = render(&program, "t", data, &arena, &mut environment, &mut out) {
        assert!(!error.to_go_string().is_empty());
    }
    assert!(out.len() <= budget.output + 4096, "{} bytes", out.len());
});
