//! How answers are said: the JSON forms of the API, shared by the server that writes them and the clients that
//! read them.
//!
//! Plain data with serde and OpenAPI schemas, and conversions from what things are (`schema`). Members are
//! `snake_case`; times are RFC 3339 in UTC; digests are `sha256:…`; whatever is absent is left out, so a new member
//! never breaks a reader. The shapes are held by snapshots in `tests/`.
//!
//! It must not know where an answer comes from (`catalog`, `worker`) or how it travels (HTTP, status codes beyond
//! the number in a problem, headers).

pub mod common;
pub mod dm;
pub mod files;
pub mod history;
pub mod kubernetes;
pub mod operations;
pub mod problem;
pub mod process;
pub mod registries;
pub mod renovate;
pub mod resolve;
pub mod search;
pub mod templates;
pub mod text;
pub mod tokens;
pub mod webhooks;

pub use common::{Finding, Health, Notice};
pub use problem::{Problem, ProblemKind};
