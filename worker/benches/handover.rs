//! What a hand-over costs: an empty job there and back, on a worker that is up and on one that has to start.
//!
//! `cargo bench -p worker`. The executable is its own child, as the product is.

use std::process::ExitCode;

use divan::Bencher;
use engine::Interpreter;
use schema::digest::Digest;
use schema::kind::Kind;
use schema::limits::Budget;
use schema::processing::{Provided, Request, Step, Template};
use tokio::runtime::Runtime;
use worker::{Job, Pool, PoolConfig};

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("__worker") {
        return worker::run_worker_with(nothing);
    }
    divan::main();
    ExitCode::SUCCESS
}

fn nothing(_: &Template, _: &Request, _: &[Provided], _: &Budget, _: &dyn Interpreter) -> Step {
    Step::Done(Box::default())
}

fn runtime() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).enable_all().build().expect("a runtime starts here")
}

fn job(digest: Option<Digest>, bytes: usize) -> Job {
    let files = [("a.yaml".to_owned(), vec![b'#'; bytes])];
    Job {
        digest,
        template: Template {
            name: "a".to_owned(),
            kind: Kind::Template,
            entry: "a.yaml".to_owned(),
            files: files.into_iter().collect(),
            jinja2: false,
        },
        request: Request::default(),
        provided: Vec::new(),
        budget: Budget::default(),
        caller: "bench".to_owned(),
    }
}

/// A worker that is up and holds the version.
#[divan::bench]
fn warm(bencher: Bencher<'_, '_>) {
    let runtime = runtime();
    let pool = runtime.block_on(async { Pool::start(PoolConfig::own(1)) }).expect("a pool starts here");
    bencher
        .with_inputs(|| job(Some(Digest::of(b"a")), 4096))
        .bench_values(|job| runtime.block_on(pool.process(job)).expect("an empty job succeeds"));
}

/// A worker that is up but must be sent the version, of this many bytes.
#[divan::bench(args = [4 << 10, 1 << 20])]
fn loading(bencher: Bencher<'_, '_>, bytes: usize) {
    let runtime = runtime();
    let pool = runtime.block_on(async { Pool::start(PoolConfig::own(1)) }).expect("a pool starts here");
    bencher
        .with_inputs(|| job(None, bytes))
        .bench_values(|job| runtime.block_on(pool.process(job)).expect("an empty job succeeds"));
}

/// A worker that has to be started, greeted and confined first.
#[divan::bench(sample_count = 50, sample_size = 1)]
fn cold(bencher: Bencher<'_, '_>) {
    let runtime = runtime();
    bencher.with_inputs(|| job(None, 4096)).bench_values(|job| {
        let pool = runtime.block_on(async { Pool::start(PoolConfig::own(1)) }).expect("a pool starts here");
        runtime.block_on(pool.process(job)).expect("an empty job succeeds")
    });
}
