//! A server asked over HTTP.

mod access;
mod cases;
mod discovery;
mod disk;
mod dm;
mod durability;
mod git;
mod harm;
mod history;
mod hostile;
mod imports;
mod kubernetes;
mod memory;
mod pages;
mod poisoned;
mod python;
mod reports;
mod searching;
mod settings;
mod sources;
mod sync;
mod webhooks;
