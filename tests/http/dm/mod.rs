//! The manager's API for `dm`: recorded exchanges replayed, and what a client of ours, a client of theirs, and somebody
//! who means harm make of it.

mod access;
mod ours;
mod replay;
mod repository;
mod theirs;
mod transcripts;
mod wire;
