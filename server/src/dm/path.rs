//! What a path below `/dm` asks for. Pure: text in, a [`Call`] out.
//!
//! Names contain slashes and colons, and clients write them in three ways: as they are, escaped, and escaped twice
//! (`dm` of v1.2.1: first as a value of a query, where a blank is `+`, then as a segment of a path). All three are
//! taken, so a name may span segments, and calls are told by what stands before and behind it. A name with a literal
//! `%41` or `+` in it cannot be said; references and names of registries have neither.
//!
//! It must not know what registries there are: a base path is split by who does (`base`).

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// Longest name, in bytes, once decoded.
const LONGEST_NAME: usize = 1_024;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Call {
    Health,
    Expand,
    /// The expander that stands behind a manager: `expandybird/expand`.
    Expander,
    Deployments,
    Deployment(String),
    Manifests(String),
    Manifest(String, String),
    /// The objects of a manifest, ready for `kubectl`: ours.
    Objects(String, String),
    Types,
    Metadata(String),
    RegistryOf(String),
    Instances(String),
    Registries,
    Registry(String),
    RegistryTypes {
        registry: String,
        /// What `dm --regex` puts into the path. The proper place is the query.
        regex: Option<String>,
    },
    RegistryType(String, String),
    Download(String),
    Credential(String),
}

/// Reads a raw path, without the base path and the slash behind it. `None` if it is no call of the API.
pub(super) fn parse(raw: &str) -> Option<Call> {
    let raw = raw.strip_suffix('/').unwrap_or(raw);
    let (head, rest) = raw.split_once('/').unwrap_or((raw, ""));
    match (head, rest) {
        ("healthz", "") => Some(Call::Health),
        ("expand", "") => Some(Call::Expand),
        ("expandybird", "expand") => Some(Call::Expander),
        ("deployments", "") => Some(Call::Deployments),
        ("deployments", rest) => deployment(rest),
        ("types", "") => Some(Call::Types),
        ("types", rest) => {
            let (name, about) = rest.rsplit_once('/')?;
            let name = decode(name)?;
            match about {
                "metadata" => Some(Call::Metadata(name)),
                "registry" => Some(Call::RegistryOf(name)),
                "instances" => Some(Call::Instances(name)),
                _ => None,
            }
        }
        ("registries", "") => Some(Call::Registries),
        ("registries", rest) => registry(rest),
        ("credentials", rest) if !rest.is_empty() => Some(Call::Credential(decode(rest)?)),
        _ => None,
    }
}

fn deployment(rest: &str) -> Option<Call> {
    if let Some(name) = rest.strip_suffix("/manifests") {
        let name = decode(name)?;
        // `dm manifest DEPLOYMENT/MANIFEST`, as its usage says, arrives as one escaped name.
        return Some(match name.rsplit_once('/') {
            Some((deployment, manifest)) if manifest.starts_with("manifest-") => {
                Call::Manifest(deployment.to_owned(), manifest.to_owned())
            }
            _ => Call::Manifests(name),
        });
    }
    let Some((name, manifest)) = rest.rsplit_once("/manifests/") else {
        return Some(Call::Deployment(decode(rest)?));
    };
    let name = decode(name)?;
    Some(match manifest.strip_suffix("/objects") {
        Some(manifest) => Call::Objects(name, decode(manifest)?),
        None => Call::Manifest(name, decode(manifest)?),
    })
}

fn registry(rest: &str) -> Option<Call> {
    let types = |name: &str, regex| Some(Call::RegistryTypes { registry: decode(name)?, regex });
    if let Some(name) = rest.strip_suffix("/types") {
        return types(name, None);
    }
    if let Some(name) = rest.strip_suffix("/download") {
        return Some(Call::Download(decode(name)?));
    }
    for escaped in ["/types%3F", "/types%3f"] {
        if let Some((name, regex)) = rest.split_once(escaped) {
            let regex = percent_decode_str(regex).decode_utf8().ok()?;
            let regex = regex.strip_prefix("regex=").unwrap_or(&regex);
            return types(name, Some(regex.to_owned()));
        }
    }
    match rest.split_once("/types/") {
        Some((name, of)) => Some(Call::RegistryType(decode(name)?, decode(of)?)),
        None => Some(Call::Registry(decode(rest)?)),
    }
}

