//! `POST /api/v1/templates/<reference>/-/process`: from values to objects.

use std::net::IpAddr;
use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use http::header::{ACCEPT, HeaderMap};
use http::{HeaderValue, Request, Uri};
use schema::limits::REQUEST_BYTES;
use wire::problem::Detail;
use wire::process::{Output, Pin, ProcessAnswer, ProcessRequest};
use wire::{ProblemKind, text};

use crate::access::Caller;
use crate::cache::CachePolicy;
use crate::error::{ApiError, ApiResult};
use crate::front::Peer;
use crate::processing::Host;
use crate::state::App;
use crate::target::{self, Aspect};
use crate::{api, body, time};

/// Makes objects of a template and values
#[utoipa::path(
    post, path = "/api/v1/templates/{reference}/-/process", tag = "process", operation_id = "process_template",
    params(
        ("reference" = String, Path, description = "The reference; its slashes stay slashes", example = "web/frontend:v1"),
        ("output" = Option<String>, Query, description = "`json` (the default), `objects`, `original`, or `yaml` for `kubectl apply -f -`; goes before the body and `Accept`"),
    ),
    request_body(content = ProcessRequest, description = "The values; JSON or YAML. Nothing at all is no values", example = json!({"parameters": {"NAME": "shop"}})),
    responses(
        (status = 200, description = "The objects", body = ProcessAnswer),
        (status = 400, description = "The reference or the body cannot be read", body = wire::Problem, content_type = "application/problem+json"),
        (status = 404, description = "Nothing has that name", body = wire::Problem, content_type = "application/problem+json"),
        (status = 408, description = "The body did not arrive in time", body = wire::Problem, content_type = "application/problem+json"),
        (status = 413, description = "The body is above 4 MiB", body = wire::Problem, content_type = "application/problem+json"),
        (status = 415, description = "The body is neither JSON nor YAML", body = wire::Problem, content_type = "application/problem+json"),
        (status = 422, description = "The values do not fit, the template is broken, or a limit was hit; `errors` says where", body = wire::Problem, content_type = "application/problem+json"),
        (status = 503, description = "Too much to do; `Retry-After` says when", body = wire::Problem, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn process_template(
    State(app): State<Arc<App>>,
    Extension(Peer(peer)): Extension<Peer>,
    caller: Caller,
    request: Request<Body>,
) -> ApiResult {
    let outcome = answer(&app, peer, &caller, request).await;
    let ended = match &outcome {
        Ok(_) => "done",
        Err(error) => error.kind.id(),
    };
    app.metrics.processed.get_or_create_owned(&[("outcome", ended.to_owned())]).inc();
    outcome
}

async fn answer(app: &App, peer: Option<IpAddr>, caller: &Caller, request: Request<Body>) -> ApiResult {
    let (parts, sent) = request.into_parts();
    let raw = parts.uri.path().strip_prefix("/api/v1/templates/").unwrap_or_default();
    let target = target::split(raw).ok_or_else(api::templates::not_text)?;
    if target.aspect != Some(Aspect::Process) {
        return Err(api::method_error("GET"));
    }
    let reference = api::reference(&target.reference)?;
    let asked = output_of_query(&parts.uri)?;
    let values = body::read(sent, &parts.headers, REQUEST_BYTES, too_large).await?;
    let request = parse(&values, &parts.headers)?;
    let output = asked.or(request.output).unwrap_or_else(|| accepted(&parts.headers));
    let request = request
        .into_request(time::now(), entropy()?)
        .map_err(|error| ApiError::new(ProblemKind::InvalidBody, error.to_string()))?;
    let snapshot = app.catalog.snapshot();
    let viewer = caller.viewer();
    let found = snapshot.resolve(viewer, &reference, app.home.as_ref())?;
    let share = share(caller, peer);
    let home = app.home.as_ref();
    let host = Host { app, snapshot: &snapshot, viewer, home, caller: &share };
    let template = host.load(&found.template.location, found.version).await?;
    let outcome = host.process(&template, Some(found.version.digest), request, &mut Vec::new()).await?;
    let own = Pin {
        asked: target.reference.to_string(),
        version: found.version.version.to_string(),
        digest: found.version.digest.to_string(),
    };
    say(ProcessAnswer::new(target.reference.into_owned(), own, outcome), output)
}

/// Who shares the workers with others: a token wherever it is used, else an address.
pub(crate) fn share(caller: &Caller, peer: Option<IpAddr>) -> String {
    match caller.grant() {
        Some(grant) => grant.id(),
        None => peer.map_or_else(String::new, |peer| peer.to_string()),
    }
}

/// The answer in the form that was asked for.
fn say(answer: ProcessAnswer, output: Output) -> Result<Response, ApiError> {
    match output {
        Output::Json => api::json(CachePolicy::NoStore, &answer),
        Output::Objects => api::json(CachePolicy::NoStore, &answer.objects),
        Output::Original => api::json(CachePolicy::NoStore, &answer.original),
        Output::Yaml => Ok(api::typed(
            CachePolicy::NoStore,
            HeaderValue::from_static("application/yaml"),
            text::yaml_stream(&answer.objects),
        )),
    }
}

fn output_of_query(uri: &Uri) -> Result<Option<Output>, ApiError> {
    let Some(word) = api::parameter(uri, "output") else { return Ok(None) };
    match Output::from_word(&word) {
        Some(output) => Ok(Some(output)),
        None => {
            let detail = format!("`{}` is no form of output", schema::finding::shown(word.as_bytes()));
            Err(ApiError::new(ProblemKind::InvalidQuery, detail)
                .part("output")
                .near(["json", "objects", "original", "yaml"].map(str::to_owned)))
        }
    }
}

fn accepted(headers: &HeaderMap) -> Output {
    let accept = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if accept.starts_with("application/yaml") || accept.starts_with("text/yaml") {
        Output::Yaml
    } else {
        Output::Json
    }
}

fn too_large() -> ApiError {
    ApiError::new(ProblemKind::TooLarge, format!("the body is above {} MiB", REQUEST_BYTES >> 20))
        .hint("Values are for parameters; put files into the template.")
}

fn parse(text: &[u8], headers: &HeaderMap) -> Result<ProcessRequest, ApiError> {
    if text.is_empty() {
        return Ok(ProcessRequest::default());
    }
    let essence = body::media_type(headers).unwrap_or_else(|| "application/json".to_owned());
    let unreadable = |message: String, line, column| {
        let detail = Detail {
            severity: schema::Severity::Error,
            message: message.clone(),
            file: Some("values".to_owned()),
            line,
            column,
            pointer: None,
            hint: None,
        };
        ApiError { errors: vec![detail], ..ApiError::new(ProblemKind::InvalidBody, message) }
    };
    let value = match essence.as_str() {
        "application/yaml" | "application/x-yaml" | "text/yaml" | "text/x-yaml" => {
            let text = std::str::from_utf8(text)
                .map_err(|_| ApiError::new(ProblemKind::InvalidBody, "the body is not UTF-8"))?;
            text::from_yaml(text).map_err(|error| {
                unreadable(format!("the body is not YAML: {error}"), error.line, error.column)
            })?
        }
        json if json == "application/json" || json.ends_with("+json") => {
            let position = |number: usize| u32::try_from(number).ok().filter(|number| *number > 0);
            serde_json::from_slice(text).map_err(|error| {
                unreadable(
                    format!("the body is not JSON: {error}"),
                    position(error.line()),
                    position(error.column()),
                )
            })?
        }
        _ => {
            let detail = format!(
                "the body is `{}`; send application/json or application/yaml",
                schema::finding::shown(essence.as_bytes())
            );
            return Err(ApiError::new(ProblemKind::UnsupportedMediaType, detail).hint("With curl, write --json '…', or -H 'content-type: application/yaml' --data-binary @values.yaml."));
        }
    };
    match value {
        serde_json::Value::Null => Ok(ProcessRequest::default()),
        value @ serde_json::Value::Object(_) => serde_json::from_value(value)
            .map_err(|error| unreadable(format!("the body is no request to process: {error}"), None, None)),
        other => Ok(ProcessRequest { values: Some(other), ..ProcessRequest::default() }),
    }
}

/// 32 fresh bytes from the system's generator, for values a template generates.
pub(crate) fn entropy() -> Result<String, ApiError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(ApiError::internal)?;
    Ok(hex::encode(bytes))
}
