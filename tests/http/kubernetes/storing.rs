//! Create, update, patch, delete: each a version through the same path as any other.

use serde_json::{Value, json};

use super::kit::{GROUP, HOSTED, Setting, expect_failure, names, template, token};
use crate::kit::{Server, example_registry, wait_for};

fn version(object: &Value) -> &str {
    object["metadata"]["annotations"]["formwork/version"].as_str().unwrap_or_default()
}

#[test]
fn what_is_stored_is_a_version_like_any_other() {
    let setting = Setting::new();
    let created = setting.create("zebra");
    assert_eq!(version(&created), "v1.0.0");
    assert_eq!(created["metadata"]["annotations"]["formwork/registry"], HOSTED);
    assert_eq!(
        (&created["objects"], &created["parameters"]),
        (&template("zebra")["objects"], &template("zebra")["parameters"])
    );
    assert_eq!(created["metadata"]["labels"], template("zebra")["metadata"]["labels"]);
    // Resolved, searched, shown, fetched, processed, reported.
    let reference = format!("{HOSTED}/shop/zebra:v1");
    let resolved = setting.server.resolve(&reference).expect_status(200).json();
    assert_eq!(resolved["digest"], created["metadata"]["annotations"]["formwork/digest"]);
    let hits = setting.get("/api/v1/search?q=zebra").json();
    assert_eq!(hits["total"], 1, "{hits}");
    assert!(setting.get(&format!("/{reference}")).expect_status(200).text().contains("Sells things."));
    let processed = setting
        .server
        .process(&reference, &json!({ "parameters": { "NAME": "x" } }))
        .expect_status(200)
        .json();
    assert_eq!(processed["objects"][0]["spec"]["ports"][0]["port"], 80);
    let file = resolved["files"][0]["path"].as_str().unwrap().to_owned();
    assert_eq!(file, "zebra.yaml");
    let text =
        setting.get(&format!("/api/v1/templates/{reference}/-/files/{file}")).expect_status(200).text();
    assert!(text.contains("value: \"12345678901234567890\"") && !text.contains("formwork/"), "{text}");
    wait_for("its report", || {
        let template = setting.get(&format!("/api/v1/templates/{reference}")).json();
        (template["report"] != "pending").then_some(())
    });
    // Its author is the token's name, and its history says so.
    let changed = json!({ "metadata": { "labels": { "tier": "shop" } } });
    let patched = setting
        .send("PATCH", &format!("{GROUP}/namespaces/shop/templates/zebra"), &changed)
        .expect_status(200)
        .json();
    assert_eq!((version(&patched), &patched["metadata"]["labels"]["tier"]), ("v1.0.1", &json!("shop")));
    let history =
        setting.get(&format!("/api/v1/templates/{HOSTED}/shop/zebra/-/history")).expect_status(200).json();
    let revisions = history["revisions"].as_array().unwrap();
    assert_eq!(revisions.len(), 2);
    for revision in revisions {
        assert_eq!(revision["introduced"]["author"], "writer", "{revision}");
        assert!(
            revision["introduced"].get("commit").is_none() && revision["standing"] == "served",
            "{revision}"
        );
    }
    let words = setting.get("/api/v1/changes").json();
    let what = words["changes"].as_array().unwrap().iter().filter(|change| change["registry"] == HOSTED);
    let what = what
        .map(|change| change["what"].as_str().unwrap())
        .filter(|what| *what != "reported")
        .collect::<Vec<_>>();
    assert_eq!(what, ["registry-added", "added", "added"], "{words}");
    // The version before is what it was.
    let first =
        setting.get(&format!("{GROUP}/namespaces/shop/templates/zebra:=v1.0.0")).expect_status(200).json();
    assert_eq!(first["metadata"]["labels"]["tier"], "web");
}

