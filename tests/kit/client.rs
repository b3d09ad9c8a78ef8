//! The smallest HTTP client the tests need: one request, one answer, everything to look at.

use std::sync::OnceLock;
use std::time::Duration;

use reqwest::blocking::{Client, RequestBuilder};
use serde_json::Value;

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) body: Vec<u8>,
}

fn client() -> &'static Client {
    static CLIENT: OnceLock<Client> = OnceLock::new();
    CLIENT.get_or_init(|| {
        // The client is built without a provider of cryptography; none is used on the loopback interface.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Client::builder()
            .no_proxy()
            // Certificates in tests are made on the spot.
            .tls_danger_accept_invalid_certs(true)
            .redirect(reqwest::redirect::Policy::none())
            .timeout(Duration::from_secs(30))
            .build()
            .expect("a client without special settings can be built")
    })
}

fn send(request: RequestBuilder) -> Result<Answer, String> {
    let response = request.send().map_err(|error| format!("{error:?}"))?;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let body = response.bytes().map_err(|error| format!("{error:?}"))?.to_vec();
    Ok(Answer { status, headers, body })
}

/// Asks for a URL; an error is a connection that failed.
pub(crate) fn get(url: &str) -> Result<Answer, String> {
    send(client().get(url))
}

/// Asks with further headers.
pub(crate) fn get_with(url: &str, headers: &[(&str, &str)]) -> Result<Answer, String> {
    send(headers.iter().fold(client().get(url), |request, (name, value)| request.header(*name, *value)))
}

/// Sends a text with any method; without a `content-type` among the headers it is JSON.
pub(crate) fn send_with(
    method: &str,
    url: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Result<Answer, String> {
    let method = method.parse().map_err(|error| format!("{error:?}"))?;
    let typed = headers.iter().any(|(name, _)| *name == "content-type");
    let json = (!typed).then_some(("content-type", "application/json"));
    let headers = headers.iter().copied().chain(json);
    let request =
        headers.fold(client().request(method, url), |request, (name, value)| request.header(name, value));
    send(request.body(body.to_owned()))
}

/// Sends a JSON text.
pub(crate) fn post(url: &str, body: &str) -> Result<Answer, String> {
    send(client().post(url).header("content-type", "application/json").body(body.to_owned()))
}

/// Sends bytes with headers.
pub(crate) fn post_with(url: &str, headers: &[(&str, &str)], body: &[u8]) -> Result<Answer, String> {
    let request = client().post(url).body(body.to_vec());
    send(headers.iter().fold(request, |request, (name, value)| request.header(*name, *value)))
}

impl Answer {
    /// The body as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    ///
    /// # Panics
    /// When it is none.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| {
            panic!("the body is not JSON ({error}), status {}: {}", self.status, self.text())
        })
    }

    /// A header, or nothing.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The answer, once its status is the one expected.
    ///
    /// # Panics
    /// When it is another.
    #[track_caller]
    pub(crate) fn expect_status(self, status: u16) -> Answer {
        assert_eq!(self.status, status, "the answer was: {}", self.text());
        self
    }
}
