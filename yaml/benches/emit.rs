//! Writing, for comparison with `go run . bench` in `tests/oracles/yaml`.

mod workload;

use divan::{AllocProfiler, Bencher, counter::BytesCount};
use workload::{WORKLOADS, workload};

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

#[divan::bench(args = WORKLOADS)]
fn kubernetes(bencher: Bencher<'_, '_>, name: &str) {
    let value = workload(name);
    let length = yaml::to_yaml(&value).len();
    bencher.counter(BytesCount::new(length)).bench_local(|| yaml::marshal(divan::black_box(&value)));
}

#[divan::bench(args = WORKLOADS)]
fn kubernetes_into_a_used_string(bencher: Bencher<'_, '_>, name: &str) {
    let value = workload(name);
    let mut text = String::new();
    let options = yaml::EmitOptions { strict: true, ..yaml::EmitOptions::default() };
    let length = yaml::to_yaml(&value).len();
    bencher.counter(BytesCount::new(length)).bench_local(move || {
        text.clear();
        yaml::emit_into(&mut text, divan::black_box(&value), &options)
    });
}

#[divan::bench(args = WORKLOADS)]
fn pyyaml(bencher: Bencher<'_, '_>, name: &str) {
    let value = workload(name);
    bencher.bench_local(|| yaml::to_pyyaml(divan::black_box(&value)));
}

#[divan::bench(args = WORKLOADS)]
fn json(bencher: Bencher<'_, '_>, name: &str) {
    let value = workload(name);
    bencher.bench_local(|| yaml::to_json(divan::black_box(&value)));
}
