//! Watches: every change since a list, and only those.

use std::time::Duration;

use serde_json::{Value, json};

use super::kit::{GROUP, HOSTED, Setting, expect_failure, names};

/// The events of a watch that lasts some seconds, while something is done.
fn events(setting: &Setting, path: &str, accept: &str, meanwhile: impl FnOnce()) -> Vec<Value> {
    std::thread::scope(|scope| {
        let watching =
            scope.spawn(|| setting.server.get_with(path, &[("accept", accept)]).expect_status(200));
        meanwhile();
        let answer = watching.join().unwrap();
        assert_eq!(answer.header("content-type"), "application/json;stream=watch");
        answer.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    })
}

fn told(events: &[Value]) -> Vec<(&str, &str)> {
    events
        .iter()
        .map(|event| {
            (
                event["type"].as_str().unwrap(),
                event["object"]["metadata"]["name"].as_str().unwrap_or_default(),
            )
        })
        .collect()
}

#[test]
fn a_watch_brings_every_change_since_its_list() {
    let setting = Setting::new();
    setting.create("before");
    let path = format!("{GROUP}/namespaces/shop/templates");
    let list = setting.get(&path).json();
    assert_eq!(names(&list), ["before"]);
    let since = list["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    let change = |name: &str, labels: Value| {
        let patch = json!({ "metadata": { "labels": labels } });
        setting.send("PATCH", &format!("{path}/{name}"), &patch).expect_status(200)
    };
    let watch = format!("{path}?watch=1&resourceVersion={since}&timeoutSeconds=4&allowWatchBookmarks=true");
    let all = events(&setting, &watch, "application/json", || {
        // It is told of what comes before it as well: the version says from where.
        std::thread::sleep(Duration::from_millis(300));
        setting.create("new");
        change("new", json!({ "tier": "db" }));
        setting.send("DELETE", &format!("{path}/before"), &Value::Null).expect_status(200);
        // Another namespace, and Git's: nothing to this one.
        setting.send("POST", "/templates", &super::kit::template("elsewhere")).expect_status(201);
    });
    assert_eq!(told(&all)[..3], [("ADDED", "new"), ("MODIFIED", "new"), ("DELETED", "before")], "{all:?}");
    assert_eq!((all.len(), told(&all)[3].0), (4, "BOOKMARK"));
    assert_eq!(all[1]["object"]["metadata"]["labels"]["tier"], "db");
    let versions = all.iter().map(|event| {
        event["object"]["metadata"]["resourceVersion"].as_str().unwrap().parse::<u64>().unwrap()
    });
    let versions = versions.collect::<Vec<_>>();
    assert!(versions.is_sorted() && versions[0] > since.parse().unwrap(), "{versions:?}");
    // An event's object is what is then there.
    assert_eq!(all[1]["object"], setting.get(&format!("{path}/new")).json());
    // From the first list again, later: what is left of all that.
    let later = events(
        &setting,
        &format!("{path}?watch=1&resourceVersion={since}&timeoutSeconds=1"),
        "application/json",
        || {},
    );
    assert_eq!(told(&later), [("ADDED", "new"), ("DELETED", "before")]);
    // From an event, nothing twice.
    let last = versions[1];
    let later = events(
        &setting,
        &format!("{path}?watch=1&resourceVersion={last}&timeoutSeconds=1"),
        "application/json",
        || {},
    );
    assert_eq!(told(&later), [("DELETED", "before")]);
}

#[test]
fn a_watch_without_a_version_begins_with_what_there_is() {
    let setting = Setting::new();
    setting.create("one");
    let path = format!("{GROUP}/templates?watch=true&timeoutSeconds=1");
    let all = events(&setting, &path, "application/json", || {});
    assert_eq!(
        told(&all),
        [("ADDED", "postgresql"), ("ADDED", "redis"), ("ADDED", "one"), ("ADDED", "frontend")]
    );
    let path = format!(
        "{GROUP}/templates?watch=true&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&fieldSelector=metadata.name%3Done"
    );
    let all = events(&setting, &path, "application/json", || {});
    assert_eq!(told(&all)[0], ("ADDED", "one"));
    assert_eq!(all[1]["type"], "BOOKMARK");
    assert_eq!(all[1]["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"], "true");
    // Rows for a terminal.
    let path = format!("{GROUP}/namespaces/shop/templates?watch=true&timeoutSeconds=1");
    let rows = events(&setting, &path, "application/json;as=Table;v=v1;g=meta.k8s.io", || {});
    assert_eq!(
        (&rows[0]["object"]["kind"], &rows[0]["object"]["rows"][0]["cells"][0]),
        (&json!("Table"), &json!("one"))
    );
}

