//! Reference in, objects out; and whose fault it is when not.

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use insta::assert_json_snapshot;
use schema::processing::{Outcome, Step};
use serde_json::json;
use worker::WorkerError;

use crate::kit::{App, Scripted, acme, inspected};

const FRONTEND: &str = "/api/v1/templates/web/frontend:v1/-/process";

#[tokio::test]
async fn values_become_objects() {
    let app = App::new().await;
    let answer = app.post(FRONTEND, &json!({"parameters": {"NAME": "shop"}})).await;
    assert_eq!(
        (answer.status.as_u16(), answer.header("cache-control")),
        (200, "no-store"),
        "{}",
        answer.text()
    );
    assert_json_snapshot!("process", answer.json());
    let set = app.post(FRONTEND, &json!({"set": ["NAME=shop"]})).await.json();
    assert_eq!(set["objects"], answer.json()["objects"]);
    let yaml = app
        .send(Method::POST, FRONTEND, &[("content-type", "application/yaml")], "parameters:\n  NAME: shop\n")
        .await
        .json();
    assert_eq!(yaml["objects"], answer.json()["objects"]);
}

#[tokio::test]
async fn the_answer_takes_the_form_asked_for() {
    let app = App::new().await;
    let body = json!({"parameters": {"NAME": "shop"}});
    let yaml = app.post(&format!("{FRONTEND}?output=yaml"), &body).await;
    assert_eq!(yaml.header("content-type"), "application/yaml");
    assert_eq!(
        yaml.text(),
        "---\napiVersion: v1\nkind: Service\nmetadata:\n  name: shop\nspec:\n  ports:\n  - port: 80\n"
    );
    let accepted = app
        .send(
            Method::POST,
            FRONTEND,
            &[("accept", "application/yaml"), ("content-type", "application/json")],
            body.to_string(),
        )
        .await;
    assert_eq!(accepted.text(), yaml.text());
    let original = app.post(&format!("{FRONTEND}?output=original"), &body).await.json();
    assert_eq!(original["kind"], "List");
    assert_eq!(app.post(&format!("{FRONTEND}?output=objects"), &body).await.json()[0]["kind"], "Service");
    assert_eq!(app.post(&format!("{FRONTEND}?output=xml"), &body).await.status, 400);
}

#[tokio::test]
async fn values_that_do_not_fit_are_the_callers() {
    let app = App::new().await;
    let answer = app.post(FRONTEND, &json!({"parameters": {}})).await;
    assert_eq!(answer.status, 422);
    assert_json_snapshot!("values_rejected", answer.json());
    assert_eq!(app.post("/api/v1/templates/nothing:v1/-/process", &json!({})).await.status, 404);
    assert_eq!(app.post("/api/v1/templates/redis:latest/-/process", &json!({})).await.status, 400);
}

async fn scripted(answer: fn(usize, &worker::Job) -> Result<Step, WorkerError>) -> (App, Scripted) {
    let processor = Scripted { answer, asked: Arc::default() };
    (App::with(vec![inspected(acme())], Box::new(processor.clone()), None).await, processor)
}

#[tokio::test]
async fn limits_and_deaths_are_the_callers_and_a_full_queue_is_ours() {
    for (answer, status, kind) in [
        (
            (|_, _| Err(WorkerError::Busy { retry_after: Duration::from_secs(3) }))
                as fn(usize, &worker::Job) -> _,
            503,
            "busy",
        ),
        (
            |_, _| Err(WorkerError::Limit { what: worker::Limit::Wall, message: "it ran for 2 s".into() }),
            422,
            "limit-exceeded",
        ),
        (|_, _| Err(WorkerError::Died { message: "signal 9 at /secret/path".into() }), 422, "worker-died"),
        (|_, _| Err(WorkerError::Protocol { message: "secret".into() }), 500, "internal"),
        (|_, _| panic!("a defect"), 500, "internal"),
    ] {
        let (app, _) = scripted(answer).await;
        let answer = app.post(FRONTEND, &json!({})).await;
        assert_eq!(
            (answer.status.as_u16(), answer.json()["type"].as_str().unwrap()),
            (status, format!("/docs/errors/{kind}").as_str())
        );
        assert_eq!(answer.header("retry-after"), if kind == "busy" { "3" } else { "" });
        assert!(!answer.text().contains("secret"), "{}", answer.text());
        // Others are served as before.
        assert_eq!(app.get("/api/v1/resolve?ref=redis").await.status, 200);
    }
}

#[tokio::test]
async fn references_are_resolved_and_named() {
    let (app, processor) = scripted(|round, job| {
        Ok(match round {
            0 => Step::Needs(vec!["redis:v1".into()]),
            1 => Step::Needs(vec!["redis:v1".into(), "web/nginx".into()]),
            _ => {
                assert_eq!(job.provided.len(), 2);
                let resolved = job.provided.iter().map(|one| schema::processing::ResolvedReference {
                    asked: one.asked.clone(),
                    version: one.version.clone(),
                    digest: one.digest,
                });
                Step::Done(Box::new(Outcome { resolved: resolved.collect(), ..Outcome::default() }))
            }
        })
    })
    .await;
    let body = app.post(FRONTEND, &json!({})).await.json();
    let resolved = body["resolved"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| format!("{} {}", one["asked"], one["version"]))
        .collect::<Vec<_>>();
    assert_eq!(
        resolved,
        [r#""web/frontend:v1" "v1.0.0""#, r#""redis:v1" "v1.0.4""#, r#""web/nginx" "v1.0.0""#]
    );
    assert_eq!(processor.asked.load(std::sync::atomic::Ordering::Relaxed), 3);
}

#[tokio::test]
async fn references_are_bounded_and_must_lead_somewhere() {
    let (app, _) = scripted(|_, _| Ok(Step::Needs(vec!["redsi:v1".into()]))).await;
    let answer = app.post(FRONTEND, &json!({})).await;
    assert_eq!(
        (answer.status.as_u16(), answer.json()["type"].as_str().unwrap().to_owned()),
        (422, "/docs/errors/reference-unresolved".to_owned())
    );
    assert!(answer.json()["near"][0].as_str().unwrap().ends_with("/redis"), "{}", answer.text());
    let (app, _) =
        scripted(|_, _| Ok(Step::Needs((0..201).map(|number| format!("redis:v1.0.{number}")).collect())))
            .await;
    assert_eq!(app.post(FRONTEND, &json!({})).await.json()["type"], "/docs/errors/limit-exceeded");
    // A chain without an end: every round one more, each there under another spelling of its host.
    let (app, processor) = scripted(|round, _| {
        let host = "github.com"
            .chars()
            .enumerate()
            .map(|(bit, letter)| if round >> bit & 1 == 1 { letter.to_ascii_uppercase() } else { letter });
        Ok(Step::Needs(vec![format!("{}/acme/templates/redis:v1", host.collect::<String>())]))
    })
    .await;
    assert_eq!(app.post(FRONTEND, &json!({})).await.json()["type"], "/docs/errors/limit-exceeded");
    assert_eq!(processor.asked.load(std::sync::atomic::Ordering::Relaxed), 33);
}
