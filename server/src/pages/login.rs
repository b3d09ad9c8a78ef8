//! `/login` and `/logout`: signing in with a token in a browser.
//!
//! The token is sent once, in the body of a form, and answered with the cookie of a session. Where one goes
//! afterwards is a path of this server and nothing else. Signing in is not protected by a session, for there is none:
//! the browser's own word on where a form came from is asked instead, so that no other site signs anybody in.

use std::sync::Arc;

use askama::Template;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use catalog::Grant;
use http::header::{HOST, HeaderMap, HeaderName, HeaderValue, LOCATION, ORIGIN, REFERER, SET_COOKIE};
use http::{Request, StatusCode, Uri};

use crate::access::{Caller, forbidden, forgery};
use crate::api;
use crate::cache::CachePolicy;
use crate::error::{ApiError, ApiResult};
use crate::pages::{self, Frame};
use crate::state::App;
use crate::time::now;

#[derive(Template)]
#[template(path = "login.html")]
struct Login {
    frame: Frame,
    /// Where to go afterwards.
    next: String,
    /// What was wrong with the last try.
    wrong: Option<String>,
    /// Who is signed in.
    grant: Option<Arc<Grant>>,
    until: Option<i64>,
}

/// The form.
pub(crate) async fn form(
    State(app): State<Arc<App>>,
    caller: Caller,
    uri: Uri,
    headers: HeaderMap,
) -> ApiResult {
    let asked = api::parameter(&uri, "next").or_else(|| came_from(&headers));
    page(&app, &caller, asked.as_deref().unwrap_or("/"), None)
}

/// Signs in.
pub(crate) async fn login(State(app): State<Arc<App>>, caller: Caller, request: Request<Body>) -> ApiResult {
    let (parts, body) = request.into_parts();
    if !forgery::is_form(&parts.headers) || !is_own(&app, &parts.headers) {
        return Err(forbidden("signing in is done with the form at /login, and not from another site")
            .hint("Open /login on this server and send the form there."));
    }
    let form = forgery::read(body, &parts.headers).await?;
    let next = forgery::field(&form, "next").unwrap_or_default();
    let secret = forgery::field(&form, "token").unwrap_or_default();
    let Some(grant) = app.catalog.grants().find(secret.trim(), now()) else {
        let wrong = "That token is unknown, was revoked, or is over.".to_owned();
        return page(&app, &caller, &next, Some(wrong));
    };
    let cookie = app.sessions.begin(grant.id(), now()).map_err(ApiError::internal)?;
    Ok(redirect(safe(&next), cookie))
}

/// Signs out.
pub(crate) async fn logout(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    redirect("/", app.sessions.end(&headers))
}

fn page(app: &App, caller: &Caller, next: &str, wrong: Option<String>) -> ApiResult {
    let status = if wrong.is_some() { StatusCode::UNAUTHORIZED } else { StatusCode::OK };
    let page = Login {
        frame: Frame::new(app, caller, "Sign in").at("/login"),
        next: safe(next).to_owned(),
        wrong,
        grant: caller.grant().cloned(),
        until: caller.session().map(|session| session.until),
    };
    let mut response = pages::page_with(status, CachePolicy::NoStore, &page)?;
    if status == StatusCode::UNAUTHORIZED {
        // HTTP wants a challenge with the status; browsers know no such scheme and show the page.
        let challenge = HeaderValue::from_static(r#"Bearer realm="formwork""#);
        response.headers_mut().insert(http::header::WWW_AUTHENTICATE, challenge);
    }
    Ok(response)
}

fn redirect(to: &str, cookie: HeaderValue) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    let location = HeaderValue::from_str(to).unwrap_or(HeaderValue::from_static("/"));
    response.headers_mut().insert(LOCATION, location);
    response.headers_mut().insert(SET_COOKIE, cookie);
    response
}

/// A path of this server, or its front page. `//host` and `/\host` are other servers to a browser, and so are they
/// behind a tab or line break, which it leaves out.
fn safe(next: &str) -> &str {
    let plain = next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let is_path = next.starts_with('/') && !next.starts_with("//");
    if plain && is_path && next.len() <= 2_048 && !next.starts_with("/log") { next } else { "/" }
}

/// The page of ours the reader comes from, by what the browser says.
fn came_from(headers: &HeaderMap) -> Option<String> {
    let uri = headers.get(REFERER)?.to_str().ok()?.parse::<Uri>().ok()?;
    let same = uri.authority()?.as_str() == headers.get(HOST)?.to_str().ok()?;
    same.then(|| uri.path_and_query().map(ToString::to_string))?
}

/// Whether the browser says that a form comes from our own page; programs say nothing, and have no form.
fn is_own(app: &App, headers: &HeaderMap) -> bool {
    let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(site) = text(&HeaderName::from_static("sec-fetch-site")) {
        return site == "same-origin" || site == "none";
    }
    match text(&ORIGIN) {
        None => true,
        Some(origin) if !app.base.is_empty() => origin == app.base,
        Some(origin) => {
            let host = origin.split_once("://").map(|(_, host)| host);
            host.is_some() && host == text(&HOST)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::safe;

    #[test]
    fn where_to_go_is_a_path_of_this_server() {
        for good in ["/", "/github.com/acme/templates/redis:v1", "/search?q=a&b=%2F#x", "/a//b"] {
            assert_eq!(safe(good), good);
        }
        for bad in [
            "",
            "//evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "https://evil.example",
            "javascript:alert(1)",
            "/\t/evil.example",
            "/a\r\nset-cookie: x",
            "x",
            "/logout",
            "/login?next=/",
        ] {
            assert_eq!(safe(bad), "/", "{bad:?}");
        }
    }
}