#[test]
fn what_is_stored_outlives_a_restart() {
    let data = tempfile::tempdir().unwrap();
    let token = token(data.path(), "w", &["--scope", "write"]);
    let registry = example_registry();
    let server = Server::launch_on(data.path(), &[registry.to_str().unwrap()]);
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", bearer.as_str())];
    let path = format!("{GROUP}/namespaces/shop/templates");
    let created = crate::kit::send(
        "POST",
        &format!("{}{path}", server.url()),
        &headers,
        &template("zebra").to_string(),
    );
    let created = created.unwrap().expect_status(201).json();
    server.stop();
    let server = Server::launch_on(data.path(), &[registry.to_str().unwrap(), "--remove-unlisted"]);
    server.wait_ready();
    let read = server.get(&format!("{path}/zebra")).expect_status(200).json();
    assert_eq!(read, created, "the resource version and the uid, too");
    let status = server.get("/api/v1/status").json();
    assert!(!status.to_string().contains("detached"), "{status}");
}

#[test]
fn versions_go_up_and_never_come_back_with_other_bytes() {
    let setting = Setting::new();
    let path = format!("{GROUP}/namespaces/shop/templates");
    let mut first = template("redis");
    first["metadata"]["annotations"]["formwork/version"] = json!("v0.3.0");
    let created = setting.send("POST", &path, &first).expect_status(201).json();
    assert_eq!(version(&created), "v0.3.0", "the one its annotation asks for");
    let one = format!("{path}/redis");
    let put = |object: &Value| setting.send("PUT", &one, object);
    let same = put(&created).expect_status(200).json();
    assert_eq!(same, created, "what is the same is no new version");
    let mut other = created.clone();
    other["message"] = json!("hello");
    let second = put(&other).expect_status(200).json();
    assert_eq!(version(&second), "v0.3.1");
    // It has been changed meanwhile.
    let conflict = expect_failure(put(&other), 409, "Conflict");
    assert!(conflict["message"].as_str().unwrap().contains("the object has been modified"), "{conflict}");
    let mut third = second.clone();
    third["metadata"]["annotations"]["formwork/version"] = json!("v1.0.0");
    let third = put(&third).expect_status(200).json();
    assert_eq!(version(&third), "v1.0.0", "a version may be asked for without any other change");
    for (asked, why) in [
        ("v0.3.1", "never gets other bytes"),
        ("v0.9.0", "not above"),
        ("v2.0.0-rc.1", "pre-release"),
        ("latest", "is not a version"),
    ] {
        let mut wrong = third.clone();
        wrong["message"] = json!("again");
        wrong["metadata"]["annotations"]["formwork/version"] = json!(asked);
        let refused = expect_failure(put(&wrong), 422, "Invalid");
        assert!(refused["message"].as_str().unwrap().contains(why), "{asked}: {refused}");
    }
    let mut unconditional = template("redis");
    unconditional["message"] = json!("unconditionally");
    assert_eq!(version(&put(&unconditional).expect_status(200).json()), "v1.0.1");
    expect_failure(put(&template("other")), 400, "BadRequest");
    expect_failure(setting.send("PUT", &format!("{path}/nothing"), &template("nothing")), 404, "NotFound");
    expect_failure(setting.send("PUT", &format!("{path}/redis:v1"), &template("redis")), 400, "BadRequest");

    let wrong_uid = json!({ "preconditions": { "uid": "00000000-0000-0000-0000-000000000000" } });
    expect_failure(setting.send("DELETE", &one, &wrong_uid), 409, "Conflict");
    let deleted =
        setting.send("DELETE", &one, &json!({ "kind": "DeleteOptions", "propagationPolicy": "Background" }));
    let deleted = deleted.expect_status(200).json();
    assert_eq!(
        (&deleted["status"], &deleted["details"]["name"], &deleted["details"]["uid"]),
        (&json!("Success"), &json!("redis"), &created["metadata"]["uid"])
    );
    expect_failure(setting.get(&one), 404, "NotFound");
    expect_failure(setting.send("DELETE", &one, &Value::Null), 404, "NotFound");
    assert_eq!(names(&setting.get(&path).json()), [""; 0]);
    assert_eq!(setting.get("/api/v1/search?q=sells").json()["total"], 0);
    // A tombstone: who names it exactly gets it.
    setting.get(&format!("{one}:=v0.3.1")).expect_status(200);
    let again = setting.send("POST", &path, &template("redis")).expect_status(201).json();
    assert_eq!(version(&again), "v1.0.2", "and no version is made twice");
    assert_ne!(again["metadata"]["resourceVersion"], created["metadata"]["resourceVersion"]);
}

