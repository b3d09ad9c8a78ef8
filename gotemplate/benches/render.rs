//! Parsing and running templates; `README.md` keeps the figures beside Go's on the same machine:
//! `cd tests/oracles/gotemplate && go run . bench TEMPLATE DATA interoperator`, for the chart
//! `cat tests/charts/{_helpers,deployment}.tpl > chart.tmpl` and `bench chart.tmpl tests/charts/data-base.json helm`.

use std::sync::Arc;

use gotemplate::profile::{HELM, INTEROPERATOR, Numbers};
use gotemplate::{
    Arena, Budget, Environment, FixedClock, Profile, Program, SeededRandom, Value, from_yaml, json, render,
};

struct Workload {
    name: &'static str,
    texts: &'static [&'static str],
    data: &'static str,
    profile: &'static Profile,
}

const DEPLOYMENT: &str = include_str!("data/deployment.yaml");

static WORKLOADS: [Workload; 4] = [
    Workload {
        name: "status",
        texts: &[include_str!("data/status.tmpl")],
        data: include_str!("data/status.yaml"),
        profile: &INTEROPERATOR,
    },
    Workload {
        name: "deployment",
        texts: &[include_str!("data/deployment.tmpl")],
        data: DEPLOYMENT,
        profile: &INTEROPERATOR,
    },
    Workload {
        name: "deployment-plain",
        texts: &[include_str!("data/deployment-plain.tmpl")],
        data: DEPLOYMENT,
        profile: &INTEROPERATOR,
    },
    Workload {
        name: "chart",
        texts: &[
            include_str!("../tests/charts/_helpers.tpl"),
            include_str!("../tests/charts/deployment.tpl"),
        ],
        data: include_str!("../tests/charts/data-base.json"),
        profile: &HELM,
    },
];

fn main() {
    divan::main();
}

fn workload(name: &str) -> &'static Workload {
    WORKLOADS.iter().find(|workload| workload.name == name).expect("it is one of them")
}

const NAMES: [&str; 4] = ["status", "deployment", "deployment-plain", "chart"];

/// Runs a pre-parsed program on data that is already there. The arena is emptied now and then, as a new render would.
#[divan::bench(args = NAMES, min_time = 1)]
fn execute(bencher: divan::Bencher<'_, '_>, name: &str) {
    let workload = workload(name);
    let text = workload.texts.concat();
    let program = Arc::new(Program::parse("t", &text, workload.profile).expect("it parses"));
    let arena = Arena::new();
    let data = from_yaml(workload.data, Numbers::Float, &arena).expect("it is YAML");
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
    let workload = workload(name);
    let text = workload.texts.concat();
    bencher.bench_local(|| Program::parse("t", &text, workload.profile).expect("it parses"));
}

/// Decodes the Deployment's data from JSON, as a request brings it.
#[divan::bench(min_time = 1)]
fn decode_json(bencher: divan::Bencher<'_, '_>) {
    let arena = Arena::new();
    let data = from_yaml(DEPLOYMENT, Numbers::Float, &arena).expect("it is YAML");
    let text = json::to_string(data).expect("it is plain data");
    let mut arena = Arena::new();
    bencher.bench_local(|| {
        arena.reset();
        let data = json::decode(text.as_bytes(), Numbers::Float, &arena).expect("it is JSON");
        matches!(data, Value::Map(_))
    });
}
