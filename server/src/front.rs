//! What every request passes: the hot routes first, then the router, then the finish.
//!
//! The hot routes (resolve, files and archives by reference and by digest) are answered here, before the router and
//! without its middleware: who asks is told from two headers, and a hit costs a look-up, a copy of a few headers and a
//! record for the access log. Everything else is counted in its client's budget ([`crate::limits`]) and goes through
//! the router; its answer is finished in one place: errors become documents, policies become headers, bodies get their
//! coding, their entity tag or `304`, and every answer its request id.

use std::convert::Infallible;
use std::future::Future;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant, SystemTime};

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    HeaderMap, HeaderName, HeaderValue, REFERRER_POLICY, RETRY_AFTER, VARY, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{Method, Request, Response, StatusCode, Uri};
use http_body_util::BodyExt;
use tower::ServiceExt;

use crate::access::{self, Caller};
use crate::access_log::Record;
use crate::cache::{self, CachePolicy};
use crate::error::{ApiError, Carried};
use crate::limits::{Budget, Client, Standing};
use crate::request_id::{self, Trace};
use crate::router::{self, Route};
use crate::state::App;
use crate::{api, compress, cors, dm, kubernetes};

/// Longest path and query that is looked at.
const LONGEST_TARGET: usize = 8 << 10;

/// Our pages load their own styles, icons, script, images and answers, and nothing else; nothing inline runs.
const PAGE_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
);

/// The service that answers everything.
#[derive(Clone)]
pub struct Front {
    app: Arc<App>,
    router: Router,
}

/// What is needed of a request after it was handed on.
struct Facts {
    started: Instant,
    at: SystemTime,
    peer: Option<IpAddr>,
    method: Method,
    target: Uri,
    route: Route,
    request_id: HeaderValue,
    headers: HeaderMap,
    /// Nobody in particular if the token was not good; then nothing but that is answered.
    caller: Caller,
    /// How the client's budget stands, if the request was counted in one.
    standing: Option<Standing>,
}

impl Front {
    pub(crate) fn new(app: Arc<App>) -> Front {
        Front { router: router::routes(Arc::clone(&app)), app }
    }

    pub(crate) fn app(&self) -> &Arc<App> {
        &self.app
    }

