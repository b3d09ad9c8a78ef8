//! The Kubernetes API: what `kubectl` and `oc` ask, over the port and by the clients themselves.

mod attacks;
mod clients;
mod kit;
mod processing;
mod reading;
mod storing;
mod watching;