#[test]
fn writing_needs_a_token_and_git_goes_before() {
    let setting = Setting::new();
    let path = format!("{GROUP}/namespaces/databases/templates");
    let body = template("redis").to_string();
    let anonymous = crate::kit::post(&format!("{}{path}", setting.server.url()), &body).unwrap();
    assert!(anonymous.header("www-authenticate").starts_with("Bearer"));
    expect_failure(anonymous, 401, "Unauthorized");
    let unknown = format!("fwk_{}", "0".repeat(64));
    expect_failure(setting.send_as(&unknown, "POST", &path, &template("redis")), 401, "Unauthorized");
    expect_failure(setting.send("POST", &path, &template("redis")), 409, "AlreadyExists");
    for method in ["PUT", "PATCH", "DELETE"] {
        let refused = expect_failure(
            setting.send(method, &format!("{path}/redis"), &template("redis")),
            403,
            "Forbidden",
        );
        assert!(
            refused["message"].as_str().unwrap().contains("kept in localhost/examples/registry"),
            "{refused}"
        );
    }
    let other = "/k8s/r/localhost/examples/registry/namespaces/databases/templates";
    expect_failure(setting.send("POST", other, &template("x")), 405, "MethodNotAllowed");
    // Beside what Git has, in one of its namespaces.
    setting.send("POST", &path, &template("shop")).expect_status(201);
    assert_eq!(names(&setting.get(&path).json()), ["postgresql", "redis", "shop"]);
    let own = format!("/k8s/r/{HOSTED}/namespaces/databases/templates");
    assert_eq!(names(&setting.get(&own).json()), ["shop"]);
    assert_eq!(setting.send("DELETE", &format!("{own}/shop"), &Value::Null).status, 200);
    expect_failure(
        setting.send("POST", &format!("{GROUP}/templates"), &template("x")),
        405,
        "MethodNotAllowed",
    );
}

#[test]
fn reads_follow_visibility_and_tokens_their_limits() {
    let data = tempfile::tempdir().unwrap();
    let admin = token(data.path(), "admin", &["--scope", "admin"]);
    let reader = token(data.path(), "reader", &["--scope", "read"]);
    let elsewhere = token(data.path(), "elsewhere", &["--scope", "write", "--registry", "git.example/a/b"]);
    let limited = token(data.path(), "limited", &["--scope", "write", "--registry", HOSTED]);
    let registry = example_registry();
    let server = Server::launch_on(data.path(), &[registry.to_str().unwrap()]);
    server.wait_ready();
    let send = |token: &str, method: &str, path: &str, body: &Value| {
        let bearer = format!("Bearer {token}");
        crate::kit::send(
            method,
            &format!("{}{path}", server.url()),
            &[("authorization", &bearer)],
            &body.to_string(),
        )
        .unwrap()
    };
    let path = format!("{GROUP}/namespaces/shop/templates");
    expect_failure(send(&reader, "POST", &path, &template("a")), 403, "Forbidden");
    expect_failure(send(&elsewhere, "POST", &path, &template("a")), 403, "Forbidden");
    send(&limited, "POST", &path, &template("a")).expect_status(201);
    server.get(&format!("{path}/a")).expect_status(200);
    send(&admin, "PATCH", &format!("/api/v1/registries/{HOSTED}"), &json!({ "visibility": "private" }))
        .expect_status(200);
    let hidden = expect_failure(server.get(&format!("{path}/a")), 404, "NotFound");
    let nothing = expect_failure(server.get(&format!("{path}/b")), 404, "NotFound");
    assert_eq!(
        hidden.to_string(),
        nothing.to_string().replace("\"b\"", "\"a\"").replace("\\\"b\\\"", "\\\"a\\\"").replace("`b`", "`a`")
    );
    assert_eq!(names(&server.get(&path).json()), [""; 0]);
    assert!(!server.get("/api/v1/namespaces").text().contains("shop"));
    send(&reader, "GET", &format!("{path}/a"), &Value::Null).expect_status(200);
    send(&elsewhere, "GET", &format!("{path}/a"), &Value::Null).expect_status(404);
}

