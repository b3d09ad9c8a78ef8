//! gzip for pages and JSON, where the client takes it. Raw files and ready answers go as they are.

use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap};

/// Below this, headers cost more than is saved.
const WORTH_IT: usize = 1_024;

/// The bytes, compressed.
pub(crate) fn gzip(body: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 3), Compression::new(5));
    let written = encoder.write_all(body);
    let compressed = written.and_then(|()| encoder.finish()).expect("writing to memory does not fail");
    Bytes::from(compressed)
}

/// Whether the client takes gzip: named with a weight above zero.
pub(crate) fn is_accepted(request: &HeaderMap) -> bool {
    request.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok()).any(|value| {
        value.split(',').any(|coding| {
            let mut parts = coding.split(';').map(str::trim);
            let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
            let refused = parts
                .any(|weight| weight.strip_prefix("q=").and_then(|q| q.parse::<f32>().ok()) == Some(0.0));
            named && !refused
        })
    })
}

/// Whether compressing an answer is worth it.
pub(crate) fn is_worth_it(headers: &HeaderMap, length: usize) -> bool {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let compressible = [
        "text/",
        "application/json",
        "application/problem+json",
        "application/openmetrics-text",
        "application/yaml",
    ];
    length >= WORTH_IT && compressible.iter().any(|prefix| content_type.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_read() {
        let takes = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, value.parse().unwrap());
            is_accepted(&headers)
        };
        assert!(takes("gzip"));
        assert!(takes("br;q=1.0, GZIP;q=0.5"));
        assert!(!takes("gzip;q=0"));
        assert!(!takes("br, zstd"));
        assert!(!takes(""));
    }
}
