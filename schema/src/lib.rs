//! What things *are*: names, versions, references, digests, the layout convention, kinds, findings, and the
//! requests and outcomes of processing.
//!
//! Pure: no I/O, clock, randomness or environment. Trees are read through [`tree::Tree`], which the caller
//! implements. This crate must not know how a template is processed (`engine`), where anything is stored
//! (`catalog`), or how it is said over HTTP (`wire`): types here carry serde only where they cross a pipe
//! between our own processes.

pub mod confusable;
pub mod digest;
pub mod documentation;
pub mod finding;
pub mod inspection;
pub mod kind;
pub mod layout;
pub mod limits;
pub mod name;
pub mod processing;
pub mod reference;
pub mod registry_file;
pub mod remote;
pub mod resolve;
pub mod tree;
pub mod version;

pub use digest::Digest;
pub use finding::{Finding, Place, Rule, Severity};
pub use inspection::Inspection;
pub use kind::Kind;
pub use name::{CollectionName, RegistryName, TemplateName};
pub use reference::Reference;
pub use version::Version;
