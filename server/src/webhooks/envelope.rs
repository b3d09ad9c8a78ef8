//! The headers of a delivery: what happened, its id, and the proof of its sender. Each host has its own names for them.

use http::HeaderMap;
use wire::ProblemKind;

use super::secret::Secret;
use crate::error::ApiError;

/// Longest id of a delivery, in bytes. Hosts send UUIDs.
const LONGEST_ID: usize = 64;

/// A kind of host that repositories are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Host {
    Github,
    Gitlab,
    /// And Forgejo, which sends Gitea's headers beside its own.
    Gitea,
}

impl Host {
    /// The word in paths, metrics and the store.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Host::Github => "github",
            Host::Gitlab => "gitlab",
            Host::Gitea => "gitea",
        }
    }

    pub(super) fn from_word(word: &str) -> Option<Host> {
        [Host::Github, Host::Gitlab, Host::Gitea].into_iter().find(|host| host.as_str() == word)
    }
}

/// What a delivery is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    /// The host tries the hook out.
    Ping,
    /// A branch or tag moved.
    Push,
    /// Something that moves no branch.
    Other,
}

/// What shows that the sender knows the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Proof {
    /// An HMAC-SHA256 of the body.
    Signature([u8; 32]),
    /// The secret itself.
    Token(Vec<u8>),
}

impl Proof {
    pub(super) fn shows(&self, secret: &Secret, body: &[u8]) -> bool {
        match self {
            Proof::Signature(tag) => secret.signed(body, tag),
            Proof::Token(token) => secret.is(token),
        }
    }
}

/// A delivery without its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Envelope {
    pub(super) event: Event,
    pub(super) id: String,
    pub(super) proof: Proof,
}

impl Envelope {
    /// Reads what a host of that kind puts into the headers. Proof comes first: who has none learns nothing else.
    pub(super) fn read(host: Host, headers: &HeaderMap) -> Result<Envelope, ApiError> {
        let proof = proof(host, headers)?;
        let names: &[&str] = match host {
            Host::Github => &["x-github-delivery"],
            Host::Gitlab => &["x-gitlab-event-uuid"],
            Host::Gitea => &["x-gitea-delivery", "x-forgejo-delivery"],
        };
        let id = text(headers, names).filter(|id| {
            (1..=LONGEST_ID).contains(&id.len())
                && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        });
        let Some(id) = id else {
            let detail = format!("the delivery has no id of letters, digits and dashes in `{}`", names[0]);
            return Err(ApiError::new(ProblemKind::InvalidBody, detail));
        };
        Ok(Envelope { event: event(host, headers), id: id.to_owned(), proof })
    }
}

fn proof(host: Host, headers: &HeaderMap) -> Result<Proof, ApiError> {
    let signature = |names: &[&str], prefix: &str| {
        let mut tag = [0; 32];
        let text = text(headers, names)?.strip_prefix(prefix)?;
        hex::decode_to_slice(text, &mut tag).ok()?;
        Some(Proof::Signature(tag))
    };
    let proof = match host {
        Host::Github => signature(&["x-hub-signature-256"], "sha256="),
        Host::Gitea => signature(&["x-gitea-signature", "x-forgejo-signature"], ""),
        Host::Gitlab => headers.get("x-gitlab-token").map(|token| Proof::Token(token.as_bytes().to_vec())),
    };
    proof.ok_or_else(|| {
        let (header, what) = match host {
            Host::Github => {
                ("X-Hub-Signature-256", "HMAC-SHA256 of the body in hexadecimal behind `sha256=`")
            }
            Host::Gitlab => ("X-Gitlab-Token", "secret token"),
            Host::Gitea => ("X-Gitea-Signature", "HMAC-SHA256 of the body in hexadecimal"),
        };
        let old = host == Host::Github && headers.contains_key("x-hub-signature");
        let detail = if old {
            "the delivery is signed with SHA-1 alone, which is not taken".to_owned()
        } else {
            format!("the delivery has no {what} in `{header}`")
        };
        refused(detail)
    })
}

