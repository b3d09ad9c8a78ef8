//! Where templates run: in child processes of this same binary, one job at a time each, under budgets.
//!
//! A template, a Git repository or a Git server is somebody else's program. Whatever it does, it does in a child
//! that has no environment, as few system calls and files as its work needs, a limit on its memory, and a
//! parent that stops it at a deadline. The parent survives anything the child does; the child never survives
//! its parent.
//!
//! - [`Pool`] keeps warm workers and hands them jobs fairly; [`run_once`] is the same for one job of a command.
//! - [`Child`] is one confined child; the pool is built on it, and so are fetching and scanning.
//! - [`inside`] is the other end: what a child does first, and the worker's loop.
//! - [`python`] is CPython in WebAssembly for templates that need it, one instance an expansion.
//! - [`confine`] is what a process does to itself before it touches anything hostile.
//!
//! This is the only crate that knows landlock, seccomp and wasmtime. It must not know where templates come from (`catalog`,
//! `indexer`) nor how an answer is said (`wire`, `server`). Linux only.

mod build_id;
mod child;
pub mod confine;
pub mod frames;
pub mod inside;
mod pool;
mod protocol;
pub mod python;
mod tail;

pub use build_id::build_id;
pub use child::{Child, ChildConfig, ChildError, Limit, own_executable};
pub use confine::{Confinement, Guard, Reach};
pub use inside::{Work, run_worker, run_worker_with};
pub use pool::{Job, Pool, PoolConfig, PoolError, Stats, WorkerError, run_once};

/// Reads what can be known of a template without processing it, in this process.
///
/// For the scan, which is already in a confined child; a server must not call it on a template it has not
/// scanned.
pub fn inspect(template: &schema::processing::Template) -> schema::Inspection {
    engine::inspect(template)
}

/// The files that a configuration or a template may read beyond those it has, for who gathers them.
pub use engine::{Wanted, wanted};

/// Whether this build processes templates of that kind at all. Workers have Python.
pub fn can_process(kind: schema::Kind) -> bool {
    engine::can_process(kind, true)
}
