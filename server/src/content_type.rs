//! What a raw file is called on the wire. Files come from strangers, and are served from the origin of our pages.
//!
//! A closed list: what a browser might run is text or a download, and whatever is not listed is text if it reads
//! as text and bytes otherwise. On top, every raw file carries `nosniff` and a sandboxing policy.

use http::header::{
    CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap, HeaderValue,
    X_CONTENT_TYPE_OPTIONS,
};

/// The policy for raw files: nothing loads, nothing runs, no origin. SVG keeps its own styles.
const SANDBOX: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'",
);

const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// The content type for a path and its first bytes.
fn content_type(path: &str, bytes: &[u8]) -> HeaderValue {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension =
        name.rsplit_once('.').map_or(String::new(), |(_, extension)| extension.to_ascii_lowercase());
    HeaderValue::from_static(match extension.as_str() {
        "yaml" | "yml" => "application/yaml",
        "json" => "application/json",
        "md" | "markdown" => "text/markdown; charset=utf-8",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "ico" => "image/x-icon",
        "svg" => "image/svg+xml",
        _ if is_text(bytes) => return TEXT,
        _ => "application/octet-stream",
    })
}

/// Whether bytes read as text. The start is enough: the type only decides how they are shown.
pub(crate) fn is_text(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(1_024)];
    let valid = match std::str::from_utf8(start) {
        Ok(_) => true,
        // A character cut by the end of the sample is no fault of the text.
        Err(error) => error.error_len().is_none() && start.len() < bytes.len(),
    };
    valid && !start.contains(&0)
}

/// Writes the headers that every raw file carries.
pub(crate) fn describe(headers: &mut HeaderMap, path: &str, bytes: &[u8]) {
    let content_type = content_type(path, bytes);
    // As an image in a page an SVG cannot script; opened by itself it could, so then it is a download.
    if content_type == "image/svg+xml" {
        headers.insert(CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    }
    headers.insert(CONTENT_TYPE, content_type);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CONTENT_SECURITY_POLICY, SANDBOX);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_a_browser_runs_is_called_by_its_name() {
        for (path, bytes, expected) in [
            ("a/redis.yaml", &b"a: 1"[..], "application/yaml"),
            ("x.html", b"<script>", "text/plain; charset=utf-8"),
            ("x.js", b"alert(1)", "text/plain; charset=utf-8"),
            ("x.HTM", b"<p>", "text/plain; charset=utf-8"),
            ("x.xhtml", b"<p>", "text/plain; charset=utf-8"),
            ("x.xml", b"<p/>", "text/plain; charset=utf-8"),
            ("x.pdf", b"%PDF\0", "application/octet-stream"),
            ("redis.jinja", b"{{ a }}", "text/plain; charset=utf-8"),
            ("LICENSE", b"text", "text/plain; charset=utf-8"),
            ("logo.PNG", b"\x89PNG", "image/png"),
            ("noise", b"\xff\xfe\x00", "application/octet-stream"),
        ] {
            assert_eq!(content_type(path, bytes), expected, "{path}");
        }
        let mut headers = HeaderMap::new();
        describe(&mut headers, "logo.svg", b"<svg onload='x'/>");
        assert_eq!(headers[CONTENT_DISPOSITION], "attachment");
        assert_eq!(headers[X_CONTENT_TYPE_OPTIONS], "nosniff");
        assert!(headers[CONTENT_SECURITY_POLICY].to_str().unwrap().contains("sandbox"));
    }

    #[test]
    fn text_is_told_from_its_start() {
        assert!(is_text("é".repeat(1_000).as_bytes()));
        assert!(!is_text(b"a\0b"));
        assert!(!is_text(b"\xc3"));
    }
}
