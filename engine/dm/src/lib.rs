//! Deployment Manager templates: a configuration of typed resources, whose types may be templates in Jinja (or
//! Python) with schemas, expanded until only plain resources are left.
//!
//! ```text
//! request ─ configuration ─ expansion ─┬─ properties (schema: defaults, then all errors)
//!                              ↑       ├─ jinja ─ YAML ─ resources ─┐
//!                              └───────┴────────────────────────────┘ depth first
//! ```
//!
//! Semantics are those of the expander of November 2015, observed as data in `tests/vectors`; YAML is read under
//! PyYAML's rules. Where the convention document promises more than that expander did (imports relative to the
//! template, defaults), this does what the document promises. Each difference is in
//! `docs/compatibility/deployment-manager.md`.
//!
//! # What it must not know
//! Where templates come from: a type that is a reference is asked for with [`schema::processing::Step::Needs`].
//! Other kinds of templates: whoever knows them hands in [`Others`]. Clusters, HTTP, clocks.

mod configuration;
mod expansion;
mod imports;
mod inspect;
mod interpreter;
mod jinja;
mod layout;
mod properties;
mod python;
mod references;
mod resource;
mod rules;
mod schema_file;
mod trail;

pub use expansion::{Others, process, process_with};
pub use inspect::inspect;
pub use interpreter::{Call, Interpreter, InterpreterError, Language, NoInterpreter, Returned};
pub use jinja::render_alone;
pub use rules::RULES;

use schema::Kind;

/// Whether this crate processes that kind. Python templates are only inspected.
pub const fn can_process(kind: Kind) -> bool {
    matches!(kind, Kind::DmJinja)
}
