//! The form a client wants an answer in, by its `Accept`: objects, a table of them, or what they are without what they
//! hold. Pure.

use http::HeaderMap;
use http::header::ACCEPT;

use super::refusal::Refusal;

/// How objects are said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As they are.
    Objects,
    /// As rows for a terminal.
    Table,
    /// Their metadata alone.
    Metadata,
}

/// The first form of the list that is had here. No list is objects.
///
/// # Errors
/// When none of them is.
pub(super) fn asked(headers: &HeaderMap) -> Result<Form, Refusal> {
    let mut any = false;
    for value in headers.get_all(ACCEPT) {
        for one in value.to_str().unwrap_or_default().split(',').filter(|one| !one.trim().is_empty()) {
            any = true;
            if let Some(form) = read(one) {
                return Ok(form);
            }
        }
    }
    if any { Err(Refusal::not_acceptable()) } else { Ok(Form::Objects) }
}

fn read(one: &str) -> Option<Form> {
    let mut parts = one.split(';').map(str::trim);
    if !matches!(parts.next()?, "application/json" | "application/*" | "*/*") {
        return None;
    }
    let mut form = Form::Objects;
    for parameter in parts {
        match parameter.split_once('=')? {
            ("as", "Table") => form = Form::Table,
            ("as", "PartialObjectMetadata" | "PartialObjectMetadataList") => form = Form::Metadata,
            // Aggregated discovery, for one.
            ("as", _) => return None,
            ("v", "v1") | ("g", "meta.k8s.io") | ("q" | "charset" | "stream" | "pretty", _) => {}
            _ => return None,
        }
    }
    Some(form)
}

/// Whether a client wants protocol buffers before JSON, as `kubectl` does of OpenAPI and of nothing else here.
pub(super) fn wants_protobuf(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    accept.split(',').next().is_some_and(|first| first.contains("protobuf"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_form_we_have_is_taken() {
        let form = |accept: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, accept.parse().unwrap());
            asked(&headers).ok()
        };
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
        assert_eq!(form(&format!("{table},application/json")), Some(Form::Table));
        assert_eq!(
            form(&format!("application/json;as=Table;v=v1beta1;g=meta.k8s.io,{table}")),
            Some(Form::Table)
        );
        assert_eq!(form("application/json, */*"), Some(Form::Objects));
        assert_eq!(form("application/vnd.kubernetes.protobuf,application/json"), Some(Form::Objects));
        assert_eq!(
            form("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"),
            Some(Form::Metadata)
        );
        assert_eq!(form("application/vnd.kubernetes.protobuf"), None);
        assert_eq!(form("text/html"), None);
        assert!(matches!(asked(&HeaderMap::new()), Ok(Form::Objects)));
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, "application/com.github.proto-openapi.spec.v2@v1.0+protobuf".parse().unwrap());
        assert!(wants_protobuf(&headers));
    }
}
