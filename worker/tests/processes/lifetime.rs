//! How workers come up, and when they end.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, ExitCode, Stdio};

use serde_json::json;
use worker::{Pool, PoolConfig, WorkerError, own_executable};

use crate::kit::{budget, done, job, kill, lives, pool, pool_of, run, stat, until, works};

pub(crate) fn another_build_is_refused() {
    run(async {
        let pool = pool_of("", "__stranger");
        let expect = |result: Result<(), WorkerError>| match result {
            Err(WorkerError::Start { message }) => assert!(message.contains("build another"), "{message}"),
            other => panic!("{other:?}"),
        };
        expect(pool.ready().await);
        expect(pool.process(job("echo", json!({}))).await.map(drop));
        assert_eq!(pool.stats().started, 0);
    });
}

pub(crate) fn a_program_that_is_not_there_is_told() {
    run(async {
        let pool = pool_of("/nonexistent/formwork", "__worker");
        for _ in 0..3 {
            match pool.process(job("echo", json!({}))).await {
                Err(WorkerError::Start { message }) => {
                    assert!(message.contains("/nonexistent/formwork"), "{message}");
                }
                other => panic!("{other:?}"),
            }
        }
    });
}

pub(crate) fn started_by_hand_it_says_so() {
    for command in ["__worker", "__child"] {
        let output = Command::new(own_executable()).arg(command).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(64));
        assert!(String::from_utf8(output.stderr).unwrap().contains("not by hand"));
        assert!(output.stdout.is_empty());
    }
}

/// A parent with two workers, one of them in an endless loop, that prints their ids and then waits.
pub(crate) fn parent() -> ExitCode {
    run(async {
        let pool = std::sync::Arc::new(pool(2).await);
        let asked = std::sync::Arc::clone(&pool);
        tokio::spawn(async move { asked.process(job("spin", json!({}))).await });
        until("one at work", || pool.stats().busy == 1).await;
        println!("{}", json!(pool.pids()));
        std::future::pending::<()>().await;
    });
    ExitCode::SUCCESS
}

pub(crate) fn workers_die_with_a_killed_parent() {
    let mut parent = Command::new(own_executable()).arg("__parent").stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(parent.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let workers = serde_json::from_str::<Vec<u32>>(&line).unwrap();
    assert_eq!(workers.len(), 2);
    assert!(workers.iter().all(|pid| lives(*pid)));
    // A group of their own: a terminal's Ctrl-C does not reach them.
    assert!(workers.iter().all(|pid| stat(*pid).unwrap()[2] == pid.to_string()));
    parent.kill().unwrap();
    parent.wait().unwrap();
    run(until("the end of both workers", || !workers.iter().any(|pid| lives(*pid))));
}

/// A server whose program file is removed while it runs, and whose worker dies after that.
pub(crate) fn survivor(file: &str) -> ExitCode {
    run(async {
        let pool = pool(1).await;
        std::fs::remove_file(file).unwrap();
        std::fs::write(file, "#!/bin/sh\nexit 1\n").unwrap();
        let before = works(&pool).await;
        kill(u32::try_from(before).unwrap());
        until("another worker", || pool.stats().died == 1 && pool.stats().ready == 1).await;
        assert_ne!(works(&pool).await, before);
        println!("survived");
    });
    ExitCode::SUCCESS
}

pub(crate) fn a_replaced_executable_is_survived() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("formwork");
    std::fs::copy(own_executable(), &file).unwrap();
    let output = Command::new(&file).arg("__survivor").arg(&file).output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "survived\n",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

pub(crate) fn an_idle_worker_that_dies_is_replaced() {
    run(async {
        let pool = pool(2).await;
        for pid in pool.pids() {
            kill(pid);
        }
        until("both replaced", || pool.stats().died == 2 && pool.stats().ready == 2).await;
        works(&pool).await;
        assert_eq!(pool.stats().started, 4);
    });
}

pub(crate) fn a_worker_is_retired_after_many_jobs() {
    run(async {
        let pool = pool(1).await;
        let first = works(&pool).await;
        for _ in 1..10_000 {
            done(pool.process(job("busy", json!({}))).await);
        }
        assert_eq!(pool.stats().retired, 1);
        assert_ne!(works(&pool).await, first);
        assert_eq!((pool.stats().killed, pool.stats().died), (0, 0));
    });
}

pub(crate) fn stopping_answers_everybody() {
    run(async {
        let pool = Pool::start(PoolConfig { budget: budget(), ..PoolConfig::own(2) }).unwrap();
        pool.ready().await.unwrap();
        let workers = pool.pids();
        let (running, ()) = tokio::join!(pool.process(job("spin", json!({}))), async {
            until("one at work", || pool.stats().busy == 1).await;
            pool.shutdown();
        });
        assert_eq!(running, Err(WorkerError::Stopping));
        assert_eq!(pool.process(job("echo", json!({}))).await, Err(WorkerError::Stopping));
        assert!(pool.pids().is_empty());
        until("the end of both workers", || !workers.iter().any(|pid| lives(*pid))).await;
    });
    assert!(matches!(Pool::start(PoolConfig::own(1)), Err(worker::PoolError::NoRuntime)));
    std::io::stdout().flush().unwrap();
}