    /// Answers a request. `peer` is for the log.
    pub fn answer<B>(&self, mut request: Request<B>, peer: Option<IpAddr>) -> Answering
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let started = Instant::now();
        let in_address = access::address::take(&mut request);
        let route = Route::of(request.uri().path());
        let hot = route.is_hot() && matches!(*request.method(), Method::GET | Method::HEAD);
        let secret = in_address.as_ref().map(|token| token.secret.as_str());
        let caller = access::identify(&self.app, secret, request.headers());
        if hot && let Ok(caller) = &caller {
            let target = request.uri().path_and_query().map_or("", |target| target.as_str());
            let generation = self.app.catalog.snapshot().generation;
            let coding = compress::negotiated(request.headers());
            if let Some(ready) = self.app.ready.get(caller, coding, target, generation)
                && let Ok(response) = ready.give(request.method(), request.headers())
            {
                self.app.metrics.ready_hits.inc();
                return Answering::Ready(Some(self.send(&request, response, route, started, peer)));
            }
        }
        let standing = route.budget(request.uri().path()).and_then(|budget| {
            self.app
                .limits
                .count(budget, Client::of(caller.as_ref().ok(), peer))
                .map(|standing| (budget, standing))
        });
        let (mut parts, body) = request.into_parts();
        let facts = Facts {
            started,
            at: SystemTime::now(),
            peer,
            method: parts.method.clone(),
            target: in_address.map_or_else(|| parts.uri.clone(), |token| token.shown),
            route,
            request_id: self.app.ids.of(&parts.headers),
            headers: parts.headers.clone(),
            caller: caller.as_ref().cloned().unwrap_or_default(),
            standing: standing.map(|(_, standing)| standing),
        };
        if parts.method == Method::HEAD {
            parts.method = Method::GET;
        }
        let (app, router) = (Arc::clone(&self.app), self.router.clone());
        parts.extensions.insert(Peer(peer));
        parts.extensions.insert(facts.caller.clone());
        let request = Request::from_parts(parts, Body::new(body));
        Answering::Working(Box::pin(async move {
            let answer = async {
                if let Some((budget, standing)) = standing
                    && let Some(wait) = standing.wait
                {
                    return Err(too_many(&app, budget, &standing, wait));
                }
                if let Some(response) = cors::preflight(route, &facts.method, &facts.headers) {
                    return Ok(response);
                }
                if facts.target.path_and_query().is_some_and(|target| target.as_str().len() > LONGEST_TARGET)
                {
                    let detail = format!("the path and query are longer than {LONGEST_TARGET} bytes");
                    return Err(ApiError::new(wire::ProblemKind::InvalidQuery, detail));
                }
                access::refuse_secret(&facts.target)?;
                caller?;
                if hot {
                    return make_hot(&app, &facts).await;
                }
                if route.is_hot() {
                    return Err(api::method_error("GET"));
                }
                let (parts, body) = request.into_parts();
                let body = access::forgery::check(&facts.caller, &facts.method, &parts.headers, body).await?;
                let request = Request::from_parts(parts, body);
                Ok(router.oneshot(request).await.unwrap_or_else(|never: Infallible| match never {}))
            };
            let response = match CatchPanic(Box::pin(answer)).await {
                Some(Ok(response)) => response,
                Some(Err(error)) => axum::response::IntoResponse::into_response(error),
                None => axum::response::IntoResponse::into_response(ApiError::internal("a handler panicked")),
            };
            finish(&app, &facts, response).await
        }))
    }

    /// Sends what is given of a ready answer.
    fn send<B>(
        &self,
        request: &Request<B>,
        mut response: Response<Bytes>,
        route: Route,
        started: Instant,
        peer: Option<IpAddr>,
    ) -> Response<AnswerBody> {
        let request_id = self.app.ids.of(request.headers());
        response.headers_mut().insert(&request_id::HEADER, request_id.clone());
        let took = started.elapsed();
        let status = response.status().as_u16();
        self.app.metrics.count(route, status, took);
        if self.app.log.is_on() {
            self.app.log.write(Record {
                at: SystemTime::now(),
                peer,
                method: request.method().clone(),
                target: request.uri().clone(),
                status,
                bytes: response.body().len() as u64,
                took,
                request_id,
                trace: Trace::of(request.headers()),
            });
        }
        response.map(|body| AnswerBody::Ready(Some(body)))
    }
}

/// The error for a client whose budget is used up.
fn too_many(app: &App, budget: Budget, standing: &Standing, wait: Duration) -> ApiError {
    app.metrics.refused(budget);
    let detail = format!("the budget `{}` of this client is used up: {}", budget.as_str(), standing.said());
    ApiError { retry_after: Some(wait), ..ApiError::new(wire::ProblemKind::TooManyRequests, detail) }
        .hint("Come back after Retry-After. Resolving, files and archives that were asked for before are not counted.")
}

/// Makes the answer of a hot route, keeps it, and gives it.
async fn make_hot(app: &App, facts: &Facts) -> Result<Response<Body>, ApiError> {
    app.metrics.ready_misses.inc();
    let mut ready = match facts.route {
        Route::Resolve => api::resolve::make(app, &facts.caller, &facts.target)?,
        Route::File => api::files::make_by_reference(app, &facts.caller, &facts.target).await?,
        _ => api::files::make_by_digest(app, &facts.caller, &facts.target).await?,
    };
    let coding = compress::negotiated(&facts.headers);
    if compress::is_worth_it(&ready.headers, ready.body.len()) {
        ready.headers.append(VARY, HeaderValue::from_name(ACCEPT_ENCODING));
        if let Some(coding) = coding {
            let packed = app.packed.of(ready.content.as_ref(), coding, &ready.body).await;
            ready = ready.coded(coding, packed);
        }
    }
    if cors::is_open(facts.route, &facts.method, &facts.caller) {
        cors::open(&mut ready.headers);
    }
    let ready = Arc::new(ready);
    let target = facts.target.path_and_query().map_or("", |target| target.as_str());
    app.ready.keep(&facts.caller, coding, target, Arc::clone(&ready));
    let mut response = ready.give(&facts.method, &facts.headers)?.map(Body::from);
    response.headers_mut().insert(&request_id::HEADER, facts.request_id.clone());
    response.extensions_mut().insert(Finished);
    Ok(response)
}

