//! Reports come after the version, stay with its bytes, and go with them.

use super::*;
use crate::{Health, NeededReference, Report, ReportState, ReportedVersion};

fn report(problem: Option<&str>) -> Arc<Report> {
    static FAILS: schema::Rule = schema::Rule {
        id: "example-fails",
        severity: schema::Severity::Error,
        why: "a test says so",
        fix: "mend it",
        withholds: false,
    };
    let findings = problem.map(|problem| schema::Finding::new(&FAILS, "example.yaml", problem));
    Arc::new(Report {
        engine: "engine-1".into(),
        at: 1_500,
        findings: findings.into_iter().collect(),
        needed: vec![NeededReference { reference: "redis:v1".into(), digest: None }],
    })
}

fn redis(catalog: &Catalog, version: &str) -> Arc<crate::VersionSnapshot> {
    let snapshot = catalog.snapshot();
    let registry = snapshot.registry(ANYBODY, acme().name()).unwrap();
    let template = registry.template(None, &"redis".parse().unwrap()).unwrap();
    template.version(&version.parse().unwrap()).unwrap().clone()
}

async fn publish(catalog: &Catalog, version: &str, report: Arc<Report>) -> usize {
    let reported = ReportedVersion {
        collection: None,
        template: "redis".parse().unwrap(),
        version: version.parse().unwrap(),
        digest: redis(catalog, version).digest,
        report,
    };
    catalog.publish_reports(acme().name(), vec![reported], 1_500).await.unwrap()
}

#[tokio::test]
async fn a_report_is_shown_kept_and_logged() {
    let (directory, catalog) = fresh().await;
    acme().publish(&catalog).await;
    assert_eq!(redis(&catalog, "v1.0.0").report, ReportState::Pending);
    let before = catalog.snapshot().generation;
    assert_eq!(publish(&catalog, "v1.0.0", report(Some("it fails"))).await, 1);
    assert_eq!(catalog.snapshot().generation, before + 1);
    let reported = redis(&catalog, "v1.0.0");
    assert_eq!(reported.health(), Health::Broken);
    assert_eq!(redis(&catalog, "v1.0.1").health(), Health::Healthy);
    check(&catalog);

    // What else is published does not lose it; neither does a restart.
    acme().version("late:v1.0.0", &[("late.yaml", "l")]).at(2_000, "2").publish(&catalog).await;
    assert_eq!(redis(&catalog, "v1.0.0").report, reported.report);
    let seen_before = seen(&catalog.snapshot());
    catalog.close().await;
    drop(catalog);
    let (catalog, _) = open(directory.path()).await;
    assert_eq!(redis(&catalog, "v1.0.0").report, reported.report);
    assert_eq!(seen(&catalog.snapshot()), seen_before);
}

#[tokio::test]
async fn a_report_belongs_to_bytes() {
    let (_directory, catalog) = fresh().await;
    acme().publish(&catalog).await;
    publish(&catalog, "v1.0.1", report(Some("it fails"))).await;
    let stale = ReportedVersion {
        collection: None,
        template: "redis".parse().unwrap(),
        version: "v1.0.1".parse().unwrap(),
        digest: redis(&catalog, "v1.0.1").digest,
        report: report(None),
    };
    let mut other = acme();
    other.publication.versions.retain(|version| version.version.to_string() != "v1.0.1");
    let rewritten = other.version("redis:v1.0.1", &[("redis.yaml", "rewritten")]).at(1_600, "2");
    rewritten.publish(&catalog).await;
    assert_eq!(redis(&catalog, "v1.0.1").report, ReportState::Pending);
    // One that was under way for the bytes before comes too late.
    assert_eq!(catalog.publish_reports(acme().name(), vec![stale], 1_700).await.unwrap(), 0);
    assert_eq!(redis(&catalog, "v1.0.1").report, ReportState::Pending);
    // The bytes come back, and so does what is known of them.
    acme().at(1_800, "3").publish(&catalog).await;
    assert_eq!(redis(&catalog, "v1.0.1").health(), Health::Broken);
}
