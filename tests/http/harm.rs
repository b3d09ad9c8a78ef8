//! Templates that mean harm cost their caller a 422, and nobody else anything.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::kit::{Server, process, wait_for};

const ARGUMENTS: &[&str] = &["tests/registries/hostile", "--workers", "4"];

/// Values whose megabyte makes every step of `endless` cost milliseconds.
fn much() -> Value {
    json!({"properties": {"text": "a".repeat(1 << 20)}})
}

/// The processor time of every child, of those still running and of those already ended.
fn children_time(server: &Server) -> Duration {
    let running = server.workers().into_iter().map(process::own_time).sum::<Duration>();
    running + process::ended_children_time(server.pid())
}

/// Tells threads to stop when it is dropped.
struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// The kind of a problem: the last segment of its type.
fn problem(answer: &crate::kit::Answer) -> String {
    let kind = answer.json()["type"].as_str().unwrap_or_default().to_owned();
    kind.rsplit('/').next().unwrap_or_default().to_owned()
}

#[test]
fn a_template_without_end_costs_a_child_its_time_and_the_caller_a_422() {
    let server = Server::start(ARGUMENTS);
    let (own, children) = (process::own_time(server.pid()), children_time(&server));
    let answer = server.process("endless:v1", &much());
    assert_eq!((answer.status, problem(&answer).as_str()), (422, "limit-exceeded"), "{}", answer.text());
    // A killed child's time is known once it has been waited for.
    let in_children = wait_for("the time to show up in a child", || {
        Some(children_time(&server).saturating_sub(children))
            .filter(|time| *time >= Duration::from_millis(500))
    });
    let in_server = process::own_time(server.pid()).saturating_sub(own);
    assert!(
        in_server * 3 < in_children,
        "the server itself used {in_server:?}, its children {in_children:?}"
    );
    // The next caller is served.
    assert_eq!(server.process("tame:v1", &json!({"properties": {"text": "x"}})).status, 200);
}

#[test]
fn a_template_that_builds_gigabytes_costs_nobody_memory() {
    let server = Server::start(ARGUMENTS);
    let before = process::memory(server.pid(), "VmHWM").unwrap();
    let answer = server.process("gigabytes:v1", &json!({}));
    assert_eq!((answer.status, problem(&answer).as_str()), (422, "limit-exceeded"), "{}", answer.text());
    let after = process::memory(server.pid(), "VmHWM").unwrap();
    assert!(after - before < 64 << 20, "the server grew from {before} to {after} bytes");
    assert_eq!(server.process("tame:v1", &json!({"properties": {"text": "x"}})).status, 200);
}

#[test]
fn killing_every_worker_in_mid_request_harms_only_their_callers() {
    let server = Server::start(ARGUMENTS);
    let answered = server.process("tame:v1", &json!({"properties": {"text": "before"}}));
    assert_eq!(answered.status, 200);
    let busy = || {
        server.workers().iter().filter(|pid| process::own_time(**pid) >= Duration::from_millis(200)).count()
    };
    let (stop, reads) = (AtomicBool::new(false), AtomicU32::new(0));
    // On a busy machine one may run into its deadline before the other is at work; then it asks again.
    let victim = || {
        let mut answers = (0..20).map(|_| server.process("endless:v1", &much()));
        answers.find(|answer| problem(answer) != "limit-exceeded").expect("a worker is killed at last")
    };
    std::thread::scope(|scope| {
        // However this ends: a scope waits for its threads.
        let _stopped = StopAtEnd(&stop);
        let victims = [(); 2].map(|()| scope.spawn(victim));
        let reader = scope.spawn(|| {
            while !stop.load(Ordering::SeqCst) {
                let answer = server.resolve("tame:v1");
                assert_eq!(answer.status, 200, "a reader was harmed: {}", answer.text());
                reads.fetch_add(1, Ordering::SeqCst);
            }
        });
        wait_for("both requests to be at work", || (busy() >= 2).then_some(()));
        let killed = server.workers();
        assert!(!killed.is_empty());
        for pid in &killed {
            process::signal(*pid, "KILL");
        }
        for victim in victims {
            let answer = victim.join().unwrap();
            assert_eq!((answer.status, problem(&answer).as_str()), (422, "worker-died"), "{}", answer.text());
        }
        // Whoever comes next meets new workers.
        let next = server.process("tame:v1", &json!({"properties": {"text": "after"}}));
        assert_eq!(next.expect_status(200).json()["objects"][0]["data"]["text"], "after");
        let replaced = wait_for("the workers to be replaced", || {
            Some(server.workers()).filter(|workers| workers.len() == killed.len())
        });
        assert!(replaced.iter().all(|pid| !killed.contains(pid)));
        stop.store(true, Ordering::SeqCst);
        reader.join().unwrap();
    });
    assert!(reads.load(Ordering::SeqCst) > 0);
    assert_eq!(server.get("/readyz").status, 200);
}
