//! What clients send: JSON as `kubectl` and `oc` do, or YAML.

use axum::body::Body;
use bytes::Bytes;
use http::HeaderMap;
use schema::limits::REQUEST_BYTES;
use serde_json::Value;
use wire::{ProblemKind, text};

use super::refusal::Refusal;
use crate::body::{media_type, read as read_whole};
use crate::error::ApiError;

/// How an object is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Json,
    Yaml,
}

impl Format {
    pub(super) const fn extension(self) -> &'static str {
        match self {
            Format::Json => "json",
            Format::Yaml => "yaml",
        }
    }
}

/// A whole body, and how it says it is written. Without a word it is JSON.
pub(super) async fn read(sent: Body, headers: &HeaderMap) -> Result<(Bytes, Format), Refusal> {
    let format = match media_type(headers).as_deref() {
        None | Some("application/json") => Format::Json,
        Some("application/yaml" | "application/x-yaml" | "text/yaml" | "text/x-yaml") => Format::Yaml,
        Some(other) => {
            let other = schema::finding::shown(other.as_bytes());
            return Err(Refusal::media_type(format!(
                "the body of the request was in an unknown format ({other}); send application/json or application/yaml"
            )));
        }
    };
    Ok((whole(sent, headers).await?, format))
}

/// A whole body, whatever it is.
pub(super) async fn whole(sent: Body, headers: &HeaderMap) -> Result<Bytes, Refusal> {
    let too_large = || {
        let detail = format!("the body is above {} MiB", REQUEST_BYTES >> 20);
        ApiError::new(ProblemKind::TooLarge, detail)
    };
    Ok(read_whole(sent, headers, REQUEST_BYTES, too_large).await?)
}

/// What it says.
pub(super) fn parse(sent: &[u8], format: Format) -> Result<Value, Refusal> {
    match format {
        Format::Json => serde_json::from_slice(sent)
            .map_err(|error| Refusal::bad_request(format!("the body is not JSON: {error}"))),
        Format::Yaml => {
            let text =
                std::str::from_utf8(sent).map_err(|_| Refusal::bad_request("the body is not UTF-8"))?;
            text::from_yaml(text).map_err(|error| match error.line {
                Some(line) => Refusal::bad_request(format!("the body is not YAML: line {line}: {error}")),
                None => Refusal::bad_request(format!("the body is not YAML: {error}")),
            })
        }
    }
}
