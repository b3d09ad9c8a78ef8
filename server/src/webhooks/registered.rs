//! Which registries of this server a push is about.
//!
//! A registry is meant when the addresses in the payload, read strictly, give its name or that of the source it was
//! registered with; looking alike is not enough. The answer is a name of ours: what is fetched is what was registered.

use catalog::{RegistrySnapshot, Snapshot, Viewer};
use schema::RegistryName;

use super::payload::{Push, Repository};

/// What a push means for this server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meant {
    /// The payload names no repository, or its addresses name two.
    Unclear,
    /// These registries come from the repository and follow the ref that moved; none, if others are followed.
    Registries {
        /// To be looked at.
        followed: Vec<RegistryName>,
        /// From the repository, but of another branch or tag.
        others: usize,
    },
}

/// The registries a push is about, among those that `counts` says yes to.
pub(super) fn meant(snapshot: &Snapshot, push: &Push, counts: impl Fn(&RegistryName) -> bool) -> Meant {
    let Some(name) = name_of_repository(&push.repository) else { return Meant::Unclear };
    let (mut followed, mut others) = (Vec::new(), 0);
    // The server asks for itself: who sent this has shown a secret of the registry.
    let registries = snapshot.visible(&Viewer::Operator);
    for registry in registries.filter(|one| comes_from(one, &name) && counts(&one.name)) {
        if follows(registry, push) {
            followed.push(registry.name.clone());
        } else {
            others += 1;
        }
    }
    Meant::Registries { followed, others }
}

fn comes_from(registry: &RegistrySnapshot, repository: &RegistryName) -> bool {
    registry.name == *repository || name_of(&registry.source).is_some_and(|source| source == *repository)
}

/// Whether a registry reads what moved: the branch or tag it was given, or else the repository's default branch.
fn follows(registry: &RegistrySnapshot, push: &Push) -> bool {
    let branch = push.reference.strip_prefix("refs/heads/");
    match (&registry.branch, &push.repository.default_branch) {
        (Some(followed), _) => {
            let bare = followed.strip_prefix("refs/heads/").or_else(|| followed.strip_prefix("refs/tags/"));
            let moved = branch.or_else(|| push.reference.strip_prefix("refs/tags/"));
            moved == Some(bare.unwrap_or(followed))
        }
        (None, Some(default)) => branch == Some(default),
        (None, None) => branch.is_some(),
    }
}

/// The repository the addresses in a payload agree on.
fn name_of_repository(repository: &Repository) -> Option<RegistryName> {
    let mut names = repository.page.iter().chain(&repository.clone).map(|url| name_of(url));
    let first = names.next()??;
    names.all(|name| name.as_ref() == Some(&first)).then_some(first)
}

/// Host and path of a URL as a registry would be called. Nothing that could be read in two ways: no user but in ssh,
/// no escapes, no query; ports do not count.
fn name_of(url: &str) -> Option<RegistryName> {
    let url = url.trim_end_matches('/');
    let (authority, path) = match url.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_once('/')?;
            let authority = match scheme.to_ascii_lowercase().as_str() {
                "https" | "http" => authority,
                "ssh" => authority.rsplit_once('@').map_or(authority, |(_, host)| host),
                _ => return None,
            };
            (authority, path)
        }
        None => {
            let (authority, path) = url.split_once(':')?;
            (authority.rsplit_once('@')?.1, path)
        }
    };
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    };
    // Names have a narrow alphabet: anything odd that is left is no name.
    format!("{host}/{}", path.strip_suffix(".git").unwrap_or(path)).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(url: &str) -> Option<String> {
        name_of(url).map(|name| name.canonical().to_owned())
    }

    #[test]
    fn addresses_of_one_repository_give_one_name() {
        for url in [
            "https://github.com/Acme/Templates.git",
            "https://github.com/acme/templates",
            "https://GitHub.com:443/acme/templates/",
            "ssh://git@github.com:22/acme/templates.git",
            "git@github.com:acme/templates.git",
        ] {
            assert_eq!(said(url).as_deref(), Some("github.com/acme/templates"), "{url}");
        }
    }

    /// Attack row 14: what looks like a registered address and is none has another name, or none.
    #[test]
    fn look_alikes_have_another_name_or_none() {
        for url in [
            "https://github.com.evil.example/acme/templates",
            "https://evil.example/github.com/acme/templates",
            "https://github.com@evil.example/acme/templates",
            "https://github.com:acme@evil.example/acme/templates",
            "https://github.com/acme/templates.git.git",
            "https://github.com/acme/templates/../evil",
            "https://github.com/acme//templates",
            "https://github.com/acme/templates%2f",
            "https://github.com/acme/templates?x=.git",
            "https://github.com/acme/templates#.git",
            "https://github.com\\@evil.example/acme/templates",
            "https://gith\u{0443}b.com/acme/templates",
            "https://github.com/acme/templat\u{0435}s",
            "https://github.com\u{2024}/acme/templates",
            "https://github.com/acme/templates ",
            "https://github.com/acme/templates\n",
            "https://github.com:evil/acme/templates",
            "file:///github.com/acme/templates",
            "ext::sh -c id github.com/acme/templates",
            "//github.com/acme/templates",
            "github.com/acme/templates",
            "",
        ] {
            assert_ne!(said(url).as_deref(), Some("github.com/acme/templates"), "{url}");
        }
    }

    #[test]
    fn addresses_that_disagree_name_nothing() {
        let repository = |page: &str, clone: &str| Repository {
            page: Some(page.to_owned()),
            clone: Some(clone.to_owned()),
            default_branch: None,
        };
        assert!(
            name_of_repository(&repository("https://github.com/a/b", "https://github.com/A/B.git")).is_some()
        );
        assert_eq!(
            name_of_repository(&repository("https://github.com/a/b", "https://evil.example/a/b.git")),
            None
        );
        assert_eq!(name_of_repository(&repository("https://github.com/a/b", "x")), None);
        assert_eq!(name_of_repository(&Repository::default()), None);
    }
}
