//! Reading, for comparison with `go run . bench` in `tests/oracles/yaml`.

mod workload;

use divan::{AllocProfiler, Bencher, counter::BytesCount};
use workload::{WORKLOADS, workload};
use yaml::Options;

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

#[divan::bench(args = WORKLOADS)]
fn with_spans(bencher: Bencher<'_, '_>, name: &str) {
    let text = yaml::to_yaml(&workload(name));
    let options = Options::default();
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| yaml::load(divan::black_box(&text), &options));
}

#[divan::bench(args = WORKLOADS)]
fn value_only(bencher: Bencher<'_, '_>, name: &str) {
    let text = yaml::to_yaml(&workload(name));
    let options = Options::default();
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| yaml::load_value(divan::black_box(&text), &options));
}
