//! Who asks, and what they may do.
//!
//! The front finds out once a request who asks ([`identify`]) and puts a [`Caller`] beside it. A handler takes it as
//! an argument, `caller: Caller`, and
//!
//! - puts [`Caller::viewer`] into every question to the catalogue. What the viewer may not see is absent: the same
//!   status, the same words, the same work as for what does not exist;
//! - begins with [`require`] if it changes something, or with [`require_on`] if it changes something about one
//!   registry. Both answer 401 without a token and 403 with one that allows too little, whether or not the thing
//!   asked about exists.
//!
//! ```ignore
//! async fn sync(State(app): State<Arc<App>>, caller: Caller, …) -> ApiResult {
//!     require_on(&caller, Scope::Write, &name)?;
//!     let registry = app.catalog.snapshot().registry(caller.viewer(), &name).cloned().ok_or_else(…)?;
//! ```
//!
//! A token travels as `Authorization: Bearer fwk_…`, or stands behind the session cookie of a browser that signed in
//! ([`sessions`]). It is never read from an address, because addresses are logged; one that has it is refused. The one
//! exception is for clients that can send nothing else ([`address`]).
//! Whatever changes something by a session must carry the session's word against forged requests, which the front
//! checks ([`forgery`]).
//!
//! This module must not know which handler needs what, nor how tokens are kept (`catalog`).

pub(crate) mod address;
pub(crate) mod forgery;
pub(crate) mod sessions;

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use catalog::{Grant, Scope, Viewer, find_secret};
use http::Uri;
use http::header::{AUTHORIZATION, COOKIE, HeaderMap};
use http::request::Parts;
use schema::RegistryName;
use wire::ProblemKind;

use crate::error::ApiError;
use crate::state::App;
use crate::time;
use sessions::Session;

/// Who asks: anybody, or whoever has a token.
#[derive(Debug, Clone, Default)]
pub(crate) struct Caller {
    grant: Option<Arc<Grant>>,
    session: Option<Session>,
}

impl Caller {
    /// Whoever holds a token.
    pub(crate) const fn holding(grant: Arc<Grant>) -> Caller {
        Caller { grant: Some(grant), session: None }
    }

    /// What they may see.
    pub(crate) fn viewer(&self) -> &Viewer {
        self.grant.as_ref().map_or(&Viewer::Anonymous, |grant| grant.viewer())
    }

    /// What their token stands for, if they have one.
    pub(crate) fn grant(&self) -> Option<&Arc<Grant>> {
        self.grant.as_ref()
    }

    /// The session, if they signed in with a browser.
    pub(crate) fn session(&self) -> Option<&Session> {
        self.session.as_ref()
    }

    /// Whether nothing is known of them. All such see the same.
    pub(crate) const fn is_anybody(&self) -> bool {
        self.grant.is_none()
    }

    /// Whether they see everything there is, so that figures about all of it tell them nothing new.
    pub(crate) fn sees_everything(&self) -> bool {
        *self.viewer() == Viewer::Operator
    }
}

/// Handlers take the caller as an argument.
impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Caller, Infallible> {
        // Without the front nobody was asked, and so nobody is known.
        Ok(parts.extensions.get::<Caller>().cloned().unwrap_or_default())
    }
}

/// Who asks, by the token that was in the address of a request if it may be there, else by its headers.
///
/// # Errors
/// A token that is not good (any more) is an error and not nobody: whoever sends one wants to know. A session that
/// is over is nobody: browsers send it by themselves.
pub(crate) fn identify(app: &App, in_address: Option<&str>, headers: &HeaderMap) -> Result<Caller, ApiError> {
    if let Some(secret) = in_address {
        let grant = app.catalog.grants().find(secret, time::now());
        return grant.map(Caller::holding).ok_or_else(bad_token);
    }
    if let Some(value) = headers.get(AUTHORIZATION) {
        let bearer = value
            .as_bytes()
            .split_at_checked(7)
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case(b"bearer "));
        // Another scheme is the affair of a proxy in front of us.
        if let Some((_, secret)) = bearer {
            let secret = std::str::from_utf8(secret).unwrap_or_default().trim();
            let grant = app.catalog.grants().find(secret, time::now());
            return grant.map(Caller::holding).ok_or_else(bad_token);
        }
    }
    if headers.contains_key(COOKIE)
        && let Some(session) = app.sessions.of(headers, time::now())
        && let Some(grant) = app.catalog.grants().by_id(&session.grant, time::now())
    {
        return Ok(Caller { grant: Some(Arc::clone(grant)), session: Some(session) });
    }
    Ok(Caller::default())
}

fn bad_token() -> ApiError {
    ApiError::new(ProblemKind::Unauthenticated, "the token is unknown, was revoked, or is over")
        .part("token")
        .hint("`formwork token list` shows the tokens there are, `formwork token create` makes one.")
}

/// Refuses an address that has a token in it: by now it is in the logs of whatever is in between.
pub(crate) fn refuse_secret(target: &Uri) -> Result<(), ApiError> {
    match target.path_and_query().and_then(|target| find_secret(target.as_str())) {
        None => Ok(()),
        Some(_) => Err(ApiError::new(ProblemKind::InvalidQuery, "the address has a token in it, and is not looked at")
            .part("token")
            .hint("Revoke that token, for addresses are logged on the way; send tokens as `Authorization: Bearer …`.")),
    }
}

/// What the caller's token stands for, if it allows this everywhere. For what is not about one registry; a token
/// that is limited to some does not do.
///
/// # Errors
/// 401 without a token, 403 with one that allows too little.
pub(crate) fn require(caller: &Caller, scope: Scope) -> Result<&Grant, ApiError> {
    let grant = of_scope(caller, scope)?;
    if grant.token.registries.is_none() {
        return Ok(grant);
    }
    Err(forbidden("this is not about one registry, and the token is limited to some"))
}

/// What the caller's token stands for, if it allows this at all. For what names the registry in its body: nobody
/// sends a body in vain. [`require_on`] comes after it.
///
/// # Errors
/// 401 without a token, 403 with one that allows too little.
pub(crate) fn require_somewhere(caller: &Caller, scope: Scope) -> Result<&Grant, ApiError> {
    of_scope(caller, scope)
}

/// What the caller's token stands for, if it allows this with a registry, whether there is such a registry or not.
///
/// # Errors
/// 401 without a token, 403 with one that allows too little.
pub(crate) fn require_on<'a>(
    caller: &'a Caller,
    scope: Scope,
    registry: &RegistryName,
) -> Result<&'a Grant, ApiError> {
    let grant = of_scope(caller, scope)?;
    if grant.covers(registry) {
        return Ok(grant);
    }
    Err(forbidden(format!("the token is limited to other registries than `{registry}`")))
}

fn of_scope(caller: &Caller, scope: Scope) -> Result<&Grant, ApiError> {
    let Some(grant) = caller.grant() else {
        let detail = format!("this needs a token with the scope `{scope}`");
        return Err(ApiError::new(ProblemKind::Unauthenticated, detail)
            .hint("Send it as `Authorization: Bearer …`; the command line takes it from FORMWORK_TOKEN. `formwork token create` makes one."));
    };
    if grant.token.scope >= scope {
        return Ok(grant);
    }
    Err(forbidden(format!("this needs the scope `{scope}`, and the token has `{}`", grant.token.scope)))
}

/// The error for a token that allows too little.
pub(crate) fn forbidden(detail: impl Into<String>) -> ApiError {
    ApiError::new(ProblemKind::Forbidden, detail)
        .part("token")
        .hint("Ask whoever runs this server for a token that does; `formwork token create --help` shows the scopes.")
}
