//! The shapes of answers, held by snapshots: a changed line here is a changed API.

use insta::assert_json_snapshot;
use schema::{Finding, Kind, Rule, Severity};
use serde_json::json;
use wire::problem::Detail;
use wire::process::{Pin, ProcessAnswer, ProcessRequest, RequestError};
use wire::{Health, Problem, ProblemKind, files, resolve};

static RULE: Rule =
    Rule { id: "missing-example", severity: Severity::Warning, why: "", fix: "Add it.", withholds: false };

fn resolved() -> resolve::Resolved {
    resolve::Resolved {
        requested: "redis:v1".into(),
        resolved: "v1.0.4".into(),
        pinned: "github.com/acme/templates/redis:=v1.0.4@sha256:00".into(),
        reference: "github.com/acme/templates/redis:v1.0.4".into(),
        registry: "github.com/acme/templates".into(),
        collection: None,
        template: "redis".into(),
        version: "v1.0.4".into(),
        rule: "highest-patch".into(),
        why: "the highest patch of v1.0".into(),
        commit: Some("9f3c1ea".into()),
        digest: "sha256:00".into(),
        kind: Kind::Template,
        health: Health::Healthy,
        entry: "redis.yaml".into(),
        files: vec![files::File {
            path: "redis.yaml".into(),
            size: 5,
            executable: false,
            digest: "sha256:01".into(),
            url: "/x".into(),
        }],
        newer: resolve::Newer { minor: Some("v1.1.0".into()), major: None },
        withdrawn: None,
        deprecated: None,
        links: resolve::Links {
            template: "/t".into(),
            files: "/f".into(),
            content: "/c".into(),
            archive: "/a".into(),
            parameters: "/p".into(),
            process: None,
            page: "/g".into(),
        },
    }
}

#[test]
fn resolved_shape() {
    assert_json_snapshot!(resolved());
    let text = serde_json::to_string(&resolved()).unwrap();
    assert_eq!(serde_json::from_str::<resolve::Resolved>(&text).unwrap(), resolved());
}

#[test]
fn problem_shape() {
    let mut problem = Problem::new("", ProblemKind::UnknownVersion, "there is a redis, but no v9");
    problem.part = Some("version".into());
    problem.versions = vec!["v1.0.4".into()];
    problem.errors = vec![Detail::from(
        schema::processing::Problem::error("no").in_file("values").at(1, 2).pointing("/a").hint("h"),
    )];
    assert_json_snapshot!(problem);
    assert_eq!(problem.id(), "unknown-version");
}

#[test]
fn finding_shape() {
    let finding = Finding::new(&RULE, "redis/v1", "there is no example.yaml")
        .at(Some(schema::Place { line: 3, column: 1 }));
    assert_json_snapshot!(wire::Finding::from(&finding));
}

#[test]
fn problem_kinds_are_listed_once_each() {
    let listing =
        ProblemKind::ALL.iter().map(|kind| (kind.id(), kind.status(), kind.title())).collect::<Vec<_>>();
    let mut ids = listing.iter().map(|entry| entry.0).collect::<Vec<_>>();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), listing.len());
    assert_json_snapshot!(listing);
}

#[test]
fn values_may_stand_in_the_envelope_or_beside_it() {
    let request =
        |body| serde_json::from_value::<ProcessRequest>(body).unwrap().into_request(0, String::new());
    let inside =
        request(json!({"values": {"parameters": {"A": "1"}}, "set": ["B=2=3"], "name": "n"})).unwrap();
    let beside = request(json!({"parameters": {"A": "1"}, "set": ["B=2=3"], "name": "n"})).unwrap();
    assert_eq!(inside, beside);
    assert_eq!(inside.set, [("B".to_owned(), "2=3".to_owned())]);
    assert_eq!(
        request(json!({"values": {}, "parameters": {}})),
        Err(RequestError::TwoDocuments("parameters".into()))
    );
    assert_eq!(request(json!({"set": ["A"]})), Err(RequestError::Setting("A".into())));
    assert_eq!(request(json!({})).unwrap().values, json!(null));
}

#[test]
fn process_answer_shape() {
    let outcome = schema::processing::Outcome {
        objects: vec![json!({"kind": "Service", "apiVersion": "v1"})],
        generated: vec!["PASSWORD".into()],
        ..Default::default()
    };
    let own = Pin { asked: "redis:v1".into(), version: "v1.0.4".into(), digest: "sha256:00".into() };
    assert_json_snapshot!(ProcessAnswer::new("redis:v1".into(), own, outcome));
}

#[test]
fn streams_are_what_kubectl_reads() {
    let objects = [json!({"kind": "A"}), json!({"kind": "B", "n": "1"})];
    assert_eq!(wire::text::yaml_stream(&objects), "---\nkind: A\n---\nkind: B\n\"n\": \"1\"\n");
    assert_eq!(wire::text::yaml_stream(&[]), "");
    assert_eq!(wire::text::from_yaml("a: [1, yes]\n").unwrap(), json!({"a": [1, true]}));
    assert!(wire::text::from_yaml("a: [").unwrap_err().line.is_some());
}
