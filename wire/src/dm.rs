//! The forms of Deployment Manager's manager API, as the `dm` client of v1.2.1 reads and writes them. Members have that
//! client's names; what is ours beside them is said so.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A time that has not come: Go's zero time.
pub const NEVER: &str = "0001-01-01T00:00:00Z";

/// What a client sends to be expanded or deployed. The original calls it a template.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Configuration {
    /// The name of the deployment.
    pub name: String,
    /// The configuration, as YAML.
    pub content: String,
    /// The files it imports. Older clients send null for none.
    pub imports: Option<Vec<Import>>,
}

/// A file that is sent with a configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Import {
    /// The name it is imported by.
    pub name: String,
    /// Where it came from, if that is not its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Its text.
    pub content: String,
}

/// What a configuration expands to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Expanded {
    /// The flat configuration: `{resources}`.
    pub expanded_config: Value,
    /// Which template made what: `{resources}`, or nothing in it.
    pub layout: Value,
}

/// The same as the expander behind a manager says it: two YAML texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpandedText {
    /// The flat configuration.
    pub config: String,
    /// Which template made what.
    pub layout: String,
}

/// A recorded deployment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Deployment {
    /// Its name.
    pub name: String,
    /// When it was recorded first.
    pub created_at: String,
    /// Always [`NEVER`]: nothing is sent to a cluster.
    pub deployed_at: String,
    /// When it was recorded last.
    pub modified_at: String,
    /// [`NEVER`]: what is deleted is gone.
    pub deleted_at: String,
    /// What became of it.
    pub state: State,
    /// The name of its newest manifest; empty once it is deleted.
    pub latest_manifest: String,
}

/// What became of a deployment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// `Created`, `Modified` or `Deleted`. Never `Deployed`: that would say that a cluster has it.
    pub status: String,
}

/// What a deployment came to once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// The deployment.
    pub deployment: String,
    /// Its name.
    pub name: String,
    /// What was sent, and what was resolved on the way.
    pub input_config: Configuration,
    /// The flat configuration.
    pub expanded_config: Value,
    /// Which template made what.
    pub layout: Value,
}

/// A resource of a deployment, and where it stands in the layout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instance {
    /// Its name.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub resource_type: String,
    /// The deployment.
    pub deployment: String,
    /// The manifest.
    pub manifest: String,
    /// Its place in the layout, like `$.resources[0].resources[1]`.
    pub path: String,
}

/// A registry, as the manager tells of one and as somebody asks for one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Registry {
    /// Its name.
    pub name: String,
    /// `github`, or `git` for registries elsewhere, which the original does not know.
    #[serde(rename = "type")]
    pub registry_type: String,
    /// Where it is, without a scheme: `github.com/owner/repository`, and perhaps a collection.
    pub url: String,
    /// How it is laid out: `versioned;collection`.
    pub format: String,
    /// The credential it is read with, by name.
    #[serde(rename = "credentialname", skip_serializing_if = "String::is_empty")]
    pub credential_name: String,
}

/// A version of a template in a list of types.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct RegistryType {
    /// The collection; empty is the root.
    pub collection: String,
    /// The template.
    pub name: String,
    /// The version.
    pub version: TypeVersion,
}

/// A version, in its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct TypeVersion {
    /// MAJOR.
    pub major: u64,
    /// MINOR.
    pub minor: u64,
    /// PATCH.
    pub patch: u64,
}

impl TypeVersion {
    /// As the original writes it: without trailing zeros.
    pub fn short(self) -> String {
        match (self.major, self.minor, self.patch) {
            (major, 0, 0) => format!("v{major}"),
            (major, minor, 0) => format!("v{major}.{minor}"),
            (major, minor, patch) => format!("v{major}.{minor}.{patch}"),
        }
    }
}

impl RegistryType {
    /// The text an expression is looked for in: `collection/name:version`.
    pub fn path(&self) -> String {
        let version = self.version.short();
        match self.collection.as_str() {
            "" => format!("{}:{version}", self.name),
            collection => format!("{collection}/{}:{version}", self.name),
        }
    }
}

/// A credential. What is said of one never holds a secret.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Credential {
    /// A token.
    #[serde(rename = "apitoken", skip_serializing_if = "String::is_empty")]
    pub api_token: String,
    /// A name and a password.
    #[serde(rename = "basicauth")]
    pub basic: BasicCredential,
    /// A key of a service account.
    #[serde(rename = "serviceaccount", skip_serializing_if = "String::is_empty")]
    pub service_account: String,
}

/// A name and a password.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BasicCredential {
    /// The name.
    pub username: String,
    /// The password.
    pub password: String,
}

/// What stands where a secret was.
pub const REDACTED: &str = "[redacted]";

impl Credential {
    /// The same without what must not be said: what was given shows as given.
    pub fn redacted(&self) -> Credential {
        let hidden = |secret: &str| if secret.is_empty() { String::new() } else { REDACTED.to_owned() };
        Credential {
            api_token: hidden(&self.api_token),
            basic: BasicCredential {
                username: self.basic.username.clone(),
                password: hidden(&self.basic.password),
            },
            service_account: hidden(&self.service_account),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_written_as_the_original_writes_them() {
        let written = |collection: &str, major, minor, patch| {
            let version = TypeVersion { major, minor, patch };
            RegistryType { collection: collection.into(), name: "redis".into(), version }.path()
        };
        assert_eq!(written("db", 1, 0, 0), "db/redis:v1");
        assert_eq!(written("", 1, 2, 0), "redis:v1.2");
        assert_eq!(written("db", 1, 0, 2), "db/redis:v1.0.2");
    }

    #[test]
    fn a_credential_says_what_was_given_and_not_what_it_was() {
        let text = r#"{"apitoken": "t-1", "basicauth": {"username": "ann", "password": "p-1"}}"#;
        let said =
            serde_json::to_string(&serde_json::from_str::<Credential>(text).unwrap().redacted()).unwrap();
        assert_eq!(
            said,
            r#"{"apitoken":"[redacted]","basicauth":{"username":"ann","password":"[redacted]"}}"#
        );
    }
}
