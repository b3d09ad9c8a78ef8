//! One request at a time: authenticated, conditional, within the limits, and again where that may help.
//!
//! GitHub asks its clients not to ask at once what can be asked one after the other; the state of a client is behind one
//! lock for that reason too. What is waited for and how often is bounded: a caller that comes back later is better than
//! one that never ends.

use std::collections::HashMap;
use std::fmt;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use http::header::{ACCEPT, AUTHORIZATION, ETAG, IF_NONE_MATCH, LINK};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Limited};
use octocrab::Octocrab;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};

use crate::authentication::{Credentials, Lent, Token};
use crate::limits::{self, Limit};

/// Longest a request may take, body included.
const DEADLINE: Duration = Duration::from_secs(30);

/// Most bytes of a body: a page of 100 repositories has some 700 KB.
const BODY_BYTES: usize = 8 << 20;

/// Most answers that are kept to be asked about conditionally.
const KEPT: usize = 2_000;

/// Longest that is waited for a limit to be over. The primary one starts anew every hour.
const LONGEST_WAIT: Duration = Duration::from_secs(65 * 60);

/// Times a limit may be hit in a row before the listing is given up.
const HITS: u32 = 4;

/// Tries after the server or the connection failed, and the wait before the first of them; each is twice as long.
const RETRIES: u32 = 3;
const FIRST_RETRY: Duration = Duration::from_millis(500);

/// Where the API is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Api {
    uri: Uri,
    authority: Authority,
}

/// Why a text is no address of an API.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no address of a GitHub API; write https://api.github.com, or https://HOST/api/v3 for a server of your own"
)]
pub struct ApiError(String);

impl Api {
    /// Reads an address: `https://api.github.com`, `https://ghe.example/api/v3`.
    ///
    /// # Errors
    /// When it is not http or https, or has a user, a query or no host.
    pub fn parse(text: &str) -> Result<Api, ApiError> {
        let error = || ApiError(text.to_owned());
        let uri = text.trim_end_matches('/').parse::<Uri>().map_err(|_| error())?;
        let authority = uri.authority().filter(|authority| !authority.as_str().contains('@')).cloned();
        match (uri.scheme_str(), authority) {
            (Some("http" | "https"), Some(authority)) if uri.query().is_none() => Ok(Api { uri, authority }),
            _ => Err(error()),
        }
    }

    /// The host repositories are at, as registries are named: `github.com` for GitHub's own.
    pub fn host(&self) -> &str {
        match self.authority.host() {
            "api.github.com" => "github.com",
            host => host,
        }
    }

    /// Whether a clone URL is at that host, over https, or over http if the API is.
    pub(crate) fn has(&self, clone: &str) -> bool {
        let Ok(uri) = clone.parse::<Uri>() else { return false };
        let scheme = uri.scheme_str();
        let safe =
            scheme == Some("https") || (scheme == Some("http") && self.uri.scheme_str() == Some("http"));
        safe && uri.authority().is_some_and(|authority| {
            !authority.as_str().contains('@') && authority.host().eq_ignore_ascii_case(self.host())
        })
    }

    /// Path and query of a URL of this API, behind its own path; none for any other URL.
    fn relative(&self, url: &str) -> Option<String> {
        let uri = url.parse::<Uri>().ok()?;
        let ours = uri.scheme() == self.uri.scheme() && uri.authority() == Some(&self.authority);
        let rest = uri.path_and_query()?.as_str().strip_prefix(self.uri.path().trim_end_matches('/'))?;
        (ours && rest.starts_with('/')).then(|| rest.to_owned())
    }
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.uri)
    }
}

/// Why GitHub could not be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GithubError {
    /// No answer, or none that can be used, more than once.
    #[error("{api} does not answer as it should: {why}; it is asked again later")]
    Unreachable {
        /// The API.
        api: String,
        /// What was seen last.
        why: String,
    },
    /// The token, or the key of the app, is not accepted.
    #[error(
        "{api} does not accept the credentials: {why}; check the token, or the app's id, key and installation"
    )]
    Unauthorised {
        /// The API.
        api: String,
        /// What it says.
        why: String,
    },
    /// What was asked for may not be seen.
    #[error("{api} does not let these credentials see {what}: {why}")]
    Forbidden {
        /// The API.
        api: String,
        /// What was asked for.
        what: String,
        /// What it says.
        why: String,
    },
    /// There is no such organisation or user, or it may not be seen.
    #[error("{api} knows no {what}, or does not let these credentials see it")]
    NotFound {
        /// The API.
        api: String,
        /// What was asked for.
        what: String,
    },
    /// A limit that does not end soon.
    #[error("{api} says to wait {seconds} s; it is asked again later")]
    Limited {
        /// The API.
        api: String,
        /// How long, in seconds.
        seconds: u64,
    },
    /// An answer that is none.
    #[error("{api} answered {what} with something else than it should: {why}")]
    Unreadable {
        /// The API.
        api: String,
        /// What was asked for.
        what: String,
        /// What is wrong with it.
        why: String,
    },
}

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer<T> {
    pub(crate) value: T,
    /// What is asked for next, if there is more.
    pub(crate) next: Option<String>,
}

