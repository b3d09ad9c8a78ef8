//! What the store remembers of a registry that was added while the server ran, so that a restart syncs it again.
//!
//! No secret is among it: a source is kept as it is shown, and credentials are found again where they are.

use std::path::Path;

use catalog::Remembered;
use serde::{Deserialize, Serialize};

use super::RegistryConfig;
use crate::source::Source;

#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
}

/// The text kept for a registry.
pub(super) fn write(config: &RegistryConfig) -> String {
    let stored = Stored { source: config.source.to_string(), branch: config.branch.clone() };
    serde_json::to_string(&stored).expect("two texts can be written as JSON")
}

/// The registry of a text that was kept; `None`, and the reason in the log, if it cannot be synced from here.
pub(super) fn read(remembered: &Remembered) -> Option<RegistryConfig> {
    let name = &remembered.name;
    let text = remembered.config.as_deref().unwrap_or_default();
    let read = || -> Result<RegistryConfig, String> {
        let stored = serde_json::from_str::<Stored>(text).map_err(|error| error.to_string())?;
        let source = Source::parse(&stored.source, Path::new("/")).map_err(|error| error.to_string())?;
        // Who sees it is kept with the registry itself.
        Ok(RegistryConfig { name: name.clone(), source, branch: stored.branch, visibility: None })
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
        let source = Source::parse("https://me:secret@git.example/a/b.git", Path::new("/")).unwrap();
        let config = RegistryConfig {
            name: "git.example/a/b".parse().unwrap(),
            source,
            branch: Some("stable".to_owned()),
            visibility: None,
        };
        let text = write(&config);
        assert!(!text.contains("secret"), "{text}");
        let remembered = Remembered { name: config.name.clone(), origin: Origin::Admin, config: Some(text) };
        let read = read(&remembered).unwrap();
        assert_eq!(read.source.to_string(), "https://git.example/a/b.git");
        assert_eq!((read.name, read.branch), (config.name, config.branch));
        let nothing = Remembered { config: None, ..remembered };
        assert!(super::read(&nothing).is_none());
    }
}