#[test]
fn what_is_no_template_is_refused_with_every_place() {
    let setting = Setting::new();
    let path = format!("{GROUP}/namespaces/shop/templates");
    let mut wrong = template("Not_A_Name");
    wrong["parameters"] = json!([{ "name": "A-B" }]);
    wrong["objects"] = json!("none");
    let refused = expect_failure(setting.send("POST", &path, &wrong), 422, "Invalid");
    let fields = refused["details"]["causes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cause| cause["field"].as_str().unwrap())
        .collect::<Vec<_>>();
    assert_eq!(fields, ["metadata.name", "objects", "parameters[0].name"]);
    let mut service = template("a");
    service["kind"] = json!("Service");
    expect_failure(setting.send("POST", &path, &service), 400, "BadRequest");
    let mut other = template("a");
    other["apiVersion"] = json!("v2");
    expect_failure(setting.send("POST", &path, &other), 400, "BadRequest");
    let mut elsewhere = template("a");
    elsewhere["metadata"]["namespace"] = json!("elsewhere");
    expect_failure(setting.send("POST", &path, &elsewhere), 400, "BadRequest");
    let mut made = template("");
    made["metadata"] = json!({ "generateName": "made-" });
    let made = setting.send("POST", &path, &made).expect_status(201).json();
    let name = made["metadata"]["name"].as_str().unwrap();
    assert!(name.starts_with("made-") && name.len() == 10, "{name}");
    // A dry run says what would be, and nothing is.
    let dry = setting.send("POST", &format!("{path}?dryRun=All"), &template("dry")).expect_status(201).json();
    assert_eq!(version(&dry), "v1.0.0");
    expect_failure(setting.get(&format!("{path}/dry")), 404, "NotFound");
    let yaml = "apiVersion: v1\nkind: Template\nmetadata: {name: from-yaml}\nobjects: []\n";
    let bearer = format!("Bearer {}", setting.token);
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/yaml")];
    crate::kit::send("POST", &format!("{}/templates", setting.server.url()), &headers, yaml)
        .unwrap()
        .expect_status(201);
    assert_eq!(setting.get("/templates/from-yaml").json()["apiVersion"], "v1");
    assert_eq!(
        setting.server.resolve(&format!("{HOSTED}/from-yaml")).json()["resolved"],
        "v1.0.0",
        "the default namespace is the root"
    );
}

/// Attack row 26: of two who change one object the second is told, however close they come; no change is lost, and no
/// version is made twice.
#[test]
fn attack_row_26_conflicting_writers_are_told() {
    let setting = Setting::new();
    setting.create("contended");
    let one = format!("{GROUP}/namespaces/shop/templates/contended");
    let outcomes = std::thread::scope(|scope| {
        let writers = (0..4).map(|writer| {
            let (setting, one) = (&setting, &one);
            scope.spawn(move || {
                let (mut won, mut lost) = (Vec::new(), 0);
                for round in 0..4 {
                    let mut object = setting.get(one).expect_status(200).json();
                    object["message"] = json!(format!("{writer}-{round}"));
                    let answer = setting.send("PUT", one, &object);
                    match answer.status {
                        200 => won.push(version(&answer.json()).to_owned()),
                        409 => lost += 1,
                        other => panic!("{other}: {}", answer.text()),
                    }
                }
                (won, lost)
            })
        });
        writers.collect::<Vec<_>>().into_iter().map(|writer| writer.join().unwrap()).collect::<Vec<_>>()
    });
    let mut won = outcomes.iter().flat_map(|(won, _)| won.clone()).collect::<Vec<_>>();
    let lost = outcomes.iter().map(|(_, lost)| lost).sum::<i32>();
    assert_eq!(won.len() + lost as usize, 16);
    let count = won.len();
    won.sort();
    won.dedup();
    assert_eq!(won.len(), count, "each change is a version of its own: {won:?}");
    let history = setting.get(&format!("/api/v1/templates/{HOSTED}/shop/contended/-/history")).json();
    assert_eq!(history["revisions"].as_array().unwrap().len(), count + 1);
    // Two who create one name.
    let created = std::thread::scope(|scope| {
        let path = format!("{GROUP}/namespaces/shop/templates");
        let both = [(); 2].map(|()| {
            let (setting, path) = (&setting, path.clone());
            scope.spawn(move || setting.send("POST", &path, &template("twice")).status)
        });
        both.map(|one| one.join().unwrap())
    });
    assert!(created.contains(&201) && created.contains(&409), "{created:?}");
}
