//! What a payload says of a push: which ref moved, and the addresses of the repository. Everything else is passed over.

use serde::Deserialize;

/// A push, as the host tells it. Nothing of it is trusted further than to compare it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Push {
    /// The ref that moved: `refs/heads/main`.
    pub(super) reference: String,
    /// The repository.
    pub(super) repository: Repository,
}

/// A repository, as the host names it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Repository {
    /// Where people look at it.
    pub(super) page: Option<String>,
    /// Where it is cloned from over http.
    pub(super) clone: Option<String>,
    /// The branch people get without asking for one.
    pub(super) default_branch: Option<String>,
}

/// GitHub's, Gitea's and Forgejo's `repository`.
#[derive(Deserialize)]
struct GithubRepository {
    html_url: Option<String>,
    clone_url: Option<String>,
    default_branch: Option<String>,
}

/// GitLab's `project`.
#[derive(Deserialize)]
struct GitlabProject {
    web_url: Option<String>,
    git_http_url: Option<String>,
    default_branch: Option<String>,
}

/// Both shapes: GitLab has a `repository` too, of which the project says all and more.
#[derive(Deserialize)]
struct Payload {
    #[serde(rename = "ref")]
    reference: Option<String>,
    project: Option<GitlabProject>,
    repository: Option<GithubRepository>,
}

impl Push {
    /// Reads a payload; none if it is one of something else than a push.
    pub(super) fn read(body: &[u8]) -> Result<Option<Push>, serde_json::Error> {
        let Payload { reference, project, repository } = serde_json::from_slice(body)?;
        let repository = match (project, repository) {
            (Some(GitlabProject { web_url: page, git_http_url: clone, default_branch }), _)
            | (None, Some(GithubRepository { html_url: page, clone_url: clone, default_branch })) => {
                Repository { page, clone, default_branch }
            }
            (None, None) => return Ok(None),
        };
        Ok(reference.map(|reference| Push { reference, repository }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Push {
        Push::read(text.as_bytes()).unwrap().unwrap()
    }

    #[test]
    fn the_hosts_payloads_say_the_same() {
        let github = read(include_str!("../../../tests/webhooks/github/push-branch.json"));
        assert_eq!(github.reference, "refs/heads/master");
        assert_eq!(github.repository.clone.as_deref(), Some("https://github.com/Codertocat/Hello-World.git"));
        assert_eq!(
            read(include_str!("../../../tests/webhooks/github/push-tag.json")).reference,
            "refs/tags/simple-tag"
        );
        let gitlab = read(include_str!("../../../tests/webhooks/gitlab/push.json"));
        assert_eq!(gitlab.repository.page.as_deref(), Some("https://gitlab.example/acme/platform/templates"));
        let gitea = read(include_str!("../../../tests/webhooks/gitea/push.json"));
        assert_eq!(gitea.repository.default_branch.as_deref(), Some("main"));
    }

    #[test]
    fn what_is_no_push_is_told_from_what_is_no_payload() {
        let ping = include_str!("../../../tests/webhooks/github/ping-repository.json");
        assert_eq!(Push::read(ping.as_bytes()).unwrap(), None);
        assert_eq!(Push::read(b"{}").unwrap(), None);
        let deep = "[".repeat(100_000);
        for garbage in
            ["", "x", "[1]", "{\"ref\": 1}", "{\"ref\": \"a\"", "{\"repository\": []}x", "\u{0}", &deep]
        {
            assert!(Push::read(garbage.as_bytes()).is_err(), "{}", &garbage[..garbage.len().min(20)]);
        }
    }
}
