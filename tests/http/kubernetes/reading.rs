//! Discovery, objects, lists and tables.

use serde_json::json;

use super::kit::{GROUP, Setting, expect_failure, names};
use crate::kit::example_name;

/// What `kubectl` 1.20 and 1.32 ask before their first real question, recorded.
const DISCOVERY: &[(&str, &str, &str)] = &[
    ("/api?timeout=32s", "APIVersions", "application/json, */*"),
    ("/apis?timeout=32s", "APIGroupList", "application/json, */*"),
    ("/api/v1?timeout=32s", "APIResourceList", "application/json, */*"),
    ("/apis/template.openshift.io/v1?timeout=32s", "APIResourceList", "application/json, */*"),
    ("/apis/template.openshift.io", "APIGroup", "application/json, */*"),
    (
        "/apis",
        "APIGroupList",
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json",
    ),
    ("/api/v1/namespaces", "NamespaceList", "application/json"),
];

#[test]
fn clients_find_their_way() {
    let setting = Setting::new();
    for base in ["", "/k8s/r/localhost/examples/registry"] {
        for (path, kind, accept) in DISCOVERY {
            let answer =
                setting.server.get_with(&format!("{base}{path}"), &[("accept", accept)]).expect_status(200);
            assert_eq!(answer.json()["kind"], *kind, "{base}{path}");
            assert_eq!(answer.header("content-type"), "application/json");
        }
    }
    let resources = setting.get(GROUP).json();
    let verbs = |name: &str| {
        let all = resources["resources"].as_array().unwrap();
        all.iter().find(|one| one["name"] == name).unwrap()["verbs"].clone()
    };
    assert_eq!(verbs("templates"), json!(["create", "delete", "get", "list", "patch", "update", "watch"]));
    assert_eq!(
        (verbs("processedtemplates"), verbs("templates/processed")),
        (json!(["create"]), json!(["create"]))
    );
    let version = setting.get("/version").expect_status(200).json();
    assert!(version["gitVersion"].as_str().unwrap().contains("formwork"), "{version}");
    let schema = setting.get("/openapi/v2").expect_status(200).json();
    assert!(
        schema["definitions"]["com.github.openshift.api.template.v1.Template"]["properties"]["objects"]
            .is_object()
    );
    let binary = setting
        .server
        .get_with("/openapi/v2", &[("accept", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf")]);
    assert!(binary.expect_status(200).body.starts_with(b"\x0a\x032.0"), "swagger, the first field");
    for nothing in [
        "/openapi/v3",
        "/apis/apps/v1",
        "/api/v1/pods",
        "/namespaces/x",
        "/k8s/r/git.example/no/where/api",
        "/k8s",
    ] {
        expect_failure(
            setting.get(nothing),
            if nothing == "/api/v1/pods" { continue } else { 404 },
            "NotFound",
        );
    }
    expect_failure(setting.get("/api/v1/namespaces/nowhere"), 404, "NotFound");
    assert_eq!(setting.get("/api/v1/namespaces/databases").json()["metadata"]["name"], "databases");
}

#[test]
fn a_template_is_an_object_by_name_and_by_reference() {
    let setting = Setting::new();
    let get = |name: &str| setting.get(&format!("{GROUP}/namespaces/databases/templates/{name}"));
    let redis = get("redis").expect_status(200).json();
    assert_eq!(
        (&redis["kind"], &redis["apiVersion"]),
        (&json!("Template"), &json!("template.openshift.io/v1"))
    );
    let metadata = &redis["metadata"];
    assert_eq!((&metadata["name"], &metadata["namespace"]), (&json!("redis"), &json!("databases")));
    for member in ["uid", "resourceVersion", "creationTimestamp"] {
        assert!(metadata[member].as_str().is_some_and(|text| !text.is_empty()), "{member}: {metadata}");
    }
    let annotations = &metadata["annotations"];
    assert_eq!(
        (&annotations["formwork/version"], &annotations["formwork/registry"]),
        (&json!("v2.0.0"), &json!(example_name()))
    );
    let resolved = setting.server.resolve("databases/redis").json();
    assert_eq!(annotations["formwork/digest"], resolved["digest"]);
    for name in ["redis:v1.0", "redis%3Av1.0", "redis%3av1", "redis:=v1.0.2", "redis:%5Ev1"] {
        let version = get(name).expect_status(200).json();
        assert_eq!(version["metadata"]["annotations"]["formwork/version"], "v1.0.2", "{name}");
        assert_ne!(version["metadata"]["uid"], metadata["uid"]);
    }
    let by_digest = get(&format!("redis@{}", resolved["digest"].as_str().unwrap())).expect_status(200).json();
    assert_eq!(by_digest["objects"], redis["objects"]);
    // Whatever is in the list is there by its name.
    let list = setting.get(&format!("{GROUP}/templates")).expect_status(200).json();
    assert_eq!(names(&list), ["postgresql", "redis", "frontend"]);
    for item in list["items"].as_array().unwrap() {
        let path = format!(
            "{GROUP}/namespaces/{}/templates/{}",
            item["metadata"]["namespace"].as_str().unwrap(),
            item["metadata"]["name"].as_str().unwrap()
        );
        assert_eq!(setting.get(&path).expect_status(200).json(), *item);
    }
    let missing = expect_failure(get("reddis"), 404, "NotFound");
    assert!(missing["message"].as_str().unwrap().contains("redis"), "near names are told: {missing}");
    assert_eq!(
        (&missing["details"]["name"], &missing["details"]["kind"]),
        (&json!("reddis"), &json!("templates"))
    );
    let missing = expect_failure(get("redis:v7"), 404, "NotFound");
    assert!(missing["message"].as_str().unwrap().contains("has no v7.0"), "{missing}");
}

#[test]
fn a_template_of_another_kind_is_not_listed_and_says_what_it_is() {
    let setting = Setting::new();
    // The example registry's nginx is in Jinja.
    let refused =
        expect_failure(setting.get(&format!("{GROUP}/namespaces/web/templates/nginx")), 404, "NotFound");
    assert!(refused["message"].as_str().unwrap().contains("Deployment Manager"), "{refused}");
    let list = setting.get(&format!("{GROUP}/namespaces/web/templates")).json();
    assert_eq!(names(&list), ["frontend"]);
}

#[test]
fn the_proposals_face_says_what_the_author_wrote() {
    let setting = Setting::new();
    let written = setting.get("/namespaces/databases/templates/postgresql").expect_status(200).json();
    assert_eq!(written["apiVersion"], "v1");
    assert!(written["metadata"]["annotations"].get("formwork/api-version").is_none());
    let grouped = setting.get(&format!("{GROUP}/namespaces/databases/templates/postgresql")).json();
    assert_eq!(grouped["apiVersion"], "template.openshift.io/v1");
    assert_eq!(grouped["metadata"]["annotations"]["formwork/api-version"], "v1");
    assert_eq!(written["objects"], grouped["objects"]);
    let list = setting.get("/namespaces/databases/templates").json();
    assert_eq!(
        (&list["kind"], &list["apiVersion"], names(&list)),
        (&json!("TemplateList"), &json!("v1"), vec!["postgresql".to_owned(), "redis".to_owned()])
    );
    assert_eq!(names(&setting.get("/templates").json()), [""; 0], "what is in no collection");
    let other =
        setting.get("/k8s/r/localhost/examples/registry/namespaces/databases/templates/redis:v1").json();
    assert_eq!(other["metadata"]["annotations"]["formwork/version"], "v1.0.2");
}

#[test]
fn lists_come_in_parts_by_selectors_and_as_tables() {
    let setting = Setting::new();
    for name in ["one", "two", "three"] {
        setting.create(name);
    }
    let ask = |query: &str| setting.get(&format!("{GROUP}/templates?{query}")).expect_status(200).json();
    let all = names(&ask(""));
    assert_eq!(all, ["postgresql", "redis", "one", "three", "two", "frontend"]);
    let (mut found, mut query, mut parts) = (Vec::new(), "limit=2".to_owned(), Vec::new());
    loop {
        let part = ask(&query);
        found.extend(names(&part));
        parts.push(part["metadata"].clone());
        match part["metadata"]["continue"].as_str() {
            Some(next) => query = format!("limit=2&continue={next}"),
            None => break,
        }
    }
    assert_eq!(found, all);
    assert_eq!(parts.len(), 3);
    assert_eq!((&parts[0]["remainingItemCount"], &parts[1]["remainingItemCount"]), (&json!(4), &json!(2)));
    assert!(parts.iter().all(|part| part["resourceVersion"] == parts[0]["resourceVersion"]), "{parts:?}");
    assert_eq!(names(&ask("labelSelector=tier%3Dweb")), ["one", "three", "two"]);
    assert_eq!(names(&ask("labelSelector=app+in+(one,two),tier")), ["one", "two"]);
    assert_eq!(names(&ask("labelSelector=!tier&limit=2")), ["postgresql", "redis"]);
    assert_eq!(names(&ask("labelSelector=app!%3Done,tier&limit=1")), ["three"]);
    assert_eq!(names(&ask("fieldSelector=metadata.name%3Dredis")), ["redis"]);
    assert_eq!(names(&ask("fieldSelector=metadata.namespace!%3Dshop")), ["postgresql", "redis", "frontend"]);

    let table = |more: &str| {
        let accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
        setting
            .server
            .get_with(&format!("{GROUP}/namespaces/shop/templates{more}"), &[("accept", accept)])
            .expect_status(200)
            .json()
    };
    let rows = table("");
    assert_eq!((&rows["kind"], &rows["apiVersion"]), (&json!("Table"), &json!("meta.k8s.io/v1")));
    let columns = rows["columnDefinitions"].as_array().unwrap().len();
    assert_eq!(rows["rows"][0]["cells"].as_array().unwrap().len(), columns);
    assert_eq!(
        rows["rows"][0]["cells"].as_array().unwrap()[..5],
        [json!("one"), json!("v1.0.0"), json!("Sells things."), json!("3 (1 blank)"), json!(1)]
    );
    assert_eq!(rows["rows"][0]["object"]["kind"], "PartialObjectMetadata");
    assert!(table("?includeObject=None")["rows"][0].get("object").is_none());
    assert_eq!(table("/two?includeObject=Object")["rows"][0]["object"]["kind"], "Template");
    let partial = setting.server.get_with(
        &format!("{GROUP}/templates"),
        &[("accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")],
    );
    assert_eq!(partial.json()["kind"], "PartialObjectMetadataList");

    for (query, code, reason) in [
        ("limit=x", 400, "BadRequest"),
        ("limit=-1", 400, "BadRequest"),
        ("continue=zz", 400, "BadRequest"),
        ("labelSelector=a%3Db%3Dc", 400, "BadRequest"),
        ("fieldSelector=spec.x%3D1", 400, "BadRequest"),
        ("watch=maybe", 400, "BadRequest"),
        ("includeObject=All", 400, "BadRequest"),
    ] {
        expect_failure(setting.get(&format!("{GROUP}/templates?{query}")), code, reason);
    }
    let other = setting
        .server
        .get_with(&format!("{GROUP}/templates"), &[("accept", "application/vnd.kubernetes.protobuf")]);
    expect_failure(other, 406, "NotAcceptable");
}