/// Marks an answer that has all its headers.
#[derive(Clone, Copy)]
struct Finished;

/// Marks an answer whose body comes as it is made: it is neither collected nor compressed, and nobody keeps it.
#[derive(Clone, Copy)]
pub(crate) struct Streamed;

/// Writes what every answer of the router carries, logs and counts it.
async fn finish(app: &App, facts: &Facts, mut response: Response<Body>) -> Response<AnswerBody> {
    if let Some(Carried(error)) = response.extensions_mut().remove::<Carried>() {
        response = problem(app, facts, *error, response);
    }
    if response.extensions().get::<Finished>().is_none() {
        response = dress(app, facts, response).await;
    }
    if let Some(standing) = &facts.standing {
        standing.write(response.headers_mut());
    }
    let bytes = http_body::Body::size_hint(response.body()).exact().unwrap_or_default();
    let took = facts.started.elapsed();
    app.metrics.count(facts.route, response.status().as_u16(), took);
    if app.log.is_on() {
        app.log.write(Record {
            at: facts.at,
            peer: facts.peer,
            method: facts.method.clone(),
            target: facts.target.clone(),
            status: response.status().as_u16(),
            bytes,
            took,
            request_id: facts.request_id.clone(),
            trace: Trace::of(&facts.headers),
        });
    }
    response.map(AnswerBody::Made)
}

/// The document of an error, in place of the empty body that carried it.
fn problem(app: &App, facts: &Facts, error: ApiError, carrier: Response<Body>) -> Response<Body> {
    let request_id = facts.request_id.to_str().unwrap_or_default();
    if let Some(cause) = &error.cause {
        let trace = Trace::of(&facts.headers);
        let trace_id = trace.as_ref().map(Trace::id);
        tracing::error!(request_id, trace_id, target = %facts.target.path(), cause, "a request failed");
    }
    let retry_after = error.retry_after;
    if facts.route == Route::Dm {
        return dm::plain(&error);
    }
    let (mut parts, _) = carrier.into_parts();
    parts.headers.extend(error.headers.iter().cloned());
    parts.headers.remove(CONTENT_LENGTH);
    parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    if let Some(wait) = retry_after {
        parts.headers.insert(RETRY_AFTER, HeaderValue::from(wait.as_secs().max(1)));
    }
    if error.kind == wire::ProblemKind::Unauthenticated {
        // RFC 6750, section 3: a token that is not good is told from none at all.
        let challenge = match error.part {
            Some(_) => r#"Bearer realm="formwork", error="invalid_token""#,
            None => r#"Bearer realm="formwork""#,
        };
        parts.headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    }
    if let Some(allowed) = error.part.filter(|_| error.kind == wire::ProblemKind::MethodNotAllowed) {
        parts.headers.insert(http::header::ALLOW, HeaderValue::from_static(allowed));
    }
    if facts.route == Route::Kubernetes {
        parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        return Response::from_parts(parts, Body::from(kubernetes::said(&error)));
    }
    let mut document = error.document(&app.base, Some(request_id));
    if document.status == 405 {
        document.part = None;
    }
    let body = serde_json::to_vec_pretty(&document).unwrap_or_default();
    Response::from_parts(parts, Body::from(body))
}

