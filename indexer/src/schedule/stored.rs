//! What the store remembers of a registry that was added while the server ran, so that a restart syncs it again.
//!
//! No secret is among it: a source is kept as it is shown, and credentials are found again where they are.

use std::path::Path;

use catalog::Remembered;
use serde::{Deserialize, Serialize};

use super::RegistryConfig;
use crate::connection::Connection;
use crate::source::{Revision, Source};

#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tag: Option<String>,
}

/// The text kept for a registry.
pub(super) fn write(config: &RegistryConfig) -> String {
    let name = || config.revision.name().map(str::to_owned);
    let (branch, tag) = match config.revision {
        Revision::Default => (None, None),
        Revision::Branch(_) => (name(), None),
        Revision::Tag(_) => (None, name()),
    };
    let stored = Stored { source: config.source.to_string(), branch, tag };
    serde_json::to_string(&stored).expect("texts can be written as JSON")
}

/// The registry of a text that was kept, reached as such registries are now; `None`, and the reason in the log, if it cannot be synced from here.
pub(super) fn read(remembered: &Remembered, connection: &Connection) -> Option<RegistryConfig> {
    let name = &remembered.name;
    let text = remembered.config.as_deref().unwrap_or_default();
    let read = || -> Result<RegistryConfig, String> {
        let stored = serde_json::from_str::<Stored>(text).map_err(|error| error.to_string())?;
        let source = Source::parse(&stored.source, Path::new("/")).map_err(|error| error.to_string())?;
        let revision = match (&stored.branch, &stored.tag) {
            (Some(branch), _) => Revision::branch(branch),
            (None, Some(tag)) => Revision::tag(tag),
            (None, None) => Ok(Revision::Default),
        };
        let revision = revision.map_err(|error| error.to_string())?;
        // Who sees it is kept with the registry itself.
        let connection = connection.clone();
        Ok(RegistryConfig { name: name.clone(), source, revision, connection, visibility: None })
    };
    read()
        .inspect_err(
            |error| tracing::error!(registry = %name, %error, "what is remembered of it cannot be used"),
        )
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalog::Origin;

    #[test]
    fn what_is_written_is_read_back_without_its_secret() {
        let text = "https://me:secret@git.example/a/b.git";
        let (source, credentials) = Source::parse_with_credentials(text, Path::new("/")).unwrap();
        let revision = Revision::tag("stable").unwrap();
        let connection = Connection {
            credentials: credentials.map(crate::connection::CredentialSource::Given),
            ..Connection::default()
        };
        let name = "git.example/a/b".parse().unwrap();
        let config = RegistryConfig { name, source, revision, connection, visibility: None };
        let text = write(&config);
        assert!(!text.contains("secret"), "{text}");
        let remembered = Remembered { name: config.name.clone(), origin: Origin::Admin, config: Some(text) };
        let read = read(&remembered, &Connection::default()).unwrap();
        assert_eq!(read.source.to_string(), "https://git.example/a/b.git");
        assert_eq!((read.name, read.revision), (config.name, config.revision));
        let nothing = Remembered { config: None, ..remembered };
        assert!(super::read(&nothing, &Connection::default()).is_none());
    }
}
