//! What the tests share.

use std::collections::BTreeMap;
use std::future::Future;
use std::time::Duration;

use schema::digest::Digest;
use schema::kind::Kind;
use schema::limits::Budget;
use schema::processing::{Outcome, Request, Step, Template};
use serde_json::{Value, json};
use worker::{Job, Pool, PoolConfig, WorkerError, own_executable};

/// A runtime like the server's.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(future)
}

pub(crate) fn budget() -> Budget {
    Budget { wall: Duration::from_secs(60), memory: 64 << 20, output: 1 << 20, ..Budget::default() }
}

pub(crate) async fn pool(workers: usize) -> Pool {
    let pool = Pool::start(PoolConfig { budget: budget(), ..PoolConfig::own(workers) }).unwrap();
    pool.ready().await.unwrap();
    pool
}

/// A pool whose child is started with this hidden command.
pub(crate) fn pool_of(program: &str, command: &str) -> Pool {
    let program = if program.is_empty() { own_executable() } else { program.into() };
    Pool::start(PoolConfig { program, arguments: vec![command.into()], ..PoolConfig::own(1) }).unwrap()
}

/// A job that does what the child's `work` calls this.
pub(crate) fn job(what: &str, values: Value) -> Job {
    let mut values = values;
    values["do"] = json!(what);
    let files = BTreeMap::from([("a.yaml", b"text".to_vec()), ("b/c", vec![0, 159, 146, 150])]);
    let template = Template {
        name: "a".to_owned(),
        kind: Kind::Template,
        entry: "a.yaml".to_owned(),
        files: files.into_iter().collect(),
        jinja2: false,
    };
    Job {
        digest: Some(Digest::of(b"a version")),
        template,
        request: Request { values, ..Request::default() },
        provided: Vec::new(),
        budget: budget(),
        caller: "somebody".to_owned(),
    }
}

pub(crate) fn of(caller: &str, job: Job) -> Job {
    Job { caller: caller.to_owned(), ..job }
}

pub(crate) fn within(wall: Duration, mut job: Job) -> Job {
    job.budget.wall = wall;
    job
}

pub(crate) fn done(result: Result<Step, WorkerError>) -> Outcome {
    match result {
        Ok(Step::Done(outcome)) => *outcome,
        other => panic!("{other:?}"),
    }
}

/// The process that did it.
pub(crate) fn pid_of(outcome: &Outcome) -> u64 {
    outcome.original["pid"].as_u64().unwrap()
}

/// The pool does its work.
pub(crate) async fn works(pool: &Pool) -> u64 {
    pid_of(&done(pool.process(job("echo", json!({}))).await))
}

/// Waits for something that must come; a test that waits for ever says what for.
pub(crate) async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    for _ in 0..3000 {
        if condition() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it never came: {what}");
}

pub(crate) fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

/// Whether a process is there and not merely uncollected.
pub(crate) fn lives(pid: u32) -> bool {
    stat(pid).is_some_and(|fields| fields[0] != "Z" && fields[0] != "X")
}

/// The fields of /proc/PID/stat from the third, the state, on.
pub(crate) fn stat(pid: u32) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let behind_name = text.rsplit_once(')')?.1;
    Some(behind_name.split_whitespace().map(str::to_owned).collect())
}

/// Clock ticks of processor time a process has used.
pub(crate) fn ticks(pid: u32) -> u64 {
    let fields = stat(pid).unwrap();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}