struct Kept {
    tag: HeaderValue,
    body: Vec<u8>,
    next: Option<String>,
}

#[derive(Default)]
struct State {
    lent: Option<Lent>,
    kept: HashMap<String, Kept>,
    /// Nothing is sent before.
    not_before: Option<Instant>,
}

/// What came back, as far as this module looks at it.
struct Response {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Response {
    /// What GitHub says in the body of an error, shortened.
    fn said(&self) -> String {
        #[derive(Deserialize)]
        struct Said {
            message: String,
        }
        let said = serde_json::from_slice::<Said>(&self.body).map(|said| said.message).unwrap_or_default();
        let said = said.chars().filter(|c| !c.is_control()).take(200).collect::<String>();
        if said.is_empty() { format!("status {}", self.status.as_u16()) } else { said }
    }
}

/// Asks one API.
pub(crate) struct Client {
    api: Api,
    credentials: Credentials,
    octocrab: Octocrab,
    state: Mutex<State>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("api", &self.api).finish_non_exhaustive()
    }
}

impl Client {
    /// A client; nothing is asked yet. To be called where a tokio runtime is.
    pub(crate) fn new(api: Api, credentials: Credentials) -> Result<Client, GithubError> {
        let failed = |error: octocrab::Error| GithubError::Unreachable {
            api: api.to_string(),
            why: error.to_string(),
        };
        let octocrab = Octocrab::builder()
            .base_uri(api.uri.clone())
            .map_err(failed)?
            .set_connect_timeout(Some(Duration::from_secs(10)))
            .set_read_timeout(Some(DEADLINE))
            .set_write_timeout(Some(DEADLINE))
            .build()
            .map_err(failed)?;
        Ok(Client { api, credentials, octocrab, state: Mutex::default() })
    }

    pub(crate) fn api(&self) -> &Api {
        &self.api
    }

    pub(crate) fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// Asks for JSON; `None` if there is nothing there.
    pub(crate) async fn get<T: DeserializeOwned>(
        &self,
        path: &str,
    ) -> Result<Option<Answer<T>>, GithubError> {
        let mut state = self.state.lock().await;
        let response = self.ask(&mut state, path).await?;
        let (body, next) = match response.status {
            StatusCode::NOT_FOUND => return Ok(None),
            StatusCode::NOT_MODIFIED => {
                let kept =
                    state.kept.get(path).ok_or_else(|| self.unreadable(path, "unchanged since never"))?;
                (kept.body.clone(), kept.next.clone())
            }
            _ => {
                let link = response.headers.get(LINK).and_then(|link| link.to_str().ok());
                let next = match link.and_then(next_of) {
                    None => None,
                    Some(url) => {
                        let elsewhere = || self.unreadable(path, "its next page is not of this API");
                        Some(self.api.relative(url).ok_or_else(elsewhere)?)
                    }
                };
                if let Some(tag) = response.headers.get(ETAG).filter(|_| state.kept.len() < KEPT) {
                    let kept = Kept { tag: tag.clone(), body: response.body.clone(), next: next.clone() };
                    state.kept.insert(path.to_owned(), kept);
                }
                (response.body, next)
            }
        };
        let value = serde_json::from_slice(&body).map_err(|error| {
            state.kept.remove(path);
            self.unreadable(path, error)
        })?;
        Ok(Some(Answer { value, next }))
    }

    /// A token that is good for a while, if this client has any.
    pub(crate) async fn token(&self) -> Result<Option<Token>, GithubError> {
        let mut state = self.state.lock().await;
        self.current_token(&mut state).await
    }

