//! The server through its front, over a catalogue in a temporary directory: what a client gets, to the header.

mod api;
mod caching;
mod hostile;
mod kit;
mod memory;
mod pages;
mod processing;
mod sockets;
