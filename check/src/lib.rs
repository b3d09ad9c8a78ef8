//! What is *wrong*: a report on a tree of templates, the same on a laptop, in CI and on the server.
//!
//! Joins what the layout convention finds, what the engine sees in each version, and what becomes of each
//! `example.yaml` when the real engine processes it. Works over traits: trees are read through
//! [`schema::tree::Tree`], templates are inspected and processed through [`Engine`]. This crate must not know where
//! a tree comes from, how a template is processed, or how a report is shown.

mod example;
mod graft;
mod report;
pub mod rules;

pub use example::check_example;
pub use graft::Graft;
pub use report::{Report, VersionReport, check_tree};

use schema::Inspection;
use schema::processing::{Request, Step, Template};

/// Inspects and processes templates, wherever that happens.
pub trait Engine {
    /// What can be known of a template without processing it.
    fn inspect(&self, template: &Template) -> Inspection;

    /// Processes it, or says in one sentence why it could not be tried.
    fn process(&self, template: &Template, request: Request) -> Result<Step, String>;
}