    async fn current_token(&self, state: &mut State) -> Result<Option<Token>, GithubError> {
        match &self.credentials {
            Credentials::None => Ok(None),
            Credentials::Token(token) => Ok(Some(token.clone())),
            Credentials::App(app) => {
                if let Some(lent) = state.lent.as_ref().filter(|lent| lent.is_good(now())) {
                    return Ok(Some(lent.token.clone()));
                }
                state.lent = None;
                let path = format!("/app/installations/{}/access_tokens", app.installation);
                let unsigned = || self.unauthorised("the key of the app cannot sign");
                // A JWT for each try: one that waited behind a limit would be over.
                let jwt = || app.jwt(now()).ok_or_else(unsigned);
                let response = self.persist(state, Method::POST, &path, &jwt, None).await?;
                match response.status {
                    StatusCode::CREATED | StatusCode::OK => {}
                    StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::NOT_FOUND => {
                        return Err(self.unauthorised(response.said()));
                    }
                    _ => return Err(self.unreadable(&path, response.said())),
                }
                let lent = read_lent(&response.body).map_err(|why| self.unreadable(&path, why))?;
                let token = lent.token.clone();
                state.lent = Some(lent);
                Ok(Some(token))
            }
        }
    }

    /// A GET that was answered well, or with 304 or 404. A token that is refused in between is renewed once: GitHub may
    /// take one back before its time.
    async fn ask(&self, state: &mut State, path: &str) -> Result<Response, GithubError> {
        let mut renewed = false;
        loop {
            let token = self.current_token(state).await?;
            let tag = state.kept.get(path).map(|kept| kept.tag.clone());
            let show = || Ok(token.clone().unwrap_or_else(|| Token::new("")));
            let response = self.persist(state, Method::GET, path, &show, tag).await?;
            match response.status {
                StatusCode::UNAUTHORIZED if !renewed && matches!(self.credentials, Credentials::App(_)) => {
                    tracing::debug!("GitHub took the token of the installation back; asking for another");
                    state.lent = None;
                    renewed = true;
                }
                StatusCode::UNAUTHORIZED => return Err(self.unauthorised(response.said())),
                StatusCode::FORBIDDEN | StatusCode::UNAVAILABLE_FOR_LEGAL_REASONS => {
                    return Err(GithubError::Forbidden {
                        api: self.api.to_string(),
                        what: path.to_owned(),
                        why: response.said(),
                    });
                }
                StatusCode::OK | StatusCode::NOT_MODIFIED | StatusCode::NOT_FOUND => return Ok(response),
                _ => return Err(self.unreadable(path, response.said())),
            }
        }
    }

    /// Sends until there is an answer that is neither a limit nor a failure of the other side.
    async fn persist(
        &self,
        state: &mut State,
        method: Method,
        path: &str,
        token: &(dyn Fn() -> Result<Token, GithubError> + Sync),
        tag: Option<HeaderValue>,
    ) -> Result<Response, GithubError> {
        let (mut hits, mut failures) = (0, 0);
        loop {
            if let Some(wait) = state.not_before.map(|at| at.saturating_duration_since(Instant::now())) {
                self.wait(wait).await?;
                state.not_before = None;
            }
            let failed = match self.send(&method, path, &token()?, tag.as_ref()).await {
                Ok(response) if response.status.is_server_error() => response.said(),
                Ok(response) => {
                    match limits::of(response.status, &response.headers, &response.body, now()) {
                        Limit::None => return Ok(response),
                        Limit::Spent(wait) => {
                            state.not_before = Some(Instant::now() + wait);
                            return Ok(response);
                        }
                        Limit::Hit(wait) => {
                            hits += 1;
                            // "If it continues, wait an exponentially increasing amount of time."
                            let wait = wait * 2u32.pow(hits - 1);
                            // Remembered for the next listing too, should this one not wait that long.
                            state.not_before = Some(Instant::now() + wait);
                            if hits > HITS {
                                return Err(self.limited(wait));
                            }
                            continue;
                        }
                    }
                }
                Err(why) => why,
            };
            failures += 1;
            if failures > RETRIES {
                return Err(GithubError::Unreachable { api: self.api.to_string(), why: failed });
            }
            sleep(FIRST_RETRY * 2u32.pow(failures - 1)).await;
        }
    }

    async fn wait(&self, wait: Duration) -> Result<(), GithubError> {
        if wait > LONGEST_WAIT {
            return Err(self.limited(wait));
        }
        if wait > Duration::from_secs(5) {
            tracing::info!(api = %self.api, seconds = wait.as_secs(), "waiting for the rate limit");
        }
        sleep(wait).await;
        Ok(())
    }

