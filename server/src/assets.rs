//! Styles, icons and the small script, in the binary, under names that carry the digest of their bytes.
//!
//! The digest in the name makes a URL immutable: a new build has new names, and nothing is ever stale.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use bytes::Bytes;
use http::HeaderValue;
use rust_embed::RustEmbed;
use schema::Digest;

#[derive(RustEmbed)]
#[folder = "$CARGO_MANIFEST_DIR/../web/assets"]
struct Files;

/// An asset, ready to be served.
pub(crate) struct Asset {
    pub(crate) content_type: HeaderValue,
    pub(crate) body: Bytes,
}

static BY_URL_NAME: LazyLock<BTreeMap<String, Asset>> = LazyLock::new(|| {
    Files::iter()
        .filter_map(|name| {
            let body = Bytes::from(Files::get(&name)?.data.into_owned());
            let content_type = HeaderValue::from_static(match name.rsplit('.').next() {
                Some("css") => "text/css; charset=utf-8",
                Some("js") => "text/javascript; charset=utf-8",
                Some("svg") => "image/svg+xml",
                _ => "application/octet-stream",
            });
            Some((url_name(&name, &body), Asset { content_type, body }))
        })
        .collect()
});

static URLS: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    Files::iter()
        .filter_map(|name| {
            Some((name.to_string(), format!("/assets/{}", url_name(&name, &Files::get(&name)?.data))))
        })
        .collect()
});

fn url_name(name: &str, body: &[u8]) -> String {
    let digest = Digest::of(body).hex();
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, "bin"));
    format!("{stem}-{}.{extension}", &digest[..16])
}

/// The URL of an asset by its plain name; for templates.
///
/// # Panics
/// If there is no such asset: a misspelt name in a template, which the first page of any test shows.
pub(crate) fn url(name: &str) -> &'static str {
    URLS.get(name).unwrap_or_else(|| panic!("there is no asset called {name}"))
}

/// The asset of a name with its digest.
pub(crate) fn get(url_name: &str) -> Option<&'static Asset> {
    BY_URL_NAME.get(url_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_lead_to_assets() {
        for name in ["style.css", "icons.svg", "app.js", "favicon.svg"] {
            let asset = get(url(name).strip_prefix("/assets/").unwrap()).unwrap();
            assert!(!asset.body.is_empty());
        }
        assert!(get("style.css").is_none(), "only names with a digest are served");
    }
}
