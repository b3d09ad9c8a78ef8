//! The attack table, as far as it concerns the API: each row a test named for it. Rows 29 and 27 are with search and
//! the pages, row 30 is the sweep, row 31 is through the binary, row 36 with archives.

use std::time::{Duration, Instant};

use catalog::Scope;
use catalog::testing::Registry;
use http::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use crate::access::{SECRET, both};
use crate::kit::{App, InProcess, REGISTRY, acme, inspected};

const PROCESS: &str = "/api/v1/templates/web/frontend:v1/-/process";

/// The same catalogue behind a socket; ended when it is dropped.
struct Listening {
    address: std::net::SocketAddr,
    running: JoinHandle<()>,
}

impl Listening {
    async fn start(app: &App, connections: usize) -> Listening {
        let server = app.listening(|config| config.connections = connections).await;
        let address = server.local_addr().unwrap();
        Listening { address, running: tokio::spawn(server.run(std::future::pending())) }
    }

    /// What comes back for these bytes until the server hangs up or has nothing more to say.
    async fn say(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        // The server may have hung up before it has read everything; that is its right.
        let _ = stream.write_all(bytes).await;
        let mut answer = Vec::new();
        let mut chunk = [0; 16_384];
        while let Ok(Ok(read)) =
            tokio::time::timeout(Duration::from_millis(700), stream.read(&mut chunk)).await
        {
            if read == 0 {
                break;
            }
            answer.extend_from_slice(&chunk[..read]);
        }
        String::from_utf8_lossy(&answer).into_owned()
    }

    async fn assert_well(&self) {
        let started = Instant::now();
        let answer = self.say(b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.running.abort();
    }
}

fn kind_of(answer: &str) -> (u16, String) {
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let problem = serde_json::from_str::<Value>(body).unwrap_or_default();
    (status, problem["type"].as_str().unwrap_or_default().rsplit('/').next().unwrap_or_default().to_owned())
}

/// Attack row 26: 100 MB of values, announced or not, are refused at 4 MiB; 100,000 keys, a million levels, numbers that
/// are none and floods of digits are answered in bounded time for what they are.
#[tokio::test]
async fn attack_row_26_giant_and_malformed_values_are_refused() {
    let app = App::new().await;
    let server = Listening::start(&app, 100).await;
    let head = format!("POST {PROCESS} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n");
    let announced = format!("{head}content-length: 104857600\r\n\r\n");
    assert_eq!(kind_of(&server.say(announced.as_bytes()).await), (413, "too-large".into()));
    let mut streamed = format!("{head}transfer-encoding: chunked\r\n\r\n").into_bytes();
    for _ in 0..100 {
        streamed.extend_from_slice(b"100000\r\n");
        streamed.extend(std::iter::repeat_n(b' ', 1 << 20));
        streamed.extend_from_slice(b"\r\n");
    }
    let started = Instant::now();
    let answer = server.say(&streamed).await;
    // Hung up on while it was still sending, it may not have seen the answer.
    assert!(answer.is_empty() || kind_of(&answer) == (413, "too-large".into()), "{answer}");
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    server.assert_well().await;

    let json_type = [("content-type", "application/json")];
    let keys =
        |count: usize| (0..count).map(|n| (format!("P{n}"), json!("x"))).collect::<serde_json::Map<_, _>>();
    for (body, status, kind) in [
        (format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000)), 400, "invalid-body"),
        (format!("{}1{}", "{\"a\":".repeat(500_000), "}".repeat(500_000)), 400, "invalid-body"),
        ("{\"parameters\": {\"NAME\": NaN}}".into(), 400, "invalid-body"),
        ("{\"parameters\": {\"NAME\": Infinity}}".into(), 400, "invalid-body"),
        ("{\"parameters\": {\"NAME\": 1e999}}".into(), 400, "invalid-body"),
        ("{\"parameters\": {\"NAME\": \"\\ud800\"}}".into(), 400, "invalid-body"),
        (json!({"parameters": keys(100_000)}).to_string(), 422, "values-rejected"),
        (json!({"set": vec!["NAME=x"; 100_000]}).to_string(), 422, "values-rejected"),
        (format!("{{\"parameters\": {{\"NAME\": {}}}}}", "9".repeat(1_000_000)), 400, "invalid-body"),
    ] {
        let started = Instant::now();
        let answer = app.send(Method::POST, PROCESS, &json_type, body.clone()).await;
        let said = answer.json()["type"].to_string();
        assert_eq!(answer.status.as_u16(), status, "{body:.60}: {said}");
        assert!(said.contains(kind), "{body:.60}: {said}");
        assert!(answer.body.len() < 1 << 20, "{body:.60}: {} bytes", answer.body.len());
        assert!(started.elapsed() < Duration::from_secs(10), "{body:.60}: {:?}", started.elapsed());
    }
}

