//! What a path of the Kubernetes API is about: pure.
//!
//! The raw path is split first and each segment decoded after, so `redis:v1.0` may come escaped or as it is, and an
//! escaped slash never makes a new segment.

use std::borrow::Cow;

use crate::target::decode;

/// The namespace of what is in no collection.
pub(super) const DEFAULT_NAMESPACE: &str = "default";

/// What other registries' addresses begin with: clients take the rest for the address of their server.
const OTHER_REGISTRIES: &str = "/k8s/r/";

/// In whose words an object is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Face {
    /// The proposal's: as its author wrote it.
    Proposal,
    /// OpenShift's: always in its group.
    OpenShift,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What<'a> {
    Version,
    CoreVersions,
    CoreResources,
    Namespaces,
    Namespace(Cow<'a, str>),
    Groups,
    Group,
    Resources,
    OpenApiV2,
    /// Templates of a namespace, or of all.
    Templates(Face, Option<Cow<'a, str>>),
    /// One of them.
    Template(Face, Cow<'a, str>, Cow<'a, str>),
    /// One of them, processed with what is sent.
    Processed(Face, Cow<'a, str>, Cow<'a, str>),
    /// What is sent, processed.
    ProcessedTemplates(Face),
}

/// Whether a path is one of the Kubernetes API's, by its beginning.
pub(crate) fn is_ours(path: &str) -> bool {
    let begins =
        |with: &str| path.strip_prefix(with).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    [
        "/templates",
        "/processedtemplates",
        "/namespaces",
        "/apis",
        "/version",
        "/openapi",
        "/k8s",
        "/api/v1/namespaces",
    ]
    .into_iter()
    .any(begins)
        || matches!(path, "/api" | "/api/" | "/api/v1" | "/api/v1/")
}

/// Whether a request for a path of ours has something processed, by its end.
pub(crate) fn is_processing(path: &str) -> bool {
    path.ends_with("/processed") || path.ends_with("/processedtemplates")
}

/// The part of a raw path behind the base of another registry, with every way to tell where the name of that registry
/// ends, the longest first; none for a path that is about the default registry.
pub(super) fn other_registry(path: &str) -> Option<impl Iterator<Item = (&str, &str)>> {
    let rest = path.strip_prefix(OTHER_REGISTRIES)?;
    let ends = rest.match_indices('/').map(|(at, _)| at).collect::<Vec<_>>();
    Some(ends.into_iter().rev().map(|at| (&rest[..at], &rest[at..])))
}

/// What a raw path asks, without a base.
pub(super) fn parse(path: &str) -> Option<What<'_>> {
    let path = path.strip_suffix('/').unwrap_or(path).strip_prefix('/')?;
    let segments = path.split('/').map(decode).collect::<Option<Vec<_>>>()?;
    let plain = segments.iter().map(|segment| &**segment).collect::<Vec<_>>();
    let at = |index: usize| segments[index].clone();
    Some(match plain.as_slice() {
        ["version"] => What::Version,
        ["api"] => What::CoreVersions,
        ["api", "v1"] => What::CoreResources,
        ["api", "v1", "namespaces"] => What::Namespaces,
        ["api", "v1", "namespaces", _] => What::Namespace(at(3)),
        ["apis"] => What::Groups,
        ["apis", wire::kubernetes::GROUP] => What::Group,
        ["apis", wire::kubernetes::GROUP, "v1"] => What::Resources,
        ["openapi", "v2"] => What::OpenApiV2,
        ["apis", wire::kubernetes::GROUP, "v1", rest @ ..] => {
            resource(Face::OpenShift, rest, &segments[3..])?
        }
        rest => resource(Face::Proposal, rest, &segments)?,
    })
}

fn resource<'a>(face: Face, plain: &[&str], segments: &[Cow<'a, str>]) -> Option<What<'a>> {
    let (namespace, plain, segments) = match plain {
        ["namespaces", _, rest @ ..] => (Some(segments[1].clone()), rest, &segments[2..]),
        // The proposal's short form is the default namespace, OpenShift's is all of them.
        plain if face == Face::Proposal => (Some(Cow::Borrowed(DEFAULT_NAMESPACE)), plain, segments),
        plain => (None, plain, segments),
    };
    match (plain, namespace) {
        (["templates"], namespace) => Some(What::Templates(face, namespace)),
        (["templates", _], Some(namespace)) => Some(What::Template(face, namespace, segments[1].clone())),
        (["templates", _, "processed"], Some(namespace)) => {
            Some(What::Processed(face, namespace, segments[1].clone()))
        }
        (["processedtemplates"], Some(_)) => Some(What::ProcessedTemplates(face)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_say_what_is_asked() {
        use Face::{OpenShift, Proposal};
        let group = "/apis/template.openshift.io/v1";
        let template = |face, namespace: &'static str, name: &'static str| {
            Some(What::Template(face, namespace.into(), name.into()))
        };
        for name in ["redis:v1.0", "redis%3Av1.0", "redis%3av1.0"] {
            let path = format!("{group}/namespaces/databases/templates/{name}");
            assert_eq!(parse(&path), template(OpenShift, "databases", "redis:v1.0"));
        }
        assert_eq!(parse("/templates/redis"), template(Proposal, "default", "redis"));
        assert_eq!(parse("/namespaces/a/templates"), Some(What::Templates(Proposal, Some("a".into()))));
        assert_eq!(parse(&format!("{group}/templates")), Some(What::Templates(OpenShift, None)));
        assert_eq!(parse("/templates/"), Some(What::Templates(Proposal, Some("default".into()))));
        assert_eq!(parse("/processedtemplates"), Some(What::ProcessedTemplates(Proposal)));
        assert_eq!(
            parse("/templates/redis:v1/processed"),
            Some(What::Processed(Proposal, "default".into(), "redis:v1".into()))
        );
        assert_eq!(parse("/api/v1/namespaces/x"), Some(What::Namespace("x".into())));
        for path in [
            "/templates/a/b",
            "/templates/a%ff",
            "/apis/apps/v1",
            "/apis/template.openshift.io/v1/templates/redis",
            "/api/v1/pods",
            "/namespaces/a",
            "//templates",
            "",
        ] {
            assert_eq!(parse(path), None, "{path}");
        }
        // An escaped slash is part of a name, which no name has.
        assert_eq!(parse("/templates/a%2Fb"), template(Proposal, "default", "a/b"));
    }

    #[test]
    fn the_name_of_another_registry_may_end_anywhere() {
        let all = other_registry("/k8s/r/git.example/a/apis/b").unwrap().collect::<Vec<_>>();
        assert_eq!(
            all,
            [("git.example/a/apis", "/b"), ("git.example/a", "/apis/b"), ("git.example", "/a/apis/b")]
        );
        assert!(other_registry("/templates").is_none());
    }

    #[test]
    fn ours_are_told_from_pages_and_the_native_interface() {
        for path in [
            "/templates",
            "/templates/x",
            "/api",
            "/api/v1",
            "/apis",
            "/api/v1/namespaces/x",
            "/k8s/r/x",
            "/version",
            "/openapi/v2",
        ] {
            assert!(is_ours(path), "{path}");
        }
        for path in [
            "/api/v1/templates/redis",
            "/api/v1/search",
            "/api/v2",
            "/templates.example/a/b",
            "/versions",
            "/",
        ] {
            assert!(!is_ours(path), "{path}");
        }
    }
}