/// A delivery whose sender has not shown that it knows the secret.
pub(super) fn refused(detail: impl Into<String>) -> ApiError {
    ApiError::new(ProblemKind::WebhookSignature, detail)
        .hint("Give the hook the secret this server was started with; see Webhooks in docs/operations.md.")
}

fn event(host: Host, headers: &HeaderMap) -> Event {
    let names: &[&str] = match host {
        Host::Github => &["x-github-event"],
        Host::Gitlab => &["x-gitlab-event"],
        Host::Gitea => &["x-gitea-event", "x-forgejo-event"],
    };
    match text(headers, names).unwrap_or_default() {
        "ping" => Event::Ping,
        // A system hook sends everything under one name; its payload says what it is, by having a ref or not.
        "push" | "Push Hook" | "Tag Push Hook" | "System Hook" => Event::Push,
        _ => Event::Other,
    }
}

/// The first of these headers that is there, if it is text.
fn text<'h>(headers: &'h HeaderMap, names: &[&str]) -> Option<&'h str> {
    names.iter().find_map(|name| headers.get(*name))?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(of: &[(&'static str, &str)]) -> HeaderMap {
        of.iter()
            .map(|(name, value)| (name.parse::<http::HeaderName>().unwrap(), value.parse().unwrap()))
            .collect()
    }

    #[test]
    fn each_host_has_its_headers() {
        let tag = "ab".repeat(32);
        for (host, of) in [
            (
                Host::Github,
                [
                    ("x-hub-signature-256", format!("sha256={tag}")),
                    ("x-github-event", "push".into()),
                    ("x-github-delivery", "1-a".into()),
                ],
            ),
            (
                Host::Gitlab,
                [
                    ("x-gitlab-token", "t".into()),
                    ("x-gitlab-event", "Push Hook".into()),
                    ("x-gitlab-event-uuid", "1-a".into()),
                ],
            ),
            (
                Host::Gitea,
                [
                    ("x-gitea-signature", tag.clone()),
                    ("x-gitea-event", "push".into()),
                    ("x-gitea-delivery", "1-a".into()),
                ],
            ),
            (
                Host::Gitea,
                [
                    ("x-forgejo-signature", tag.clone()),
                    ("x-forgejo-event", "push".into()),
                    ("x-forgejo-delivery", "1-a".into()),
                ],
            ),
        ] {
            let of = of.each_ref().map(|(name, value)| (*name, value.as_str()));
            let envelope = Envelope::read(host, &headers(&of)).unwrap();
            assert_eq!((envelope.event, envelope.id.as_str()), (Event::Push, "1-a"), "{host:?}");
        }
    }

    #[test]
    fn what_is_no_proof_is_refused_before_anything_else() {
        let short = format!("sha256={}", "ab".repeat(31));
        let unprefixed = "ab".repeat(32);
        for of in [
            vec![],
            vec![("x-hub-signature", "sha1=7d38cdd689735b008b3c702edd92eea23791c5f6")],
            vec![("x-hub-signature-256", short.as_str())],
            vec![("x-hub-signature-256", unprefixed.as_str())],
            vec![("x-hub-signature-256", "sha256=zz")],
        ] {
            let error = Envelope::read(Host::Github, &headers(&of)).unwrap_err();
            assert_eq!(error.kind, ProblemKind::WebhookSignature, "{of:?}");
        }
        let good = format!("sha256={}", "ab".repeat(32));
        let long = "a".repeat(65);
        for id in ["", "a b", "a/../b", long.as_str()] {
            let of = [("x-hub-signature-256", good.as_str()), ("x-github-delivery", id)];
            assert_eq!(
                Envelope::read(Host::Github, &headers(&of)).unwrap_err().kind,
                ProblemKind::InvalidBody
            );
        }
    }
}
