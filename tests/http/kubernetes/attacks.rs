//! What is sent to do harm through these addresses: each is refused, in the words of the interface, and the server goes
//! on.

use serde_json::{Value, json};

use super::kit::{GROUP, Setting, expect_failure, template};
use crate::kit::{Answer, send};

/// Every address that reads a body, with its method.
fn addresses() -> Vec<(&'static str, String)> {
    vec![
        ("POST", "/processedtemplates".to_owned()),
        ("POST", format!("{GROUP}/namespaces/shop/processedtemplates")),
        ("POST", "/namespaces/databases/templates/redis:v1/processed".to_owned()),
        ("POST", format!("{GROUP}/namespaces/shop/templates")),
        ("PUT", format!("{GROUP}/namespaces/shop/templates/mine")),
        ("PATCH", format!("{GROUP}/namespaces/shop/templates/mine")),
        ("DELETE", format!("{GROUP}/namespaces/shop/templates/mine")),
    ]
}

fn ask(setting: &Setting, method: &str, path: &str, body: &str) -> Answer {
    let bearer = format!("Bearer {}", setting.token);
    let content_type = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    let headers = [("authorization", bearer.as_str()), ("content-type", content_type)];
    send(method, &format!("{}{path}", setting.server.url()), &headers, body).unwrap()
}

/// Attack row 26: 100 MB of parameters.
#[test]
fn attack_row_26_a_body_of_100_mb_is_refused_before_it_is_read() {
    let setting = Setting::new();
    setting.create("mine");
    let body = format!("{{\"parameters\":{{\"NAME\":\"{}\"}}}}", "x".repeat(100 << 20));
    for (method, path) in addresses() {
        // A server that answers before it has read all may be hung up on: what counts is that it refuses.
        let bearer = format!("Bearer {}", setting.token);
        let content_type =
            if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let headers = [("authorization", bearer.as_str()), ("content-type", content_type)];
        if let Ok(answer) = send(method, &format!("{}{path}", setting.server.url()), &headers, &body) {
            expect_failure(answer, 413, "RequestEntityTooLarge");
        }
    }
    setting.get("/healthz").expect_status(200);
}

/// Attack row 26: 100,000 keys, everywhere keys may be.
#[test]
fn attack_row_26_a_hundred_thousand_keys_end_in_an_answer() {
    let setting = Setting::new();
    let keys = (0..100_000).map(|key| (format!("K{key}"), json!("v"))).collect::<serde_json::Map<_, _>>();
    let answer = setting.send(
        "POST",
        "/namespaces/databases/templates/redis:v1/processed",
        &json!({ "parameters": keys.clone() }),
    );
    let status = expect_failure(answer, 422, "Invalid");
    assert!(status.to_string().len() < 200_000, "what is wrong is told, not all of it");
    let mut wide = template("wide");
    wide["labels"] = Value::Object(keys.clone());
    wide["parameters"][0]["value"] = json!("x");
    let answer = setting.send("POST", "/processedtemplates", &wide);
    assert!(matches!(answer.status, 201 | 422), "{}", answer.text());
    let mut annotated = template("wide");
    annotated["metadata"]["labels"] = Value::Object(keys);
    let answer = setting.send("POST", &format!("{GROUP}/namespaces/shop/templates"), &annotated);
    assert_eq!(answer.status, 201, "it is large, and it is what it says: {:.300}", answer.text());
    setting
        .get(&format!("{GROUP}/namespaces/shop/templates?labelSelector=K5%3Dv&limit=1"))
        .expect_status(200);
}

/// Attack row 26: JSON a million levels deep.
#[test]
fn attack_row_26_a_million_levels_are_refused() {
    let setting = Setting::new();
    setting.create("mine");
    let deep = format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    let members = format!("{}1{}", "{\"a\":".repeat(600_000), "}".repeat(600_000));
    for (method, path) in addresses() {
        for body in [&deep, &members] {
            expect_failure(ask(&setting, method, &path, body), 400, "BadRequest");
        }
    }
    // As far as the reader goes, the rest of the way goes too.
    let depth = 60;
    let text = format!(
        "{{\"kind\":\"Template\",\"apiVersion\":\"v1\",\"metadata\":{{\"name\":\"deep\"}},\"objects\":[{}1{}]}}",
        "{\"a\":".repeat(depth),
        "}".repeat(depth)
    );
    let stored = ask(&setting, "POST", "/templates", &text);
    assert_eq!(stored.status, 201, "{}", stored.text());
    setting.get("/templates/deep").expect_status(200);
}

/// Attack row 26: numbers that JSON does not have, and those that no number holds.
#[test]
fn attack_row_26_numbers_that_are_none_are_refused() {
    let setting = Setting::new();
    setting.create("mine");
    for number in ["NaN", "Infinity", "-Infinity", "1e999", "0x10", "+1", "01"] {
        for (method, path) in addresses() {
            let body = format!("{{\"parameters\":{{\"NAME\":{number}}}}}");
            let answer = ask(&setting, method, &path, &body);
            assert!(matches!(answer.status, 400 | 422), "{method} {path} {number}: {}", answer.text());
        }
    }
}

