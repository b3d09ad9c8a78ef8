//! Many callers, few workers.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use schema::digest::Digest;
use schema::processing::{Provided, Step};
use serde_json::json;
use tokio::task::JoinHandle;
use worker::{Job, Pool, PoolConfig, WorkerError};

use crate::kit::{budget, done, job, kill, of, pid_of, pool, run, until, within, works};

type Asked = JoinHandle<Result<Step, WorkerError>>;

fn ask(pool: &Arc<Pool>, job: Job) -> Asked {
    let pool = Arc::clone(pool);
    tokio::spawn(async move { pool.process(job).await })
}

fn endless(caller: &str) -> Job {
    of(caller, job("spin", json!({})))
}

pub(crate) fn everything_arrives_and_a_version_is_sent_once() {
    run(async {
        let pool = pool(1).await;
        let values =
            json!({ "number": 0.1, "least": 5e-324, "large": u64::MAX, "z": 1, "a": [null, { "b": "ü" }] });
        let mut whole = job("echo", values);
        let other = whole.template.clone();
        let digest = Digest::of(b"another version");
        whole.provided = vec![Provided {
            asked: "b:v1".to_owned(),
            version: "v1.0.0".to_owned(),
            digest,
            template: other,
        }];
        let expected = whole.request.values.to_string();
        let files = json!([["a.yaml", b"text"], ["b/c", [0, 159, 146, 150]]]);
        for round in 0..3 {
            let outcome = done(pool.process(whole.clone()).await);
            assert_eq!(outcome.objects[0].to_string(), expected);
            assert_eq!(outcome.original["files"], files);
            assert_eq!(outcome.original["provided"], json!([{ "asked": "b:v1", "files": files }]));
            assert_eq!(pool.stats().warm, round, "all but the first find what they need there");
        }
        whole.digest = None;
        assert_eq!(done(pool.process(whole.clone()).await).original["files"], files);
        assert_eq!(pool.stats().warm, 2, "without a digest it is sent each time");
    });
}

pub(crate) fn a_hundred_jobs_over_two_workers() {
    run(async {
        let pool =
            Arc::new(Pool::start(PoolConfig { queue: 200, budget: budget(), ..PoolConfig::own(2) }).unwrap());
        let asked = (0..100).map(|number| {
            let caller = format!("caller {}", number % 10);
            (number, ask(&pool, of(&caller, job("echo", json!({ "number": number })))))
        });
        let mut pids = BTreeSet::new();
        for (number, asked) in asked.collect::<Vec<_>>() {
            let outcome = done(asked.await.unwrap());
            assert_eq!(outcome.objects[0]["number"], number, "each gets its own answer");
            pids.insert(pid_of(&outcome));
        }
        assert!((1..=2).contains(&pids.len()), "{pids:?}");
        let stats = pool.stats();
        assert_eq!((stats.jobs, stats.busy, stats.queued, stats.killed, stats.died), (100, 0, 0, 0, 0));
    });
}

pub(crate) fn nobody_holds_more_than_half() {
    run(async {
        let pool = Arc::new(pool(4).await);
        let greedy = (0..10).map(|_| ask(&pool, endless("greedy"))).collect::<Vec<_>>();
        until("two endless jobs", || pool.stats().busy == 2 && pool.stats().queued == 8).await;
        // Others are served at once, again and again, and the greedy caller gets nothing more meanwhile.
        for _ in 0..20 {
            done(pool.process(of("modest", job("echo", json!({})))).await);
        }
        assert_eq!((pool.stats().busy, pool.stats().queued), (2, 8));
        pool.shutdown();
        for asked in greedy {
            assert_eq!(asked.await.unwrap(), Err(WorkerError::Stopping));
        }
    });
}

pub(crate) fn too_many_waiting_are_turned_away() {
    run(async {
        let pool =
            Arc::new(Pool::start(PoolConfig { queue: 4, budget: budget(), ..PoolConfig::own(1) }).unwrap());
        let first = ask(&pool, endless("first"));
        until("the first at work", || pool.stats().busy == 1).await;
        let mut waiting = Vec::new();
        for _ in 0..2 {
            waiting.push(ask(&pool, endless("second")));
        }
        until("two waiting", || pool.stats().queued == 2).await;
        let refused = pool.process(endless("second")).await;
        assert!(matches!(refused, Err(WorkerError::Busy { .. })), "half the queue is the most: {refused:?}");
        for _ in 0..2 {
            waiting.push(ask(&pool, endless("third")));
        }
        until("four waiting", || pool.stats().queued == 4).await;
        match pool.process(endless("fourth")).await {
            Err(WorkerError::Busy { retry_after }) => {
                assert!((1..=30).contains(&retry_after.as_secs()) && retry_after.subsec_nanos() == 0);
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(pool.stats().refused, 2);
        pool.shutdown();
        for asked in waiting.into_iter().chain([first]) {
            assert_eq!(asked.await.unwrap(), Err(WorkerError::Stopping));
        }
    });
}

pub(crate) fn a_killed_worker_harms_only_its_caller() {
    run(async {
        let pool = Arc::new(pool(4).await);
        let victims = ["a", "b"].map(|caller| ask(&pool, endless(caller)));
        until("the victims at work", || pool.stats().busy == 2).await;
        let others =
            ["c", "d"].map(|caller| ask(&pool, of(caller, job("busy", json!({ "milliseconds": 300 })))));
        until("all at work", || pool.stats().busy == 4).await;
        // The victims' processes are those that do not change when everybody else is done.
        for other in others {
            done(other.await.unwrap());
        }
        assert_eq!(pool.stats().busy, 2);
        for pid in pool.pids() {
            kill(pid);
        }
        for victim in victims {
            match victim.await.unwrap() {
                Err(WorkerError::Died { message }) => assert!(message.contains("killed"), "{message}"),
                other => panic!("{other:?}"),
            }
        }
        until("all replaced", || pool.stats().ready == 4).await;
        works(&pool).await;
        assert_eq!(pool.stats().died, 4);
    });
}

pub(crate) fn callers_who_give_up_leave_the_pool_whole() {
    run(async {
        let pool = Arc::new(pool(1).await);
        let at_work = ask(&pool, within(Duration::from_millis(300), endless("impatient")));
        until("the first at work", || pool.stats().busy == 1).await;
        let waiting = ask(&pool, endless("impatient"));
        until("the second waiting", || pool.stats().queued == 1).await;
        at_work.abort();
        waiting.abort();
        // The one that waited is never begun: nothing but the first one's own limit stands in the way.
        works(&pool).await;
        assert_eq!(pool.stats().jobs, 2);
    });
}

pub(crate) fn one_job_of_a_command_runs_anywhere() {
    let alone = worker::run_once(job("echo", json!({ "x": 1 })), crate::python::python());
    assert_eq!(done(alone).objects[0]["x"], 1);
    run(async {
        let inside = worker::run_once(job("echo", json!({ "x": 2 })), crate::python::python());
        assert_eq!(done(inside).objects[0]["x"], 2);
    });
}