    async fn send(
        &self,
        method: &Method,
        path: &str,
        token: &Token,
        tag: Option<&HeaderValue>,
    ) -> Result<Response, String> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(ACCEPT, "application/vnd.github+json")
            .header("x-github-api-version", "2022-11-28");
        if !token.reveal().is_empty() {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", token.reveal()))
                .map_err(|_| "the token has characters that a header cannot carry".to_owned())?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        if let Some(tag) = tag {
            request = request.header(IF_NONE_MATCH, tag);
        }
        let request = request.body(String::new()).map_err(|error| error.to_string())?;
        let exchange = async {
            let response = self.octocrab.execute(request).await.map_err(|error| causes(&error))?;
            let (parts, body) = response.into_parts();
            let body = Limited::new(body, BODY_BYTES).collect().await.map_err(|error| error.to_string())?;
            Ok(Response { status: parts.status, headers: parts.headers, body: body.to_bytes().to_vec() })
        };
        timeout(DEADLINE, exchange)
            .await
            .unwrap_or_else(|_| Err(format!("no answer in {} s", DEADLINE.as_secs())))
    }

    fn unauthorised(&self, why: impl fmt::Display) -> GithubError {
        GithubError::Unauthorised { api: self.api.to_string(), why: why.to_string() }
    }

    fn unreadable(&self, what: &str, why: impl fmt::Display) -> GithubError {
        GithubError::Unreadable { api: self.api.to_string(), what: what.to_owned(), why: why.to_string() }
    }

    fn limited(&self, wait: Duration) -> GithubError {
        GithubError::Limited { api: self.api.to_string(), seconds: wait.as_secs() }
    }
}

/// An error with what is behind it: the outermost one rarely says what happened.
fn causes(error: &dyn std::error::Error) -> String {
    let mut said = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_said = cause.to_string();
        if !said.contains(&cause_said) {
            said = format!("{said}: {cause_said}");
        }
        next = cause.source();
    }
    said.lines().next().unwrap_or_default().chars().take(300).collect()
}

fn read_lent(body: &[u8]) -> Result<Lent, String> {
    #[derive(Deserialize)]
    struct Given {
        token: String,
        expires_at: String,
    }
    let given = serde_json::from_slice::<Given>(body).map_err(|error| error.to_string())?;
    let until = given.expires_at.parse::<jiff::Timestamp>().map_err(|error| error.to_string())?;
    Ok(Lent { token: Token::new(given.token), until: until.as_second() })
}

/// The URL of the next page in a `Link` header (RFC 8288).
fn next_of(link: &str) -> Option<&str> {
    link.split(',').find_map(|part| {
        let (url, parameters) = part.trim().strip_prefix('<')?.split_once('>')?;
        let next =
            parameters.split(';').any(|parameter| matches!(parameter.trim(), "rel=\"next\"" | "rel=next"));
        next.then_some(url)
    })
}

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_page_is_of_the_same_api() {
        let link =
            r#"<https://api.github.com/a?page=1>; rel="prev", <https://api.github.com/a?page=3>; rel="next""#;
        assert_eq!(next_of(link), Some("https://api.github.com/a?page=3"));
        assert_eq!(next_of(r#"<https://api.github.com/a?page=1>; rel="last""#), None);
        let own = Api::parse("https://ghe.example/api/v3/").unwrap();
        assert_eq!(
            own.relative("https://ghe.example/api/v3/orgs/a?page=2").as_deref(),
            Some("/orgs/a?page=2")
        );
        for elsewhere in [
            "https://evil.example/api/v3/orgs/a",
            "http://ghe.example/api/v3/orgs/a",
            "https://ghe.example:444/api/v3/orgs/a",
            "https://ghe.example/admin",
            "https://ghe.example/api/v3evil",
        ] {
            assert_eq!(own.relative(elsewhere), None, "{elsewhere}");
        }
    }

    #[test]
    fn clone_urls_are_at_the_host_of_the_api() {
        let github = Api::parse("https://api.github.com").unwrap();
        assert_eq!(github.host(), "github.com");
        assert!(github.has("https://github.com/a/b.git"));
        for other in [
            "http://github.com/a/b.git",
            "https://github.com.evil.example/a/b.git",
            "https://me@github.com/a/b.git",
            "ssh://git@github.com/a/b.git",
            "file:///etc",
            "http://169.254.169.254/",
            "",
        ] {
            assert!(!github.has(other), "{other}");
        }
        for bad in ["", "api.github.com", "ftp://a", "https://me:x@a", "https://a/?q"] {
            assert!(Api::parse(bad).is_err(), "{bad}");
        }
    }
}
