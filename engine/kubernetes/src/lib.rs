//! Kubernetes Templates: objects with parameters, in the notation of the proposal (`$(P)`, `$((P))`) and in
//! OpenShift's (`${P}`, `${{P}}`).
//!
//! ```text
//! text ─ document ─┬─ dialect ──┐
//!                  ├─ values ───┼─ parameters ─ conflict ─ substitute ─ namespace, group, labels ─ outcome
//! request ─────────┘            │
//! ```
//!
//! The way there and back: [`export`](export()) makes a Template of objects, [`merge`](merge()) one of several.
//!
//! Each step is a module; every step reports all it finds, and nothing is written once a step found an error.
//! Objects are data without a type here: what a field means is known only to the few tables in [`labels`],
//! [`group`] and [`scope`].
//!
//! # What it must not know
//! Where templates come from, other kinds of templates, HTTP, clocks and random devices: entropy comes with the
//! request.

mod adopt;
mod conflict;
mod dialect;
mod document;
mod export;
mod generate;
mod group;
mod inspect;
mod labels;
mod merge;
mod namespace;
mod notation;
mod parameters;
mod process;
mod rules;
mod scope;
mod substitute;
mod values;

pub use adopt::adopt;
pub use export::{ExportOptions, Parameterised, Selection, Selector, SelectorError, Source, export};
pub use generate::{GenerateError, Generator};
pub use inspect::inspect;
pub use merge::{MergeOptions, merge};
pub use notation::{Notation, Piece, pieces};
pub use process::process;
pub use rules::RULES;

use schema::Kind;

/// Whether this crate processes that kind.
pub const fn can_process(kind: Kind) -> bool {
    matches!(kind, Kind::Template)
}
