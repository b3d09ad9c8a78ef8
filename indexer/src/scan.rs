//! Fetching and scanning one registry, in a child process of its own.
//!
//! A hostile repository can then cost no more than its child: bytes on disk, memory and time are limited there,
//! and the parent holds nothing of it but what the child streams back, one version at a time.

pub mod child;
pub(crate) mod delta;
pub(crate) mod parent;
pub(crate) mod protocol;
