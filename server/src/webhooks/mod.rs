//! `POST /webhooks/<host>`: news of a push, so that it is visible at once and not at the next poll.
//!
//! How a delivery flows: the budget of its sender ([`crate::limits`]), who it says it is from ([`envelope`]), its body, the proof
//! of its sender ([`secret`]), whether it was here before ([`seen`]), what it says of a push ([`payload`]), and which
//! registries that is about ([`registered`]). Those are asked to be looked at, and the answer is `202`.
//!
//! A delivery brings forward a look at a registry this server has, by the source this server knows, and nothing else: no
//! URL of a payload is ever fetched, stored or shown. What a delivery claims is believed only as far as a wrong claim
//! does no harm. Polling goes on, for hosts lose deliveries; this module must not know how registries are fetched.

mod answer;
mod envelope;
mod payload;
mod registered;
mod secret;
mod seen;

use std::collections::BTreeMap;

use catalog::Catalog;
use schema::RegistryName;
use tokio::sync::Semaphore;

pub(crate) use answer::{
    __path_receive_gitea, __path_receive_github, __path_receive_gitlab, receive_gitea, receive_github,
    receive_gitlab,
};
pub use secret::{Secret, SecretError};

use envelope::Host;
use seen::Seen;

/// Largest body of a delivery, in bytes: what GitHub sends at most.
const BODY_BYTES: usize = 25 << 20;

/// Bodies that are read at a time, in MiB together: strangers may send before their proof can be looked at.
const READING_MIB: u32 = 100;

/// What proves that a delivery comes from where it says. Without any secret no delivery is taken.
#[derive(Debug, Clone, Default)]
pub struct Webhooks {
    /// For every registry that has no secret of its own.
    pub shared: Option<Secret>,
    /// For one registry each, in place of the shared one.
    pub registries: BTreeMap<RegistryName, Secret>,
}

impl Webhooks {
    /// Whether any delivery could be taken.
    fn is_set_up(&self) -> bool {
        self.shared.is_some() || !self.registries.is_empty()
    }

    /// Every secret, each once.
    fn secrets(&self) -> Vec<&Secret> {
        let mut secrets = Vec::<&Secret>::new();
        for secret in self.shared.iter().chain(self.registries.values()) {
            if !secrets.contains(&secret) {
                secrets.push(secret);
            }
        }
        secrets
    }

    /// The secret deliveries about a registry are to be signed with.
    fn of(&self, registry: &RegistryName) -> Option<&Secret> {
        self.registries.get(registry).or(self.shared.as_ref())
    }
}

/// What taking deliveries needs from one to the next.
pub(crate) struct Receiver {
    secrets: Webhooks,
    seen: Seen,
    reading: Semaphore,
}

impl Receiver {
    /// Remembers the deliveries the catalogue remembers.
    pub(crate) async fn new(secrets: Webhooks, catalog: &Catalog) -> Receiver {
        let seen = Seen::new();
        if secrets.is_set_up() {
            match catalog.webhook_deliveries().await {
                Ok(deliveries) => {
                    for delivery in deliveries {
                        if let Some(host) = Host::from_word(&delivery.host) {
                            seen.claim(host, &delivery.id);
                        }
                    }
                }
                // Taking one twice is harmless; taking none because of that is not.
                Err(error) => tracing::warn!(%error, "webhook deliveries of before the start are not known"),
            }
        }
        Receiver { secrets, seen, reading: Semaphore::new(READING_MIB as usize) }
    }
}