/// Turns the policy into headers, tags and compresses the body, and adds what every answer carries.
async fn dress(app: &App, facts: &Facts, response: Response<Body>) -> Response<Body> {
    let (mut parts, body) = response.into_parts();
    let policy = parts.extensions.remove::<CachePolicy>().unwrap_or(CachePolicy::NoStore);
    let policy = policy.seen_by(&facts.caller);
    if parts.extensions.remove::<Streamed>().is_some() {
        cache::apply(&mut parts.headers, CachePolicy::NoStore, None);
        protect(facts, &mut parts.headers);
        return Response::from_parts(parts, body);
    }
    // Every other answer of ours is made in memory; collecting one only takes it out of its box.
    let mut body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let headers = &mut parts.headers;
    let compressible = !headers.contains_key(CONTENT_ENCODING) && compress::is_worth_it(headers, body.len());
    let coding = compress::negotiated(&facts.headers).filter(|_| compressible);
    if compressible {
        headers.append(VARY, HeaderValue::from_name(ACCEPT_ENCODING));
    }
    let tag = match headers.get(ETAG) {
        Some(tag) => Some(tag.clone()),
        None if policy == CachePolicy::NoStore || parts.status != StatusCode::OK => None,
        None => Some(cache::entity_tag(&body)),
    };
    let tag = match coding {
        Some(coding) => tag.map(|tag| cache::coded_tag(&tag, coding)),
        None => tag,
    };
    let unchanged = parts.status == StatusCode::OK
        && tag.as_ref().is_some_and(|tag| cache::client_has(&facts.headers, tag));
    cache::apply(headers, policy, tag);
    if unchanged {
        parts.status = StatusCode::NOT_MODIFIED;
        headers.remove(CONTENT_TYPE);
        headers.remove(CONTENT_LENGTH);
        body = Bytes::new();
    } else {
        if let Some(coding) = coding {
            // What never changes is compressed once; all else is another body each time.
            let digest = policy.is_immutable().then(|| schema::Digest::of(&body));
            body = app.packed.of(digest.as_ref(), coding, &body).await;
            headers.insert(CONTENT_ENCODING, coding.header());
        }
        // RFC 9110, section 8.6: where there can be no body, no length is said.
        if parts.status != StatusCode::NO_CONTENT {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        }
        if facts.method == Method::HEAD {
            body = Bytes::new();
        }
    }
    protect(facts, headers);
    Response::from_parts(parts, Body::from(body))
}

/// What every answer carries, whatever it holds.
fn protect(facts: &Facts, headers: &mut HeaderMap) {
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(PAGE_POLICY);
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    );
    headers.insert(&request_id::HEADER, facts.request_id.clone());
    if cors::is_open(facts.route, &facts.method, &facts.caller) {
        cors::open(headers);
    }
}

/// The future of an answer: already there on the hot routes, boxed elsewhere.
pub enum Answering {
    /// The answer is there.
    Ready(Option<Response<AnswerBody>>),
    /// It is being made.
    Working(Pin<Box<dyn Future<Output = Response<AnswerBody>> + Send>>),
}

impl Future for Answering {
    type Output = Response<AnswerBody>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self {
            Answering::Ready(response) => {
                Poll::Ready(response.take().expect("a future is not polled after it is ready"))
            }
            Answering::Working(work) => work.as_mut().poll(context),
        }
    }
}

/// The body of an answer: bytes that are there, or whatever the router made.
pub enum AnswerBody {
    /// Bytes, given once.
    Ready(Option<Bytes>),
    /// A body of the router.
    Made(Body),
}

impl http_body::Body for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, axum::Error>>> {
        match &mut *self {
            AnswerBody::Ready(bytes) => {
                Poll::Ready(bytes.take().map(|bytes| Ok(http_body::Frame::data(bytes))))
            }
            AnswerBody::Made(body) => Pin::new(body).poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            AnswerBody::Ready(bytes) => bytes.as_ref().is_none_or(Bytes::is_empty),
            AnswerBody::Made(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> http_body::SizeHint {
        match self {
            AnswerBody::Ready(bytes) => {
                http_body::SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64)
            }
            AnswerBody::Made(body) => body.size_hint(),
        }
    }
}

/// Runs a future; a panic in it becomes nothing, and is on standard error by the panic hook.
struct CatchPanic<F>(Pin<Box<F>>);

impl<F: Future> Future for CatchPanic<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // What a handler left half done is its own: shared state is behind locks and atomics that do not break.
        match std::panic::catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(context))) {
            Ok(Poll::Ready(output)) => Poll::Ready(Some(output)),
            Ok(Poll::Pending) => Poll::Pending,
            Err(_) => Poll::Ready(None),
        }
    }
}

/// Who asks, in the extensions of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) Option<IpAddr>);

/// Longest a body of a request may take to arrive.
pub(crate) const BODY_DEADLINE: Duration = Duration::from_secs(30);
