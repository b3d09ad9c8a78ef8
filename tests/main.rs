//! The binary, the port, the clients: tests as a reader of the issues would check.
//!
//! Everything here starts the real `formwork` program and looks at it from outside: over HTTP, at its output, in
//! `/proc`. `kit` has what all tests need; `http` asks a server, `cli` runs commands. Cases that are only "ask this,
//! expect that" are files in `http/cases` and `cli/cases`: adding a case is adding a file. Tests that need the git
//! program say so loudly and pass when it is not installed. This target must not name any crate of ours but
//! `samples`, which makes registries to serve: what is tested is what users get.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test that uses them")]

mod browser;
mod cli;
mod http;
mod kit;