/// A name, however it is escaped. `None` if it is empty, too long, no text, or has controls in it.
pub(super) fn decode(raw: &str) -> Option<String> {
    let once = |text: &str| percent_decode_str(text).decode_utf8().ok().map(Cow::into_owned);
    let mut name = once(&raw.replace('+', " "))?;
    if is_escaped(&name) {
        name = once(&name)?;
    }
    // Routers of Go make one slash of two; whoever follows them asks for this.
    for scheme in ["http", "https"] {
        if let Some(rest) = name.strip_prefix(&format!("{scheme}:/")).filter(|rest| !rest.starts_with('/')) {
            name = format!("{scheme}://{rest}");
        }
    }
    is_name(&name).then_some(name)
}

/// Whether a text may be the name of something.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= LONGEST_NAME && !name.chars().any(char::is_control)
}

fn is_escaped(text: &str) -> bool {
    text.split('%').skip(1).any(|rest| {
        let digits = rest.as_bytes();
        digits.len() >= 2 && digits[..2].iter().all(u8::is_ascii_hexdigit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRONTEND: &str = "github.com/acme/templates/web/frontend:v1";

    #[test]
    fn names_are_taken_raw_escaped_and_escaped_twice() {
        for raw in [
            FRONTEND.to_owned(),
            "github.com%2Facme%2Ftemplates%2Fweb%2Ffrontend%3Av1".to_owned(),
            "github.com%252Facme%252Ftemplates%252Fweb%252Ffrontend%253Av1".to_owned(),
        ] {
            assert_eq!(parse(&format!("types/{raw}/metadata")), Some(Call::Metadata(FRONTEND.to_owned())));
            assert_eq!(parse(&format!("deployments/{raw}")), Some(Call::Deployment(FRONTEND.to_owned())));
            let manifest = parse(&format!("deployments/{raw}/manifests/manifest-1"));
            assert_eq!(manifest, Some(Call::Manifest(FRONTEND.to_owned(), "manifest-1".to_owned())));
        }
        assert_eq!(parse("types/v1%252FMy+Pod/metadata"), Some(Call::Metadata("v1/My Pod".to_owned())));
        let url = Some(Call::Instances("https://a.example/x.jinja".to_owned()));
        for raw in
            ["https%3A%2F%2Fa.example%2Fx.jinja", "https:/a.example/x.jinja", "https://a.example/x.jinja"]
        {
            assert_eq!(parse(&format!("types/{raw}/instances")), url, "{raw}");
        }
    }

    #[test]
    fn calls_are_told_by_what_is_around_names() {
        let manifest = Call::Manifest("shop".into(), "manifest-1".into());
        let types = |registry: &str, regex: Option<&str>| {
            Some(Call::RegistryTypes { registry: registry.into(), regex: regex.map(str::to_owned) })
        };
        assert_eq!(parse("deployments/"), Some(Call::Deployments));
        assert_eq!(parse("deployments/shop/manifests"), Some(Call::Manifests("shop".into())));
        assert_eq!(parse("deployments/shop%252Fmanifest-1/manifests"), Some(manifest));
        assert_eq!(
            parse("deployments/shop/manifests/manifest-1/objects"),
            Some(Call::Objects("shop".into(), "manifest-1".into()))
        );
        assert_eq!(parse("registries/acme/templates/web/types"), types("acme/templates/web", None));
        assert_eq!(parse("registries/acme/types%3Ffront"), types("acme", Some("front")));
        assert_eq!(parse("registries/acme/types%3Fregex=a%5B"), types("acme", Some("a[")));
        assert_eq!(
            parse("registries/acme/types/web%252Ffrontend%253Av1"),
            Some(Call::RegistryType("acme".into(), "web/frontend:v1".into()))
        );
        for none in ["", "nothing", "types/Pod", "types/x/nothing", "expand/x", "credentials", "healthz/x"] {
            assert_eq!(parse(none), None, "{none}");
        }
    }

    #[test]
    fn hostile_names_are_no_names() {
        for raw in ["%00", "%0a", "a%250Ab", "%ff", "", &"x".repeat(LONGEST_NAME + 1)] {
            assert_eq!(decode(raw), None, "{raw}");
        }
        assert_eq!(decode("100%").as_deref(), Some("100%"));
        assert_eq!(decode("../../etc").as_deref(), Some("../../etc"), "a name; nothing is joined to it");
    }
}
