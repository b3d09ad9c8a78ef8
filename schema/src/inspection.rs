//! What can be known of a template version without processing it: what a search and a page need.

use serde::{Deserialize, Serialize};

use crate::finding::Finding;

/// The facts read from a version's files. Filled by the engine, one dialect at a time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Inspection {
    /// A title for people, if the template gives one.
    pub title: Option<String>,
    /// One paragraph on what it is for.
    pub description: Option<String>,
    /// Words it is tagged with.
    pub tags: Vec<String>,
    /// A link to documentation.
    pub documentation: Option<String>,
    /// A link to support.
    pub support: Option<String>,
    /// The parameters, as one JSON Schema object whatever the kind (`type: object`, `properties`, `required`;
    /// each property with title, description, default, type, enum, pattern, and `writeOnly` for secrets).
    pub parameters: serde_json::Value,
    /// Kinds of the objects it makes, as far as its text tells, sorted, without duplicates.
    pub object_kinds: Vec<String>,
    /// What is wrong with it that can be seen without processing it.
    pub findings: Vec<Finding>,
}
