//! Requests to a server of the example registry, as the files in `cases/` write them.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::kit::{Expectation, Server, case_files, example_name};

/// One file: requests about one thing.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    request: Vec<Request>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    /// What it shows.
    name: String,
    /// The path to GET; `{registry}` is the name of the example registry.
    get: Option<String>,
    /// The path to POST to.
    post: Option<String>,
    /// The JSON text to send.
    send: Option<String>,
    /// Headers to send.
    #[serde(default)]
    with: BTreeMap<String, String>,
    status: u16,
    /// What headers of the answer contain.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    body: Expectation,
}

#[test]
fn the_example_registry_answers_as_the_cases_say() {
    let server = Server::start(&["examples/registry"]);
    let mut wrong = Vec::new();
    let (mut files, mut requests) = (0, 0);
    for (file, case) in case_files::<Case>("http/cases") {
        files += 1;
        for request in case.request {
            requests += 1;
            for failure in ask(&server, &request) {
                wrong.push(format!("{file}: {}: {failure}", request.name));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {requests} requests in {files} files went wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn ask(server: &Server, request: &Request) -> Vec<String> {
    let path = |path: &String| path.replace("{registry}", &example_name());
    let answer = match (&request.get, &request.post) {
        (Some(get), None) => {
            let headers =
                request.with.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect::<Vec<_>>();
            server.get_with(&path(get), &headers)
        }
        (None, Some(post)) => {
            let url = format!("{}{}", server.url(), path(post));
            crate::kit::post(&url, request.send.as_deref().unwrap_or_default())
                .unwrap_or_else(|error| panic!("{error}"))
        }
        _ => return vec!["has neither `get` nor `post`, or both".to_owned()],
    };
    let mut wrong = Vec::new();
    if answer.status != request.status {
        wrong.push(format!("status is {}, not {}", answer.status, request.status));
    }
    for (name, part) in &request.headers {
        if !answer.header(name).contains(part.as_str()) {
            wrong.push(format!("header {name} is {:?}, without {part:?}", answer.header(name)));
        }
    }
    wrong.extend(
        request.body.failures(&answer.text()).into_iter().map(|failure| format!("the body {failure}")),
    );
    if !wrong.is_empty() {
        wrong.push(format!("the body was {}", answer.text().chars().take(800).collect::<String>()));
    }
    wrong
}