/// Attack row 28: nothing a client says about where it is asked gets into an answer, whoever asks next; the query is
/// part of what is kept; and whatever a client accepts, an address has one answer, or says what it varies by.
#[tokio::test]
async fn attack_row_28_no_header_poisons_what_others_get() {
    let app = App::new().await;
    let spoofed = [
        ("host", "evil.example"),
        ("x-forwarded-host", "evil.example"),
        ("x-forwarded-proto", "gopher"),
        ("x-forwarded-prefix", "/evil.example"),
        ("x-forwarded-for", "evil.example"),
        ("x-original-url", "/evil.example"),
        ("x-rewrite-url", "/evil.example"),
        ("forwarded", "host=evil.example"),
        ("origin", "https://evil.example"),
    ];
    let resolved = app.get("/api/v1/resolve?ref=web/frontend:v1").await.json();
    let (content, archive) =
        (resolved["files"][0]["url"].as_str().unwrap(), resolved["links"]["archive"].as_str().unwrap());
    for path in [
        "/",
        "/api/v1/resolve?ref=redis:=v1.0.0",
        "/api/v1/registries",
        "/api/v1/templates?limit=1",
        "/api/v1/collections?limit=1",
        "/api/v1/templates/redis/-/renovate",
        "/api/v1/templates/redis/-/versions?limit=1",
        "/api/v1/templates/redis:v1/-/files/redis.yaml",
        "/api/v1/search?q=redis&limit=1",
        "/api/v1/resolve?ref=nothing",
        "/github.com/acme/templates/web/frontend:v1",
        "/nothing",
        "/login",
        "/api/v1/openapi.json",
        content,
        archive,
    ] {
        let poisoned = app.send(Method::GET, path, &spoofed, "").await;
        let clean = app.get(path).await;
        assert_eq!((poisoned.status, &poisoned.headers), (clean.status, &clean.headers), "{path}");
        assert_eq!(poisoned.body, clean.body, "{path}");
        let headers = format!("{:?}", clean.headers);
        assert!(
            !headers.contains("evil") && !String::from_utf8_lossy(&clean.body).contains("evil"),
            "{path}"
        );
        for accept in ["text/html", "application/yaml", "application/x-tar", "*/*;q=0", "nonsense"] {
            let other = app.send(Method::GET, path, &[("accept", accept)], "").await;
            assert_eq!((other.status, &other.body), (clean.status, &clean.body), "{path} as {accept}");
        }
    }
    // What stands in the query is part of the address: no parameter is left out of what is kept.
    let [one, other] =
        ["redis:=v1.0.0", "redis:=v1.0.4"].map(|name| format!("/api/v1/resolve?x=1&ref={name}"));
    for _ in 0..2 {
        assert_eq!(app.get(&one).await.json()["resolved"], "v1.0.0");
        assert_eq!(app.get(&other).await.json()["resolved"], "v1.0.4");
    }
    // The first of two counts, kept or made.
    let twice = "/api/v1/resolve?ref=redis:=v1.0.0&ref=redis:=v1.0.4";
    for _ in 0..2 {
        assert_eq!(app.get(twice).await.json()["resolved"], "v1.0.0");
    }
    // The one answer that depends on what is accepted is stored by nobody.
    let yaml = [("content-type", "application/json"), ("accept", "application/yaml")];
    let answer = app.send(Method::POST, PROCESS, &yaml, "{\"parameters\": {\"NAME\": \"x\"}}").await;
    assert_eq!(
        (answer.header("content-type"), answer.header("cache-control")),
        ("application/yaml", "no-store")
    );
}

