//! `/<registry>/-/feed.atom` and `/<template>/-/feed.atom`: what happened, for feed readers (RFC 4287).
//!
//! Ids are made of the catalogue's identity and the place in the change log: they stay what they are whatever the
//! server is called. Links are absolute where there is a public URL, and from the root of the server where not.

use catalog::{LogEntry, Viewer};
use http::HeaderValue;
use schema::reference::{Location, Reference, Selector};
use schema::{Digest, RegistryName};

use crate::api;
use crate::cache::CachePolicy;
use crate::error::{ApiError, ApiResult};
use crate::state::App;
use crate::time::rfc3339;
use crate::ui::escape;

/// Entries in a feed: what a reader that looks in now and then wants to know.
const ENTRIES: usize = 50;

/// The feed of a registry, or of one of its templates.
pub(crate) async fn feed(
    app: &App,
    viewer: &Viewer,
    registry: &RegistryName,
    template: Option<&Location>,
) -> ApiResult {
    let entries = app.catalog.changes_of(viewer, registry, template, ENTRIES).await;
    let entries = entries.map_err(ApiError::internal)?.unwrap_or_default();
    let about = match template {
        Some(location) => Reference::to(location, Selector::Highest).to_string(),
        None => registry.to_string(),
    };
    let page = format!("{}/{}", app.base, crate::target::encode_path(&about));
    // A feed must say when it was last changed, though nothing ever happened.
    let updated = entries.first().map_or(0, |entry| entry.at);
    let identity = app.catalog.identity();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n\
         <id>{}</id>\n<title>{}</title>\n<updated>{}</updated>\n\
         <link rel=\"self\" type=\"application/atom+xml\" href=\"{}/-/feed.atom\"/>\n\
         <link rel=\"alternate\" type=\"text/html\" href=\"{}\"/>\n\
         <author><name>{}</name></author>\n<generator version=\"{}\">Formwork</generator>\n",
        uuid(&format!("{identity} feed {about}")),
        xml(&about),
        rfc3339(updated),
        xml(&page),
        xml(&page),
        xml(registry.as_str()),
        env!("CARGO_PKG_VERSION"),
    );
    for entry in &entries {
        text.push_str(&self::entry(app, identity, entry));
    }
    text.push_str("</feed>\n");
    let content_type = HeaderValue::from_static("application/atom+xml; charset=utf-8");
    Ok(api::typed(CachePolicy::Revalidate, content_type, text))
}

fn entry(app: &App, identity: &str, entry: &LogEntry) -> String {
    let about = match (&entry.location, &entry.version) {
        (Some(location), Some(version)) => {
            Reference::to(location, Selector::Exactly(version.clone())).to_string()
        }
        _ => entry.registry.to_string(),
    };
    let subject = match (&entry.location, &entry.version) {
        (Some(location), Some(version)) => {
            let collection = location.collection.iter().map(|collection| format!("{collection}/"));
            format!("{}{} {version}", collection.collect::<String>(), location.template)
        }
        _ => entry.registry.to_string(),
    };
    let mut summary = explanation(&entry.what).to_owned();
    if let Some(detail) = &entry.detail {
        summary.push_str(&format!(" {detail}."));
    }
    if let Some(digest) = &entry.digest {
        summary.push_str(&format!(" Content: {digest}."));
    }
    format!(
        "<entry>\n<id>{}</id>\n<title>{} {}</title>\n<updated>{}</updated>\n\
         <link rel=\"alternate\" type=\"text/html\" href=\"{}/{}\"/>\n<category term=\"{}\"/>\n\
         <summary type=\"text\">{}</summary>\n</entry>\n",
        uuid(&format!("{identity} change {}", entry.sequence)),
        xml(&subject),
        xml(headline(&entry.what)),
        rfc3339(entry.at),
        xml(&app.base),
        xml(&crate::target::encode_path(&about)),
        xml(&entry.what),
        xml(&summary),
    )
}

/// What happened, behind the name of what it happened to.
fn headline(what: &str) -> &str {
    match what {
        "added" => "was published",
        "changed" => "was changed before it settled",
        "revised" => "has other documentation",
        "withdrawn" => "was withdrawn",
        "deprecated" => "is deprecated",
        "held" => "was rewritten upstream, which is held back",
        "cleared" => "is upstream as it was again",
        "accepted" => "was changed by the operator's leave",
        "gone" => "is gone upstream",
        "returned" => "is back",
        "purged" => "was erased",
        "registry-added" => "was added",
        "drop-held" => "lacks many versions, which stay listed",
        "drop-accepted" => "has fewer versions by the operator's leave",
        "history-rewritten" => "has another history",
        "history-accepted" => "has another history by the operator's leave",
        other => other,
    }
}

/// What that means for whoever uses it.
fn explanation(what: &str) -> &'static str {
    match what {
        "held" => "What is served stays as it was when the version settled.",
        "gone" => "It is not chosen any more; asked for exactly, it is still served.",
        "withdrawn" => "It is not chosen any more; asked for exactly, it is still served.",
        "deprecated" => "It is still chosen, and on its way out.",
        "revised" => "What it makes is the same.",
        "purged" => "Nobody gets it any more.",
        "drop-held" => "They stay until they are back, or the operator accepts that they are gone.",
        "history-rewritten" => "Versions that had settled stay as they are.",
        _ => "",
    }
}

/// A name-based UUID (RFC 9562, version 8): the same for the same text.
fn uuid(of: &str) -> String {
    let mut bytes = [0u8; 16];
    bytes.copy_from_slice(&Digest::of(of.as_bytes()).as_bytes()[..16]);
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = hex::encode(bytes);
    format!("urn:uuid:{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// Text for an element or an attribute. What XML cannot hold at all is replaced.
fn xml(text: &str) -> String {
    let allowed = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    escape(&text.chars().map(|c| if allowed(c) { c } else { '\u{fffd}' }).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_uuids_that_stay() {
        let id = uuid("a");
        assert_eq!(id, uuid("a"));
        assert_ne!(id, uuid("b"));
        assert_eq!((&id[9 + 14..9 + 15], id.len()), ("8", 9 + 36));
        assert!("89ab".contains(&id[9 + 19..9 + 20]), "{id}");
    }

    #[test]
    fn text_is_xml_whatever_it_was() {
        assert_eq!(xml("a<b>&\u{1}\u{b}"), "a&lt;b&gt;&amp;\u{fffd}\u{fffd}");
    }
}
