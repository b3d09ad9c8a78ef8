//! What several answers share.

use schema::Severity;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The health of a version, or the worst among several: its worst finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// No finding above info.
    Healthy,
    /// The worst finding is a warning.
    Warnings,
    /// There is an error.
    Errors,
}

impl Health {
    /// The word used in JSON and on pages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Health::Healthy => "healthy",
            Health::Warnings => "warnings",
            Health::Errors => "errors",
        }
    }

    /// The health that findings amount to.
    pub fn of<'a>(findings: impl IntoIterator<Item = &'a schema::Finding>) -> Health {
        match schema::finding::worst(findings) {
            Some(Severity::Error) => Health::Errors,
            Some(_) => Health::Warnings,
            None => Health::Healthy,
        }
    }
}

/// One thing that is wrong with a version or a registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Finding {
    /// `info`, `warning` or `error`.
    #[schema(value_type = String, example = "warning")]
    pub severity: Severity,
    /// The id of the rule; it never changes meaning.
    #[schema(example = "missing-example")]
    pub rule: String,
    /// What is wrong here, in one sentence.
    pub message: String,
    /// What to do about it.
    pub fix: String,
    /// The path it concerns, inside the version or the registry.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// The line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column, from 1, in characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

impl From<&schema::Finding> for Finding {
    fn from(finding: &schema::Finding) -> Finding {
        Finding {
            severity: finding.severity,
            rule: finding.rule.to_string(),
            message: finding.message.clone(),
            fix: finding.fix.clone(),
            path: finding.path.clone(),
            line: finding.place.map(|place| place.line),
            column: finding.place.map(|place| place.column),
        }
    }
}

/// Why a version is withdrawn or deprecated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Notice {
    /// The maintainer's reason.
    pub reason: String,
    /// What to use instead, if they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
}

impl From<&schema::registry_file::Notice> for Notice {
    fn from(notice: &schema::registry_file::Notice) -> Notice {
        Notice { reason: notice.reason.clone(), instead: notice.instead.clone() }
    }
}