#[test]
fn selectors_turn_changes_into_comings_and_goings() {
    let setting = Setting::new();
    setting.create("one");
    let path = format!("{GROUP}/namespaces/shop/templates");
    let since = setting.get(&path).json()["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    let watch = format!("{path}?watch=1&resourceVersion={since}&timeoutSeconds=3&labelSelector=tier%3Ddb");
    let label = |tier: &str| {
        let patch = json!({ "metadata": { "labels": { "tier": tier } } });
        setting.send("PATCH", &format!("{path}/one"), &patch).expect_status(200);
        // Each is seen by itself: a watch tells what is, and may pass over what was.
        std::thread::sleep(Duration::from_millis(300));
    };
    let all = events(&setting, &watch, "application/json", || {
        std::thread::sleep(Duration::from_millis(300));
        label("db");
        label("web");
    });
    assert_eq!(told(&all), [("ADDED", "one"), ("DELETED", "one")]);
}

#[test]
fn a_watch_from_what_nobody_remembers_is_sent_back_to_list() {
    let setting = Setting::new();
    setting.create("one");
    let watch = |version: &str| {
        setting.get(&format!("{GROUP}/templates?watch=1&timeoutSeconds=1&resourceVersion={version}"))
    };
    expect_failure(watch("999999"), 410, "Expired");
    expect_failure(watch("x"), 400, "BadRequest");
    expect_failure(watch("-1"), 400, "BadRequest");
    let since = setting.get(&format!("{GROUP}/templates")).json()["metadata"]["resourceVersion"]
        .as_str()
        .unwrap()
        .to_owned();
    watch(&since).expect_status(200);
    // A registry goes: no template says so, and what a client has of it must go.
    let admin = setting.send("DELETE", &format!("/api/v1/registries/{HOSTED}"), &Value::Null);
    assert_eq!(admin.status, 403, "a writer does not remove registries");
    let all = events(
        &setting,
        &format!("{GROUP}/templates?watch=1&timeoutSeconds=2&resourceVersion={since}"),
        "application/json",
        || {},
    );
    assert_eq!(all, [Value::Null; 0]);
}

#[test]
fn a_registry_that_is_hidden_ends_its_watches() {
    let data = tempfile::tempdir().unwrap();
    let admin = super::kit::token(data.path(), "admin", &["--scope", "admin"]);
    let registry = crate::kit::example_registry();
    let server = crate::kit::Server::launch_on(data.path(), &[registry.to_str().unwrap()]);
    server.wait_ready();
    let path = format!("{GROUP}/templates");
    let since = server.get(&path).json()["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    let watch = format!("{path}?watch=1&timeoutSeconds=20&resourceVersion={since}");
    let lines = std::thread::scope(|scope| {
        let watching = scope.spawn(|| server.get(&watch).expect_status(200).text());
        std::thread::sleep(Duration::from_millis(300));
        let bearer = format!("Bearer {admin}");
        let url = format!("{}/api/v1/registries/{}", server.url(), crate::kit::example_name());
        let body = json!({ "visibility": "private" }).to_string();
        crate::kit::send("PATCH", &url, &[("authorization", &bearer)], &body).unwrap().expect_status(200);
        watching.join().unwrap()
    });
    let event = serde_json::from_str::<Value>(lines.trim()).unwrap();
    assert_eq!((&event["type"], &event["object"]["code"]), (&json!("ERROR"), &json!(410)), "{event}");
    expect_failure(server.get(&watch), 410, "Expired");
}

/// Attack row 26: watches are bounded, who asks for more is told, and the server stops in time with all of them open.
#[test]
fn attack_row_26_a_flood_of_watches_is_bounded_and_harms_nobody() {
    let setting = Setting::new();
    let path = format!("{GROUP}/templates?watch=1&timeoutSeconds=60&resourceVersion=0");
    let open = |path: &str| {
        use std::io::{Read, Write};
        let address = setting.server.url().strip_prefix("http://").unwrap().to_owned();
        let mut stream = std::net::TcpStream::connect(&address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\n\r\n").unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).unwrap();
        (String::from_utf8_lossy(&head[9..]).into_owned(), stream)
    };
    let mut held = Vec::new();
    let mut refused = 0;
    for _ in 0..60 {
        let (status, stream) = open(&path);
        match status.as_str() {
            "200" => held.push(stream),
            "429" => refused += 1,
            other => panic!("{other}"),
        }
    }
    assert_eq!((held.len(), refused), (32, 28));
    let told = expect_failure(setting.get(&path), 429, "TooManyRequests");
    assert_eq!(told["details"]["retryAfterSeconds"], 5);
    setting.get(&format!("{GROUP}/templates")).expect_status(200);
    // Who hangs up makes room.
    held.truncate(10);
    let freed = crate::kit::wait_for("room for another watch", || {
        let (status, stream) = open(&path);
        (status == "200").then_some(stream)
    });
    held.push(freed);
    let started = std::time::Instant::now();
    let Setting { server, .. } = setting;
    let (status, log) = server.stop();
    assert!(
        status.success() && started.elapsed() < Duration::from_secs(10),
        "{:?}: {log}",
        started.elapsed()
    );
    drop(held);
}