/// Attack row 35: a name that is in two registries is the default registry's, unless the other is named; a name that
/// looks like another's is said to, and to nobody who may not see the other.
#[tokio::test]
async fn attack_row_35_the_default_registry_comes_first_and_lookalikes_are_said() {
    let text = "apiVersion: v1\nkind: Template\nobjects: []\n# somebody else's\n";
    let other = Registry::new("github.com/evil/templates")
        .version("redis:v1.0.9", &[("redis.yaml", text)])
        .version("red-is:v1.0.0", &[("red-is.yaml", text)])
        .version("web/ng-inx:v1.0.0", &[("ng-inx.yaml", text)]);
    let hidden = Registry::new(SECRET).version("Redis:v1.0.0", &[("Redis.yaml", text)]).private();
    let all = vec![inspected(acme()), inspected(other), inspected(hidden)];
    let app = App::with(all, Box::new(InProcess), None).await;
    let resolved = |path: &str| {
        let path = format!("/api/v1/resolve?ref={path}");
        let app = &app;
        async move { app.get(&path).await.json() }
    };
    let ours = resolved("redis:v1").await;
    assert_eq!((&ours["registry"], &ours["resolved"]), (&json!(REGISTRY), &json!("v1.0.4")));
    assert_eq!(resolved("github.com/evil/templates/redis:v1").await["resolved"], "v1.0.9");
    // Nothing of another registry stands in for what the default one lacks.
    assert_eq!(app.get("/api/v1/resolve?ref=red-is").await.status, 404);
    assert_eq!(app.get("/api/v1/resolve?ref=redis:=v1.0.9").await.status, 404);

    let findings = |body: Value| {
        let all = body["findings"].as_array().unwrap().clone();
        let found = all.iter().filter(|finding| finding["rule"] == "name-confusable");
        found.map(|finding| finding["message"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for (path, alike) in [
        ("redis", vec!["`github.com/evil/templates/red-is`"]),
        ("web/nginx", vec!["`github.com/evil/templates/web/ng-inx`"]),
        ("github.com/evil/templates/red-is", vec!["`github.com/acme/templates/redis`"]),
        ("web/frontend", vec![]),
    ] {
        let said = findings(app.get(&format!("/api/v1/templates/{path}")).await.json());
        assert_eq!(said.len(), alike.len(), "{path}: {said:?}");
        assert!(said.iter().zip(&alike).all(|(said, alike)| said.contains(alike)), "{path}: {said:?}");
        assert!(!said.iter().any(|said| said.contains(SECRET)), "{said:?}");
    }
    let reader = app.token(Scope::Read, &[SECRET]).await;
    let said = findings(app.get_as(&reader, "/api/v1/templates/redis").await.json());
    assert!(said[0].contains(&format!("`{SECRET}/Redis`")), "{said:?}");
}

/// Attack row 38: clients that ask and do not read cost a connection and none of anybody's time, and at the limit of
/// connections others get their turn as soon as they go.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attack_row_38_slow_readers_hold_nobody_up() {
    let app = App::new().await;
    let text = "0123456789abcdef".repeat(1 << 16);
    let large = acme().version("large:v1.0.0", &[("large.yaml", "kind: Template\n"), ("data.txt", &text)]);
    inspected(large).publish(&app.catalog).await;
    let server = Listening::start(&app, 400).await;
    let request = b"GET /api/v1/templates/large:v1/-/files/data.txt HTTP/1.1\r\nhost: x\r\n\r\n";
    let mut idle = Vec::new();
    for number in 0..390 {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        // Some ask for it all and read nothing, some never end their head, some send nothing.
        match number % 3 {
            0 => stream.write_all(request).await.unwrap(),
            1 => stream.write_all(b"GET / HTTP/1.1\r\nx: ").await.unwrap(),
            _ => {}
        }
        idle.push(stream);
    }
    for _ in 0..5 {
        server.assert_well().await;
    }
    for _ in 0..20 {
        idle.push(TcpStream::connect(server.address).await.unwrap());
    }
    drop(idle);
    server.assert_well().await;
}

/// Attack row 38: heads that are too long or have too many lines are refused, and cost nobody else.
#[tokio::test]
async fn attack_row_38_huge_heads_are_refused() {
    let app = App::new().await;
    let server = Listening::start(&app, 100).await;
    let many = (0..5_000).map(|number| format!("x-{number}: y\r\n")).collect::<String>();
    for head in [
        format!("GET /healthz HTTP/1.1\r\nhost: x\r\nx: {}\r\n\r\n", "y".repeat(1 << 20)),
        format!("GET /healthz HTTP/1.1\r\nhost: x\r\n{many}\r\n"),
        format!("GET /{} HTTP/1.1\r\nhost: x\r\n\r\n", "y".repeat(1 << 20)),
        format!("GET /healthz HTTP/1.1\r\nhost: x\r\n{}: y\r\n\r\n", "x".repeat(100_000)),
    ] {
        let answer = server.say(head.as_bytes()).await;
        let status = kind_of(&answer).0;
        assert!(answer.is_empty() || [400, 414, 431].contains(&status), "{head:.40}: {answer:.200}");
    }
    // Within the limits of the head and above ours of the address: said in our own form.
    let long = format!("GET /api/v1/resolve?ref={} HTTP/1.1\r\nhost: x\r\n\r\n", "y".repeat(9_000));
    assert_eq!(kind_of(&server.say(long.as_bytes()).await), (400, "invalid-query".into()));
    server.assert_well().await;
}

/// Attack row 38: where a request ends is told in one way only; what could be read in two is refused, and what stands
/// behind it is never taken for a request.
#[tokio::test]
async fn attack_row_38_requests_are_not_smuggled() {
    let app = App::new().await;
    let server = Listening::start(&app, 100).await;
    let smuggled = "GET /api/v1/status HTTP/1.1\r\nhost: x\r\n\r\n";
    let post = format!("POST {PROCESS} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n");
    for head in [
        format!("{post}content-length: 5\r\ncontent-length: 6\r\n\r\n"),
        format!("{post}content-length: 5, 6\r\n\r\n"),
        format!("{post}content-length: +5\r\n\r\n"),
        format!("{post}content-length: -1\r\n\r\n"),
        format!("{post}content-length: 0x5\r\n\r\n"),
        format!("{post}content-length : 5\r\n\r\n"),
        format!("{post}transfer-encoding: chunked, identity\r\n\r\n"),
        format!("{post}transfer-encoding: xchunked\r\n\r\n"),
        format!("{post}transfer-encoding : chunked\r\n\r\n"),
        format!("{post}transfer-encoding: chunked\r\n\r\nZZ\r\n"),
        format!("{post}transfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n"),
        format!("{post} folded: x\r\n\r\n"),
        "GET /healthz HTTP/1.1\r\nhost: x\rx: y\r\n\r\n".to_owned(),
        "GET /healthz\u{b}HTTP/1.1\r\nhost: x\r\n\r\n".to_owned(),
    ] {
        let answer = server.say(format!("{head}{smuggled}").as_bytes()).await;
        assert!(!answer.contains("HTTP/1.1 200"), "{head:?} let something through: {answer}");
        assert!(!answer.contains("\"workers\""), "{head:?}: {answer}");
    }
    // Both lengths: the standard lets the chunks count, and the connection must not be used again as if nothing were.
    let both = format!("{post}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n{smuggled}");
    let answer = server.say(both.as_bytes()).await;
    assert!(!answer.contains("HTTP/1.1 200") || !answer.contains("\"workers\""), "{answer}");
    server.assert_well().await;
}

/// Attack row 38: HTTP/2 streams that are opened and reset at once, ten thousand of them, end their connection and
/// nobody else's (CVE-2023-44487).
#[tokio::test]
async fn attack_row_38_a_flood_of_resets_ends_its_own_connection() {
    let app = App::new().await;
    let server = Listening::start(&app, 100).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00").await.unwrap();
    let mut flood = Vec::new();
    for number in 0..10_000_u32 {
        let id = (number * 2 + 1).to_be_bytes();
        // HEADERS, ended at once: GET http x /
        flood.extend_from_slice(b"\x00\x00\x06\x01\x05");
        flood.extend_from_slice(&id);
        flood.extend_from_slice(b"\x82\x86\x84\x41\x01x");
        // RST_STREAM, CANCEL.
        flood.extend_from_slice(b"\x00\x00\x04\x03\x00");
        flood.extend_from_slice(&id);
        flood.extend_from_slice(&8_u32.to_be_bytes());
    }
    let (mut reading, mut writing) = stream.into_split();
    let sending = tokio::spawn(async move { writing.write_all(&flood).await });
    let mut answer = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(20), reading.read_to_end(&mut answer)).await;
    assert!(ended.is_ok(), "the connection goes on");
    let _ = sending.await;
    // GOAWAY, ENHANCE_YOUR_CALM, unless the connection was gone before it could be read.
    let goaway = answer.windows(9).any(|frame| frame[3] == 7 && frame[..3] != [0, 0, 0]);
    assert!(goaway || answer.len() < 100_000, "{} bytes", answer.len());
    server.assert_well().await;
    let both = both().await;
    assert_eq!(both.get("/api/v1/resolve?ref=redis:v1").await.status, 200);
}
