//! Every limit stops the one who hits it, says so, and leaves the pool as it was.

use std::time::Duration;

use schema::tree::Files;
use serde_json::json;
use worker::{Limit, Pool, WorkerError};

use crate::kit::{done, job, kill, lives, pid_of, pool, run, ticks, until, within, works};

/// Runs a job that must hit a limit, and checks that the pool still works; gives the message.
async fn hits(pool: &Pool, limit: Limit, job: worker::Job) -> String {
    match pool.process(job).await {
        Err(WorkerError::Limit { what, message }) if what == limit => {
            works(pool).await;
            message
        }
        other => panic!("{other:?}"),
    }
}

pub(crate) fn a_loop_without_end_is_stopped_and_the_next_job_runs() {
    run(async {
        let pool = pool(1).await;
        let before = works(&pool).await;
        let looping = within(Duration::from_millis(200), job("spin", json!({})));
        let message = hits(&pool, Limit::Wall, looping).await;
        assert!(message.contains("200ms"), "{message}");
        assert_ne!(works(&pool).await, before, "a fresh process");
        assert_eq!(pool.stats().killed, 1);
        assert!(!lives(u32::try_from(before).unwrap()));
    });
}

pub(crate) fn memory_without_end_is_stopped_and_named() {
    run(async {
        let pool = pool(1).await;
        let message = hits(&pool, Limit::Memory, job("eat", json!({}))).await;
        assert!(message.contains("memory limit of 64 MiB"), "{message}");
    });
}

pub(crate) fn memory_within_the_budget_is_given_and_a_smaller_budget_is_kept() {
    run(async {
        let pool = pool(1).await;
        done(pool.process(job("hold", json!({ "bytes": 60 << 20 }))).await);
        hits(&pool, Limit::Memory, job("hold", json!({ "bytes": 66 << 20 }))).await;
        let mut small = job("hold", json!({ "bytes": 10 << 20 }));
        small.budget.memory = 8 << 20;
        let message = hits(&pool, Limit::Memory, small).await;
        assert!(message.contains("memory limit of 8 MiB"), "{message}");
        done(pool.process(job("hold", json!({ "bytes": 60 << 20 }))).await);
    });
}

pub(crate) fn output_without_end_is_stopped() {
    run(async {
        let pool = pool(1).await;
        done(pool.process(job("write", json!({ "bytes": 900_000 }))).await);
        let message = hits(&pool, Limit::Output, job("write", json!({ "bytes": 10 << 20 }))).await;
        assert!(message.contains("output limit of 1 MiB"), "{message}");
    });
}

pub(crate) fn output_without_bottom_is_stopped() {
    run(async {
        let pool = pool(1).await;
        let message = hits(&pool, Limit::Stack, job("fold", json!({ "levels": 5000 }))).await;
        assert!(message.contains("the output nests too deep"), "{message}");
        assert_eq!(pool.stats().died, 0);
    });
}

pub(crate) fn recursion_without_end_is_stopped() {
    run(async {
        let pool = pool(1).await;
        hits(&pool, Limit::Stack, job("nest", json!({}))).await;
    });
}

pub(crate) fn too_large_a_version_is_refused() {
    run(async {
        let pool = pool(1).await;
        let mut large = job("echo", json!({}));
        large.template.files = Files::from_iter([("a.yaml".to_owned(), vec![0; 65 << 20])]);
        hits(&pool, Limit::Input, large).await;
    });
}

pub(crate) fn a_panic_is_told_to_its_caller() {
    run(async {
        let pool = pool(1).await;
        match pool.process(job("panic", json!({ "word": 7 }))).await {
            Err(WorkerError::Died { message }) => assert!(message.contains("boom 7"), "{message}"),
            other => panic!("{other:?}"),
        }
        works(&pool).await;
        assert_eq!(pool.stats().died, 1);
    });
}

pub(crate) fn a_bad_exit_is_told_to_its_caller() {
    run(async {
        let pool = pool(1).await;
        match pool.process(job("exit", json!({}))).await {
            Err(WorkerError::Died { message }) => assert_eq!(message, "status 3"),
            other => panic!("{other:?}"),
        }
        works(&pool).await;
    });
}

pub(crate) fn garbage_on_standard_output_is_noticed() {
    run(async {
        let pool = pool(1).await;
        match pool.process(job("print", json!({}))).await {
            Err(WorkerError::Protocol { message }) => assert!(message.contains("debug: h"), "{message}"),
            other => panic!("{other:?}"),
        }
        works(&pool).await;
        assert_eq!(pool.stats().killed, 1);
    });
}

pub(crate) fn processor_time_is_spent_in_the_child() {
    run(async {
        let pool = std::sync::Arc::new(pool(1).await);
        let worker = u32::try_from(works(&pool).await).unwrap();
        let (own_before, before) = (ticks(std::process::id()), ticks(worker));
        let asked = tokio::spawn({
            let pool = std::sync::Arc::clone(&pool);
            async move { pool.process(job("spin", json!({}))).await }
        });
        until("half a second of work in the child", || ticks(worker) >= before + 50).await;
        let own = ticks(std::process::id()) - own_before;
        assert!(own < 25, "{own} ticks were spent here, where only waiting is done");
        kill(worker);
        assert!(matches!(asked.await.unwrap(), Err(WorkerError::Died { .. })));
        assert_ne!(pid_of(&done(pool.process(job("echo", json!({}))).await)), u64::from(worker));
    });
}
