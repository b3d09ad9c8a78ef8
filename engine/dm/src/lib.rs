//! Deployment Manager templates: a configuration of typed resources, whose types may be templates in Jinja (or
//! Python) with schemas, expanded until only plain resources are left.
//!
//! ```text
//! request ─ configuration ─ expansion ─┬─ properties (schema: defaults, then all errors)
//!                              ↑       ├─ jinja, or the host's interpreter ─ YAML ─ resources ─┐
//!                              └───────┴───────────────────────────────────────────────────────┘ depth first
//! ```
//!
//! Semantics are those of the expander of November 2015, observed as data in `tests/vectors`; YAML is read under
//! PyYAML's rules. Where the convention document promises more than that expander did (imports relative to the
//! template, defaults), this does what the document promises. Each difference is in
//! `docs/compatibility/deployment-manager.md`.
//!
//! # What it must not know
//! Where templates come from: a type that is a reference is asked for with [`schema::processing::Step::Needs`].
//! Other kinds of templates: whoever knows them hands in [`Others`]. How Python is run: whoever
//! can hands in an [`Interpreter`]. Clusters, HTTP, clocks.

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
mod settings;
mod trail;
mod wanted;

pub use expansion::{Others, no_others, process};
pub use inspect::inspect;
pub use interpreter::{Call, Interpreter, InterpreterError, Language, Made, NoInterpreter, Returned};
pub use jinja::render_alone;
pub use rules::RULES;
pub use wanted::{Wanted, wanted};

use schema::Kind;

/// Whether this crate processes that kind: Python only where the host has an interpreter.
pub const fn can_process(kind: Kind, has_interpreter: bool) -> bool {
    match kind {
        Kind::DmJinja | Kind::DmConfiguration => true,
        Kind::DmPython => has_interpreter,
        _ => false,
    }
}
