//! The server through its front, over a catalogue in a temporary directory: what a client gets, to the header.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test that uses them")]

mod access;
mod api;
mod attacks;
mod caching;
mod dm;
mod hostile;
mod kit;
mod lists;
mod memory;
mod openapi;
mod pages;
mod processing;
mod shared;
mod sockets;
mod sweep;
mod trying;