/// Attack row 26: bodies that are no text, no object, cut short, or of another type.
#[test]
fn attack_row_26_rubbish_is_refused() {
    let setting = Setting::new();
    setting.create("mine");
    for (method, path) in addresses() {
        for body in ["{", "\"text\"", "{\"kind\":", "\u{0}"] {
            let answer = ask(&setting, method, &path, body);
            // A removal asks for nothing, so a text asks for nothing more.
            assert!(
                matches!(answer.status, 400 | 422) || (method == "DELETE" && answer.status == 200),
                "{method} {path} {body}: {}",
                answer.text()
            );
            if method == "DELETE" && answer.status == 200 {
                setting.create("mine");
            }
        }
        let bearer = format!("Bearer {}", setting.token);
        let headers =
            [("authorization", bearer.as_str()), ("content-type", "application/vnd.kubernetes.protobuf")];
        let answer = send(method, &format!("{}{path}", setting.server.url()), &headers, "k8s\u{0}").unwrap();
        expect_failure(answer, 415, "UnsupportedMediaType");
    }
}

/// Hostile names, in paths and in objects: none gets out of its place, and none is repeated in a harmful form.
#[test]
fn attack_row_26_hostile_names_are_names_of_nothing() {
    let setting = Setting::new();
    let names = [
        "..%2F..%2Fetc",
        "a%2Fb",
        "%00",
        "%ff",
        "%F0%9F%92%A9",
        "a%20b",
        "%3Cscript%3E",
        "-",
        "_",
        "CON",
        "a:b:c",
        "@sha256:0",
        "redis:",
        "redis:v99999999999999999999",
        "%e2%80%ae",
        "a%0d%0aX-Evil:%201",
    ];
    let long = "a".repeat(3_000);
    for name in names.iter().copied().chain([long.as_str()]) {
        for path in [
            format!("{GROUP}/namespaces/databases/templates/{name}"),
            format!("{GROUP}/namespaces/{name}/templates/redis"),
            format!("/templates/{name}"),
            format!("/namespaces/{name}/templates/{name}"),
            format!("/api/v1/namespaces/{name}"),
            format!("/k8s/r/{name}/{name}/{name}/templates"),
        ] {
            let answer = setting.get(&path);
            assert!(matches!(answer.status, 404 | 400 | 308), "{path}: {} {}", answer.status, answer.text());
            assert!(answer.headers.get("x-evil").is_none());
            if answer.status == 404 && answer.header("content-type") == "application/json" {
                let status = answer.json();
                assert_eq!(status["kind"], "Status");
                assert!(!answer.text().contains('\u{202e}'), "{path}: {}", answer.text());
            }
        }
    }
    let path = format!("{GROUP}/namespaces/shop/templates");
    for name in ["../../etc", "a/b", "", "a\u{0}b", "Ａ", "-x", "a..b", "a:v1", "redis@x", &"a".repeat(5_000)]
    {
        expect_failure(setting.send("POST", &path, &template(name)), 422, "Invalid");
    }
    for namespace in ["A", "a.b", "%2e%2e%2fx", "-a"] {
        let answer =
            setting.send("POST", &format!("{GROUP}/namespaces/{namespace}/templates"), &template("a"));
        assert!(matches!(answer.status, 404 | 422 | 400), "{namespace}: {}", answer.text());
    }
    assert_eq!(setting.get(&path).json()["items"], json!([]));
}

/// A template that cannot be read as an object is in lists by its name, and hides nobody.
#[test]
fn what_cannot_be_given_as_an_object_hides_nobody() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let version = directory.path().join("things").join(name).join("v1.0.0");
        std::fs::create_dir_all(&version).unwrap();
        std::fs::write(version.join(format!("{name}.yaml")), text).unwrap();
    };
    let good = crate::kit::registries::kubernetes_template("good", "fine");
    write("good", &good);
    write("twice", &good.replace("kind: Template", "kind: Template\nkind: Template"));
    let server = crate::kit::Server::start(&[&format!("git.example/a/b={}", directory.path().display())]);
    let path = format!("{GROUP}/namespaces/things/templates");
    let list = server.get(&path).expect_status(200).json();
    assert_eq!(super::kit::names(&list), ["good", "twice"]);
    let why = |index: usize| {
        let annotations = &list["items"][index]["metadata"]["annotations"];
        annotations["formwork/unreadable"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(why(0), "");
    assert!(why(1).contains("line 3"), "{}", why(1));
    let refused = expect_failure(server.get(&format!("{path}/twice")), 422, "Invalid");
    assert!(refused["message"].as_str().unwrap().contains("line 3"), "{refused}");
    server.get(&format!("{path}/good")).expect_status(200);
}
