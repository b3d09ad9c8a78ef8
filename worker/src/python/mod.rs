//! Python for templates: CPython as WebAssembly, frozen after its imports, a fresh copy for every expansion.
//!
//! ```text
//! cargo xtask bake-python      bake        python.wasm + packages -> assets/dmpy.wasm.zst
//! a parent, once a machine     store       -> a child compiles it -> a file only its user can write
//! a worker, once               program     the file is mapped, before the worker is confined
//! a worker, each expansion     expansion   one instance, copy-on-write; its calls, then it is dropped
//! ```
//!
//! The guest has no files, network, processes or threads ([`system`]), as much memory as its store allows, and is ended
//! by an [`alarm`]. What runs inside is in `guest/`. Why this way: `docs/decisions/0012-python.md`.
//!
//! It must not know what a template means: it runs what the engine asks for. No interpreter of the host is ever called.

mod alarm;
#[cfg(feature = "bake")]
pub mod bake;
mod compiler;
mod expansion;
mod instance;
mod program;
mod store;
mod system;

pub use compiler::run_compiler;
pub(crate) use expansion::Host;
pub(crate) use program::Program;
pub use program::python_version;
pub(crate) use store::prepare;
pub use store::{Preparation, Python, PythonState, user_cache};

/// The name under which the snapshot exports its table of functions.
const TABLE: &str = "table";
