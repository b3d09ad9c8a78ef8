//! Parsing and running templates; `README.md` keeps the figures beside Go's on the same machine:
//! `cd tests/oracles/gotemplate && go run . bench TEMPLATE DATA interoperator`.

use std::sync::Arc;

use gotemplate::profile::{INTEROPERATOR, Numbers};
use gotemplate::{
    Arena, Budget, Environment, FixedClock, Program, SeededRandom, Value, from_yaml, json, render,
};

const WORKLOADS: [(&str, &str, &str); 3] = [
    ("status", include_str!("data/status.tmpl"), include_str!("data/status.yaml")),
    ("deployment", include_str!("data/deployment.tmpl"), include_str!("data/deployment.yaml")),
    ("deployment-plain", include_str!("data/deployment-plain.tmpl"), include_str!("data/deployment.yaml")),
];

fn main() {
    divan::main();
}

fn workload(name: &str) -> (&'static str, &'static str) {
    let found = WORKLOADS.iter().find(|workload| workload.0 == name).expect("it is one of them");
    (found.1, found.2)
}

const NAMES: [&str; 3] = ["status", "deployment", "deployment-plain"];

/// Runs a pre-parsed program on data that is already there. The arena is emptied now and then, as a new render would.
#[divan::bench(args = NAMES, min_time = 1)]
fn execute(bencher: divan::Bencher<'_, '_>, name: &str) {
    let (text, data) = workload(name);
    let program = Arc::new(Program::parse("t", text, &INTEROPERATOR).expect("it parses"));
    let arena = Arena::new();
    let data = from_yaml(data, Numbers::Float, &arena).expect("it is YAML");
    let mut out = Vec::with_capacity(1 << 16);
    bencher.bench_local(|| {
        out.clear();
        let mut environment = Environment {
            budget: Budget { memory: usize::MAX, ..Budget::default() },
            clock: &FixedClock(0),
            random: &mut SeededRandom(1),
        };
        render(&program, "t", data, &arena, &mut environment, &mut out).expect("it runs")
    });
}

#[divan::bench(args = NAMES, min_time = 1)]
fn parse(bencher: divan::Bencher<'_, '_>, name: &str) {
    let (text, _) = workload(name);
    bencher.bench_local(|| Program::parse("t", text, &INTEROPERATOR).expect("it parses"));
}

/// Decodes the Deployment's data from JSON, as a request brings it.
#[divan::bench(min_time = 1)]
fn decode_json(bencher: divan::Bencher<'_, '_>) {
    let arena = Arena::new();
    let data = from_yaml(workload("deployment").1, Numbers::Float, &arena).expect("it is YAML");
    let text = json::to_string(data).expect("it is plain data");
    let mut arena = Arena::new();
    bencher.bench_local(|| {
        arena.reset();
        let data = json::decode(text.as_bytes(), Numbers::Float, &arena).expect("it is JSON");
        matches!(data, Value::Map(_))
    });
}
